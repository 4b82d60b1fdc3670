"""Gradients: not available in inkle yet; programs can import the module, and every use says so."""

from inkle._planned import absent

__getattr__ = absent("inkle.autograd")
