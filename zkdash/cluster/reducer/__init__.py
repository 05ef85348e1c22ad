"""From a state and a batch to the next state."""
