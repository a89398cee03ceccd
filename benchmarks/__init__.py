"""Speed and size, side by side with what a user would pick instead, in the same run."""
