#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh install|uninstall - puts the built program into $DESTDIR$PREFIX, or takes away what it put there.
#
# Everything that the program looks for lies in PREFIX/lib/passmith, and PREFIX/bin/passmith is a link to the program
# there, so that the whole folder PREFIX may be moved. PREFIX/lib/passmith/installed lists the files.
#
# Environment: BUILD (build), PREFIX (/usr/local), DESTDIR (empty), PASS_FLAGS (the published line's, for
# passmith.pc; the Makefile gives them).
set -eu
umask 022
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
prefix=${PREFIX:-/usr/local}
case $prefix in
/*) ;;
*) echo "install: PREFIX is '$prefix'; give the whole path of a folder" >&2; exit 2 ;;
esac
root=${DESTDIR:-}$prefix
list=lib/passmith/installed

uninstall()
{
	[ -e "$root/$list" ] || { echo "install: there is no $root/$list, so nothing is known to be installed" >&2; exit 3; }
	while read -r f; do
		rm -f "$root/$f"
	done <"$root/$list"
	# Folders that are ours alone, and those of the prefix that are empty now.
	while read -r f; do
		d=$(dirname "$f")
		while [ "$d" != . ]; do
			echo "$d"
			d=$(dirname "$d")
		done
	done <"$root/$list" | sort -ru >"$root/$list.dirs"
	mv "$root/$list.dirs" "$root/$list"
	dirs=$(cat "$root/$list")
	rm -f "$root/$list"
	for d in $dirs; do
		rmdir "$root/$d" 2>/dev/null || true
	done
}

# put MODE FOLDER FILE...
put()
{
	mode=$1 folder=$2
	shift 2
	mkdir -p "$root/$folder"
	for f; do
		install -m "$mode" "$f" "$root/$folder"
		echo "$folder/${f##*/}" >>"$work/list"
	done
}

# link TEXT PLACE
link()
{
	mkdir -p "$root/$(dirname "$2")"
	rm -f "$root/$2"
	ln -s "$1" "$root/$2"
	echo "$2" >>"$work/list"
}

do_install()
{
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	[ -x "$build/passmith" ] || { echo "install: $build/passmith is not built; run make first" >&2; exit 3; }
	: >"$work/list"
	put 755 lib/passmith "$build/passmith" "$build/passmith-host"
	link ../lib/passmith/passmith bin/passmith
	put 755 lib "$build/libpassmith_ort.so"
	put 644 lib/passmith/include/passmith include/passmith/* "$build/gen/passmith/ops.h"
	link ../lib/passmith/include/passmith include/passmith
	# What the emulated device compiles kernels with.
	for d in runtime/emu/include runtime/emu/races runtime/emu/counts; do
		for f in $(cd $d && find . -type f | sort); do
			put 644 "lib/passmith/$(dirname "$d/${f#./}")" "$d/${f#./}"
		done
	done
	for f in "$build"/passes/*.so; do
		[ "${f##*/}" = TEMPLATE.so ] || put 755 lib/passmith/passes "$f"
	done
	put 644 lib/passmith/passes passes/TEMPLATE.c
	# Sources of complete passes, to read.
	for f in passes/common/*.* passes/library/*/*.*; do
		put 644 "share/passmith/${f%/*}" "$f"
	done
	put 644 share/passmith/models "$build"/models/*.onnx models/*.gpt
	# The library that runs packages, by itself: nothing of the above is needed for it.
	put 755 lib "$build/libpassmith_rt.so.1"
	link libpassmith_rt.so.1 lib/libpassmith_rt.so
	put 644 lib "$build/libpassmith_rt.a"
	put 644 include rt/passmith_rt.h
	put 644 share/passmith/examples examples/*
	put 644 share/passmith/prompts prompts/*
	put 644 share/passmith/exemplars exemplars/*
	put 755 share/passmith/tools tools/bench/torch_bench.py
	put 644 share/passmith/tools tools/bench/torch_ops.py
	put 644 share/passmith/tools/common tools/bench/common/__init__.py tools/bench/common/torch_*.py

	put 644 share/doc/passmith LICENSE
	for f in $(find docs -type f | sort); do
		folder=$(dirname "$f")
		put 644 "share/doc/passmith${folder#docs}" "$f"
	done
	tools/gen/gen-man.sh "$build" "$work/man"
	put 644 share/man/man1 "$work"/man/*.1
	mkdir "$work/bash" "$work/zsh"
	tools/gen/gen-completion.sh "$build" bash >"$work/bash/passmith"
	tools/gen/gen-completion.sh "$build" zsh >"$work/zsh/_passmith"
	put 644 share/bash-completion/completions "$work/bash/passmith"
	put 644 share/zsh/site-functions "$work/zsh/_passmith"
	cat >"$work/passmith.pc" <<-PC
		# passmith.pc - how a pass is built: its flags are \`pkg-config --variable=pass_flags passmith\`.
		prefix=\${pcfiledir}/../..
		includedir=\${prefix}/include
		passdir=\${prefix}/lib/passmith/passes
		pass_flags=${PASS_FLAGS:?the Makefile gives PASS_FLAGS; run make install} -I\${includedir}

		Name: passmith
		Description: Compiler passes written by programs, checked and scored: the headers for authors of passes
		Version: $("$build/passmith" --version | sed 's/^passmith //')
		Cflags: -I\${includedir}
	PC
	put 644 lib/pkgconfig "$work/passmith.pc"
	cat >"$work/passmith_rt.pc" <<-PC
		prefix=\${pcfiledir}/../..
		libdir=\${prefix}/lib
		includedir=\${prefix}/include

		Name: passmith_rt
		Description: Runs rewritten models that passmith compile packed, on this CPU or an NVIDIA GPU
		Version: $("$build/passmith" --version | sed 's/^passmith //')
		Cflags: -I\${includedir}
		Libs: -L\${libdir} -lpassmith_rt
		Libs.private: -lm -ldl -lpthread
	PC
	put 644 lib/pkgconfig "$work/passmith_rt.pc"
	# What an older version put there and this one does not.
	sort -u "$work/list" >"$work/all"
	if [ -e "$root/$list" ]; then
		comm -23 "$root/$list" "$work/all" | while read -r f; do
			rm -f "$root/$f"
		done
	fi
	cp "$work/all" "$root/$list"
	echo "install: $(wc -l <"$root/$list") files below $root"
}

case ${1:-} in
install) do_install ;;
uninstall) uninstall ;;
*) echo "usage: tools/release/install.sh install|uninstall" >&2; exit 2 ;;
esac
