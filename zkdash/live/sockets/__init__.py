"""Who looks at which page, and what they are sent."""
