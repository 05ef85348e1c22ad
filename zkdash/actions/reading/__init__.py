"""Actions and the audit as pages read them."""
