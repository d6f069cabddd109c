#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# dist.sh - BUILD/passmith-VERSION.tar.gz: every file of the checkout that git knows, below one folder, from which
# `make check` runs. The same commit gives the same bytes.
#
# Environment: BUILD (build). Needs a git checkout; files are as they are in it, changed or not.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
version=$(sed -n 's/^#define PM_VERSION "\(.*\)"/\1/p' base/core/version.h)
name=passmith-$version
files=$(git ls-files) || { echo "dist: this needs a git checkout" >&2; exit 3; }
mkdir -p "$build"
date=@$(git log -1 --format=%ct)
echo "$files" | while read -r f; do
	[ ! -e "$f" ] || echo "$f"
done | LC_ALL=C sort | tar -c --transform "s,^,$name/," --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w --mtime="$date" -T - |
	gzip -9n >"$build/$name.tar.gz.tmp"
mv "$build/$name.tar.gz.tmp" "$build/$name.tar.gz"
echo "dist: $build/$name.tar.gz, $(echo "$files" | wc -l) files, $(($(wc -c <"$build/$name.tar.gz") / 1024)) KiB"
