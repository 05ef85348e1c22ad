"""The door: what comes in is bounded before Django sees it; whoever exceeds a bound harms only himself.

`connections` and `protocol` bound what has asked for nothing yet, `layer` bounds requests and sockets; by
`places` the pages behind it tell whose a feed or a socket is. What is refused, `refusals` counts and tells.
"""
