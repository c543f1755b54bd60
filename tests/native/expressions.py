"""Expressions of tensors x and y, 4 x 4, r, 4, c, 4 x 1, and places i; and programs that write."""

EXPRESSIONS = """
x + y; x - y; x * y; x / y; x * r; r * x; x * c; c - r; x + 2; 2 - x; x * 0.5; 3 / x; x ** 2; x ** 3.0; -x; abs(x); x @ y; x @ r
x.T @ y; x == y; x > r; x <= 0; x * True; x * (1 + 2j); x + 10**400; x * float("nan"); x / 0; x * np.float32(2); x * np.ones(4)
x + y[:2]; x.sin(); x.cos(); x.exp(); x.log(); x.sqrt(); x.tanh(); x.sigmoid(); x.relu(); x.square(); x.reciprocal(); x.neg()
pullback.sin(x); pullback.exp(input=x); pullback.maximum(x, y); pullback.minimum(x, r); F.relu(x); pullback.mul(x, y); pullback.add(x, y, alpha=2)
pullback.mul(x, other=y); x.mul(2.5); x.mul(y, y); pullback.sin(); pullback.sin(x, out=pullback.zeros(4, 4, dtype=x.dtype)); x.maximum(2)
x.sum(); x.sum(0); x.sum(1, keepdim=True); x.mean(); x.mean(0); x.max(); x.min(); x.sum(dtype=pullback.float64); x.prod(); x.var()
x[0]; x[-1]; x[3, 1]; x[4]; x[0, 0, 0]; x[:, 1:3]; x[1:, ::2]; x[::-1]; x[..., 0]; x[None]; x[:, None, 2]; x[...]; x[()]; x[True]; x[1.0]
x[0:0]; x["a"]; x[[0, 2]]; x[i]; x[i, i]; x[:, i]; x[x > 0]; x[0][1]; x[1:][0]; x[np.int64(1)]; x[slice(np.int64(1), None)]; r[0]; r[0][None]; r[0][0]
list(x); [row * 2 for row in x]; list(x.T); list(r); list(r[0]); list(x[0:0]); x.unbind(1); x.unbind(); list(reversed(x)); tuple(x[1:])
x.t(); x.T; x.mT; x.transpose(0, 1); x.transpose(0, 5); x.permute(1, 0); x.reshape(2, 8); x.reshape(-1); x.reshape(3, 5); x.T.reshape(-1); x.view(-1)
x.T.view(-1); x.view(8, -1); x.unsqueeze(1); x.squeeze(); c.squeeze(1); c.expand(4, 4); x.flatten(); x.movedim(0, 1); x.swapaxes(0, 1)
pullback.cat([x, y]); pullback.cat([x, y], 1); pullback.stack([x, y]); pullback.stack([r, r], 1); x.split(2); x.split([1, 3], 1); x.chunk(2)
pullback.cat([x, r]); pullback.stack([x, r]); pullback.cat([]); pullback.where(x > 0, x, y)
pullback.where(x > 0, x, r.sum().double()); pullback.where(x, x, y); x.__rsub__(y); y.__rsub__(2.5); x.clamp(0); x.softmax(0); F.linear(x, y, r)
F.cross_entropy(x, i); x.norm(); x.cumsum(0); x.detach() * y; (x * y).detach() + x; x.clone(); x.to(pullback.float64) * 2; x * x * x
(x[0] * r).sum() + x[1, 1]; sum(row.sum() * k for k, row in enumerate(x)); (x * x)[0] @ (x + y)[1]; x[0] * x[0]; ((x * 2)[1:3] + y[0]).T
x[[0, -1, 0]]; x[[4]]; x[[0], [1]]; x[[]]; x[[True, False, True, False]]; x[[0, None]]; x[[[0, 1]]]; x[i[:0]]; x[i.int()]; x[i.to(pullback.uint8)]; x[i[0]]
x[r > 0]; x[:, r > 0]; x[r > 0, i]; x[:, :, i]; x[i, :]; x[i, ..., i]; x[i + 9]; x[i - 4]; x[r[:2] > 0]; x.T[i]; x[0:0][i]; x[i[:, None]]; x[:, i[None]]; r[i]; r[r > 0]
x[i, None]; x[i][0]; x[i].sum() * x[i, i].sum(); r[0][[0]]; x[(i, i)]; x[[i, i]]; (x > 0)[i]; i[i]; x.take(i); pullback.take(x, i); x.index_select(1, i)
pullback.cat((x, y), -1); pullback.cat([x, y], dim=1); pullback.cat([x, y], axis=1); pullback.cat([x, y], 2); pullback.cat([x]); pullback.cat([x, x.T]); pullback.cat([c, c], 1)
pullback.cat([x[:1], y[1:]]); pullback.cat([x[:, :2], y], 1); pullback.cat([x, y.double()]); pullback.cat([r, r[:0]]); pullback.cat([r[:0], x]); pullback.cat([x] * 65)
pullback.cat([x[0:1], y[:, 0:1].T]); pullback.cat([r[0], r[1]]); pullback.cat([x, y], dims=1); pullback.cat(tensors=[x, y]); pullback.cat(x); pullback.cat([x, np.ones((4, 4))])
pullback.stack([x, y], -1); pullback.stack([r, r], dim=1); pullback.stack([x, y], 3); pullback.stack([x, y], 2); pullback.stack((r[0], r[1])); pullback.stack([x[:, :2], y[:, 2:]], 1)
pullback.stack([x[0], x[1]]).T[0]; pullback.stack(list(x)); pullback.stack([row * 2 for row in x], 1); pullback.stack([r] * 65); pullback.cat(x.split(1, 1)); pullback.cat([i, i])
x.unbind(-1); x.unbind(2); x.unbind(dim=1); x.T.unbind(1); r.unbind(); r[0].unbind(); x[0:0].unbind(); x.split(3, -1); x.split(2, dim=1); x.split(9); x.split(0); x.split(-1)
x[0:0].split(2); x.split((1, 3)); x.chunk(3, 1); x.chunk(9); x.chunk(0); x[0:0].chunk(2); x.T.chunk(2)[1]; pullback.chunk(x, 2); pullback.split(x, 3)[1] * 2; pullback.unbind(x, 1)[2]
x.unbind(1)[0].sum() + x.unbind()[3].prod(); sum(part.sum() for part in x.split(3, 1)); x.split(2)[0][1]; x.reshape(2, 2, 4).unbind(1); x.reshape(2, 2, 2, 2).split(1, 2)[1]
x.sum(-1); x.sum(2); x.sum(0, True); x.sum(dim=1); x.sum(dim=0, keepdim=True); x.sum((0, 1)); x.sum(()); x.sum(axis=0); x.sum(None); x.sum(True); x.sum(1.0); x.sum(0, 1, 2)
x.mean(1); x.mean(-1, True); x.mean(dim=0, keepdim=True); x.mean(dtype=pullback.float64); x.mean((0, 1)); r.sum(); r.sum(0); r.sum(0, True); r[0].sum(); r[0].sum(0); r.mean(0); c.sum(1)
x[0:0].sum(); x[0:0].sum(0); x[0:0].mean(); x.T.sum(); x.T.sum(1); x.T.mean(0); x[:, ::2].sum(); x[:, ::2].sum(1); x.reshape(2, 2, 4).sum(1); x.reshape(2, 2, 4).mean(); c.mean(0)
pullback.sum(x); pullback.sum(x, 1); pullback.sum(input=x); pullback.mean(x, 0, True); pullback.sum(x, out=pullback.zeros((), dtype=x.dtype)); x.sum(keepdim=True); x.mean(keepdim=True)
r @ x; r @ r; x @ c; x @ r[:2]; x.matmul(y); x.mm(y); x.mm(r); r.dot(r); r.dot(x); pullback.dot(r, r); pullback.mm(x, y); pullback.matmul(x, r); x @ y[0:0]; x[0:0] @ y; c.T @ x
x.mv(r); x.T @ y.T; x[:, ::2] @ y[::2]; r[::2] @ r[1::2]; x @ i; r[:1] @ r[:1]; r[:1].dot(r[:1]); x.reshape(2, 2, 4) @ y; x @ 2.0
F.linear(x, y); F.linear(r, y, r); F.linear(x, y, r[:1]); F.linear(x, y, bias=r); F.linear(x, r, r); F.linear(x, y[:2], r[:2]); F.linear(x.reshape(2, 2, 4), y, r); F.linear(x, y[:, :2], r)
F.cross_entropy(x, i + 1); F.cross_entropy(x, i, reduction="sum"); F.cross_entropy(x * float("inf"), i); F.cross_entropy(x.T, i); F.cross_entropy(x, x); F.cross_entropy(x, i[:2]); F.cross_entropy(x * 1e30, i)
F.cross_entropy(x[:1], i[:1]); F.cross_entropy(x[0:0], i[0:0]); F.cross_entropy(x[:, :1], i * 0); F.cross_entropy(r, i[0]); F.cross_entropy(x, i.int()); F.cross_entropy(x, target=i)
x.gather(0, i[None]); x.gather(1, i[:, None]); pullback.gather(x, -1, i.expand(4, 4).contiguous()); x.gather(0, i); r.gather(0, i); x.T.gather(1, i[:, None]); x.gather(1, i[:, None] - 4)
x.gather(1, i[:, None] + 9); x.gather(2, i[:, None]); x.gather(1, i[:2, None]); x.gather(1, i[:0, None]); x.gather(1, i[:, None].int()); x.gather(dim=1, index=i[:, None]); x.gather(1, r); i.gather(0, i)
x.reshape(2, 2, 4).gather(1, i.reshape(1, 1, 4).expand(2, 3, 4).contiguous()); x.reshape(2, 2, 4).gather(0, i.reshape(1, 1, 4) * 0); x.sum().gather(0, i[0]); x[0:0].gather(0, i[None])
F.linear(x * 1e30, y * 1e30, r); F.linear(x[:1], y[:1], r[:1]); F.linear(x[:, :1], y[:, :1], r); F.linear(x[0:0], y, r); F.linear(x.T, y.T, r[::1]); F.linear(x.repeat(13, 1), y.repeat(11, 1), r.repeat(11))
x[1][1]; x[0][-1]; x[-1][0]; x.T[1][2]; x.T[0]; x[1:][1][0]; x.reshape(2, 2, 4)[1][0][2]; x.repeat(20, 1)[70]; x.repeat(20, 1)[64][1]
x.relu() * -0.0; F.relu(-x * 0); pullback.relu(r); F.relu(x, True); pullback.exp(x); x.exp() - pullback.neg(x); pullback.mul(x, 2); pullback.maximum(x, 0.0)
x.sin().cos().exp() * y.tanh(); (x + x) * x - x / y; x[1][2] * x[2][1]; x.is_contiguous(); x.requires_grad; x * y > y * x
"""
EXPRESSIONS = [text.strip() for line in EXPRESSIONS.strip().splitlines() for text in line.split("; ")]

