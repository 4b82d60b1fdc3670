"""Messages to the user."""

from inkle._logger import (
    Logger,
    LoggerBasic,
    ScopedLogger,
    ScopedLogLevel,
    _warnings_seen,
    get_logger,
    log_debug,
    log_error,
    log_info,
    log_warning,
    set_logger,
)
from inkle._planned import absent

__getattr__ = absent("inkle._src.logger")
