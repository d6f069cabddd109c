/* SPDX-License-Identifier: Apache-2.0 */
/* journal.c - events of a sample in a file. */
#include "app/agent/journal.h"

#include "base/core/arena.h"
#include "base/sys/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct PmJournal {
	int fd;
	char *path;
};

/* Reads whole lines; *whole is where the last one ends. */
static PmStatus read_lines(const char *path, PmJournalFn fn, void *arg, size_t *whole, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st = PM_OK;
	int64_t line = 0;
	char *end;

	*whole = 0;
	if (pm_path_exists(path))
		st = pm_read_file(path, 0, &text, err);
	while (!st && (end = memchr(text.s + *whole, '\n', text.len - *whole)) != NULL) {
		size_t n = (size_t)(end - text.s) - *whole;
		cJSON *j = NULL;

		line++;
		st = pm_json_parse(text.s + *whole, n, &j, err);
		if (!st && !cJSON_IsObject(j))
			st = pm_err(err, PM_E_INVALID,
				    "it is no object; remove the file to begin the sample anew.");
		if (st)
			pm_err_ctx(err, "%.400s, line %lld", path, (long long)line);
		else
			st = fn(arg, j, err);
		cJSON_Delete(j);
		*whole += n + 1;
	}
	pm_str_release(&text);
	return st;
}

PmStatus pm_journal_read(const char *path, PmJournalFn fn, void *arg, PmErr *err)
{
	size_t whole;

	return read_lines(path, fn, arg, &whole, err);
}

PmStatus pm_journal_open(const char *path, PmJournalFn fn, void *arg, PmJournal **out, PmErr *err)
{
	size_t whole;
	PmStatus st = read_lines(path, fn, arg, &whole, err);
	int fd;

	if (st)
		return st;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0 || ftruncate(fd, (off_t)whole)) {
		st = pm_path_error("write", path, 1, err);
		if (fd >= 0)
			close(fd);
		return st;
	}
	*out = pm_xcalloc(1, sizeof **out);
	(*out)->fd = fd;
	(*out)->path = pm_xstrdup(path);
	return PM_OK;
}

PmStatus pm_journal_add(PmJournal *j, const cJSON *event, PmErr *err)
{
	PmStr line = PM_STR_INIT;
	PmStatus st = PM_OK;
	size_t at = 0;

	pm_json_print(event, 0, &line);
	while (!st && at < line.len) {
		ssize_t n = write(j->fd, line.s + at, line.len - at);

		if (n < 0 && errno != EINTR)
			st = pm_path_error("write", j->path, 1, err);
		at += n > 0 ? (size_t)n : 0;
	}
	if (!st && fdatasync(j->fd))
		st = pm_path_error("write", j->path, 1, err);
	pm_str_release(&line);
	return st;
}

void pm_journal_close(PmJournal *j)
{
	if (!j)
		return;
	close(j->fd);
	free(j->path);
	free(j);
}
