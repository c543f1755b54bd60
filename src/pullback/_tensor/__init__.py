"""The tensor: its class, its constructors, and the ways in and out of memory."""
