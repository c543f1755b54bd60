"""The numeric examples of the five seed documents, as functions of a torch: the output, and the gradient."""


def scalar_of_scalar(torch):
    x = torch.tensor(1.0, requires_grad=True)
    return x**2, torch.tensor(1.0)


def hundredfold(torch):
    x = torch.tensor(1.0, requires_grad=True)
    return x**2, torch.tensor(100.0)


def scalar_of_vector(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    return sum(x), torch.tensor(1.0)


def scalar_of_vector_hundredfold(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    return sum(x), torch.tensor(100.0)


def vector_of_vector(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    return 3 * x**2, torch.tensor([1.0, 1.0])


def tenfold(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    return 3 * x**2, torch.tensor([1.0, 10.0])


def three_of_two(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.zeros(3)
    y[0] = 3 * x[0] ** 2
    y[1] = x[0] ** 2 + 2 * x[1] ** 3
    y[2] = 10 * x[1]
    return y, torch.tensor([1.0, 10.0, 100.0])


def summed(torch):
    x = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
    return x.sum(), torch.tensor(1.0)


def doublings(torch):
    x = torch.tensor([0.6, -1.0, 0.8], requires_grad=True)
    y = x * 2
    while y.data.norm() < 1000:
        y = y * 2
    return y, torch.tensor([0.1, 1.0, 0.0001])


def nine_doublings(torch):
    x = (torch.tensor([-590.4467, 97.6760, 921.0221]) / 512).requires_grad_()
    y = x * 2
    while y.data.norm() < 1000:
        y = y * 2
    return y, torch.tensor([0.1, 1.0, 0.0001])


def chain(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.stack([x[0] * x[1], x[0] + x[1]])
    return torch.stack([y[0] * y[1], y[1] ** 2]), torch.tensor([0.2, 0.8])


def chain_counted_once(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.stack([x[0] * x[1], x[0] + x[1]])
    return torch.stack([y[0] * y[1], y[1] ** 2]), torch.tensor([1.0, 1.0])


def product(torch):
    x = torch.tensor([[2.0, 1.0]], requires_grad=True)
    matrix = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    return torch.mm(x, matrix), torch.tensor([[1.0, 1.0]])


def product_and_loss(torch):
    x = torch.tensor([[2.0, 1.0]], requires_grad=True)
    matrix = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    return (torch.tensor([[1.0, 1.0]]) * torch.mm(x, matrix)).sum(), torch.tensor(1.0)


def tracked(torch):
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    return a * b, torch.tensor(1.0)


def layer(torch):
    weights = torch.tensor([[0.5, -1.0, 0.25]], requires_grad=True)
    bias = torch.tensor([[0.75, 0.5]], requires_grad=True)
    data = torch.tensor([[0.1, 0.2, 0.3], [0.4, 0.6, 0.8]])
    wanted = torch.tensor([[0.0, 1.0]])
    predicted = torch.sigmoid(torch.mm(weights, torch.transpose(data, 0, 1)) + bias)
    return (wanted - predicted) ** 2, torch.tensor([[0.5, 0.5]])


def average(torch):
    losses, _ = layer(torch)
    return losses.sum() / 2, torch.tensor(1.0)


CASES = [
    scalar_of_scalar, hundredfold, scalar_of_vector, scalar_of_vector_hundredfold, vector_of_vector, tenfold, three_of_two,
    summed, doublings, nine_doublings, chain, chain_counted_once, product, product_and_loss, tracked, layer, average,
]  # fmt: skip
