"""Nothing of the reference API's inside: programs that only import from here can run."""

from inkle._planned import absent

__getattr__ = absent("inkle._src.apic.capture")
