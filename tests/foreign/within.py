"""Runs pytest in WebAssembly, where wasm.js starts it with `given`: the lane and the arguments."""

import contextlib
import os
import sys
import traceback
import types

root, *arguments = given["arguments"]  # noqa: F821
lane = given["lane"]  # noqa: F821
# The interpreter comes without the module of its configuration, which pytest's plugins ask for.
sys.modules["_sysconfigdata__wasm32-wasi"] = configuration = types.ModuleType("configuration")
configuration.build_time_vars = {}
sys.dont_write_bytecode = True
sys.path[:0] = [
    f"{lane}/node_modules/@cowasm/py-numpy/dist/wasm",
    f"{root}/src",
    root,
    f"{root}/scripts",
    f"{root}/tests/foreign",
    f"{lane}/site",
]
os.chdir(root)
with (
    open(os.environ["FOREIGN_LOG"], "w", encoding="utf-8") as log,
    contextlib.redirect_stdout(log),
    contextlib.redirect_stderr(log),
):
    try:
        import pytest

        class Options:
            """pytest's faulthandler needs threads, and is not loaded: its options are known nevertheless."""

            def pytest_addoption(self, parser):
                parser.addini("faulthandler_timeout", "")
                parser.addini("faulthandler_exit_on_timeout", "")

        options = ["-p", "no:faulthandler", "--capture=sys", "-o", "addopts=--import-mode=importlib"]
        pytest.main([*options, *arguments], plugins=[Options()])
    except BaseException:  # noqa: BLE001
        log.write(traceback.format_exc())
