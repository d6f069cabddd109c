#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# load.sh - packages in Python (python3, without NumPy and with it): what they say, calls, threads, errors, streams.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/python.sh
. tests/lib/python.sh
# shellcheck source=tests/python/models.sh
. tests/python/models.sh

py load.py "$tmp" buffer
if has numpy; then
	py load.py "$tmp" numpy
else
	skip "load.py with NumPy" "NumPy is not installed (package python3-numpy)"
fi
# The driver of this build, where programs of the tests are.
if [ -e "$build/tests/machine/emu/libcuda.so.1" ]; then
	py driver.py "$tmp"
else
	skip "driver.py" "the driver whose GPU is this processor is not built: make tests"
fi
tap_done
