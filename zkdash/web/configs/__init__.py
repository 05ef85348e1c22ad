"""The pages of configurations and of rights."""
