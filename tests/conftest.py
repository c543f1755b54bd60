import os

from hypothesis import settings

# No test is timed, and CI draws the same examples each time.
settings.register_profile("pullback", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("pullback")
