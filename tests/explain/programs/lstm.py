import pullback as pb
from pullback import nn

pb.manual_seed(0)
lstm = nn.LSTM(2, 3)
head = nn.Linear(3, 1)
out, _ = lstm(pb.randn(4, 1, 2))
loss = (head(out[-1]) ** 2).mean()
loss.backward()
accuracy = (lstm(pb.randn(4, 1, 2))[0] > 0).float().mean()
