"""The tensor: its class, its constructors, its public functions, and its memory."""
