"""Engines: programs of compiled functions on arrays of other libraries, in the words of the array API standard.

`words` is the table of what primitives mean in these words, filled by the modules beside it; `libraries` is what the
libraries have of their own, and under which names; `placed` is `compile(f).on(...)`.
"""
