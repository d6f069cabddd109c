#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# api.sh - tools/check/check-api.sh finds every function of a public header that no comment belongs to, and only those.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

tools/check/check-api.sh >"$tmp/out" 2>"$tmp/err"
tap "every function of the tree's headers has a comment"

mkdir -p "$tmp/tree/include/passmith" "$tmp/tree/base"
cp -r tools "$tmp/tree"

# says HEADER WORDS: the check of the copy fails with them; says HEADER: it passes.
says()
{
	if "$tmp/tree/tools/check/check-api.sh" "$1" >"$tmp/out" 2>"$tmp/err"; then
		[ $# = 1 ]
	else
		[ $# = 2 ] && grep -qF -e "$2" "$tmp/err"
	fi
}

cp base/core/hash.h "$tmp/tree/base/hash.h"
says base/hash.h
tap "a header of the tree by itself"
printf '\nint pm_undocumented(int x);\n' >>"$tmp/tree/base/hash.h"
says base/hash.h "pm_undocumented has no comment"
tap "a prototype without a comment"
sed '/Digest\|digest/d' base/core/rng.h | sed 's|^/\* A stream of its own.*||' >"$tmp/tree/base/rng.h"
says base/rng.h "pm_rng_init_named has no comment"
tap "a comment that goes is missed"

cat >"$tmp/tree/base/group.h" <<'END'
/* group.h - about the file, and not about first_one. */
#include <stddef.h>
/* A group: what one comment says of those right below it. */
int a_one(int x);
extern int *a_two(const char *s,
		  size_t n) __attribute__((format(printf, 1, 2)));
static inline int a_three(void)
{
	int (*f)(int) = a_one;

	return f(1);
}

int by_side(void); /* its comment */

/* Opens; named_far() closes. */
int named(void);

void named_far(void);
typedef int (*a_callback)(void *arg);
struct S {
	int (*member)(void);
	int x; /* not about a function */
};
extern int (*a_variable)(int);
END
says base/group.h
tap "groups, lines with a comment, and names in a comment count"
echo 'int first_one(void);' >>"$tmp/tree/base/group.h"
says base/group.h "group.h:26: first_one has no comment"
tap "what a file begins with is no function's comment, nor is that of a struct's member"
printf '/* x.h - x. */\n/* Of the type. */\nstruct T {\n\tint x;\n};\nint after_struct(void);\n' >"$tmp/tree/base/x.h"
says base/x.h "after_struct has no comment"
tap "a struct takes its comment with it"
printf '/* x.h - x. */\nstatic inline int one(void) { return 1; }\n' >"$tmp/tree/base/x.h"
says base/x.h "one has no comment"
tap "a function with its body"

for line in '/* SPDX-License-Identifier: X */' '// SPDX-License-Identifier: X'; do
	printf '%s\nint licensed(void);\n' "$line"
done >"$tmp/tree/base/x.h"
says base/x.h "x.h:2: licensed has no comment" && grep -q "x.h:4: licensed" "$tmp/err"
tap "a licence line is no comment of a function"

cp include/passmith/dsl.h "$tmp/tree/include/passmith"
says include/passmith/dsl.h
tap "the words for authors"
printf '\n#define UNHEARD(x) (x)\n' >>"$tmp/tree/include/passmith/dsl.h"
says include/passmith/dsl.h "UNHEARD has no comment"
tap "a macro with arguments of the SDK without a comment"
: >"$tmp/tree/base/empty.h"
says base/empty.h "there is no function"
tap "headers without any function are told from documented ones"
tap_done
