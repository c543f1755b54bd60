"""The tape: what an operation leaves behind, how a cotangent travels back, and why it did not arrive."""
