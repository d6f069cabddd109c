#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# embed-cu.sh FILE.cu [NAME] - prints a header that holds the file as the string FILE_cu, with a #line for messages,
# which call the file NAME (FILE.cu).
# The licence line at its end (tools/check/spdx.sh) is left out.
set -eu
name=$(basename "$1" .cu)
echo "/* Generated from $1 by tools/gen/embed-cu.sh. */"
echo '#if defined(__GNUC__)'
echo '#pragma GCC diagnostic push'
echo '#pragma GCC diagnostic ignored "-Woverlength-strings"'
echo '#endif'
echo "static const char ${name}_cu[] ="
printf '\t"#line 1 \\"%s\\"\\n"\n' "${2:-$1}"
# \? because "??" could begin a trigraph in strict C11.
sed -e '/^\/\* SPDX-License-Identifier: .* \*\/$/d' \
	-e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\t/\\t/g' -e 's/?/\\?/g' -e 's/^/\t"/' -e 's/$/\\n"/' "$1"
echo '	;'
echo '#if defined(__GNUC__)'
echo '#pragma GCC diagnostic pop'
echo '#endif'
