/* SPDX-License-Identifier: Apache-2.0 */
/* board_times.h - a board from a file of times, where the database they were taken with is not at hand. */
#ifndef APP_REPORT_BOARD_TIMES_H
#define APP_REPORT_BOARD_TIMES_H

#include "app/report/board/board.h"

/* Reads {"device", "date", "commit", "preset", "graphs": [{"task", "variant", "class", SYSTEM: [replay, cold,
 * host, t], ...}]}, as docs/results/h200_systems.json and tools/bench/common/systems_file.py have it:
 * microseconds, and the level from which on the answer is right (absent: it is what others are compared
 * with). The first system of the first graph is the reference. A system that is null declined the graph and
 * has the times of "eager"; one that is absent was not measured there. "launches", "graph_host" and "failed"
 * are not read. Rooflines and categories are not known. PM_E_INVALID names the graph that is no such object.
 * Release *out also after a failure. */
PmStatus pm_boards_from_times(const char *path, PmBoards *out, PmErr *err);

#endif
