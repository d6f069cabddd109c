#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# guide.sh [FILE.md...] - compiles and runs every block of README.md, of docs/guide and of prompts/system.md: one case per block.
#
#   c NAME.c       written; must build with the published line and pass `passmith check`
#   cu NAME.cu     written, for the NAME.c that follows
#   gpt NAME.gpt   written; must parse
#   c pattern      one pattern a line; each must compile and pass `passmith check`
#   json           must be one JSON value
#   sh             run; compared with the text block that follows at once, otherwise it must succeed
#   sh gpu         the same, where there is a GPU; elsewhere it is skipped
#   sh python      the same, where there is python3, 3.9 or newer; elsewhere it is skipped
#   sh ort         the same, where python3 has ONNX Runtime; elsewhere it is skipped
#   sh torch       the same, where python3 has PyTorch and what it exports to ONNX with; elsewhere it is skipped
# In a text block "..." stands for anything, within a line, or, alone on a line, for any lines. How many blanks
# stand between two words does not matter.
#
# The blocks of one guide run in order, in a folder of their own; guides run side by side. A guide that uses files which
# another one makes says so in a line of its own: <!-- files of: OTHER.md -->. Blocks see PASSMITH_ROOT and PASSMITH_BUILD.
# `make -C $PASSMITH_ROOT install ...` of a block installs what is built, and builds nothing.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=${PASSMITH_BUILD:-${BUILD:-build}}
case $build in /*) ;; *) build=$root/$build ;; esac
export PASSMITH_ROOT=$root PASSMITH_BUILD=$build PASSMITH_CACHE=${PASSMITH_CACHE:-$build/test-cache} LC_ALL=C

if [ ! -x "$build/passmith" ]; then
	echo "not ok 1 - there is no $build/passmith; run make"
	echo "1..1"
	exit 1
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/passmith-guide-XXXXXX") || exit 5
trap 'rm -rf "$work"' EXIT
. "$root/tests/lib/json.sh"
. "$root/tests/lib/guide.sh"

# Where this machine lacks a layer of the sandbox, what is stored has to be allowed to.
doctor=$("$build/passmith" doctor 2>/dev/null)
mkdir "$work/bin"
{
	echo '#!/bin/sh'
	if grep -q '^no *[a-z_]*sandbox' <<<"$doctor"; then
		echo 'case ${1-}${2-} in eval* | bench* | clusterplan) set -- "$@" --weak-sandbox ;; esac'
	fi
	echo "exec '$build/passmith' \"\$@\""
} >"$work/bin/passmith"
# As tests/cli/deploy/installed.sh: what make would run at its end.
cat >"$work/bin/make" <<-END
	#!/bin/sh
	line=\$('$(command -v make)' -n BUILD='$build' "\$@" 2>/dev/null | grep 'tools/release/install.sh')
	cd '$root' && eval "\${line:-false}"
END
chmod +x "$work/bin/passmith" "$work/bin/make"
export PATH=$work/bin:$PATH
no_gpu="there is no GPU that the driver can use"
if grep -q '^yes GPU' <<<"$doctor"; then no_gpu=; fi
no_python="there is no python3, 3.9 or newer"
if python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then no_python=; fi
no_ort="python3 has no onnxruntime (pip install onnxruntime)"
if python3 -c 'import onnxruntime' 2>/dev/null; then no_ort=; fi
no_torch="python3 has not all of torch, onnx and onnxscript (make check-python)"
if python3 -c 'import onnx, onnxscript, torch' 2>/dev/null; then no_torch=; fi
# What is compiled of Python goes with the test.
export PYTHONPYCACHEPREFIX=$work/pycache

guides=("$@")
[ $# -gt 0 ] || guides=("$root/README.md" "$root"/docs/guide/*.md "$root/prompts/system.md")

# The runner itself: of these ten blocks four are wrong, and four need something that may not be here.
if [ $# -eq 0 ]; then
	cat >"$work/self.md" <<-'END'
		```gpt bad.gpt
		f (float[3] x) => (float[3] y)
		```
		```c bad.c
		int x
		```
		```sh
		echo one && echo two  two
		```
		```text
		one
		two two
		```
		```sh
		echo one && echo two
		```
		```text
		one
		```
		```sh
		echo abc && echo more
		```
		```text
		a...c
		...
		```
		```sh
		false
		```
		```sh gpu
		true
		```
		```sh python
		true
		```
		```sh ort
		true
		```
		```sh torch
		true
		```
	END
	(run_guide "$work/self.md" "$work/self") >"$work/self.out"
	skipped=0
	for reason in "$no_gpu" "$no_python" "$no_ort" "$no_torch"; do
		[ -z "$reason" ] || skipped=$((skipped + 1))
	done
	if [ "$(grep -c '^not ok' "$work/self.out")" = 4 ] && [ "$(grep -c '^ok .* # SKIP .' "$work/self.out")" = $skipped ] &&
		[ "$(grep -c '^ok [^#]*$' "$work/self.out")" = $((6 - skipped)) ]; then
		echo "ok - the runner: wrong blocks fail, right ones pass" >"$work/0.tap"
	else
		{ echo "not ok - the runner: wrong blocks fail, right ones pass"; sed 's/^/# /' "$work/self.out"; } >"$work/0.tap"
	fi
fi

# As many guides at a time as there are processors.
jobs=${JOBS:-$(nproc 2>/dev/null || echo 1)}
running=0
for i in "${!guides[@]}"; do
	if [ "$running" -ge "$jobs" ]; then
		wait -n
		running=$((running - 1))
	fi
	(run_guide "${guides[$i]}" "$work/$((i + 1))") >"$work/$((i + 1)).tap" 2>&1 &
	running=$((running + 1))
done
wait

# One plan for all: the cases get their numbers here.
for ((i = 0; i <= ${#guides[@]}; i++)); do
	[ ! -e "$work/$i.tap" ] || cat "$work/$i.tap"
done | awk '
	/^ok - / { sub(/^ok/, "ok " ++n) }
	/^not ok - / { sub(/^not ok/, "not ok " ++n); failed = 1 }
	{ print }
	END { print "1.." n + 0; exit failed || n == 0 }'
