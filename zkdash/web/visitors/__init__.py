"""Who asks, and what they may see: every view and every socket comes through the gate."""
