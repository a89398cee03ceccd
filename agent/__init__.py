"""The answering agents and their budgets."""
