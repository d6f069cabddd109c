#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# setup.sh [ci] - makes sure that the distribution's packages the build needs are there.
#
# Looks for the programs and headers themselves, so that it works wherever they come from; silent when all
# are there. With the word "ci" also what only the continuous checks need. Exit 3: something is missing and
# may not be installed from here; the line to run is printed.
set -eu

missing=""
# need PACKAGE PATH...: one of the paths (a program name, or a file below the include folders) must exist.
need()
{
	package=$1
	shift
	for what; do
		case $what in
		/*) for f in $what; do [ -e "$f" ] && return 0; done ;;
		*.h) for d in /usr/include /usr/local/include /usr/include/*-linux-gnu; do
			[ -e "$d/$what" ] && return 0
		done ;;
		*) command -v "$what" >/dev/null && return 0 ;;
		esac
	done
	missing="$missing $package"
}

need gcc gcc
need g++ g++
need make make
need pkg-config pkg-config pkgconf
need libc6-dev stdio.h
need libprotobuf-c-dev protobuf-c/protobuf-c.h
need protobuf-c-compiler protoc-c
need libonnx-dev /usr/include/onnx/onnx-ml.proto /usr/include/onnx/onnx.proto
need libonnx-testdata '/usr/share/libonnx-testdata/*' '/usr/lib/python3/dist-packages/onnx/backend/test/data/*'
need libcjson-dev cjson/cJSON.h
need libsqlite3-dev sqlite3.h
need libsodium-dev sodium.h
need libcurl4-openssl-dev curl/curl.h
need libcmocka-dev cmocka.h
if [ "${1:-}" = ci ]; then
	need clang clang
	need clang-format clang-format
	need git git
	need python3-numpy '/usr/lib/python3/dist-packages/numpy/__init__.py'
	need chromium chromium google-chrome
	need chromium-driver chromedriver
	need tidy tidy
	need libgraphviz-dev graphviz/gvc.h
	# Slurm on this machine alone, for make check-cluster.
	need slurmctld slurmctld /usr/sbin/slurmctld
	need slurmd slurmd /usr/sbin/slurmd
	need slurm-client sbatch
	need munge munged /usr/sbin/munged
	# The sanitizers' run-time part of clang is a package of its own on some distributions.
	if command -v clang >/dev/null && [ ! -e "$(clang -print-resource-dir)/lib/linux" ] &&
		[ ! -e "$(clang -print-resource-dir)/lib/$(clang -dumpmachine)" ]; then
		missing="$missing libclang-rt-dev"
	fi
fi

[ -n "$missing" ] || exit 0
missing=${missing# }

as_root=""
if [ "$(id -u)" -ne 0 ]; then
	as_root="sudo"
fi
line="apt-get install -y --no-install-recommends $missing"
options="-o DPkg::Lock::Timeout=60"
if ! command -v apt-get >/dev/null; then
	echo "setup: missing: $missing (names of the Debian packages)." >&2
	echo "setup: install them with this system's package manager, then run the same command again." >&2
	exit 3
fi
if [ -n "$as_root" ] && ! sudo -n true 2>/dev/null; then
	echo "setup: missing: $missing" >&2
	echo "setup: run this, then the same command again:" >&2
	echo "    sudo apt-get update && sudo $line" >&2
	exit 3
fi

echo "setup: installing $missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install()
{
	# shellcheck disable=SC2086 # the package names are words
	$as_root env DEBIAN_FRONTEND=noninteractive $line $options </dev/null >"$log" 2>&1
}
# Without a package list, or with an old one, the first try fails: fetch the list and try once more.
if ! install; then
	$as_root apt-get update </dev/null >>"$log" 2>&1 || true
	if ! install; then
		tail -n 20 "$log" >&2
		echo "setup: installing failed; when that is mended, run: ${as_root:+$as_root }$line" >&2
		exit 3
	fi
fi
