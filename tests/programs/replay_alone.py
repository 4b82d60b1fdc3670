"""Replays graph files with the replay library and nothing else of inkle: `replay_alone.py LIBRARY`, in a folder with the files.

The standard input is JSON, a list of runs: the `file`, its `device`, what to `set` before a launch (bytes in hexadecimal by
name) and the names to `get` after it. The output is JSON too: per run the bytes by name.
"""

import ctypes
import json
import sys
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p

HOST_MEMORY = 0


class Param(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("dtype", c_char_p),
        ("direction", c_uint32),
        ("scalar", c_uint32),
        ("scalars_per_element", c_uint32),
        ("element_bytes", c_uint32),
        ("ndim", c_uint32),
        ("shape", c_int32 * 4),
        ("strides", c_int64 * 4),
        ("bytes", c_size_t),
        ("span_bytes", c_size_t),
    ]


library = ctypes.CDLL(sys.argv[1])
library.inkle_replay_last_error.restype = c_char_p
data = [c_void_p, c_char_p, c_void_p, c_size_t, c_uint32, c_void_p]
for name, arguments in {
    "open": [c_char_p, c_char_p, POINTER(c_void_p)],
    "find_param": [c_void_p, c_char_p, POINTER(Param)],
    "set_param": data,
    "get_param": data,
    "launch": [c_void_p, c_void_p],
    "synchronize": [c_void_p, c_void_p],
}.items():
    getattr(library, f"inkle_replay_{name}").argtypes = arguments
library.inkle_replay_close.argtypes = [c_void_p]


def call(name, *arguments):
    if status := getattr(library, f"inkle_replay_{name}")(*arguments):
        sys.exit(f"inkle_replay_{name}: {library.inkle_replay_last_error().decode()} (status {status})")


def run(file, device, set, get):
    replay, found = c_void_p(), {}
    call("open", file.encode(), device.encode(), byref(replay))
    for name, value in set.items():
        value = bytes.fromhex(value)
        call("set_param", replay, name.encode(), value, len(value), HOST_MEMORY, None)
    call("launch", replay, None)
    call("synchronize", replay, None)
    for name in get:
        param = Param()
        call("find_param", replay, name.encode(), byref(param))
        value = ctypes.create_string_buffer(max(param.bytes, 1))
        call("get_param", replay, name.encode(), value, param.bytes, HOST_MEMORY, None)
        found[name] = value.raw[: param.bytes].hex()
    library.inkle_replay_close(replay)
    return found


assert not [name for name in sys.modules if name.partition(".")[0] == "inkle"]
print(json.dumps([run(**wanted) for wanted in json.load(sys.stdin)]))
