"""The checks by what they look at, one module each; `catalogue` puts them in order."""
