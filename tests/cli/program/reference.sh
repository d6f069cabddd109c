#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# reference.sh - the generated pages of docs/reference say what the program and the sources say, and their
# generators notice what is missing.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

tools/gen/gen-reference.sh "$build" --check >"$tmp/out" 2>"$tmp/err"
tap "the pages are fresh"

# A copy in which something is undocumented: only what the generators read.
copy=$tmp/copy
mkdir -p "$copy/include" "$copy/base/core"
cp -r tools dataset cli "$copy"
cp -r include/passmith "$copy/include"
tools_fail()
{
	# shellcheck disable=SC2086 # a script and its arguments
	"$copy"/tools/$1 >"$tmp/out" 2>"$tmp/err" </dev/null && return 1
	grep -qF -e "$2" "$tmp/err"
}
"$copy/tools/gen/gen-schema.sh" >"$tmp/out" 2>"$tmp/err"
tap "the schema of a copy"
sed -i 's/^CREATE TABLE tasks (/&\n\tnobody_knows TEXT,/' "$copy/dataset/store/schema.sql"
tools_fail gen/gen-schema.sh "no row for tasks.nobody_knows"
tap "a column without a meaning is named"
sed -i '/nobody_knows/d' "$copy/dataset/store/schema.sql"
echo "tasks.was_here	gone" >>"$copy/dataset/store/columns.txt"
tools_fail gen/gen-schema.sh "tasks.was_here, which is in no table"
tap "a meaning without a column is named"
printf '\nstatic inline int pm_undocumented(PmVal v)\n{\n\treturn 0;\n}\n' >>"$copy/include/passmith/dsl.h"
tools_fail gen/gen-interface.sh "pm_undocumented"
tap "a word for authors without a comment is named"
echo 'const char *x(void) { return getenv("PASSMITH_SECRET_KNOB"); }' >"$copy/base/core/x.c"
tools_fail gen/gen-environment.sh "PASSMITH_SECRET_KNOB is read"
tap "a variable that no row is about is named"
rm "$copy/base/core/x.c"
printf 'echo "${%s:-1}"\n' SECRET_DEFAULT >"$copy/tools/gen/x.sh"
tools_fail gen/gen-environment.sh "SECRET_DEFAULT is read"
tap "a variable with a default in a script is named"
rm "$copy/tools/gen/x.sh"

if command -v python3 >/dev/null; then
	tools/gen/results_pages.py --check >"$tmp/out" 2>"$tmp/err"
	tap "the tables of results are what the numbers give"
	mkdir -p "$copy/docs"
	cp -r docs/results "$copy/docs"
	sed -i 's/^| `fuse` | 2/| `fuse` | 3/' "$copy/docs/results/systems.md"
	tools_fail "gen/results_pages.py --check" "systems.md is not what the numbers give"
	tap "a changed number is found"
	cp docs/results/systems.md "$copy/docs/results"
	sed -i '/By hand/d; /^| date/d' "$copy/docs/results/attacks.md"
	tools_fail "gen/results_pages.py --check" "no 'By hand' stands in front of it" && grep -q "no row 'date'" "$tmp/err"
	tap "a table of unknown origin and a page without a date are found"
fi
cp -r docs README.md "$copy" && echo '# New' >"$copy/docs/design/new.md"
tools_fail check/check-docs.sh "docs/design/new.md: docs/README.md does not list it"
tap "a page that the index does not list is found"
cp README.md "$copy" && mkdir -p "$copy/docs"
printf 'See [there](nowhere.md) and [here](#no-such-heading).\n' >"$copy/docs/x.md"
tools_fail "check/check-docs.sh docs/x.md" "nowhere.md leads to no file" && grep -q 'leads to no heading' "$tmp/err"
tap "links that lead nowhere are found"
seq -s ' ' 40 >"$copy/docs/x.md"
tools_fail "check/check-docs.sh docs/x.md" "a sentence of 40 words"
tap "a sentence of 40 words is found"
printf 'Do `%s` first.\n' "$(seq -s ' ' 40)" >"$copy/docs/x.md"
tools_fail "check/check-docs.sh docs/x.md" "a sentence of 42 words"
tap "words of code inside a sentence count"
printf 'Run this:\n\n    make\n' >"$copy/docs/x.md"
tools_fail "check/check-docs.sh docs/x.md" "x.md:3: code without fences"
tap "code without fences is found"

"$passmith" doctor --ops-markdown --verdicts-markdown >"$tmp/out" 2>"$tmp/err"
code=$?
exits 2 "two tables at once"
tap_done
