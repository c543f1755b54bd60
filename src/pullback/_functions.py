"""The operations as functions of the package: `pullback.exp(t)` is `t.exp()`.

The hottest are taken from Tensor, where the short way stands in front of them; the rest is the vocabulary itself.
"""

from __future__ import annotations

from typing import Any

from ._tensor import Tensor
from .vocabulary.arithmetic import add as add
from .vocabulary.arithmetic import bitwise_and as bitwise_and
from .vocabulary.arithmetic import bitwise_not as bitwise_not
from .vocabulary.arithmetic import bitwise_or as bitwise_or
from .vocabulary.arithmetic import bitwise_xor as bitwise_xor
from .vocabulary.arithmetic import ceil as ceil
from .vocabulary.arithmetic import clamp as clamp
from .vocabulary.arithmetic import cosh as cosh
from .vocabulary.arithmetic import div as div
from .vocabulary.arithmetic import eq as eq
from .vocabulary.arithmetic import expm1 as expm1
from .vocabulary.arithmetic import floor as floor
from .vocabulary.arithmetic import floor_divide as floor_divide
from .vocabulary.arithmetic import ge as ge
from .vocabulary.arithmetic import gt as gt
from .vocabulary.arithmetic import isfinite as isfinite
from .vocabulary.arithmetic import isinf as isinf
from .vocabulary.arithmetic import isnan as isnan
from .vocabulary.arithmetic import le as le
from .vocabulary.arithmetic import log1p as log1p
from .vocabulary.arithmetic import logical_and as logical_and
from .vocabulary.arithmetic import logical_not as logical_not
from .vocabulary.arithmetic import logical_or as logical_or
from .vocabulary.arithmetic import logical_xor as logical_xor
from .vocabulary.arithmetic import lt as lt
from .vocabulary.arithmetic import ne as ne
from .vocabulary.arithmetic import nonzero as nonzero
from .vocabulary.arithmetic import pow as pow
from .vocabulary.arithmetic import remainder as remainder
from .vocabulary.arithmetic import round as round
from .vocabulary.arithmetic import rsqrt as rsqrt
from .vocabulary.arithmetic import rsub as rsub
from .vocabulary.arithmetic import sign as sign
from .vocabulary.arithmetic import sinh as sinh
from .vocabulary.arithmetic import sub as sub
from .vocabulary.arithmetic import tan as tan
from .vocabulary.arithmetic import trunc as trunc
from .vocabulary.arithmetic import where as where
from .vocabulary.products import bmm as bmm
from .vocabulary.products import dot as dot
from .vocabulary.products import einsum as einsum
from .vocabulary.products import matmul as matmul
from .vocabulary.products import mm as mm
from .vocabulary.products import mv as mv
from .vocabulary.products import outer as outer
from .vocabulary.reductions import all as all
from .vocabulary.reductions import amax as amax
from .vocabulary.reductions import amin as amin
from .vocabulary.reductions import any as any
from .vocabulary.reductions import argmax as argmax
from .vocabulary.reductions import argmin as argmin
from .vocabulary.reductions import cumsum as cumsum
from .vocabulary.reductions import log_softmax as log_softmax
from .vocabulary.reductions import logsumexp as logsumexp
from .vocabulary.reductions import max as max
from .vocabulary.reductions import mean as mean
from .vocabulary.reductions import min as min
from .vocabulary.reductions import norm as norm
from .vocabulary.reductions import softmax as softmax
from .vocabulary.reductions import std as std
from .vocabulary.reductions import sum as sum
from .vocabulary.reductions import var as var
from .vocabulary.shapes import broadcast_to as broadcast_to
from .vocabulary.shapes import cat as cat
from .vocabulary.shapes import chunk as chunk
from .vocabulary.shapes import flatten as flatten
from .vocabulary.shapes import flip as flip
from .vocabulary.shapes import movedim as movedim
from .vocabulary.shapes import permute as permute
from .vocabulary.shapes import ravel as ravel
from .vocabulary.shapes import reshape as reshape
from .vocabulary.shapes import split as split
from .vocabulary.shapes import squeeze as squeeze
from .vocabulary.shapes import stack as stack
from .vocabulary.shapes import t as t
from .vocabulary.shapes import transpose as transpose
from .vocabulary.shapes import unbind as unbind
from .vocabulary.shapes import unsqueeze as unsqueeze

abs = Tensor.abs
cos = Tensor.cos
exp = Tensor.exp
log = Tensor.log
maximum = Tensor.maximum
minimum = Tensor.minimum
mul = Tensor.mul
neg = Tensor.neg
reciprocal = Tensor.reciprocal
relu = Tensor.relu
sigmoid = Tensor.sigmoid
sin = Tensor.sin
sqrt = Tensor.sqrt
square = Tensor.square
tanh = Tensor.tanh

absolute = abs
clip = clamp
concat = cat
divide = true_divide = div
multiply = mul
negative = neg
subtract = sub


def clone(input: Any) -> Any:
    """A recorded copy."""
    return input.clone()


def numel(input: Any) -> int:
    """The number of elements."""
    return int(input.numel())


def zero_(input: Any) -> Any:
    """In place: zeros."""
    return input.zero_()
