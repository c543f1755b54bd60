"""Stand-ins for other libraries: programs written for them run on pullback."""
