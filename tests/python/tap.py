# SPDX-License-Identifier: Apache-2.0
"""tap.py - TAP for tests in Python: functions that @case marks run in their order."""
import contextlib
import sys
import traceback

import passmith

_cases = []


class Skip(Exception):
    """Raised by a case that cannot be made here; its text says why."""


def case(f):
    _cases.append(f)
    return f


def run():
    """Runs all cases. A case is named by the first line of its documentation. Ends the process."""
    failed = 0
    for n, f in enumerate(_cases, 1):
        name = f.__doc__.strip().splitlines()[0].rstrip(".")
        try:
            f()
            print(f"ok {n} - {name}", flush=True)
        except Skip as why:
            print(f"ok {n} - {name} # SKIP {why}", flush=True)
        except BaseException:
            failed += 1
            print(f"not ok {n} - {name}")
            print("".join("#   " + line + "\n" for line in traceback.format_exc().splitlines()), flush=True)
    print(f"1..{len(_cases)}", flush=True)
    sys.exit(1 if failed else 0)


@contextlib.contextmanager
def fails(code, *words):
    """The block raises passmith.Error with this code, and its sentence has all the words."""
    try:
        yield
    except passmith.Error as e:
        assert e.code == code, f"code {e.code} instead of {code}: {e}"
        for w in words:
            assert w in str(e), f"'{w}' is missing in: {e}"
        assert str(e).endswith(".") and "\n" not in str(e), e
        return
    raise AssertionError(f"no error with code {code} was raised")
