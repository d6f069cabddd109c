#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-headers.sh HEADER... - compiles each header alone, as the first and only include.
#
# Headers of runtime/emu/include are C++ for the host, and stand in for those of CUDA; all others are C11. Environment: CC, CPPFLAGS.
set -eu
cd "$(dirname "$0")/../.."
bad=0
for h; do
	case $h in
	runtime/emu/include/*) set -- "${CXX:-g++}" -std=c++17 -Iruntime/emu/include -x c++ ;;
	*) set -- "${CC:-cc}" -std=c11 -x c -Wall -Wextra -Wpedantic -Wstrict-prototypes ;;
	esac
	# shellcheck disable=SC2086 # the flags are words; the typedef keeps the unit from being empty
	if ! printf '#include "%s"\n#include "%s"\ntypedef int only_a_header;\n' "$h" "$h" |
		"$@" ${CPPFLAGS:-} -fsyntax-only -Werror -; then
		echo "check-headers: $h does not compile alone" >&2
		bad=1
	fi
done
exit $bad
