"""As whom, and over what, a session is opened."""
