"""Graphs: the reference API keeps here how it saves them."""

from inkle._planned import absent

__getattr__ = absent("inkle._src.apic")
