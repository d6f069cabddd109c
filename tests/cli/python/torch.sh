#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# torch.sh - PyTorch on the CPU: its tensors, the backend of torch.compile, extraction from modules (python3).
# `make check-python` runs it with PyTorch from PyPI.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/python.sh
. tests/lib/python.sh

if ! has torch; then
	echo "PyTorch is not installed: make check-python"
	exit 77
fi
# shellcheck source=tests/python/models.sh
. tests/python/models.sh
py torch_tensors.py "$tmp"
if has onnxscript; then
	mkdir "$tmp/packages"
	py torch_compile.py "$tmp/packages"
else
	skip "the backend of torch.compile" "onnxscript is not installed: make check-python"
fi
tap_done
