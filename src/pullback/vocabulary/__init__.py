"""torch's words on the primitives: names, defaults, `dim` and `keepdim`, with NumPy's spellings beside them.

These functions are the methods of `Tensor` and the functions of the package alike. Rules never see them.
"""
