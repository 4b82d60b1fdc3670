"""Where inkle's messages to the user go: standard output and Python's warnings, or an object the program sets."""

import sys
import warnings
from typing import Protocol

from inkle import config

LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR = 10, 20, 30, 40
_METHODS = ("debug", "info", "warning", "error")


class Logger(Protocol):
    """What ``set_logger`` takes: an object with these four methods."""

    def debug(self, message):
        """Takes a message of interest to developers of kernels."""

    def info(self, message):
        """Takes a message about what is done."""

    def warning(self, message, category=None, stacklevel=1):
        """Takes a warning, of a class of ``warnings`` or ``None``."""

    def error(self, message):
        """Takes the description of a failure."""


class LoggerBasic:
    """Prints messages to standard output, warnings and errors to standard error."""

    def debug(self, message):
        print(message)

    def info(self, message):
        print(message)

    def warning(self, message, category=None, stacklevel=1):
        with warnings.catch_warnings():
            warnings.formatwarning = _format_warning
            warnings.warn(message, category or UserWarning, stacklevel=stacklevel)

    def error(self, message):
        print(f"Warp Error: {message}", file=sys.stderr)


def _format_warning(message, category, filename, lineno, line=None):
    place = f" ({filename}:{lineno})" if config.verbose_warnings else ""
    return f"Warp {category.__name__}: {message}{place}\n"


class LoggerOfLogging:
    """Sends messages on to a logger of Python's ``logging``."""

    def __init__(self, logger):
        self.logger = logger

    def debug(self, message):
        self.logger.debug("%s", message)

    def info(self, message):
        self.logger.info("%s", message)

    def warning(self, message, category=None, stacklevel=1):
        self.logger.warning("%s", message, stacklevel=stacklevel + 1)

    def error(self, message):
        self.logger.error("%s", message)


_basic = LoggerBasic()
_logger = _basic
_warnings_seen = set()


def get_logger():
    """The object that messages go to."""
    return _logger


def threshold():
    """The least level of messages that are shown."""
    if config.quiet:
        return max(config.log_level, LOG_WARNING)
    return min(config.log_level, LOG_DEBUG) if config.verbose else config.log_level


def set_logger(logger):
    """Sends messages to ``logger`` from now on; ``None`` for the one that prints them.

    A logger of Python's ``logging`` is taken as it is: it decides itself what it shows of what ``log_level`` lets through.
    """
    global _logger
    if logger is None:
        logger = _basic
    logging = sys.modules.get("logging")
    if logging is not None and isinstance(logger, (logging.Logger, logging.LoggerAdapter)):
        logger = LoggerOfLogging(logger)
    missing = [m for m in _METHODS if not callable(getattr(logger, m, None))]
    if missing:
        raise TypeError(f"a logger needs the methods {', '.join(_METHODS)}; {type(logger).__name__} lacks {missing[0]}")
    _logger = logger


class ScopedLogger:
    """Sends messages to ``logger`` inside a ``with`` statement."""

    def __init__(self, logger):
        self.logger = logger

    def __enter__(self):
        self._saved = get_logger()
        set_logger(self.logger)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        global _logger
        _logger = self._saved


class ScopedLogLevel:
    """Shows messages from ``level`` on inside a ``with`` statement."""

    def __init__(self, level):
        self.level = level

    def __enter__(self):
        self._saved = config.log_level
        config.log_level = self.level
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        config.log_level = self._saved


def log_debug(message):
    """Sends a message of level debug."""
    if threshold() <= LOG_DEBUG:
        _logger.debug(message)


def log_info(message):
    """Sends a message of level info."""
    if threshold() <= LOG_INFO:
        _logger.info(message)


def log_warning(message, category=None, stacklevel=1, once=False):
    """Sends a warning; one about something deprecated, or with ``once``, is sent once only."""
    if threshold() > LOG_WARNING:
        return
    once = once or (category is not None and issubclass(category, DeprecationWarning))
    if once and (category, message) in _warnings_seen:
        return
    # Seen from the logger's method, this function is one level up and its caller another.
    _logger.warning(message, category, stacklevel + 2)
    if once:
        _warnings_seen.add((category, message))


def log_error(message):
    """Sends the description of a failure, whatever the level."""
    _logger.error(message)
