"""How pages are served: whole, as JSON and CSV, and live."""
