"""Raises the error of a second backward through a graph that the first has freed."""

import pullback

x = pullback.tensor([1.0, 2.0], requires_grad=True)
loss = (x**2).sum()
loss.backward()
loss.backward()
