# SPDX-License-Identifier: Apache-2.0
"""Tensors of other libraries as the library takes them: an address, a type, a place and sizes.

Nothing is copied where the elements lie one after the other in row-major order. What does not is copied once, by its
own library, and so is the read-only memory of an object with the buffer protocol.
"""
import ctypes
import sys
from typing import Any, NamedTuple, Optional

from . import _rt
from ._error import INPUT, Error


class Taken(NamedTuple):
    address: int
    type: int              # ONNX's number
    dims: tuple            # of integers
    gpu: Optional[int]     # None: memory of this process; -1: of a GPU that the object does not name
    stream: Optional[int]  # the stream on which the elements are made, where the object says so
    keep: Any              # owns the memory
    kind: str              # of which library results are: torch, numpy, buffer, gpu
    copied: bool = False   # it is not the object's own memory
    readonly: bool = False
    asked: Optional[int] = None  # the stream on which DLPack was asked to have the elements ready


def _torch():
    return sys.modules.get("torch")


LEGACY_STREAM = 1  # CUDA's handle of the default stream
_torch_types = {}
torch_tensor = torch_empty = None  # PyTorch's, from the first of its tensors on


def torch_types():
    """PyTorch's types by ONNX's numbers and the other way around."""
    global torch_tensor, torch_empty
    if not _torch_types:
        torch_tensor, torch_empty = _torch().Tensor, _torch().empty
        for number, (name, _, _) in _rt.TYPES.items():
            t = getattr(_torch(), name, None)
            if t is not None:
                _torch_types[number] = t
                _torch_types[t] = number
    return _torch_types


def take(x, what, stream=None):
    """`what` names the tensor in errors: "input 'x'". stream: that of the run, where it is known."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        return _take_torch(torch, x, what)
    if hasattr(x, "__cuda_array_interface__"):
        return _take_interface(x, x.__cuda_array_interface__, what, -1)
    if hasattr(x, "__array_interface__"):
        return _take_interface(x, x.__array_interface__, what, None)
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        return _take_dlpack(x, what, stream or LEGACY_STREAM)
    try:
        view = memoryview(x)
    except TypeError:
        raise Error(INPUT, f"The {what} is of type {type(x).__name__}; give an array of NumPy, a tensor of PyTorch, or "
                    "an object with __dlpack__, __array_interface__ or the buffer protocol.") from None
    return _take_buffer(view, what)


def _take_torch(torch, x, what):
    number = (_torch_types or torch_types()).get(x.dtype)
    if number is None:
        raise _no_type(what, str(x.dtype))
    on_gpu = x.is_cuda
    if not (on_gpu or x.is_cpu) or x.layout is not torch.strided:
        raise Error(INPUT, f"The {what} is a tensor of layout {x.layout} on {x.device}; give a dense one on the CPU or "
                    "on a GPU of NVIDIA.")
    copied = not x.is_contiguous() or x.is_neg()
    if copied:
        x = x.detach().resolve_neg().contiguous()
    return Taken(x.data_ptr(), number, x.shape, x.get_device() if on_gpu else None, None, x, "torch", copied)


def torch_has_gpu():
    """Whether PyTorch is there and uses GPUs."""
    return _torch() is not None and _torch().cuda.is_initialized()


def torch_stream(gpu):
    """The handle of PyTorch's current stream; where this PyTorch tells it, without an object around it."""
    raw = getattr(_torch()._C, "_cuda_getCurrentRawStream", None)
    return (raw(gpu) if raw else _torch().cuda.current_stream(gpu).cuda_stream) or LEGACY_STREAM


def _no_type(what, name):
    return Error(INPUT, f"The {what} has the type {name}, of which packages have no tensors; convert it.")


def _take_interface(x, about, what, gpu):
    typestr, shape = about["typestr"], tuple(about["shape"])
    numpy = sys.modules.get("numpy")
    name = str(x.dtype) if typestr[1] == "V" and hasattr(x, "dtype") else None
    if about.get("strides") is not None and not _in_order(about["strides"], shape, int(typestr[2:])) \
            or typestr[0] == ">":
        if numpy is None or gpu is not None:
            raise Error(INPUT, f"The elements of the {what} do not lie one after the other; give a copy that is "
                        "contiguous in row-major order.")
        x = numpy.array(x, order="C")
        if typestr[0] == ">":
            x = x.astype(x.dtype.newbyteorder("="))
        return _take_interface(x, x.__array_interface__, what, gpu)._replace(copied=True)
    number = _rt.NUMBERS.get(name) if name else _NUMBER_OF.get(typestr[1:])
    if number is None:
        raise _no_type(what, name or typestr)
    stream = about.get("stream") if gpu is not None else None
    kind = "gpu" if gpu is not None else "numpy" if numpy is not None else "buffer"
    return Taken(about["data"][0] or 0, number, shape, gpu, stream, (x, about), kind, False, about["data"][1])


