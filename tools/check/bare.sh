#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bare.sh [WORD...] - runs tests as on a machine that has no more than `make setup` installs.
#
# Hidden are the libraries of GPUs and their toolkit, the shared models, and every program that comes neither with
# the packages that each Debian system has nor with what the build needs: no python3, no clang, no nvcc.
# Without words: what can differ from the main run. That is every command as a user types it (tests/cli/program, pass
# and eval, and the guides), and each other test or script that names something of what is hidden. A test that
# depends on it names it, so that a new one is among them; what is left out all the same stands below with the reason.
# Environment: BUILD (build), TEST_CACHE, as tests/run.sh. Needs dpkg-query, for what a Debian system has at least.
set -eu
cd "$(dirname "$0")/../.."
build=$(cd "${BUILD:-build}" && pwd)
bin=$build/bare-bin

# The programs of essential and required packages, and those that the set-up asks for; compilers with their parts.
programs()
{
	local packages
	packages=$(dpkg-query -W -f '${Essential} ${Priority} ${Package}\n' | awk '$1 == "yes" || $2 == "required" { print $3 }')
	# shellcheck disable=SC2086 # a list of words
	dpkg-query -L $packages 2>/dev/null | sed -n 's|^\(/usr\)\{0,1\}/s\{0,1\}bin/||p' | grep -v /
	printf '%s\n' awk cc c++ gcc g++ cpp as ld ar nm make git pkg-config protoc-c
}

rm -rf "$bin"
mkdir -p "$bin"
for p in $(programs | sort -u); do
	real=$(PATH=/usr/sbin:/usr/bin:/sbin:/bin command -v "$p" || true)
	case $real in /*) ln -s "$real" "$bin/$p" ;; esac
done
"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O1 -fPIC -shared -o "$bin/no_gpu.so" tests/bare/no_gpu.c -ldl

# What names it and cannot differ: FILE, why.
left_out()
{
	cat <<-'EOF'
		tests/cli/pass/build_passes.sh: hides NVRTC itself
		tests/cli/eval/store.sh: brings a driver of its own, which is hidden like any other
		tests/cli/eval/gpus.sh: brings a driver of its own, too
		tests/cli/eval/time_gpus.sh: brings a driver of its own, too
		tests/cli/eval/time_list.sh: brings a driver of its own, too
		tests/cli/deploy/gpu.sh: brings a driver of its own, too
		tests/cli/deploy/ort.sh: brings an NVRTC of its own
		tests/cli/python/load.sh: brings a driver of its own, too
		tests/agent/test_agent_gpus.c: brings a driver of its own, too
		tests/unit/rt/test_rt_cuda.c: brings a driver of its own, too
		tests/unit/ort/test_ort_cuda.c: brings a driver of its own, too
		tests/adversarial/test_kill.c: names only the folder of what NVRTC compiled
		tests/unit/passes/test_pass_library.c: one case needs NVRTC and says so, the others run on emu
	EOF
}
named='PASSMITH_SHARED|nvrtc|NVRTC|nvcc|clang|doctor|python3|need_program|libcu|cudnn|--device cuda|no GPU|CUDA toolkit'

words=("$@")
without=()
if [ $# -eq 0 ]; then
	words=(tests/cli/program/ tests/cli/pass/ tests/cli/eval/ tests/guide.sh)
	while read -r f; do words+=("$f"); done < <(grep -lE "$named" tests/cli/*/*.sh tests/unit/*/test_*.c tests/conform/test_*.c \
		tests/plugin/test_*.c tests/agent/test_*.c tests/adversarial/test_*.c)
	while IFS=: read -r f why; do
		grep -sqE "$named" "$f" || {
			echo "bare.sh: $f, which is left out because it$why, is not there or names nothing that is hidden"
			exit 1
		}
		without+=(-x "$f")
	done < <(left_out)
fi

# A test of what is hidden, before all others: nothing below proves anything when it is found after all.
bare=(env -u CUDNN_HOME -u LD_LIBRARY_PATH PATH="$bin" CUDA_HOME=/nonexistent PASSMITH_SHARED=/nonexistent
	LD_PRELOAD="$bin/no_gpu.so" PASSMITH_ROOT="$PWD")
found=$("${bare[@]}" "$build/passmith" doctor) || true
for name in 'CUDA driver' NVRTC cuBLASLt cuDNN; do
	grep -q "^no  $name " <<<"$found" || {
		echo "bare.sh: $name is still there"
		exit 1
	}
done
for p in python3 python clang nvcc; do
	if "${bare[@]}" bash -c "command -v $p" >/dev/null; then
		echo "bare.sh: $p is still there"
		exit 1
	fi
done
echo "$(find "$bin" -type l | wc -l) programs are left; no libraries of GPUs"
exec "${bare[@]}" BUILD="$build" tests/run.sh "${without[@]}" "${words[@]}"
