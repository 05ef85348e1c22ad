"""The pages of brokers."""
