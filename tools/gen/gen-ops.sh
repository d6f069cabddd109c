#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gen-ops.sh - print include/passmith/ops.h, the operator names a plugin may write, from ir/core/ops.def.
set -eu
def=${1:-$(dirname "$0")/../../ir/core/ops.def}

cat <<'HEAD'
/* ops.h - operator names for patterns; generated from ir/core/ops.def by tools/gen/gen-ops.sh.
 *
 * A misspelt operator in a pattern is then a compile error. Only names cross the plugin boundary; the
 * numbers mean nothing to the host.
 */
#ifndef PASSMITH_OPS_H
#define PASSMITH_OPS_H

#ifndef IR_OP_H /* the host has its own list of the same names */
enum PmPluginOp {
HEAD
sed -n 's/^OP(\([A-Za-z0-9_]*\),.*/	PM_OP_\1,/p' "$def" | sed '1s/,/ = 1,/'
cat <<'TAIL'
};
#endif

#endif
TAIL
