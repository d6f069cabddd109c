#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh - make install into an empty prefix: it works without the source folder, for another user, and elsewhere
# after a move; make uninstall leaves nothing.
#
# Where this runs as root, the installed program runs as user 65534 with the source folder hidden by a mount, if the
# machine allows mounts; otherwise as the same user. The first lines say which.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# Not below the folder of temporary files: another user has to reach it.
home=$(mktemp -d /tmp/passmith-install-XXXXXX) || exit 5
trap 'rm -rf "$tmp" "$home"' EXIT
chmod 755 "$home"
source=$PWD
case $build in /*) ;; *) build=$PWD/$build ;; esac

# What make would run, without building anything again with other flags than those of this build.
from_make()
{
	make -n BUILD="$build" PREFIX="$1" DESTDIR="${3-}" "$2" 2>/dev/null | grep 'tools/release/install.sh' >"$tmp/line" &&
		sh "$tmp/line" >"$tmp/out" 2>"$tmp/err"
}

sh -c : # a known status
from_make "$home/first" install
tap "make install"
[ -x "$home/first/bin/passmith" ] && [ -e "$home/first/include/passmith/pass.h" ] && [ -e "$home/first/include/passmith/ops.h" ]
tap "the program and the SDK are where others look for them"
[ -e "$home/first/lib/libpassmith_ort.so" ] && [ ! -L "$home/first/lib/libpassmith_ort.so" ]
tap "the library for ONNX Runtime is where others look for libraries"
[ -e "$home/first/lib/passmith/passes/silu.so" ] && [ ! -e "$home/first/lib/passmith/passes/TEMPLATE.so" ]
tap "passes are there, and the template is none"
[ -e "$home/first/share/doc/passmith/LICENSE" ] && [ -e "$home/first/share/doc/passmith/reference/commands.md" ]
tap "the licence and the documents are there"
[ -e "$home/first/share/passmith/prompts/system.md" ] && [ -e "$home/first/share/passmith/exemplars/row_range.pattern" ]
tap "prompts and exemplars are there"
# Links in the pages lead to what is installed.
find "$home/first/share/doc/passmith" -name '*.md' | sort >"$tmp/pages"
while read -r f; do
	grep -oE '\]\([^)# ]+[^) ]*\)' "$f" | sed 's/^](//; s/)$//; s/#.*//' | grep -vE '^[a-z]+:' | sort -u | while read -r to; do
		[ -e "$(dirname "$f")/$to" ] || echo "$f: $to is not installed"
	done
done <"$tmp/pages" >"$tmp/out"
[ "$(wc -l <"$tmp/pages")" -ge 30 ] && [ ! -s "$tmp/out" ]
tap "no link of an installed page leads out of what is installed"
from_make /usr install "$home/stage" && [ -x "$home/stage/usr/bin/passmith" ]
tap "DESTDIR comes in front of PREFIX"
! grep -rlF "$home/stage" "$home/stage" >"$tmp/out"
tap "no file of a staged copy names the stage"
touch "$home/stage/usr/lib/passmith/passes/gone.so"
echo lib/passmith/passes/gone.so >>"$home/stage/usr/lib/passmith/installed"
sort -o "$home/stage/usr/lib/passmith/installed" "$home/stage/usr/lib/passmith/installed"
from_make /usr install "$home/stage" && [ ! -e "$home/stage/usr/lib/passmith/passes/gone.so" ]
tap "a new version removes what only the old one had"
from_make /usr uninstall "$home/stage" && [ -z "$(find "$home/stage" ! -type d)" ]
tap "make uninstall with DESTDIR leaves no file"
! from_make here install && grep -q "PREFIX is 'here'; give the whole path of a folder" "$tmp/err"
tap "a PREFIX that is no whole path is refused"

# From here on the copy stands elsewhere than it was installed, in a folder with a blank in its name.
prefix="$home/moved here"
mv "$home/first" "$prefix"
mkdir "$home/work" "$home/cache"
cat >"$home/work/Makefile" <<'END'
all: my_fusion.so
%.so: %.c
	$(CC) $(shell pkg-config --variable=pass_flags passmith) -o $@ $<
END
cat >"$home/env.sh" <<END
unset PASSMITH_ROOT PASSMITH_BUILD BUILD MAKEFLAGS MAKELEVEL
export PATH="$prefix/bin:$PATH" PASSMITH_CACHE="$home/cache" HOME="$home/work" TMPDIR="$home/work"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
cd $home/work || exit 5
END
# On a bare machine the programs that are left lie below the source folder.
as= mounts= hide="sh -c" why="this machine allows no mounts"
case :$PATH in *:"$source"*) why="the programs of this machine lie in it" ;; esac
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && [ "$why" = "this machine allows no mounts" ]; then
	chown 65534:65534 "$home/work" "$home/cache"
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	echo "# the installed copy runs as user 65534"
else
	echo "# the installed copy runs as the same user"
fi
if [ "$(id -u)" -eq 0 ] && [ "$why" = "this machine allows no mounts" ] &&
	unshare -m sh -c "mount -t tmpfs none '$source'" 2>/dev/null; then
	hide="unshare -m sh -c"
	mounts="mount -t tmpfs none '$source' && "
	echo "# the source folder is hidden"
fi

# there COMMAND: in the author's folder, with the installed program on PATH.
there()
{
	printf '%s\n' ". $home/env.sh" "$1" >"$home/run.sh"
	code=0
	$hide "${mounts}cd / && exec $as sh $home/run.sh" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}

