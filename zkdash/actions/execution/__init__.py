"""The queue as workers use it: how an action is carried out."""
