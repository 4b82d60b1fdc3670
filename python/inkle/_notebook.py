"""In a notebook, a cell that assigns a constant again changes the kernels that reach it, at their next launch."""

import sys

from inkle import _native


def watch():
    """Has kernels of the notebook looked at again after each cell, where this process is one (or an IPython session)."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    if shell is not None:
        # What such cells assign lies in this module; code of other modules does not change by it.
        module = _native.get_module(shell.user_module.__name__)
        shell.events.register("post_run_cell", lambda result: module.mark_modified())
