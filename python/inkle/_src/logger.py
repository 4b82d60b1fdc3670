"""Messages to the user."""

from inkle import _logger
from inkle._planned import absent

_missing = absent("inkle._src.logger")


def __getattr__(name):
    return getattr(_logger, name) if hasattr(_logger, name) else _missing(name)
