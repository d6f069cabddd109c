#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bundle.sh OUT - collects what runs on another machine: program, its shared libraries, SDK, passes, models and
# the tests that need a GPU. The other machine needs a GPU driver, the CUDA toolkit (or its NVRTC and headers) and
# a C library at least as new as here; gcc and g++ only for building passes and for the emulated device, and libcurl
# only for `passmith agent`.
#
# Environment: BUILD (build), BUNDLE_MAX (48: megabytes the folder may have).
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
out=${1:?usage: tools/release/bundle.sh OUT}
max=${BUNDLE_MAX:-48}

# Only a folder that this script made is replaced.
if [ -e "$out" ] && [ ! -e "$out/run.sh" ]; then
	echo "bundle: $out exists and is no bundle; name another folder" >&2
	exit 1
fi
rm -rf "$out"
mkdir -p "$out/lib" "$out/include/passmith" "$out/runtime/emu" "$out/passes" "$out/models" "$out/tests/plugin" "$out/tests/adversarial/passes"

put()
{
	cp "$1" "$2"
	strip "$2/$(basename "$1")"
}

put "$build/passmith" "$out"
put "$build/passmith-host" "$out"
put "$build/libpassmith_ort.so" "$out"
put "$build/libpassmith_rt.so.1" "$out/lib"
programs=("$out/passmith" "$out/passmith-host")
for t in tests/gpu/test_*.c tests/gpu/time_*.c tests/adversarial/test_device.c tests/adversarial/test_timed.c tests/adversarial/test_siege_timed.c tests/unit/runtime/test_nvrtc.c tests/unit/passes/test_pass_library.c $(ls passes/library/*/*.c | sed 's,.*/,tests/unit/passes/test_pass_,') $(ls -d passes/*/ | sed 's,passes/\(.*\)/,tests/unit/passes/test_pass_\1.c,'); do
	[ -e "$t" ] || continue
	mkdir -p "$out/$(dirname "$t")"
	put "$build/${t%.c}" "$out/$(dirname "$t")"
	programs+=("$out/${t%.c}")
done
for p in "$build"/passes/*.so; do
	put "$p" "$out/passes"
done
for p in "$build"/tests/plugin/*_silu.so; do
	put "$p" "$out/tests/plugin"
done
put "$build/tests/adversarial/passes/device_attacks.so" "$out/tests/adversarial/passes"
put "$build/tests/adversarial/passes/timed_attacks.so" "$out/tests/adversarial/passes"
put "$build/tests/adversarial/passes/siege_timed.so" "$out/tests/adversarial/passes"
put "$build/tests/adversarial/passes/siege_interior.so" "$out/tests/adversarial/passes"
cp -r passes/TEMPLATE.c passes/common passes/library "$out/passes"
cp include/passmith/* "$build/gen/passmith/ops.h" "$out/include/passmith"
cp -r runtime/emu/include runtime/emu/races runtime/emu/counts "$out/runtime/emu"
cp -r prompts exemplars "$out"
cp -r "$build"/models/*.onnx models/* "$out/models"
mkdir -p "$out/tools/bench"
cp tools/bench/torch_*.py tools/bench/levels*.py tools/bench/bench_systems.py tools/bench/whole_models.py tools/bench/parity.* tools/bench/scaling.py tools/bench/deploy*.py tools/bench/fit_graphs.py tools/bench/modelled.py "$out/tools/bench"
cp tools/fit_cost.py "$out/tools"
cp -r tools/bench/common "$out/tools/bench"
rm -rf "$out/tools/bench/common/__pycache__"
mkdir -p "$out/python/passmith" "$out/tests/python"
cp python/passmith/*.py "$out/python/passmith"
cp tests/gpu/python_cuda.py "$out/tests/gpu"
cp tests/python/tap.py "$out/tests/python"
cp docs/reference/gpu.md "$out/README.md"
cp tools/release/bundle-run.sh "$out/run.sh"
# At which commit the code is: a draw of fresh tasks has to come after it (tools/bench/common/fresh.py).
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
	printf '{"commit": "%s", "committed_at": %s, "dirty": %d}\n' "$(git log -1 --format=%H)" "$(git log -1 --format=%ct)" "$(git status --porcelain | wc -l)" >"$out/commit.json"
fi

# Everything but what is there already, and the C library's family, which has to be the other machine's.
ldd "${programs[@]}" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | while read -r lib; do
	case $(basename "$lib") in
	libpassmith_rt.so.* | libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux* | libgcc_s.so.*) ;;
	*)
		cp -L "$lib" "$out/lib"
		;;
	esac
done

size=$(du -sk "$out" | cut -f1)
printf 'bundle: %s, %d files, %d.%d MB\n' "$out" "$(find "$out" -type f | wc -l)" $((size / 1024)) $((size % 1024 * 10 / 1024))
if [ "$size" -gt $((max * 1024)) ]; then
	echo "bundle: $out is over $max MB; find out what grew, or set BUNDLE_MAX" >&2
	exit 1
fi