_NUMBER_OF = {"f4": 1, "u1": 2, "i1": 3, "u2": 4, "i2": 5, "i4": 6, "i8": 7, "b1": 9, "f2": 10, "f8": 11, "u4": 12,
              "u8": 13}


def _in_order(strides, shape, size):
    """Whether strides, in units of `size`, are those of row-major order."""
    if 0 in shape:
        return True
    for stride, n in zip(reversed(strides), reversed(shape)):
        if n != 1 and stride != size:
            return False
        size *= n
    return True


def _take_buffer(view, what):
    letter = view.format.lstrip("@=<")
    kind = "i" if letter in tuple("bhilqn") else "u" if letter in tuple("BHILQNc") else "f" if letter in tuple("efd") \
        else "b" if letter == "?" else ""
    number = _NUMBER_OF.get(f"{kind}{view.itemsize}")
    if number is None:
        raise _no_type(what, f"'{view.format}' of the module struct")
    copied = not view.c_contiguous or view.readonly
    keep = bytearray(view.tobytes()) if copied else view
    if view.nbytes:
        keep = (ctypes.c_char * view.nbytes).from_buffer(keep)
    address = ctypes.addressof(keep) if view.nbytes else 0
    return Taken(address, number, tuple(view.shape), None, None, keep, "buffer", copied)


# --- DLPack -----------------------------------------------------------------------------------------------------


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int), ("device_id", ctypes.c_int),
                ("ndim", ctypes.c_int), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

_DL_CPU, _DL_CUDA, _DL_CUDA_HOST, _DL_CUDA_MANAGED = 1, 2, 3, 13
_DL_TYPES = {(0, 8): "int8", (0, 16): "int16", (0, 32): "int32", (0, 64): "int64", (1, 8): "uint8", (1, 16): "uint16",
             (1, 32): "uint32", (1, 64): "uint64", (2, 16): "float16", (2, 32): "float32", (2, 64): "float64",
             (4, 16): "bfloat16", (6, 8): "bool"}


def _take_dlpack(x, what, stream):
    device, number = x.__dlpack_device__()
    on_gpu = int(device) in (_DL_CUDA, _DL_CUDA_MANAGED)
    if not on_gpu and int(device) not in (_DL_CPU, _DL_CUDA_HOST):
        raise Error(INPUT, f"The {what} lies on a device of DLPack's kind {int(device)}; copy it to the CPU or to a "
                    "GPU of NVIDIA.")
    # The capsule keeps the memory, and gives it back when it goes: nothing here consumes it.
    capsule = x.__dlpack__(stream=stream) if on_gpu else x.__dlpack__()
    t = _DLTensor.from_address(_pointer_of(capsule, b"dltensor"))
    shape = tuple(t.shape[:t.ndim])
    name = _DL_TYPES.get((t.code, t.bits)) if t.lanes == 1 else None
    if name is None:
        raise _no_type(what, f"of DLPack {t.code}, {t.bits} bits, {t.lanes} lanes")
    if t.strides and not _in_order(t.strides[:t.ndim], shape, 1):
        raise Error(INPUT, f"The elements of the {what} do not lie one after the other; give a copy that is contiguous "
                    "in row-major order.")
    kind = "gpu" if on_gpu else "numpy" if sys.modules.get("numpy") else "buffer"
    return Taken((t.data or 0) + t.byte_offset, _rt.NUMBERS[name], shape, number if on_gpu else None, None, capsule, kind,
                 asked=stream if on_gpu else None)


# --- results ----------------------------------------------------------------------------------------------------


def default_kind():
    """The kind of results where there is no input."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return "buffer"
    return "numpy"


def make(kind, like, number, dims, what):
    """A new tensor of a kind: what the caller gets, and the same taken. `like`: the first input as it was given."""
    name, size, letter = _rt.TYPES[number]
    if kind == "torch":
        x = torch_empty(dims, dtype=_torch_types[number], device=like.device)
        return x, Taken(x.data_ptr(), number, dims, x.get_device() if x.is_cuda else None, None, x, "torch")
    if kind == "numpy":
        import numpy
        x = numpy.empty(dims, dtype=_numpy_type(name, what))
        return x, _take_interface(x, x.__array_interface__, what, None)
    if kind == "gpu":
        raise Error(INPUT, "The first input lies on a GPU and is no tensor of PyTorch; give memory for the results: "
                    "model.run(inputs, out=[...]).")
    if letter is None:
        raise Error(INPUT, f"The {what} has the type {name}, which the buffer protocol lacks; install NumPy, or give "
                    "tensors of PyTorch.")
    n = size
    for d in dims:
        n *= d
    view = memoryview(bytearray(n)).cast(letter)
    return view.cast("B").cast(letter, shape=list(dims)) if n else view, _take_buffer(view, what)._replace(dims=dims)


def _numpy_type(name, what):
    if name != "bfloat16":
        return name
    try:
        import ml_dtypes
    except ImportError:
        raise Error(INPUT, f"The {what} has the type bfloat16, which NumPy lacks; install ml_dtypes, or give tensors "
                    "of PyTorch.") from None
    return ml_dtypes.bfloat16
