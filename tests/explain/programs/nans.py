import pullback as pb

x = pb.tensor([0.0, 4.0, -1.0], requires_grad=True)
root = x.sqrt()
masked = root * pb.tensor([0.0, 1.0, 0.0])
dead = (x - 10).relu()
y = masked.sum() + dead.sum()
y.backward()
