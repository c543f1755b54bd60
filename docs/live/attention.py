"""Causal attention of three tokens: what the second one's output depends on."""

import pullback

pullback.manual_seed(0)
queries = pullback.randn(3, 2, requires_grad=True)
keys = pullback.randn(3, 2, requires_grad=True)
values = pullback.randn(3, 2, requires_grad=True)
future = pullback.ones(3, 3, dtype=pullback.bool).triu(1)
scores = (queries @ keys.T / 2**0.5).masked_fill(future, float("-inf"))
output = scores.softmax(dim=-1) @ values
output[1].sum().backward()
