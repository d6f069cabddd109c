#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# load.sh - packages in Python (python3, without NumPy and with it): what they say, calls, threads, errors.
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
tap_done
