"""Schedules of the learning rate, by torch's names: `step()` after each epoch sets the rate of each group."""

from .combined import ChainedScheduler as ChainedScheduler
from .combined import SequentialLR as SequentialLR
from .cyclic import CyclicLR as CyclicLR
from .cyclic import OneCycleLR as OneCycleLR
from .decay import ConstantLR as ConstantLR
from .decay import CosineAnnealingLR as CosineAnnealingLR
from .decay import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from .decay import ExponentialLR as ExponentialLR
from .decay import LambdaLR as LambdaLR
from .decay import LinearLR as LinearLR
from .decay import MultiplicativeLR as MultiplicativeLR
from .decay import MultiStepLR as MultiStepLR
from .decay import PolynomialLR as PolynomialLR
from .decay import StepLR as StepLR
from .plateau import ReduceLROnPlateau as ReduceLROnPlateau
from .schedule import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from .schedule import LRScheduler as LRScheduler

_LRScheduler = LRScheduler  # its old name

__all__ = [
    "LambdaLR", "MultiplicativeLR", "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "SequentialLR",
    "CosineAnnealingLR", "ChainedScheduler", "ReduceLROnPlateau", "CyclicLR", "CosineAnnealingWarmRestarts",
    "OneCycleLR", "PolynomialLR", "LRScheduler",
]  # fmt: skip
