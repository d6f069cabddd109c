#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# files.sh PATTERN... - the files of the project whose path matches a pattern of the shell ("*.c" also in folders), sorted:
# in a git checkout those that git knows or would take, in an unpacked tarball all that are no product of a build.
set -eu
cd "$(dirname "$0")/../.."
if [ -e .git ]; then
	git ls-files --cached --others --exclude-standard -- "$@"
else
	find . -type f ! -path './build*' | sed 's,^\./,,' | while read -r f; do
		for p in "$@"; do
			# shellcheck disable=SC2254 # it is a pattern
			case $f in
			$p)
				echo "$f"
				break
				;;
			esac
		done
	done
fi | while read -r f; do
	[ ! -e "$f" ] || echo "$f"
done | LC_ALL=C sort -u
