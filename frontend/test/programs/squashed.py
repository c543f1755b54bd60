import pullback as pb

pb.manual_seed(0)
lstm = pb.nn.LSTM(1, 2)
w = pb.tensor([0.3, 0.0], requires_grad=True)
d = w.log()
loss = lstm(d.reshape(2, 1, 1))[0].sum()
loss.backward()
