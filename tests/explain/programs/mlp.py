import pullback as pb
from pullback import nn

pb.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
data = pb.linspace(-1, 1, 15).reshape(5, 3)
target = pb.tensor([0, 1, 0, 1, 1])


def loss_of(batch, labels):
    return nn.functional.cross_entropy(model(batch), labels)


for _ in range(2):
    loss = loss_of(data, target)
    loss.backward()
