"""A value that is used twice: its leaf gets two contributions."""

import pullback

x = pullback.tensor([1.0, 2.0], requires_grad=True)
y = (x * x.sin()).sum()
y.backward()
