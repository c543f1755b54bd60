"""Two joints of an arm, the position of its hand, and its distances to three posts: a chain of two functions."""

import pullback

angles = pullback.tensor([0.5, 1.0], requires_grad=True)
posts = pullback.tensor([[0.0, 3.0], [3.0, 0.0], [0.0, -1.0]])
first, second = angles
across = 2 * pullback.cos(first) + pullback.cos(first + second)
up = 2 * pullback.sin(first) + pullback.sin(first + second)
hand = pullback.stack([across, up])
distances = ((hand - posts) ** 2).sum(dim=1)
distances.backward(pullback.tensor([1.0, 0.0, 0.0]))
