"""The pages of checks, and what other pages show of them."""
