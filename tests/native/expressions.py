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
x.sin().cos().exp() * y.tanh(); (x + x) * x - x / y; x[1][2] * x[2][1]; x.is_contiguous(); x.requires_grad; x * y > y * x
"""
EXPRESSIONS = [text.strip() for line in EXPRESSIONS.strip().splitlines() for text in line.split("; ")]

PROGRAMS = """
z = x * 1; a = z * z; z.mul_(2); b = z.sum(); (a.sum() + b).backward()
z = x * 1; v = z[0]; w = v * v; z[1] = 5.0; v[2] = 7.0; w.sum().backward()
z = x * 1; rows = list(z); rows[0].mul_(3)
z = x * 1; r = z[0]; q = r * r; z[0, 0] = 2.0; s = r + 1; (q.sum() + s.sum()).backward()
u[0] = 1.0; v = u[1]; v[2] = 5.0; w = v * 2; u.add_(1)
u[0] = x[1]; u.sum().backward()
u[9] = 1.0
x[0] = 1.0
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
y = pullback.sparse_jacobian
""".strip().split("\n")[:-1]
PROGRAMS = [text.replace("\\n", "\n") for text in PROGRAMS]
