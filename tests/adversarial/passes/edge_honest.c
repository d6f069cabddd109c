/* SPDX-License-Identifier: Apache-2.0 */
/* edge_honest.c - the same work as edge_attack.c, to the end. */
#include "input_rules.h"

PM_PLUGIN("edge_honest", "1", &honest_no_edge)
