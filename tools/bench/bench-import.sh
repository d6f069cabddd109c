#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench-import.sh - runs build/tests/bench/bench_import on the models at hand.
#
# $PASSMITH_MODELS (a folder of .onnx files) when set; else the graphs in $PASSMITH_SHARED/models (default
# ../shared), its corpus unpacked below $BUILD once; else the bundled models.
set -eu
build=${BUILD:-build}
shared=${PASSMITH_SHARED:-../shared}/models
if [ -n "${PASSMITH_MODELS:-}" ]; then
	models=("$PASSMITH_MODELS"/*.onnx)
elif [ -d "$shared/core" ]; then
	models=("$shared"/core/*.onnx)
	if [ -f "$shared/corpus.tar.xz" ]; then
		if [ ! -d "$build/corpus-models" ]; then
			rm -rf "$build/corpus-models.tmp"
			mkdir -p "$build/corpus-models.tmp"
			tar xJf "$shared/corpus.tar.xz" -C "$build/corpus-models.tmp"
			mv "$build/corpus-models.tmp" "$build/corpus-models"
		fi
		while IFS= read -r m; do models+=("$m"); done < <(find "$build/corpus-models" -name '*.onnx' | sort)
	fi
else
	echo "There are no model graphs in $shared: the bundled models are read."
	models=("$build"/models/*.onnx)
fi
exec "$build/tests/bench/bench_import" "${models[@]}"
