"""The tables of brokers, and of what one of them holds."""
