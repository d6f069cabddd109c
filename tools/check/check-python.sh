#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-python.sh - the tests of the Python package, and the guide that uses it, with NumPy, PyTorch and its exporter to
# ONNX. All are installed from PyPI into a folder below $BUILD once; PyTorch is the build for CPUs where PIP_INDEX_URL or
# pip's settings offer it.
set -eu
cd "$(dirname "$0")/../.."

build=${BUILD:-build}
mkdir -p "$build/check-python"
home=$(cd "$build/check-python" && pwd)
python=$home/bin/python3

if ! "$python" -c 'import numpy, ml_dtypes, onnx, onnxscript, setuptools, torch' 2>/dev/null; then
	python3 -m venv "$home"
	"$python" -m pip install -q torch==2.15.0 onnx==1.23.2 onnxscript==0.7.2 numpy ml_dtypes 'setuptools>=70.1' wheel
fi
TEST_PYTHON=$python BUILD=$build tests/run.sh cli/python/
PATH=$home/bin:$PATH BUILD=$build tests/guide.sh docs/guide/deploy.md
