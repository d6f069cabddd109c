# SPDX-License-Identifier: Apache-2.0
"""libpassmith_rt by ctypes: the structures and functions of rt/passmith_rt.h."""
import ctypes
import threading

from . import _find
from ._error import ENV, Error

VERSION = 1
HOST, ON_DEVICE = 0, 1
GRAPH = 1
MAX_RANK = 8

# Numbers of element types, ONNX's: name, bytes, and the letter of the module struct (None: it has none).
TYPES = {
    1: ("float32", 4, "f"), 2: ("uint8", 1, "B"), 3: ("int8", 1, "b"), 4: ("uint16", 2, "H"), 5: ("int16", 2, "h"),
    6: ("int32", 4, "i"), 7: ("int64", 8, "q"), 9: ("bool", 1, "?"), 10: ("float16", 2, None), 11: ("float64", 8, "d"),
    12: ("uint32", 4, "I"), 13: ("uint64", 8, "Q"), 16: ("bfloat16", 2, None),
}
NUMBERS = {name: number for number, (name, _, _) in TYPES.items()}


class RtError(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 1024)]


class Value(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("rank", ctypes.c_int),
                ("dim", ctypes.c_int64 * MAX_RANK), ("symbol", ctypes.c_char_p * MAX_RANK)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("place", ctypes.c_int), ("rank", ctypes.c_int),
                ("dim", ctypes.c_int64 * MAX_RANK)]


_P = ctypes.c_void_p
_E = ctypes.POINTER(RtError)
_V = ctypes.POINTER(Value)
_FUNCTIONS = {
    "version": (ctypes.c_int, []),
    "open": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(_P), _E]),
    "close": (None, [_P]),
    "verify": (ctypes.c_int, [_P, _E]),
    "about": (ctypes.c_char_p, [_P]),
    "n_inputs": (ctypes.c_size_t, [_P]),
    "n_outputs": (ctypes.c_size_t, [_P]),
    "input": (_V, [_P, ctypes.c_size_t]),
    "output": (_V, [_P, ctypes.c_size_t]),
    "n_shapes": (ctypes.c_size_t, [_P]),
    "shape_input": (ctypes.c_int, [_P, ctypes.c_size_t, ctypes.c_size_t, _V]),
    "session_new": (ctypes.c_int, [_P, ctypes.POINTER(_P), _E]),
    "session_warm": (ctypes.c_int, [_P, ctypes.c_uint, _E]),
    "session_free": (None, [_P]),
    "bind_input": (ctypes.c_int, [_P, ctypes.c_size_t, ctypes.POINTER(Tensor), _E]),
    "output_shape": (ctypes.c_int, [_P, ctypes.c_size_t, _V, _E]),
    "bind_output": (ctypes.c_int, [_P, ctypes.c_size_t, ctypes.POINTER(Tensor), _E]),
    "run": (ctypes.c_int, [_P, _P, ctypes.c_uint, _E]),
}


class Library:
    """The functions of the library without their prefix. Those that take a PmRtError raise what it says."""

    def __init__(self, path):
        try:
            so = ctypes.CDLL(path)
        except OSError as e:
            raise Error(ENV, f"The library {_find.LIBRARY} cannot be opened ({e}); build it with make, and set "
                        "PASSMITH_BUILD to the folder of the build.") from None
        self.path = path
        for name, (result, args) in _FUNCTIONS.items():
            try:
                f = getattr(so, "pm_rt_" + name)
            except AttributeError:
                raise Error(ENV, f'"{path}" has no function pm_rt_{name}; install a library and a package of one '
                            "version.") from None
            f.restype, f.argtypes = result, args
            setattr(self, name, _checked(f) if args and args[-1] is _E else f)
        if self.version() != VERSION:
            raise Error(ENV, f'"{path}" has version {self.version()} of the interface, and this package wants '
                        f"{VERSION}; install both of one version.")


def _checked(f):
    def call(*args):
        error = RtError()
        if f(*args, ctypes.byref(error)):
            raise Error(error.code, error.text.decode("utf-8", "replace"))
    return call


_lock = threading.Lock()
_library = None


def library():
    """The library, opened at its first use."""
    global _library
    with _lock:
        if _library is None:
            _library = Library(_find.library())
        return _library


def synchronize(ordinal):
    """Waits for everything that was enqueued on a GPU in this process. Without PyTorch too, and without a word where
    the driver has gone: this runs when models are closed."""
    try:
        cu = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return
    dev, ctx, before = ctypes.c_int(), _P(), _P()
    if cu.cuDeviceGet(ctypes.byref(dev), ordinal) or cu.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), dev):
        return
    if not cu.cuCtxPushCurrent_v2(ctx):
        cu.cuCtxSynchronize()
        cu.cuCtxPopCurrent_v2(ctypes.byref(before))
    cu.cuDevicePrimaryCtxRelease_v2(dev)
