"""What is configured below /config: whose configuration it is, and the options of topics."""
