# SPDX-License-Identifier: Apache-2.0
"""What everything here raises."""

# Codes: those of rt/passmith_rt.h, which are the program's exit codes too.
USAGE, ENV, INPUT, INTERNAL, SHAPE, DEVICE, MEMORY = 2, 3, 4, 5, 6, 7, 8


class Error(Exception):
    """A failure. Its text is one sentence, with what to do next; `code` is its kind:

    2 a call that is not allowed, 3 something is missing on this machine, 4 a package, model or tensor that cannot be
    used, 5 a mistake of Passmith, 6 no specialised shape fits, 7 the device failed, 8 no memory.
    """

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code

    def __reduce__(self):
        return Error, (self.code, str(self))
