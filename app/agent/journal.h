/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h - what happened to a sample, one event a line of a file that only grows.
 *
 * An event is on the disk before what follows from it is begun. A process that is killed while it writes
 * leaves the beginning of a line, which the next reader cuts off.
 */
#ifndef AGENT_JOURNAL_H
#define AGENT_JOURNAL_H

#include "base/core/json.h"

typedef struct PmJournal PmJournal;

/* Called for each event in order; `event` is borrowed. A status other than PM_OK ends the reading. */
typedef PmStatus (*PmJournalFn)(void *arg, const cJSON *event, PmErr *err);

/* Opens the file, made when it is not there, and reads what it has. PM_E_INVALID for a line that is no JSON
 * object. */
PmStatus pm_journal_open(const char *path, PmJournalFn fn, void *arg, PmJournal **out, PmErr *err);
/* Appends an event and waits until the disk has it. PM_E_IO: it is not there. */
PmStatus pm_journal_add(PmJournal *j, const cJSON *event, PmErr *err);
/* NULL is allowed. */
void pm_journal_close(PmJournal *j);

/* Reads only, for reports: a line that is cut off is left out. A missing file has no events. */
PmStatus pm_journal_read(const char *path, PmJournalFn fn, void *arg, PmErr *err);

#endif
