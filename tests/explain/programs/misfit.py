import pullback as pb
from pullback import nn

pb.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(9, 2))
batch = pb.randn(3, 8)
loss = model(batch).sum()
loss.backward()
