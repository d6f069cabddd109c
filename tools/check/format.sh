#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# format.sh [-i] - checks that C files are formatted (.clang-format), or formats them with -i.
set -eu
cd "$(dirname "$0")/../.."
files=$(tools/check/files.sh '*.c' '*.h' |
	while read -r f; do [ -e "$f" ] && echo "$f"; done)
[ -n "$files" ] || { echo "${0##*/}: no sources found; this needs a git checkout" >&2; exit 3; }
if ! command -v clang-format >/dev/null; then
	echo "format.sh: clang-format is not installed; install the package clang-format" >&2
	exit 3
fi
if [ "${1:-}" = -i ]; then
	echo "$files" | xargs clang-format -i
elif ! echo "$files" | xargs clang-format --dry-run --Werror; then
	echo "format.sh: not formatted; run: make fmt" >&2
	exit 1
fi
