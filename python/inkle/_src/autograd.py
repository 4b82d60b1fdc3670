"""Where the reference API keeps what `inkle.autograd` has."""

from inkle.autograd import *  # noqa: F403
from inkle.autograd import FunctionMetadata  # noqa: F401
