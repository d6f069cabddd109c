#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-ort.sh - rewritten models are valid models: ONNX's checker and ONNX Runtime take them, and they agree with the
# models they came from (check_rewritten.py says how). Both programs are installed from PyPI into a folder below
# $BUILD once.
#
#   check-ort.sh [MODEL.onnx|FOLDER...]
#
# Without models: the 50 core models and 200 of the corpus of $PASSMITH_SHARED (../shared), rewritten with fuse.
set -eu
cd "$(dirname "$0")/../.."

build=${BUILD:-build}
shared=${PASSMITH_SHARED:-../shared}/models
home=$build/check-ort
python=$home/bin/python3

if ! "$python" -c 'import onnx, onnxruntime' 2>/dev/null; then
	python3 -m venv "$home"
	"$python" -m pip install -q onnx==1.23.2 onnxruntime==1.32.0
fi
check() # NAME OPTIONS... MODELS...
{
	name=$1
	shift
	"$python" tools/check/check_rewritten.py --passmith "$build/passmith" --pass "$build/passes/fuse.so" \
		--out "$home/$name.jsonl" "$@"
}

if [ $# -gt 0 ]; then
	check given "$@"
	exit
fi
if [ ! -d "$shared/core" ]; then
	echo "check-ort: there are no models in $shared; name some: tools/check/check-ort.sh MODEL.onnx|FOLDER..." >&2
	exit 1
fi
if [ ! -d "$home/corpus" ]; then
	mkdir -p "$home/corpus.new"
	tar xJf "$shared/corpus.tar.xz" -C "$home/corpus.new"
	mv "$home/corpus.new" "$home/corpus"
fi
code=0
check core "$shared/core" || code=1
check corpus --pick 200 "$home/corpus" || code=1
exit $code
