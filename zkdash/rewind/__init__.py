"""The process that tells the past, for the serving one: started on demand, asked by a local socket."""