there "passmith --version"
exits 0 "it starts"
if [ -n "$mounts" ]; then
	there "ls $source/Makefile"
	[ "$code" -ne 0 ]
	tap "the sources are gone"
else
	skip "the sources are gone" "$why"
fi
there "passmith doctor"
says "$prefix/lib/passmith" "doctor names the installed SDK"
# What an agent reads is there too: documents, models, sources of passes.
cat >"$home/work/ask" <<'END'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"resources/list"}
END
there "passmith mcp --quiet --workspace agent <ask"
exits 0 "mcp"
says 'passmith://docs/guide/agents.md' "an agent can read the documents"
says 'passmith://models/llama_block.gpt' "and the models"
says 'passmith://passes/library/activation/silu.c' "and the sources of passes"
there "passmith new my_fusion && passmith build my_fusion.c && passmith check my_fusion.so"
exits 0 "new, build and check"
models="'$prefix/share/passmith/models'" passes="'$prefix/lib/passmith/passes'"
there "passmith eval $models/llama_block.gpt --pass $passes/silu.so"
exits 0 "eval of an installed pass on an installed model"
says "1/1" "it matches and is right"
there "passmith apply $models/llama_block.onnx --passes $passes -o fused.onnx"
exits 0 "apply with all installed passes"
if command -v pkg-config >/dev/null; then
	there "rm my_fusion.so && make && passmith check my_fusion.so"
	exits 0 "a Makefile of three lines builds a pass with pkg-config"
else
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - a Makefile of three lines # SKIP pkg-config is not installed"
fi

# ---- homes that cannot be written to ----

# Root may have a filter without giving up new privileges; other users may not.
if "$passmith" doctor | grep -q '^yes *sandbox.*system call filter'; then
	there "passmith doctor"
	! grep -q 'lacks:.*system call filter' "$tmp/out"
	tap "another user has the sandbox's filter too"
else
	skip "another user has the sandbox's filter too" "this machine has no system call filter"
fi
mkdir "$home/readonly"
chmod 555 "$home/readonly"
evaluate="passmith eval $models/llama_block.gpt --pass $passes/silu.so"
there "unset HOME PASSMITH_CACHE XDG_CACHE_HOME; passmith doctor"
exits 3 "doctor without a home"
says "set PASSMITH_CACHE to a folder that you may write to" "it says which variable to set"
says "Set the variables named above" "and does not say that everything works"
there "unset HOME PASSMITH_CACHE XDG_CACHE_HOME; $evaluate"
exits 3 "eval without a home"
warns "set PASSMITH_CACHE to a folder that may be written" "it says what to set"
there "unset HOME PASSMITH_CACHE XDG_CACHE_HOME; passmith new other && passmith new another --like loss && passmith --version && passmith print $models/llama_block.gpt"
exits 0 "what keeps nothing needs no home"
if [ -n "$as" ]; then
	there "unset PASSMITH_CACHE XDG_CACHE_HOME; export HOME=$home/readonly; $evaluate"
	exits 3 "eval with a home that cannot be written to"
	warns "readonly/.cache\": Permission denied; choose a place that you may write to" "it names folder and reason"
	there "unset PASSMITH_CACHE; export HOME=$home/readonly XDG_CACHE_HOME=$home/work/xdg; $evaluate"
	exits 0 "XDG_CACHE_HOME comes before HOME"
else
	skip "a home that cannot be written to" "this user is root or cannot become another"
fi

# ---- manual pages and completion ----

missing=
for c in $("$passmith" --help | awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }'); do
	grep -q "passmith $c" "$prefix/share/man/man1/passmith-$c.1" || missing="$missing $c"
done
[ -z "$missing" ]
tap "every command has a manual page"
if command -v mandoc >/dev/null || command -v groff >/dev/null; then
	if command -v mandoc >/dev/null; then
		mandoc -Tlint -W warning "$prefix"/share/man/man1/*.1 >"$tmp/out" 2>&1
	else
		for f in "$prefix"/share/man/man1/*.1; do groff -man -Tascii -ww -z "$f"; done >"$tmp/out" 2>&1
	fi
	[ ! -s "$tmp/out" ]
	tap "manual pages have no warnings"
fi
if command -v bash >/dev/null; then
	completion=$prefix/share/bash-completion/completions/passmith
	complete()
	{
		bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _passmith; echo "${COMPREPLY[*]}"' \
			bash "$completion" "$@" >"$tmp/out" 2>"$tmp/err"
		cat "$tmp/out"
	}
	bash -c "source '$completion'; complete -p passmith" >"$tmp/out" 2>"$tmp/err" && grep -q _passmith "$tmp/out"
	tap "bash knows the completion"
	[ "$(complete passmith ev)" = eval ]
	tap "ev becomes eval"
	[ "$(complete passmith eval x --devi)" = --device ] && [ "$(complete passmith eval x --device c)" = cuda ]
	tap "options and devices are completed"
	[ "$(complete passmith task ma)" = make ] && [ "$(complete passmith db va)" = vacuum ]
	tap "verbs are completed"
fi
if command -v zsh >/dev/null; then
	zsh -n "$prefix/share/zsh/site-functions/_passmith" >"$tmp/out" 2>"$tmp/err"
	tap "zsh reads its completion"
fi

# ---- and away again ----

from_make "$prefix" uninstall && [ -z "$(find "$prefix" ! -type d 2>/dev/null)" ] && [ ! -d "$prefix/lib/passmith" ]
tap "make uninstall leaves no file"
! from_make "$home/nothing" uninstall && grep -q "nothing is known" "$tmp/err"
tap "what was not installed is not uninstalled"
tap_done
