"""What the reviewer's desk works with."""
