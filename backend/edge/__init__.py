"""What stands before the routes."""
