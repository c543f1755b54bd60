import os

from hypothesis import settings

from pullback import _machine

# No test is timed, and CI draws the same examples each time.
settings.register_profile("pullback", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("pullback")

# Where llvmlite is installed, rows and products are left to machine code when many have been met, which changes last
# digits: here
# from the beginning, so that no test meets the change.
_machine.met[0] = _machine.ENOUGH
_machine._multiplied[0] = _machine.PRODUCTS
