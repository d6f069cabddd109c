/* SPDX-License-Identifier: Apache-2.0 */
/* edge_attack.c - a normalisation over edges without the branch for nodes that have none. */
#include "input_rules.h"

PM_PLUGIN("edge_attack", "1", &SAA_edges_never_missing)
