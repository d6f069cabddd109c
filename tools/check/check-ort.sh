#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-ort.sh - rewritten models are valid models: ONNX's checker and ONNX Runtime take them, and they agree with the
# models they came from (check_rewritten.py says how). With libpassmith_ort ONNX Runtime runs their kernels, to the same
# results (check_ort_library.py). Both programs are installed from PyPI into a folder below $BUILD once. Without models the
# guides that use ONNX Runtime are run, too.
#
#   check-ort.sh [MODEL.onnx|FOLDER...]
#
# Without models: the bundled models with the library; and, where they are, the 50 core models and 200 of the corpus of
# $PASSMITH_SHARED (../shared), the core models with the library too. All are rewritten with fuse.
set -eu
cd "$(dirname "$0")/../.."

build=${BUILD:-build}
shared=${PASSMITH_SHARED:-../shared}/models
mkdir -p "$build/check-ort"
home=$(cd "$build/check-ort" && pwd) # guides run in folders of their own
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

library() # NAME MODELS...
{
	name=$1
	shift
	set -- $(ls "$build"/passes/*.so | grep -vE '/(TEMPLATE|fuse)\.so$' | sed 's/^/--large /') "$@"
	"$python" tools/check/check_ort_library.py --passmith "$build/passmith" --library "$build/libpassmith_ort.so" \
		--pass "$build/passes/fuse.so" --probe "$build/tests/ort/ort_probe.so" --out "$home/library-$name.jsonl" "$@"
}

code=0
if [ $# -gt 0 ]; then
	check given "$@" || code=1
	library given "$@" || code=1
	exit $code
fi
library bundled models/*.gpt || code=1
PATH=$home/bin:$PATH BUILD=$build tests/guide.sh docs/guide/use-a-rewritten-model.md docs/guide/deploy.md || code=1
if [ ! -d "$shared/core" ]; then
	echo "check-ort: there are no models in $shared, so that only the bundled ones were run; name others:" \
		"tools/check/check-ort.sh MODEL.onnx|FOLDER..." >&2
	exit $code
fi
if [ ! -d "$home/corpus" ]; then
	mkdir -p "$home/corpus.new"
	tar xJf "$shared/corpus.tar.xz" -C "$home/corpus.new"
	mv "$home/corpus.new" "$home/corpus"
fi
check core "$shared/core" || code=1
library core "$shared/core" || code=1
check corpus --pick 200 "$home/corpus" || code=1
exit $code
