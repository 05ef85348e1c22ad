"""The pages of actions and of the audit."""
