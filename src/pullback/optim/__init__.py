"""Optimizers by torch's names, imported when they are first asked for."""

from .._core import lazy as _lazy

__getattr__, __dir__, __all__ = _lazy.index(
    globals(),
    {
        "adadelta": "Adadelta",
        "adafactor": "Adafactor",
        "adagrad": "Adagrad",
        "adam": "Adam",
        "adamw": "AdamW",
        "adamax": "Adamax",
        "asgd": "ASGD",
        "lbfgs": "LBFGS",
        "muon": "Muon",
        "nadam": "NAdam",
        "optimizer": "Optimizer",
        "radam": "RAdam",
        "rmsprop": "RMSprop",
        "rprop": "Rprop",
        "sgd": "SGD",
        "sparse_adam": "SparseAdam",
    },
    "lr_scheduler swa_utils",
)