PROGRAMS = """
z = x * 1; a = z * z; z.mul_(2); b = z.sum(); (a.sum() + b).backward()
y = x * 2; v = y[0]; y.detach_(); y += 1.0; v.sum().backward()
y = x * 2; v = y[0]; y.detach_(); y -= u; w = v * 2
e = u[:0].chunk(1); a = x[:0].chunk(2); b = x[:, 4:].chunk(3, 1); c = x[:0].split(2); d = x[:0].unbind()
y = pullback.nn.functional.cross_entropy(np.ones((2, 3)), pullback.tensor([0, 1]))
m = pullback.ones(513, 3, requires_grad=True); a = m.T.mean(1, True); b = m.mean(0, True); c = m.T.sum(-1, True); d = m.mean(0); e = m.T.mean(1)
z = x * 1; v = z[0]; w = v * v; z[1] = 5.0; v[2] = 7.0; w.sum().backward()
z = x * 1; rows = list(z); rows[0].mul_(3)
z = x * 1; r = z[0]; q = r * r; z[0, 0] = 2.0; s = r + 1; (q.sum() + s.sum()).backward()
u[0] = 1.0; v = u[1]; v[2] = 5.0; w = v * 2; u.add_(1)
u[0] = x[1]; u.sum().backward()
u[9] = 1.0
w = u.reshape((1,) * 13 + (3, 4)); a = w.unsqueeze(15); b = a.unsqueeze(16); c = b.unsqueeze(0); d = a.T; e = b.T; f = list(c); g = b.sum(16)
w = u.reshape((1,) * 14 + (3, 4)); a = w[0]; b = w.unbind(15); c = w.split(2, 14); d = pullback.stack([w, w], 16); e = pullback.cat([w, w], 14)
x[0] = 1.0
x[::0] = 1.0
v = u[::0]
z = x * 1; z[[0, 2]] = x[:2]; z[pullback.tensor([1, 1])] = 2.0; z.sum().backward()
z = x * 1; q = z * z; z[u > 6] = 0; z[:, [1, 3]] = x[:, :2]; (q.sum() + z.sum()).backward()
z = x * 1; z[[1, 1]] = x[:2] * 3; z[[0], [1]] = x[0, 0]; (z * z).sum().backward()
u[[0, 0]] = x[:2] * 2; u[u > 3] = 1.0; u.sum().backward()
z = x * 1; a = z[0] * z[1]; z[2] = a; z[[0]] = a[None]; (z * z).sum().backward()
z = x * 1; z[0]; z[1]; z[0] = x[1]; z[[1]] = 2.0; z += x; z.sum().backward()
z = x * 1; v = z[0]; z[[1]] = 5.0; z[0] = x[1]; (v * v).sum().backward()
z = x * 1; d = z.detach(); z[0] = 1.0; z[[1]] = x[:1]; (z.sum() + d.sum()).backward()
k = pullback.tensor([0, 1]); z = x * 1; z[k] = x[1:]; k[0] = 2; z.sum().backward()
z = x * 1; z.retain_grad(); z[[0]] = 0.0; z.sum().backward(); g = z.grad
z = x * 1; z[[0, 1]] = 1; z[[3]] = 1.0
z = x * 1; z[[0, 1]] = u.double()[:2]
with pullback.no_grad(): z = x * 1; z[[0]] = x[:1]; z[z > 3] = 0.0
v = x[0]; v[0] = 1.0
with pullback.no_grad(): v = x[0]; w = x * 2; v.add_(1); y = u[0]
with pullback.inference_mode(): v = u[0]; w = u * 2
with pullback.inference_mode(): w = u * 2\nq = w * x
z = x.exp(); y = z * z; z.add_(1); y.sum().backward()
z = x.exp(); z[0] = 0.0; z.sum().backward()
d = x.detach(); e = d * 2; d[0] = 9.0; f = e * x; f.sum().backward()
y = x.data; y[0] = 3.0; z = x * y; z.sum().backward()
n = u.numpy(); y = x * u; n[0] = 100.0; y.sum().backward()
y = (x * 2).sum(); y.backward(); y.backward()
y = x[0].sum() + x[0].sum(); y.backward(inputs=[x])
h = x * 2; h.retain_grad(); (h * h).sum().backward(); g = h.grad
h = x * 2; h.register_hook(lambda g: g * 10); (h * h).sum().backward()
x.register_hook(lambda g: -g); x[1].sum().backward()
y = x * 2; y.grad_fn.register_hook(lambda a, b: None); y.sum().backward(); m = pullback.tensor(y.grad_fn.metadata == {})
with pullback.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t): y = x * x\ny.sum().backward()
with pullback.autograd.detect_anomaly(): y = (x * 0).log(); y.sum().backward()
g, = pullback.autograd.grad((x * x * x).sum(), x, create_graph=True); h, = pullback.autograd.grad(g.sum(), x)
a, b = x[0], x[1]; g = pullback.autograd.grad((a * b).sum(), [a, b])[0]
a = x[0]; g, = pullback.autograd.grad((x * x).sum(), a, allow_unused=True); n = pullback.tensor(g is None)
a = x[0]; pullback.autograd.grad((x * x).sum(), a)
y = pullback.func.vmap(lambda row: row * row[0])(x); y.sum().backward()
y = pullback.func.grad(lambda t: (t * t[0]).sum())(u)
y = pullback.func.jvp(lambda t: t * t, (u,), (u,))[0]
s = x.sum(); (s * s).backward(); t = s * 2.0
e = x[0:0]; f = e * 2; f.sum().backward()
a = x[0]; b = a[1:]; c = b[0]; (c * c).backward(); a = None
t = x.T; v = t[0]; w = v.reshape(3, 1); (w * w).sum().backward()
w = x.expand(2, 3, 4); v = w[0]; (v * w[1]).sum().backward()
y = x * 2; del y; y = (x + 1)[0]
p = pullback.nn.Parameter(pullback.ones(3)); y = p * p; y.sum().backward(); g = p.grad
y = x.requires_grad_(False) * 2; z = x.requires_grad_(True) * 2
z = x * 1; z += x; z -= 2.0; z *= x; z /= 3; z.sum().backward()
z = x * 1; a = z * z; z += a; b = z * a; z *= z; (b.sum() + z.sum()).backward()
z = x * 1; z.add_(x, alpha=2.0); z.mul_(x[0]); z.sum().backward()
z = x.exp(); z += 1; z.sum().backward()
z = x * 1; z.retain_grad(); z += x; z.sum().backward(); g = z.grad
z = x * 1; z.register_hook(lambda g: g * 3); z += x; z.sum().backward()
z = x * 1; f = z.grad_fn; z += x; f.register_hook(lambda a, b: (a[0] * 7,)); z.sum().backward()
z = x * 1; v = z[0]; z += x; w = v * 2; (w.sum() + z.sum()).backward()
z = x * 1; z[0] += x[1]; z[1] *= 2; z.sum().backward()
z = x * 1; z += z; z -= z[0]; z.sum().backward()
z = x.T * 1; z += u.T; z.sum().backward()
z = x * 1; z += np.ones(4)
z = x * 1; z += u.double()
z = x * 1; z[0] += u[0].double()
x += 1
u += 1; u *= u; u -= u[0]; u /= 2.0; u += x; u.sum().backward()
u += u.detach(); u += (x * 2).detach(); u *= x.data
u += 10**400
u += 1e300; u *= float("nan")
v = u[0]; v += 1.0; v *= v; u += v
e = u.expand(2, 3, 4); e += 1
n = u.numpy(); u += 1.0; m = pullback.tensor(n)
with pullback.no_grad(): x += 1.0; x *= x; y = x * 2
with pullback.no_grad(): z = x * 1; z += x\nz += 1
with pullback.inference_mode(): w = u * 2; w += 1\nw += 1
i = pullback.tensor([1, 2]); i += 1; i += 1.5
h = u.half(); h += 1; h *= h
z = x * 1; z[0] = x[1] * 2; z[0, 1] = x[2, 2]; z[:, 1:3] = 5.0; z[...] = z * 2; z.sum().backward()
z = x * 1; a = z * z; z[1] = x[0]; (a.sum() + z.sum()).backward()
z = x.exp(); z[0] = x[1]; z.sum().backward()
z = u * 1; z[0] = x[0]; z[2] = z[0]; z.sum().backward()
z = u * 1; z[0] = x[0]; z[9] = x[0]
z = u * 1; z[0] = x[0].double()
z = u * 1; z[0] = x
z = u * 1; z[0] = x[:, :1].T; z.sum().backward()
z = u * 1; z[0] = x.sum(); z.sum().backward(); del x.grad
z = x * 1; z.retain_grad(); z[0] = 1.0; z.sum().backward(); g = z.grad
z = x * 1; z.register_hook(lambda g: g * 3); z[0] = 1.0; z.sum().backward()
z = x * 1; v = z[1]; z[0] = x[0]; w = v * 2; (w.sum() + z.sum()).backward()
z = x * 1; z[[0, 2]] = x[:2]; z[z > 3] = 0.0; z.sum().backward()
z = x * 1; z[0] = (x * 2).detach()[0]; z.sum().backward()
with pullback.no_grad(): z = x * 1; z[0] = x[1]\nz[1] = x[0]; z.sum().backward()
d = (x * 1).detach(); d[0] = x[0]; d.sum().backward()
z = x * 1; z.detach_(); z[0] = x[0]; z += x; z.sum().backward()
z = (x * 1).requires_grad_(); z.requires_grad; z[0] = 1.0; z.sum().backward()
z = (u * 1).requires_grad_(); z.requires_grad_(False); z += x; z.sum().backward(); g = z.grad
i = pullback.tensor([1, 0]); u[i] = x[:2].detach(); u[i] = 3.0; u[[2, 2]] = 4; u[:, i] = 5.0; u[i, i] = -1.0; u[u > 2] = 0.5; u[u[:, 0] > 0] = 2
i = pullback.tensor([2, 2, -1]); u[i] = pullback.arange(12.0, dtype=u.dtype).reshape(3, 4); v = u[0]; v[i] = 7.0; w = u[1]; w[w < 9] = 0.0
i = pullback.tensor([0, 1]); u[i] = u[1:3]; u[i] = u[i]; u[i] = u[0]; u[i] = u[:1]; u[i[:, None]] = 2.5; u[i[:0]] = 1.0
u[pullback.tensor([9])] = 1.0
u[pullback.tensor([0, 9])] = u[:2]
u[pullback.tensor([-4])] = 1.0
u[[9]] = 1.0; u[pullback.tensor([True, False])] = 1.0
u[pullback.tensor([0])] = u[:2]
u[u > 0] = u[:1]
u[u > 0] = 10**400
u[[0]] = 1j
a = x * u; i = pullback.tensor([1, 0]); u[i] = 3.0; u[u > 1] = 0; a.sum().backward()
a = u * 2; v = u[0]; b = v * x; u[[0]] = 9.0; b.sum().backward()
with pullback.no_grad(): i = pullback.tensor([1, 0]); x[i] = x[:2] * 2; x[x > 0] = 1.0\ny = x * 2
i = pullback.tensor([1, 0]); x[i] = 1.0
i = pullback.tensor([1, 0]); v = x[0]; v[i] = 1.0
i = pullback.tensor([1, 0]); u[i] = x[:2]; u.sum().backward()
i = pullback.tensor([1, 0]); n = u.numpy(); u[i] = 3.0; n[0] = 8.0; u[i] = u[2:4]; m = pullback.tensor(n)
i = pullback.tensor([1, 0]); u[:0][i[:0]] = 1.0; e = u[:, :0]; e[i] = 1.0; e[i] = e[:2]; w = u[::2]; w[i] = 4.0; w[w > 0] = 1.0
e = u[0].expand(2, 4); e[pullback.tensor([0])] = 1.0
i = pullback.tensor([1, 0]); t = u.T; t[i] = 1.0; t[t > 2] = 0.0; c = u[:1]; c[i * 0] = 3.0; z = u[0][0]; z[z > 0] = 2.0; z[pullback.tensor(True)] = 5.0
i = pullback.tensor([1, 0]); h = u.half(); h[i] = 1.0; h[h > 0] = 2; j = i * 1; j[i] = 5; j[j > 2] = 0; b = u > 0; b[i] = True; b[b] = False
i = pullback.tensor([1, 0]); u[i] = u.double()[:2]; u[i] = pullback.tensor(3.0).double(); u[i] = pullback.tensor(3.0, dtype=u.dtype); u[i] = np.ones(4); u[i] = u[:2].numpy()
with pullback.inference_mode(): w = u * 2; w[[0]] = 1.0; w[w > 1] = 0.0\nw[[0]] = 1.0
y = x.gather(1, pullback.tensor([[0], [1], [2]])); i = pullback.tensor([[0], [1], [2]]); z = x.gather(1, i); i += 1; (y * z).sum().backward()
with pullback.no_grad(): y = x.gather(0, pullback.tensor([[0, 1, 2, 0]]))
with pullback.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t): y = x.gather(0, pullback.tensor([[0, 1, 2, 0]]))\ny.sum().backward()
y = pullback.func.vmap(lambda row: row.gather(0, pullback.tensor([0, 0, 1])))(x); y.sum().backward()
v = x[1]; w = x[1]; g = v.grad_fn is w.grad_fn; (v * w).sum().backward()
rows = []; [rows.append(row * k) for k, row in enumerate(x)]; y = pullback.stack(rows); y[0] = x[1]; y.sum().backward()
a, b, c = x.unbind(); (a * b + c).sum().backward(); d = x.unbind()[0]; d.sum().backward()
a, b = (x * 1).split(2, 1); a += 1.0
z = x * 1; v = z[1]; w = v[1:]; z[0] = u[0]; z[[0, 1]] = x[:2]; z[u > 5] = 0.0; z[1, 2] = x[0, 0] * 2; (v * w.sum()).sum().backward()
z = u * 1; v = z[0]; a = (v * x[0]).sum(); z[0] = x[1]; b = (v * v).sum(); (a + b).backward()
z = x * 1; v = z[0]; v.retain_grad(); w = z.T; z[1] = 2.0; (v * w[:, 0]).sum().backward(); g = v.grad
z = x * 1; v = z[0]; w = z.detach(); k = z.view(pullback.int64); z[1] = x[0]; (v * z).sum().backward()
z = u * 1; v = z[0]; v.requires_grad_(); z[1] = x[0]; (v * z).sum().backward()
z = x * 1; v = z[0]; v.register_hook(lambda g: g * 2); z[1] = 3.0; (v * z).sum().backward()
z = x * 1; v = z.unsqueeze(0); w = z.expand(2, 3, 4); a, b = z.split(2, 1); z[0] = 1.0; z.t_(); z[0] = 2.0; (v.sum() * w * z.T).sum().backward(); c = b * 2
z = x * 1; v = z[0]; w = pullback.view_as_complex(z.reshape(3, 2, 2)); z[1] = x[0]; (v * z).sum().backward()
z = x * 1; v = z[0]; w = z[1]; z.detach_()\\nwith pullback.no_grad(): v[0] = 5.0
z = x * 1; v = z[0]; w = z[1]; z.detach_()\\nwith pullback.no_grad(): w[[0, 1]] = 5.0
z = x * 1; v = z[0]; w = z[1]; z.detach_()\\nwith pullback.no_grad(): w += 5.0
z = x * 1; v = z[0]; w = z[1]; z.detach_()\\nwith pullback.no_grad(): z *= 5.0
z = x * 1; v = z[0]; w = v[1:]; a = (z * z).sum()\\nwith pullback.no_grad(): z[1] = 5.0; v[0] = u[1, 1]; w[[0]] = 3.0; z += 1.0; z *= u\\n(a + (v * w[0]).sum() + z.sum()).backward()
z = u * 1; v = z[0]; z.requires_grad_()\\nwith pullback.no_grad(): z[1] = 5.0\\n(v * v).sum().backward()
z = x * 1\\nwith pullback.no_grad(): v = z[0]; w = z[1]; v[0] = 5.0; w += 1.0; z *= 2.0\\n(z * z).sum().backward()
z = x * 1; v = z[0]; v.retain_grad(); z.retain_grad()\\nwith pullback.no_grad(): z[0] = 2.0; z -= 1.0\\n(v * v).sum().backward(); g = v.grad; h = z.grad
v = x[0]\\nwith pullback.no_grad(): x[1] = 5.0; x += 1.0; x[x > 9] = 0.0\\n(v * v).sum().backward()
z = x * 1; a, b = z.chunk(2); z[0] = 1.0; (a.sum() * b.sum()).backward()
z = x * 1; rows = list(z); z += 1; y = rows[0] * 2; y.sum().backward()
y = pullback.cat([x, u]); u += 1; y.sum().backward()
y = x[[0, 1]]; i = pullback.tensor([0, 1]); y = x[i]; i += 1; y.sum().backward()
i = pullback.tensor([0, 1]); y = x[i] * x[:, i].sum(); v = i[0]; v += 1; y.sum().backward()
with pullback.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t): y = x[pullback.tensor([0, 1])]; z = pullback.cat([x, y])\n(y.sum() + z.sum()).backward()
y = pullback.func.vmap(lambda row: pullback.stack([row, row])[0].sum())(x); y.sum().backward()
y = pullback.func.grad(lambda t: pullback.cat([t, t[[0]]]).sum() + t.mean())(u)
y = pullback.sparse_jacobian
""".strip().split("\n")[:-1]
PROGRAMS = [text.replace("\\n", "\n") for text in PROGRAMS]
