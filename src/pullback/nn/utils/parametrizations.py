"""Parametrizations by torch's names: weights of a given norm, of spectral norm 1, and orthogonal ones."""

from __future__ import annotations

from typing import Any, TypeVar

from ..._core.dtypes import finfo
from ..._core.modes import no_grad
from ..._tensor.creation import eye, zeros_like
from ..._tensor.sampling import randn
from ..._tensor.tensor import Tensor
from ...vocabulary.decompositions import householder_product, matrix_exp
from ...vocabulary.equations import solve
from ...vocabulary.linear_algebra import geqrf
from ...vocabulary.norms import vector_norm
from ...vocabulary.shapes import cat
from .. import functional as F
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from .parametrize import register_parametrization

M = TypeVar("M", bound="Module")

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

TRANSPOSED = (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)


def norm_except(weight: Tensor, dim: int) -> Tensor:
    """The norms over all axes but one, which are kept with length 1; over all of them for -1."""
    if dim == -1:
        return vector_norm(weight)
    return vector_norm(weight, 2, [axis for axis in range(weight.ndim) if axis != dim % weight.ndim], True)


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """A weight reshaped to a matrix whose rows are one axis."""
    return weight.movedim(dim, 0).flatten(1)


def _tensor_of(module: Module, name: str) -> Tensor:
    found = getattr(module, name, None)
    if not isinstance(found, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return found


# Norms


class _WeightNorm(Module):
    """A weight as the product of its norms and a direction."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """The norms and the weight."""
        return norm_except(weight, self.dim), weight


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Make a weight the product of a direction and of its norms along an axis; the module is returned.

    Salimans and Kingma, Weight normalization, 2016. `parametrizations.<name>.original0` are the norms, `original1` is
    the direction. None for `dim` is one norm of all.

    >>> from pullback import nn
    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(20, 40))
    >>> {name: tuple(p.shape) for name, p in layer.parametrizations.weight.named_parameters()}
    {'original0': (40, 1), 'original1': (40, 20)}
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def read_old(state_dict: dict[str, Any], prefix: str, *_: object) -> None:
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for place, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{place}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(read_old)
    return module


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, as estimated by power iteration."""

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        check_iterations(n_power_iterations, 1)
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            for buffer, size in zip(("_u", "_v"), matrix.shape, strict=True):
                self.register_buffer(buffer, F.normalize(randn(size, dtype=matrix.dtype), dim=0, eps=eps))
            self._power_method(matrix, 15)

    @no_grad()
    def _power_method(self, matrix: Tensor, count: int) -> None:
        for _ in range(count):
            self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next call modifies them, perhaps before this one's backward
        return weight / u.vdot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The weight itself."""
        return value


def check_iterations(count: int, least: int) -> None:
    """Raise for an invalid number of power iterations."""
    if count < least:
        raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={count}")


def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> M:
    """Divide a weight by its spectral norm, the largest singular value; the module is returned.

    Miyato et al., Spectral normalization for generative adversarial networks, 2018. In training, each use improves what
    is known of the norm by steps of the power method. The weight is read as a matrix whose rows are axis `dim`: the first,
    or the second of transposed convolutions.

    >>> import pullback
    >>> layer = pullback.nn.utils.parametrizations.spectral_norm(pullback.nn.Linear(20, 40))
    >>> bool(pullback.linalg.matrix_norm(layer.weight, 2) > 0.9)
    True
    """
    weight = _tensor_of(module, name)
    dim = int(isinstance(module, TRANSPOSED)) if dim is None else dim
    register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


# Orthogonal matrices


def _q_of(matrix: Tensor) -> Tensor:
    """The orthogonal factor of a matrix, with signs such that R has a positive diagonal."""
    reflections, tau = geqrf(matrix)
    return householder_product(reflections, tau) * reflections.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _is_orthogonal(q: Tensor) -> bool:
    """True if a matrix is orthogonal up to rounding."""
    one = eye(q.shape[-1], dtype=q.dtype)
    return bool((q.mH @ q).allclose(one, rtol=0, atol=10 * q.shape[-1] * finfo(q.dtype).eps))


class _Orthogonal(Module):
    """An orthogonal matrix, computed by one of several maps, times a constant matrix `base`, if there is one."""

    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.shape[-2] < X.shape[-1]
        x = X.mT if wide else X
        q = _reflected(x) if self.orthogonal_map == "householder" else self._turned(x)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _turned(self, x: Tensor) -> Tensor:
        """The leading columns of the rotation with a skew-symmetric generator."""
        n, k = x.shape[-2:]
        x = x.tril()
        if n != k:
            x = cat([x, x.new_zeros((*x.shape[:-1], n - k))], -1)
        generator = x - x.mH
        if self.orthogonal_map == "matrix_exp":
            q = matrix_exp(generator)
        else:
            one = eye(n, dtype=x.dtype)
            q = solve(one - generator / 2, one + generator / 2)
        return q[..., :k]

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        """What gives a matrix, made orthogonal if it is not: with a base, the base is that matrix.

        Raises
        ------
        ValueError
            If the shape is another.
        NotImplementedError
            If there is no base, and the map has no inverse.
        """
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        wide = Q.shape[-2] < Q.shape[-1]
        q = Q.mT if wide else Q
        n, k = q.shape[-2:]
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            made, _ = geqrf(q)
            signs = made.diagonal(dim1=-2, dim2=-1)
            signs.copy_((signs >= 0) * 2 - 1)
            return made.mT if wide else made
        if n != k:
            q = _q_of(cat([q, randn(*q.shape[:-1], n - k, dtype=q.dtype)], -1))
        else:
            q = q.clone() if _is_orthogonal(q) else _q_of(q)
        self.base = q
        minus = zeros_like(Q)
        minus.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return minus


def _reflected(x: Tensor) -> Tensor:
    """The product of reflections given by the columns below the diagonal, with signs given by the diagonal."""
    below = x.tril(-1)
    tau = 2.0 / (1.0 + (below * below).sum(-2))
    signs = x.detach().diagonal(dim1=-2, dim2=-1).trunc()
    return householder_product(below, tau) * signs.unsqueeze(-2)


def orthogonal(
    module: M, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> M:
    """Make a weight an orthogonal matrix, or one with orthonormal rows or columns; the module is returned.

    `orthogonal_map` is "matrix_exp", "cayley" or "householder"; the first where the matrix is square or complex and the
    last elsewhere, if not given. Lezcano-Casado, Trivializations for gradient-based optimization on manifolds, 2019.

    >>> import pullback
    >>> from pullback import nn
    >>> q = nn.utils.parametrizations.orthogonal(nn.Linear(20, 40).double()).weight
    >>> pullback.allclose(q.mT @ q, pullback.eye(20, dtype=pullback.float64))
    True
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1] or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
