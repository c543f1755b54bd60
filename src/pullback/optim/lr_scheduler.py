"""Schedules of the learning rate, by torch's names: `step()` after each epoch sets the rate of each group."""

from .combined import ChainedScheduler as ChainedScheduler, SequentialLR as SequentialLR
from .cyclic import CyclicLR as CyclicLR, OneCycleLR as OneCycleLR
from .decay import (
    ConstantLR as ConstantLR,
    CosineAnnealingLR as CosineAnnealingLR,
    CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts,
    ExponentialLR as ExponentialLR,
    LambdaLR as LambdaLR,
    LinearLR as LinearLR,
    MultiplicativeLR as MultiplicativeLR,
    MultiStepLR as MultiStepLR,
    PolynomialLR as PolynomialLR,
    StepLR as StepLR,
)
from .plateau import ReduceLROnPlateau as ReduceLROnPlateau
from .schedule import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING, LRScheduler as LRScheduler

_LRScheduler = LRScheduler  # its old name

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]  # fmt: skip
