#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# installed.sh - the examples are built against libpassmith_rt as make install puts it below a DESTDIR, with what
# pkg-config says, and run a package on emu: linked with the library, and with its archive.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

case $build in /*) ;; *) build=$PWD/$build ;; esac
cat >"$tmp/ones.gpt" <<'GRAPH'
ones (float[3,8] x, float[8,4] w) => (float[3,4] y, float[3,8] e)
{
   t = MatMul (x, w)
   y = Softmax <axis = 1> (t)
   e = Exp (x)
}
GRAPH
pm compile "$tmp/ones.gpt" -o "$tmp/ones.pmz"
exits 0 "compile"

# As install.sh of tests/cli/program: what make would run, without building anything again.
make -n BUILD="$build" PREFIX=/usr DESTDIR="$tmp/stage" install 2>/dev/null | grep 'tools/release/install.sh' >"$tmp/line" &&
	sh "$tmp/line" >"$tmp/out" 2>"$tmp/err"
tap "make install"
[ ! -s "$tmp/err" ]
tap "warns of nothing"
lib=$tmp/stage/usr/lib
[ -f "$lib/libpassmith_rt.so.1" ] && [ "$(readlink "$lib/libpassmith_rt.so")" = libpassmith_rt.so.1 ] && [ -f "$tmp/stage/usr/include/passmith_rt.h" ]
tap "library, its link and its header are where others look for them"
for e in c cpp; do
	[ "$(wc -l <"$tmp/stage/usr/share/passmith/examples/rt_example.$e")" -le 60 ]
	tap "rt_example.$e has at most 60 lines"
done

if command -v pkg-config >/dev/null; then
	export PKG_CONFIG_PATH="$lib/pkgconfig"
	flags=$(pkg-config --cflags --libs passmith_rt)
	tap "pkg-config knows it"
	version=$(pkg-config --modversion passmith_rt)
	[ "passmith $version" = "$("$passmith" --version)" ]
	tap "in the version of the program"
else
	flags="-I$tmp/stage/usr/include -L$lib -lpassmith_rt"
	skip "pkg-config knows it" "pkg-config is not installed here"
fi
# A library that was built for a sanitizer wants a program that is.
san=$(nm -D --undefined-only "$lib/libpassmith_rt.so.1" 2>/dev/null | grep -q __asan_ && echo -fsanitize=address,undefined)

# runs PROGRAM LINES: it prints the number that the softmax of zeros has, or that of e^0, so many times.
runs()
{
	code=0
	LD_LIBRARY_PATH=$lib "$1" "$tmp/ones.pmz" emu >"$tmp/out" 2>"$tmp/err" || code=$?
	[ $code -eq 0 ] && [ "$(grep -c '^e\[0\] = 1$' "$tmp/out")" -eq "$2" ]
}

cd "$tmp/stage/usr/share/passmith/examples" || exit 5
# shellcheck disable=SC2086 # words
${CC:-gcc} -std=c11 -Wall -Wextra -Wpedantic -Werror $san rt_example.c $flags -o "$tmp/c" 2>"$tmp/err"
tap "the example in C is built"
runs "$tmp/c" 1 && grep -q '^y\[0\] = 0.25$' "$tmp/out"
tap "and runs on emu"
LD_LIBRARY_PATH=$lib "$tmp/c" "$tmp/line" emu >"$tmp/out" 2>"$tmp/err"
[ $? -eq 4 ] && grep -q 'is not a package of Passmith' "$tmp/err"
tap "and says what is wrong with what is no package"
if command -v g++ >/dev/null; then
	# shellcheck disable=SC2086
	g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -pthread $san rt_example.cpp $flags -o "$tmp/cpp" 2>"$tmp/err"
	tap "the example in C++ is built"
	runs "$tmp/cpp" 4
	tap "and runs on emu, by four threads"
fi
# shellcheck disable=SC2086
${CC:-gcc} -std=c11 -I"$tmp/stage/usr/include" $san rt_example.c "$lib/libpassmith_rt.a" -lm -ldl -lpthread -o "$tmp/static" 2>"$tmp/err"
tap "it is built with the archive"
runs "$tmp/static" 1
tap "and runs without the library"
tap_done
