#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# embed-text.sh FILE - prints a header that holds the file as the string NAME_EXT (schema.sql: schema_sql).
# Its licence line (tools/check/spdx.sh) is left out.
set -eu
name=$(basename "$1" | tr . _)
echo "/* Generated from $1 by tools/gen/embed-text.sh. */"
echo '#if defined(__GNUC__)'
echo '#pragma GCC diagnostic push'
echo '#pragma GCC diagnostic ignored "-Woverlength-strings"'
echo '#endif'
echo "static const char ${name}[] ="
# \? because "??" could begin a trigraph in strict C11.
sed -e '/^\(--\|#\|\/\/\|\/\*\) SPDX-License-Identifier: /d' \
	-e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\t/\\t/g' -e 's/?/\\?/g' -e 's/^/\t"/' -e 's/$/\\n"/' "$1"
echo '	;'
echo '#if defined(__GNUC__)'
echo '#pragma GCC diagnostic pop'
echo '#endif'
