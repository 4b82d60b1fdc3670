"""Directories of the user, by the conventions of the operating system."""

import os


def user_cache_dir(appname=None, appauthor=None, version=None, opinion=True):
    """The directory for an application's caches: ``$XDG_CACHE_HOME`` (``~/.cache``), then name and version.

    ``appauthor`` and ``opinion`` matter on other operating systems only.
    """
    path = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for part in (appname, version if appname else None):
        if part:
            path = os.path.join(path, part)
    return path
