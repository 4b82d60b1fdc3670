"""Loading a file of kernels for the ``inkle`` command."""

import importlib.util
import os
import sys

from inkle.run import install_alias


def load(path):
    """Imports the file as a module of its own and gives its variables. ``import warp`` in it gives inkle."""
    install_alias()
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return vars(module)
