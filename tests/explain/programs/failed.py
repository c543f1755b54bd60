import pullback as pb


def work(values):
    hidden = values * 3
    return hidden @ pb.ones(7)


x = pb.tensor([1.0, 2.0], requires_grad=True)
(x * 2).sum().backward()
work(x).backward()
