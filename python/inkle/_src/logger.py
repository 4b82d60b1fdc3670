"""Messages to the user."""

from inkle._planned import absent

__getattr__ = absent("inkle._src.logger")
