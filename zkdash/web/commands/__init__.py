"""What people ask for by a button: POST in, and back to a page."""
