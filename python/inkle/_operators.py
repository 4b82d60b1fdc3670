"""Where the libraries with operators for other frameworks are, and what those make of a graph file."""

from pathlib import Path

from inkle import _native

_FOLDER = Path(__file__).resolve().parent / "lib"


def library_path(name):
    """The path of a library of operators.

    Raises:
        FileNotFoundError: If it is not there.
    """
    path = _FOLDER / name
    if not path.is_file():
        raise FileNotFoundError(
            f"the library of operators {path} is not there. Wheels of inkle have it: install one "
            f"(pip install --force-reinstall inkle); in a checkout of inkle, run scripts/operators.sh {_FOLDER}"
        )
    return str(path)


def describe(bundle):
    """What the operators make of a graph file.

    Args:
        bundle: The bytes of a file that ``capture_save`` wrote, or a ``uint8`` tensor or array of them.

    Returns:
        A dict: ``inputs`` and ``outputs``, each a list of dicts with ``name``, ``dtype`` (such as ``"float32"``) and
        ``shape`` (a tuple; vectors and matrices add their own extents); ``signature``, the outputs' types as the
        operators take them (``"float32[2,4,3] int32[5]"``); ``targets``, what machines there is code for;
        ``hidden_state``, the sizes in bytes of memory that is read before it is written, and written later: operators
        start from what the file has there at every call, so nothing is carried from one call to the next.

    Raises:
        ValueError: If it is no graph file, or a damaged one.
        TypeError: If a parameter has elements that no tensor has (``Unsupported dtype``).
    """
    if hasattr(bundle, "detach"):
        bundle = bundle.detach().cpu().numpy()
    return _native.describe_function(bundle)
