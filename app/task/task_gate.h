/* SPDX-License-Identifier: Apache-2.0 */
/* task_gate.h - judging one graph again by the rules that a task has to pass. */
#ifndef APP_TASK_GATE_H
#define APP_TASK_GATE_H

#include "bench/gate/gate.h"
#include "dataset/store/db.h"

typedef struct PmTaskGated {
	char label[96]; /* which variant of the graph was judged (app/task/task_proxy.h) */
	PmGateReport report;
} PmTaskGated;

/* The graph that `what` names in a database: the first member of a task, or a subgraph by its hash. Returns
 * owned in *out. PM_E_NOT_FOUND when it names neither. */
PmStatus pm_task_stored_graph(PmDb *db, const char *what, PmGraph **out, PmErr *err);

/* Judges a graph by its proxy, with every rule asked. *out is filled when it was judged, whatever the
 * judgement. */
PmStatus pm_task_gate(const PmGraph *g, int64_t seed, int n_honest, PmTaskGated *out, PmErr *err);

#endif
