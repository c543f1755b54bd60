import pullback as pb

w = pb.tensor([2.0, 0.0, 1.0], requires_grad=True)
x = pb.tensor([1.0, 0.0, 3.0])
d = pb.sqrt(w * x)
loss = (d / d.norm()).sum() + pb.log(w[1] + 1)
loss.backward()
