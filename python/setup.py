# SPDX-License-Identifier: Apache-2.0
"""setup.py - makes a wheel for this platform with the programs, the passes and the library of a build in it.

They come from $BUILD, or from build/ of the sources. What is made on the way lies there too, so that the sources stay
as they are.
"""
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.path.join(ROOT, os.environ.get("BUILD") or "build")
WORK = os.path.join(BUILD, "python")
LIBRARY = "libpassmith_rt.so.1"


def version():
    with open(os.path.join(ROOT, "base", "core", "version.h"), encoding="utf-8") as f:
        return re.search(r'PM_VERSION "([^"]+)"', f.read()).group(1)


def need_build():
    for name in ("passmith", "passmith-host", LIBRARY):
        if not os.path.exists(os.path.join(BUILD, name)):
            sys.exit(f'setup.py: "{os.path.join(BUILD, name)}" is not built; run make in "{ROOT}" first, or set BUILD to '
                     "the folder of a build.")


# The C library's family has to be the machine's own.
FAMILY = ("libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libgcc_s.so", "ld-linux")


def needed(program):
    """Paths of the libraries of the distribution that a program is linked with."""
    said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    paths = [line.split()[2] for line in said.splitlines() if "=> /" in line]
    return [p for p in paths if not os.path.basename(p).startswith(FAMILY)]


class Programs(build_py):
    """What an installation has in lib/passmith goes to passmith/_bin, beside the library."""

    def run(self):
        need_build()
        super().run()
        to = os.path.join(self.build_lib, "passmith", "_bin")
        shutil.rmtree(to, ignore_errors=True)
        with tempfile.TemporaryDirectory() as prefix:
            # The flags are those of a file that is left out.
            env = dict(os.environ, BUILD=BUILD, PREFIX="/p", DESTDIR=prefix, PASS_FLAGS="-")
            subprocess.run([os.path.join(ROOT, "tools", "release", "install.sh"), "install"], env=env, check=True,
                           stdout=subprocess.DEVNULL)
            shutil.copytree(os.path.join(prefix, "p", "lib", "passmith"), to)
        os.unlink(os.path.join(to, "installed"))
        shutil.copy(os.path.realpath(os.path.join(BUILD, LIBRARY)), os.path.join(to, LIBRARY))
        os.mkdir(os.path.join(to, "lib"))
        for path in needed(os.path.join(to, "passmith")):
            shutil.copy(path, os.path.join(to, "lib"))


class Wheel(bdist_wheel):
    """One for this platform and every Python: nothing is linked with Python."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", re.sub(r"[-.]", "_", sysconfig.get_platform())


if os.path.isdir(BUILD):
    os.makedirs(WORK, exist_ok=True)
else:
    need_build()

setup(version=version(), cmdclass={"build_py": Programs, "bdist_wheel": Wheel},
      options={"build": {"build_base": os.path.join(WORK, "build")}, "egg_info": {"egg_base": WORK},
               "bdist_wheel": {"bdist_dir": os.path.join(WORK, "wheel")}})
