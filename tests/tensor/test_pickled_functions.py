"""Functions can be pickled by the names that users know them by, as a program does that saves a module whole."""

import pickle
from types import FunctionType

import pytest

import pullback

MODULES = [pullback, pullback.nn.functional, pullback.linalg, pullback.special, pullback.fft]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_functions_come_back_as_themselves(module):
    functions = {
        name: found
        for name in dir(module)
        if not name.startswith("_") and isinstance(found := getattr(module, name), FunctionType)
    }
    assert len(functions) > 20
    strangers = []
    for name, function in functions.items():
        try:
            if pickle.loads(pickle.dumps(function)) is not function:
                strangers.append(name)
        except pickle.PicklingError:
            strangers.append(name)
    assert not strangers
