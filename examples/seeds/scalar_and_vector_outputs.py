"""Which numbers meet in y.backward(v)?  Nine small cases, computed by pullback and then by hand.

J has a row for each entry of y and a column for each entry of x.  The product v @ J, which NumPy forms here from a J
written down by a person, is what backward(v) leaves in x.grad.
"""

import numpy as np

import pullback as torch
from pullback import tensor


def case(title, x, y):
    print(f"\n-- {title}")
    print("x:", x)
    print("y:", y)


def compare(v, J, x):
    v, J = np.atleast_2d(v), np.array(J)
    print("x.grad:", x.grad)
    print("J:      " + str(J).replace("\n", "\n        "))
    print("v:     ", v)
    print("v @ J: ", v @ J)
    print("agree: ", np.array_equal((v @ J).ravel(), x.grad.numpy().ravel()))


x = tensor(1.0, requires_grad=True)
y = x**2
case("a scalar of a scalar", x, y)
y.backward()  # as y.backward(tensor(1.0))
compare(1, [[2 * x.item()]], x)

x = tensor(1.0, requires_grad=True)
y = x**2
case("the same, a hundredfold", x, y)
y.backward(tensor(100.0))
compare(100.0, [[2 * x.item()]], x)

x = tensor([1.0, 2.0], requires_grad=True)
y = sum(x)
case("a scalar of a vector: a single row", x, y)
y.backward()
compare(1, [[1, 1]], x)

x = tensor([1.0, 2.0], requires_grad=True)
y = sum(x)
case("the same, a hundredfold", x, y)
y.backward(tensor(100.0))
compare(100.0, [[1, 1]], x)

for title, v in (("a vector of a vector", [1.0, 1.0]), ("the second entry counts tenfold", [1.0, 10.0])):
    x = tensor([1.0, 2.0], requires_grad=True)
    y = 3 * x**2
    case(title, x, y)
    y.backward(tensor(v))
    first, second = x.detach().numpy()
    compare(v, [[6 * first, 0], [0, 6 * second]], x)

x = tensor([1.0, 2.0], requires_grad=True)
y = torch.empty(3)
y[0] = 3 * x[0] ** 2
y[1] = x[0] ** 2 + 2 * x[1] ** 3
y[2] = 10 * x[1]
case("three outputs of two inputs, written one by one", x, y)
v = [1.0, 10.0, 100.0]
y.backward(tensor(v))
first, second = x.detach().numpy()
compare(v, [[6 * first, 0], [2 * first, 6 * second**2], [0, 10]], x)

# A scalar under a longer gradient: every entry is pulled back, and the results add up, as in as many calls.
for title, start, f, row in (
    ("extra: four weights for a scalar of a scalar", 1.0, lambda x: x**2, [2.0]),
    ("extra: four weights for a scalar of a vector", [1.0, 2.0], sum, [1, 1]),
):
    v = [1.0, 10.0, 100.0, 1000.0]
    x = tensor(start, requires_grad=True)
    y = f(x)
    case(title, x, y)
    y.backward(tensor(v))
    compare(v, [row] * len(v), x)

    x = tensor(start, requires_grad=True)
    y = f(x)
    print("one weight at a time:")
    for weight in v:
        y.backward(tensor(weight), retain_graph=True)
        print("x.grad:", x.grad)
