"""What modules, optimizers, distributions, NumPy's functions, data sets and files refuse: the error and its words, by a call."""

import numpy as np
import pytest

import pullback
from pullback import distributions, nn, optim
from pullback.signal import windows
from pullback.utils import data

X = pullback.tensor([1.0, 2.0], requires_grad=True)
ONE, PLAIN = pullback.ones(()), pullback.ones(2)


def w():
    return pullback.ones(2, requires_grad=True)


def sgd():
    return optim.SGD([w()], lr=0.1)


class Lacking(list):
    """A data set that gives fewer samples than it is asked for."""

    def __getitems__(self, indices):
        return []


NAMES = {**globals(), "D": distributions, "data": data, "nn": nn, "np": np, "windows": windows}

# By the class of the error: a call in each line, and words of the message.
REFUSED = {
    ValueError: """
        optim.lr_scheduler.SequentialLR(sgd(), [], [])  # expects at least one scheduler, but got
        optim.lr_scheduler.ChainedScheduler([])  # at least one scheduler to be chained
        optim.lr_scheduler.SequentialLR(o := sgd(), [optim.lr_scheduler.ReduceLROnPlateau(o)] * 2, [1])  # does not support `ReduceLROnPlateau`
        optim.lr_scheduler.CyclicLR(sgd(), 0.1, 0.2, mode="square")  # mode is invalid and scale_fn is None
        optim.lr_scheduler.OneCycleLR(sgd(), 0.1, total_steps=5, pct_start=2.0)  # between 0 and 1 pct_start, but got 2
        optim.lr_scheduler.OneCycleLR(sgd(), 0.1, total_steps=-5)  # Expected positive integer total_steps, but got -5
        [s := optim.lr_scheduler.OneCycleLR(sgd(), 0.1, total_steps=2), [s.step() for _ in range(3)]]  # Tried to step 3 times. The specified number
        optim.lr_scheduler.ConstantLR(sgd(), 1.5)  # Constant multiplicative factor expected
        optim.lr_scheduler.LinearLR(sgd(), 0.5, 1.5)  # Ending multiplicative factor expected
        optim.lr_scheduler.LinearLR(sgd(), 0.0)  # Starting multiplicative factor expected
        optim.lr_scheduler.CosineAnnealingWarmRestarts(sgd(), 0)  # Expected positive integer T_0, but got 0
        optim.lr_scheduler.CosineAnnealingWarmRestarts(sgd(), 1, 0)  # Expected integer T_mult >= 1, but got 0
        optim.lr_scheduler.CosineAnnealingWarmRestarts(sgd(), 1, 1, "a")  # Expected float or int eta_min, but got a
        optim.lr_scheduler.CosineAnnealingWarmRestarts(sgd(), 2).step(-1)  # Expected non-negative epoch, but got -1
        optim.Optimizer([{"params": [w()]}], {"lr": optim.optimizer.required})  # didn't specify a value of required optimization parameter lr
        optim.lr_scheduler.ReduceLROnPlateau(sgd(), "mid")  # mode mid is unknown
        optim.lr_scheduler.ReduceLROnPlateau(sgd(), threshold_mode="mid")  # threshold mode mid is unknown
        optim.lr_scheduler.CyclicLR(sgd(), [0.1, 0.2], 0.2)  # must have the same length as optimizer.param_groups
        optim.swa_utils.SWALR(sgd(), 0.1, anneal_epochs=-1)  # anneal_epochs must be equal or greater than 0, got -1
        optim.swa_utils.get_ema_avg_fn(2.0)  # Invalid decay value 2.0 provided
        windows.gaussian(3, layout="sparse")  # is implemented for strided tensors only
        windows.gaussian(3, dtype=pullback.int64)  # expects float32 or float64 dtypes
        windows.exponential(3, tau=-1)  # Tau must be positive, got: -1
        windows.kaiser(3, beta=-1)  # beta must be non-negative, got: -1
        D.Distribution.set_default_validate_args("no")  # validate_args is True or False, not
        D.Normal(ONE, ONE).log_prob(1.0)  # The value argument to log_prob must be a Tensor
        D.Categorical(PLAIN).log_prob(pullback.tensor(5))  # Expected value argument
        D.MultivariateNormal(PLAIN, pullback.eye(2)).log_prob(pullback.ones(3))  # right-most size of value must match event_shape
        D.Normal(pullback.zeros(2), 1.0).log_prob(pullback.ones(3))  # Value is not broadcastable with batch_shape
        D.Normal(ONE, -ONE)  # to satisfy the constraint
        D.Dirichlet(ONE)  # parameter must be at least one-dimensional
        D.kl_divergence(D.MultivariateNormal(PLAIN, pullback.eye(2)), D.MultivariateNormal(pullback.ones(3), pullback.eye(3)))  # with different event shapes cannot
        D.Independent(D.Normal(PLAIN, PLAIN), 3)  # Expected reinterpreted_batch_ndims <= len
        D.MixtureSameFamily(D.Normal(ONE, ONE), D.Normal(PLAIN, PLAIN))  # The Mixture distribution needs to be
        D.MixtureSameFamily(D.Categorical(pullback.ones(3)), D.Normal(PLAIN, PLAIN))  # does not equal `component_distribution
        D.LowRankMultivariateNormal(PLAIN, pullback.ones(3, 1), PLAIN)  # cov_factor must be a batch of matrices with shape 2 x m
        D.LowRankMultivariateNormal(PLAIN, pullback.ones(2, 1), pullback.ones(3))  # cov_diag must be a batch of vectors with shape
        D.LowRankMultivariateNormal(ONE, pullback.ones(2, 1), PLAIN)  # loc must be at least one-dimensional
        D.Wishart(pullback.tensor(0.5), pullback.eye(2))  # expected to be greater than ndim - 1
        D.transforms.CatTransform([D.transforms.ExpTransform()], lengths=[1, 2])  # as many lengths as transforms are needed
        D.constraints.cat([D.constraints.real], lengths=[1, 2])  # as many lengths as constraints are needed
        D.constraints.independent(D.constraints.real, 2).check(ONE)  # Expected value.dim() >= 2 but got 0
        nn.init.calculate_gain("gelus")  # Unsupported nonlinearity gelus
        nn.init.kaiming_normal_(pullback.ones(2, 2), mode="fan")  # Mode fan not supported, please use one of
        nn.init.orthogonal_(PLAIN)  # Only tensors with 2 or more dimensions are supported
        nn.ModuleDict().update([(1, 2, 3)])  # update sequence element #0 has length 3; 2 is required
        nn.Sequential() + 3  # add operator supports only objects of Sequential class
        nn.Sequential() * 0  # Non-positive multiplication factor 0
        nn.Conv1d(1, 1, 3, stride=2, padding="same")  # is not supported for strided convolutions
        nn.MultiMarginLoss(p=3)  # only p == 1 and p == 2 supported
        nn.Sequential(nn.ReLU()).set_submodule("0", 3)  # `module` is not an nn.Module, found
        nn.Module().train("yes")  # training mode is expected to be boolean, not
        nn.LSTM(0, 2)  # input_size must be greater than zero
        nn.utils.spectral_norm(nn.BatchNorm1d(2, affine=False))  # cannot be applied as parameter `weight` is None
        nn.utils.parametrizations.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)  # Expected n_power_iterations to be positive
        nn.utils.parametrizations.orthogonal(nn.BatchNorm1d(2))  # Expected a matrix or batch of matrices. Got a tensor of 1 dimensions
        np.linspace(X, X + 1, -1)  # Number of samples, -1, must be non-negative
        np.geomspace(X * 0, X)  # Geometric sequence cannot include zero
        np.select([X > 1], [X, X])  # list of cases must be same length as list of conditions
        np.choose(pullback.tensor([5, 0]), [X, X])  # invalid entry in choice array
        np.piecewise(X, [X > 1], [1, 2, 3])  # functions are expected, not 3
        np.block([[X], X])  # List depths are mismatched
        np.apply_along_axis(np.sum, 0, X[:0].reshape(2, 0))  # when any iteration dimensions are 0
        np.polyder(X, -1)  # Order of derivative must be positive
        np.polyint(X, -1)  # Order of integral must be positive
        np.polyint(X, 2, np.ones(3))  # k must be a scalar or a rank-1 array
        np.roots(X.reshape(1, 2))  # Input must be a rank-1 array, not of shape
        np.poly(X.reshape(1, 2))  # input must be 1d or non-empty square 2d array
        np.polyfit(X, pullback.ones(3), 1)  # polyfit fits a degree >= 0 to vectors x and y
        np.bincount(pullback.tensor([0, 1]), X[:1])  # weights and list don't have the same length
        np.lib.stride_tricks.sliding_window_view(X, (1, 1))  # sizes of windows were given for the 1 axes
        np.fill_diagonal(pullback.ones(2), 1)  # array must be at least 2-d
        np.fill_diagonal(pullback.ones(2, 3, 2), 1)  # All dimensions of input must be of equal length
        np.squeeze(X, 0)  # squeeze: axis 0 of shape (2,) does not have length 1
        data.DistributedSampler([1])  # Default process group has not been initialized
        data.StackDataset([1], Lacking([1])).__getitems__([0])  # Nested dataset's output size mismatch
    """,
    TypeError: """
        optim.lr_scheduler.ChainedScheduler([3], sgd())  # should have `optimizer` as its attribute
        optim.lr_scheduler.LambdaLR(sgd(), 0.5)  # lr_lambda should be a function, but got
        pullback.hann_window(2.5)  # 'window_length' (position 1) must be int
        D.transforms.StackTransform([3])  # tseq must be transforms, got
        D.constraints.cat([3])  # cseq must be constraints, got
        D.kl.register_kl(3, D.Normal)  # to be subclasses of Distribution but got
        nn.ModuleDict().update(3)  # update should be called with an iterable of key/value pairs
        nn.ModuleDict().update([3])  # update sequence element #0 should be Iterable
        nn.ModuleList().extend(3)  # ModuleList.extend should be called with an iterable
        nn.ParameterList().extend(3)  # ParameterList.extend should be called with an iterable
        nn.Unflatten(1, 2.5)  # unflattened_size must be a tuple of ints, but found
        nn.Module().register_parameter(3, None)  # name should be a string. Got
        nn.Module().register_buffer("a", 3)  # (torch Tensor or None required)
        nn.Linear(1, 1).to(pullback.int64)  # only accepts floating point or complex dtypes
        np.select([X], [X])  # in condlist: should be boolean ndarray
        np.gradient(X, 1.0, 2.0)  # invalid number of arguments: 2 spacings for 1 axes
        np.average(pullback.ones(1, 2), weights=X)  # Axis must be specified when shapes of a and weights differ
        np.copyto(pullback.ones(2, dtype=pullback.int64), 0.5 * PLAIN)  # copyto cannot cast from
        np.ravel(X, order="A")  # has no derivative here with order='A'
        pullback.load(3)  # object has no attribute 'read': load() takes a path
        pullback.save({}, 3)  # object has no attribute 'write': save() takes a path
        pullback.manual_seed(0).set_state(3)  # set_state(): expected what get_state() gave
        pullback.rand(2, generator=3)  # argument 'generator' must be pullback.Generator
    """,
    NotImplementedError: """
        optim.Optimizer([w()], {}).step()  # Optimizer defines no step
        optim.lr_scheduler.LRScheduler(sgd())  # LRScheduler defines no get_lr
        D.Poisson(ONE).icdf(ONE)  # Poisson has no icdf
        D.Gumbel(ONE, ONE).enumerate_support()  # no finite set of values to enumerate
        D.MixtureSameFamily(D.Categorical(ONE.expand(2)), D.Normal(PLAIN, PLAIN)).entropy()  # MixtureSameFamily has no entropy
        D.Distribution().log_prob(ONE)  # Distribution has no log_prob
        D.Distribution().cdf(ONE)  # Distribution has no cdf
        D.Distribution().mode  # does not implement mode
        D.Distribution().variance  # Distribution has no variance
        D.Binomial(pullback.tensor([1.0, 2.0]), PLAIN / 2).enumerate_support()  # Inhomogeneous total count not supported
        D.kl_divergence(D.Binomial(1, ONE / 2), D.Binomial(3, ONE / 2))  # Binomials where q.total_count > p.total_count
        D.constraints.Constraint().check(ONE)  # does not say which values it has: define check
        D.transforms.Transform()(ONE)  # does not say what its values are: define _call
        D.transforms.Transform().inv(ONE)  # Transform has no inverse
        D.transforms.Transform().log_abs_det_jacobian(ONE, ONE)  # has no determinant of its Jacobian
        D.transforms.Transform().sign  # does not say whether it grows
        [*data.Sampler()]  # Subclasses of Sampler should implement __iter__
    """,
    RuntimeError: """
        pullback.manual_seed(-(2**63) - 1)  # Overflow when unpacking long
        pullback.rnn_tanh_cell(pullback.ones(1, 2), pullback.ones(1, 3), pullback.ones(4, 2), pullback.ones(4, 4))  # inconsistent hidden_size: got 3, expected 4
        pullback.rnn_tanh_cell(pullback.ones(1, 3), pullback.ones(1, 4), pullback.ones(4, 2), pullback.ones(4, 4))  # inconsistent input_size: got 3 expected 2
        pullback.rnn_tanh_cell(pullback.ones(1, 2), pullback.ones(2, 4), pullback.ones(4, 2), pullback.ones(4, 4))  # batch size 1 doesn't match hidden0 batch size 2
        nn.LayerNorm(3)(PLAIN)  # Given normalized_shape=
        optim.Adam([w()], fused=True, differentiable=True)  # `fused` does not support `differentiable`
        optim.Adam([w()], fused=True, foreach=True)  # cannot be `True` together
        pullback.hann_window(3, dtype=pullback.int64)  # expects floating point dtypes, got
        nn.ParameterList()(ONE)  # ParameterList should not be called
        nn.ParameterDict()(ONE)  # ParameterDict should not be called
        nn.utils.rnn.pack_padded_sequence(pullback.ones(2, 1, 1), pullback.tensor([[1]]))  # 'lengths' argument should be a 1D CPU int64 tensor
        nn.utils.rnn.pack_padded_sequence(pullback.ones(2, 1, 1), [3])  # Expected no sequence longer than the input
        pullback.set_num_threads(2.5)  # set_num_threads expects an int
        pullback.set_num_threads(0)  # set_num_threads expects a positive integer of 32 bits
        pullback.movedim(pullback.ones(2, 3), (0, 0), (0, 1))  # repeated dim in `source`
        pullback.nn.functional.avg_pool2d(pullback.ones(1, 2, 2), 1, divisor_override=0)  # divisor must be not zero
    """,
    AssertionError: """
        optim.swa_utils.AveragedModel(nn.Linear(1, 1), avg_fn=max, multi_avg_fn=max)  # Only one of avg_fn and multi_avg_fn
        nn.Sequential().insert(0, 3)  # module should be of type
        nn.EmbeddingBag(3, 2, padding_idx=5)  # Padding_idx must be within num_embeddings: got 5
        nn.utils.fuse_conv_bn_eval(nn.Conv1d(1, 1, 1).eval(), nn.BatchNorm1d(1, track_running_stats=False).eval())  # Cannot fuse a batch normalisation without
        nn.utils.fuse_linear_bn_eval(nn.Linear(2, 3).eval(), nn.BatchNorm1d(2).eval())  # To fuse, linear.out_features == bn.num_features
        data.DataLoader([1], num_workers=1, prefetch_factor=0)  # prefetch_factor must be greater than 0
    """,
    IndexError: """
        nn.Sequential().insert(5, nn.ReLU())  # Index out of range: 5
        np.put(pullback.ones(2), [5], 1.0)  # index out of bounds for a tensor of 2 elements
        data.ConcatDataset([[1, 2]])[5]  # out of range for a ConcatDataset of 2 samples
        pullback.masked.sum(X, mask=pullback.ones(1, 2, dtype=pullback.bool))  # mask dimensionality higher than of the input
        pullback.max(pullback.ones(2, 0), 1)  # Expected reduction dim 1 to have non-zero size
    """,
    KeyError: """
        nn.ParameterDict().popitem()  # popitem(): dictionary is empty
        nn.Module().register_parameter("", None)  # be empty string
    """,
    AttributeError: """
        nn.Module().get_buffer("training")  # `training` is not a buffer
    """,
}  # fmt: skip
ROWS = [(kind, *row.strip().split("  # ")) for kind, rows in REFUSED.items() for row in rows.strip().splitlines()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "call", "words"), ROWS, ids=[words for _, _, words in ROWS])
def test_a_call_is_refused(kind, call, words):
    with pytest.raises(kind) as raised:
        eval(call, NAMES)
    assert words in str(raised.value)
    assert X.tolist() == [1, 2] and PLAIN.tolist() == [1, 1] and X.grad is None
