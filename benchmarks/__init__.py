"""Speed and size beside the alternatives."""
