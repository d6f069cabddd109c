#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gen-reference.sh BUILD [--check] - writes the generated pages of docs/reference; with --check it changes nothing and
# fails when one of them is not fresh. `make gen` and `make check-gen` call it; so does a test.
set -eu
cd "$(dirname "$0")/../.."
build=${1:?usage: tools/gen/gen-reference.sh BUILD [--check]}
check=${2:-}
out=docs/reference
[ -z "$check" ] || out=$build/reference
mkdir -p "$out"
bad=0

# page NAME COMMAND...: what the command prints is the page.
page()
{
	name=$1
	shift
	"$@" >"$out/$name.tmp" || { echo "gen-reference: $1 failed" >&2; rm -f "$out/$name.tmp"; exit 1; }
	mv "$out/$name.tmp" "$out/$name"
	[ -z "$check" ] || diff -u "docs/reference/$name" "$out/$name" || {
		echo "docs/reference/$name is not fresh: run make gen" >&2
		bad=1
	}
}

page operators.md "$build/passmith" doctor --ops-markdown
page tools.md "$build/passmith" mcp --tools-markdown
page commands.md tools/gen/gen-commands.sh "$build"
page targets.md "$build/passmith" doctor --targets-markdown
page verdicts.md tools/gen/gen-verdicts.sh "$build"
page schema.md tools/gen/gen-schema.sh
page renamed.md tools/gen/gen-renamed.sh
page cast.md tools/gen/gen-cast.sh
page environment.md tools/gen/gen-environment.sh
page plugin-interface.md tools/gen/gen-interface.sh
page exemplars.md tools/gen/gen-exemplars.sh
exit $bad
