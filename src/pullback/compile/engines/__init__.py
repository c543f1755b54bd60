"""Engines: programs of compiled functions on arrays of other libraries, through the functions of the array API standard.

`lowerings` is the table of what primitives are in these functions, filled by the modules beside it; `libraries` is what the
libraries have of their own, and under which names; `placed` is `compile(f).on(...)`.
"""
