# fmt: off
import pullback as pb  # noqa: I001
x = pb.tensor([1., 2.], requires_grad=True)
y = pb.zeros(3)
y[0] = 3*x[0]**2
y[1] = x[0]**2 + 2*x[1]**3
y[2] = 10*x[1]

y.backward(pb.tensor([1., 10., 100.]))
