import pullback as pb

x = pb.tensor([2.0, 1.0], requires_grad=True)
a, b = x
p = a * b
q = a**2 + b
y = pb.stack([p, q])
y.backward(pb.tensor([1.0, 2.0]))
