"""Which functions in Python a statement enters."""

import gc
import sys


def entered_by(text, scope):
    """The functions that a statement enters when it is run a second time: what is made once is made at the first."""
    code, entered, collects = compile(text, "<usual>", "exec"), [], gc.isenabled()

    def told(frame, event, _):
        if event == "call" and frame.f_code.co_filename != "<usual>":
            entered.append(frame.f_code.co_qualname)

    gc.disable()  # it may call functions at any time
    try:
        exec(code, scope)
        sys.setprofile(told)
        exec(code, scope)
    finally:
        sys.setprofile(None)
        if collects:
            gc.enable()
    return entered
