"""Both ways, pullback in Python alone and with the native core: the same in every bit."""
