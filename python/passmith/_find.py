# SPDX-License-Identifier: Apache-2.0
"""Where the programs, the passes and the library are.

In a wheel they lie in passmith/_bin. Beside a build they lie in $PASSMITH_BUILD. Else the program passmith of $PATH
says where: a build has everything in its folder, the bundle has the library in lib, and an installation beside the
folder of the program.
"""
import os
import shutil
import sys

from ._error import ENV, Error

BUNDLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_bin")
LIBRARY = "libpassmith_rt.so.1"


def bundled(name):
    """The path of a file of the wheel, or None."""
    path = os.path.join(BUNDLED, name)
    return path if os.path.exists(path) else None


def _places():
    """Folders where programs may be, the first one first."""
    build = os.environ.get("PASSMITH_BUILD")
    found = shutil.which("passmith")
    if build:
        yield os.path.abspath(build)
    if found:
        yield os.path.dirname(os.path.realpath(found))


def program():
    """The program passmith."""
    path = bundled("passmith")
    for folder in () if path else _places():
        path = os.path.join(folder, "passmith")
        if os.access(path, os.X_OK):
            break
        path = None
    if not path:
        raise Error(ENV, "The program passmith is neither in this package, nor in $PASSMITH_BUILD, nor in a folder of "
                    "$PATH; build it with make, and set PASSMITH_BUILD to the folder of the build.")
    return path


def passes():
    """The folder of passes beside the program."""
    folder = os.path.join(os.path.dirname(os.path.realpath(program())), "passes")
    if not os.path.isdir(folder):
        raise Error(ENV, f'There is no folder "{folder}"; build the passes with make, or name a folder of passes.')
    return folder


def library():
    """What to open as the library: a path, or the name under which the dynamic linker may know it."""
    path = bundled(LIBRARY)
    if path:
        return path
    for folder in _places():
        for way in ("", "lib", "..", "../lib"):
            path = os.path.normpath(os.path.join(folder, way, LIBRARY))
            if os.path.exists(path):
                return path
    return LIBRARY


def environment(own_libraries=False):
    """Environment variables for the program. own_libraries: with the libraries of the distribution that the wheel
    brings, for machines that lack them."""
    env = dict(os.environ)
    if bundled("passmith"):  # it has its own files beside it, and wants no others
        env.pop("PASSMITH_BUILD", None)
        env.pop("PASSMITH_ROOT", None)
    elif env.get("PASSMITH_BUILD"):  # what passmith starts works in other folders
        env["PASSMITH_BUILD"] = os.path.abspath(env["PASSMITH_BUILD"])
    libraries, home = _cuda_of_packages()
    if libraries:
        env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [env.get("LD_LIBRARY_PATH"), *libraries]))
    if own_libraries:
        env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [bundled("lib"), env.get("LD_LIBRARY_PATH")]))
    if home and not env.get("CUDA_HOME") and not os.path.isdir("/usr/local/cuda"):
        env["CUDA_HOME"] = home
    return env


def _cuda_of_packages():
    """CUDA's libraries as PyTorch brings them: packages of their own beside it. And the folder with the headers."""
    torch = sys.modules.get("torch")
    top = os.path.join(os.path.dirname(os.path.dirname(torch.__file__)), "nvidia") if torch else ""
    if not os.path.isdir(top):
        return [], None
    folders = [os.path.join(top, name) for name in sorted(os.listdir(top))]
    libraries = [os.path.join(f, "lib") for f in folders if os.path.isdir(os.path.join(f, "lib"))]
    homes = [f for f in folders if os.path.exists(os.path.join(f, "include", "cuda_fp16.h"))]
    return libraries, homes[0] if homes else None
