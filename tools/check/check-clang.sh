#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-clang.sh FILE... - clang's warnings and errors for C files, those of its code generator too; no objects.
#
# Clang takes longer to start than to read most files. What the driver starts (`clang -cc1`) takes many files, so that
# each processor starts it for a few dozen of them. CLANG and CFLAGS (words) come from make.
set -eu
cd "$(dirname "$0")/../.."
jobs=${JOBS:-$(nproc 2>/dev/null || echo 1)}

# The line that the driver would run for a file, each word in quotes.
# shellcheck disable=SC2086 # the flags are words
line=$("$CLANG" $CFLAGS -fsyntax-only -x c -\#\#\# /dev/null 2>&1 | sed -n '$p')
declare -a words command=()
eval "words=($line)"
for ((i = 0; i < ${#words[@]}; i++)); do
	case ${words[i]} in
	-main-file-name) i=$((i + 1)) ;;
	-disable-free | /dev/null) ;; # each file's memory goes when it is done
	-fsyntax-only) command+=(-emit-codegen-only) ;;
	*) command+=("${words[i]}") ;;
	esac
done
case " ${command[*]} " in
*" -cc1 "*" -emit-codegen-only "*) ;;
*)
	echo "check-clang: \"$CLANG -###\" does not say what it would run: $line" >&2
	exit 1
	;;
esac
printf '%s\n' "$@" | xargs -d '\n' -n 30 -P "$jobs" "${command[@]}"
