"""Nothing of the reference API's builtins is here; programs can import its names, and every use says so."""

from inkle._planned import absent

__getattr__ = absent("inkle._src.builtins")
