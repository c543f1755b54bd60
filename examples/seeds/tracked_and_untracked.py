"""What does a tensor remember?

An operation is recorded when one of its inputs asks for it.  Its result then holds a node, grad_fn, that leads back to
the nodes of the inputs, and in the end to the leaves, where gradients come to rest.
"""

import numpy as np

import pullback as torch


def attributes(name, leaf):
    print(name)
    for attribute in ("data", "grad", "grad_fn", "is_leaf", "requires_grad"):
        print(f"  {attribute} =", getattr(leaf, attribute))


print("-- tracked: a = 2, b = 3")
a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
c = a * b
attributes("a", a)
attributes("b", b)
print("c =", c)
print("  is_leaf =", c.is_leaf)
print("  grad_fn =", type(c.grad_fn).__name__)
for node, _ in c.grad_fn.next_functions:
    print("    next:", type(node).__name__, "into", node.variable)

print("\n-- backward() goes the same way, with the Jacobian [b, a] of the product")
c.backward()
v, J = np.array([1.0]), np.array([[3.0, 2.0]])
print("v @ J: ", v @ J)
print("a.grad:", a.grad, " b.grad:", b.grad)
print("agree: ", np.array_equal(v @ J, [a.grad.item(), b.grad.item()]))

print("\n-- untracked: a = b = 2")
a = torch.tensor(2.0)
b = torch.tensor(2.0)
attributes("a", a)
attributes("b", b)

print("\n-- a product that nobody recorded is a leaf, and may ask for a gradient of its own")
c = a * b
print("c =", c, " is_leaf =", c.is_leaf, " grad_fn =", c.grad_fn)
c.requires_grad = True
attributes("c", c)
d = c * a
print("d =", d)
d.backward()
print("c.grad:", c.grad, " a.grad:", a.grad)

print("\n-- where the product was recorded, the flag follows from its inputs; detach() gives a tensor without a past")
try:
    d.requires_grad = False
except RuntimeError as refusal:
    print("d.requires_grad = False is refused:", refusal)
print("d.detach() =", d.detach())
