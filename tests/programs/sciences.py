"""Programs that use packages for signals, equations, time series, and statistics, written for torch."""

import numpy as np
import torch

from .packages import filled, numbers, program, trained


@program
def kb_nufft():
    import torchkbnufft as package

    image = torch.complex(numbers(1, 1, 8, 8), numbers(1, 1, 8, 8, seed=2))
    places = torch.from_numpy(np.random.default_rng(1).uniform(-np.pi, np.pi, (2, 20))).float()
    forward, back = package.KbNufft(im_size=(8, 8)), package.KbNufftAdjoint(im_size=(8, 8))
    points = forward(image, places)
    weights = package.calc_density_compensation_function(ktraj=places, im_size=(8, 8))
    again = back(points * weights, places)
    return [*torch.view_as_real(points).flatten().tolist(), *torch.view_as_real(again).flatten().tolist()]


@program
def equations_deepxde():
    import os

    os.environ["DDE_BACKEND"] = "pytorch"
    import deepxde as dde

    interval = dde.geometry.Interval(-1, 1)
    data = dde.data.PDE(
        interval,
        lambda x, y: dde.grad.hessian(y, x) + np.pi**2 * torch.sin(np.pi * x),
        dde.icbc.DirichletBC(interval, lambda x: 0 * x, lambda _, edge: edge),
        16,
        2,
        train_distribution="uniform",
        num_test=10,
    )
    model = dde.Model(data, filled(dde.nn.FNN([1, 16, 16, 1], "tanh", "Glorot uniform")))
    model.compile("adam", lr=1e-3)
    history, _ = model.train(iterations=5, display_every=1, verbose=0)
    return [float(each) for row in history.loss_train for each in row] + model.predict(
        np.ones((2, 1)) / 2
    ).ravel().tolist()


@program
def equations_neurodiffeq():
    from neurodiffeq import diff
    from neurodiffeq.conditions import IVP
    from neurodiffeq.generators import Generator1D
    from neurodiffeq.networks import FCNN
    from neurodiffeq.solvers import Solver1D

    torch.set_default_dtype(torch.float32)
    network = filled(FCNN(hidden_units=(8, 8)))
    spaced = Generator1D(16, 0.0, 2.0, method="equally-spaced")
    solver = Solver1D(
        ode_system=lambda u, t: [diff(u, t, order=2) + u],
        conditions=[IVP(0.0, 1.0, 0.0)],
        t_min=0.0,
        t_max=2.0,
        nets=[network],
        train_generator=spaced,
        valid_generator=spaced,
    )
    solver.fit(max_epochs=4, tqdm_file=None)
    return [*solver.metrics_history["train_loss"], *solver.metrics_history["valid_loss"]]


@program
def flows_of_equations():
    from torchdyn.core import NeuralODE
    from torchode import AutoDiffAdjoint, Dopri5, InitialValueProblem, IntegralController, ODETerm

    f = filled(torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)))
    x, found = numbers(3, 2), []
    times = torch.linspace(0, 1, 4)
    term = ODETerm(lambda t, y: f(y))
    step = Dopri5(term=term)
    solver = AutoDiffAdjoint(step, IntegralController(atol=1e-6, rtol=1e-3, term=term))
    solution = solver.solve(InitialValueProblem(y0=x, t_eval=times.repeat(3, 1)))
    found += [*solution.ys.detach().flatten().tolist(), *solution.stats["n_steps"].tolist()]
    for way in ("autograd", "adjoint"):
        model = NeuralODE(f, sensitivity=way, solver="rk4")
        found += trained(f, lambda model=model: model(x, times)[1].square().mean(), 2)
    return found


@program
def optimal_transport():
    import ot
    from geomloss import SamplesLoss

    a, b = numbers(8, 2).double().requires_grad_(), numbers(6, 2, seed=2).double()
    found = []
    weights = [torch.full((size,), 1 / size, dtype=torch.float64) for size in (8, 6)]
    for way in (
        lambda: ot.emd2(*weights, ot.dist(a, b)),
        lambda: ot.sinkhorn2(*weights, ot.dist(a, b), 0.5),
        lambda: ot.gromov_wasserstein2(ot.dist(a, a), ot.dist(b, b), *weights),
        lambda: ot.sliced_wasserstein_distance(a, b, projections=numbers(2, 5, seed=3).double()),
        lambda: ot.unbalanced.sinkhorn_unbalanced2(*weights, ot.dist(a, b), 0.5, 1.0),
        lambda: SamplesLoss("sinkhorn", p=2, blur=0.1, backend="tensorized")(a, b),
        lambda: SamplesLoss("energy", backend="tensorized")(a, b),
        lambda: SamplesLoss("gaussian", blur=0.5, backend="tensorized")(a, b),
    ):
        value = way().sum()
        found += [value.item(), float(torch.autograd.grad(value, a)[0].square().sum())]
    return found


@program
def tensor_decompositions():
    import tensorly as tl
    from tensorly.decomposition import parafac, tensor_train, tucker
    from tensorly.metrics import RMSE

    tl.set_backend("pytorch")
    x = numbers(4, 5, 6).double().requires_grad_()
    found = []
    for parts in (
        parafac(x, 3, init="svd", n_iter_max=5),
        tucker(x, [2, 2, 2], n_iter_max=5),
        tensor_train(x, [1, 2, 2, 1]),
    ):
        again = parts.to_tensor()
        value = RMSE(again, x)
        found += [value.item(), float(torch.autograd.grad(value, x)[0].square().sum())]
    return found
