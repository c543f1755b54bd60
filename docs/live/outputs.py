"""Three outputs of two inputs, as in examples/seeds/scalar_and_vector_outputs.py."""

import pullback

x = pullback.tensor([1.0, 2.0], requires_grad=True)
y = pullback.zeros(3)
y[0] = 3 * x[0] ** 2
y[1] = x[0] ** 2 + 2 * x[1] ** 3
y[2] = 10 * x[1]
y.backward(pullback.tensor([1.0, 10.0, 100.0]))
