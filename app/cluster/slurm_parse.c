/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_parse.c - what Slurm's programs print. */
#include "app/cluster/slurm_text.h"

#include "base/core/clean.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a line that is looked at, a longer one is none of ours; and of one that is shown in a sentence. */
enum { LINE_MAX_BYTES = 4096, SHOWN = 120 };

/* The digits at the beginning of s as a number: how many there are, 0 when it is none of at most 18. */
static size_t number(const char *s, int64_t *out)
{
	size_t n = 0;

	*out = 0;
	while (isdigit((unsigned char)s[n]) && n < 18)
		*out = *out * 10 + (s[n++] - '0');
	return isdigit((unsigned char)s[n]) ? 0 : n;
}

/* Calls fn with each line that is not empty, terminated. */
static PmStatus each_line(const char *program, const char *text, int (*fn)(char *line, PmSlurmElements *out),
			  PmSlurmElements *out, PmErr *err)
{
	char line[LINE_MAX_BYTES];

	for (size_t n; *text; text += n + (text[n] == '\n')) {
		size_t fits = (n = strcspn(text, "\n")) < sizeof line ? n : sizeof line - 1;

		memcpy(line, text, fits);
		line[fits] = '\0';
		if (n && (n != fits || !fn(line, out)))
			return pm_err(
				err, PM_E_INVALID,
				"%s printed \"%.*s\", which is not what it was asked for; look which %s is "
				"found on PATH, and take Slurm's own.",
				program, (int)(n < SHOWN ? n : SHOWN), text, program);
	}
	return PM_OK;
}

/* Cuts the next field off: NULL when there is none. The last one has all that is left. */
static char *field(char **rest, int last)
{
	char *f = *rest, *end = f && !last ? strchr(f, '|') : NULL;

	if (end)
		*end++ = '\0';
	*rest = end;
	return f;
}

static void keep(const char *from, char *to, size_t size)
{
	pm_clean(from, to, size, 0);
}

static int is_state(const char *s)
{
	return *s && strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(s);
}

static int queue_line(char *line, PmSlurmElements *out)
{
	PmSlurmElement e = { .index = -1 };
	char *rest = line, *job = field(&rest, 0), *index = field(&rest, 0), *state = field(&rest, 0),
	     *node = field(&rest, 0), *why = field(&rest, 1);
	size_t n;

	if (!why || !(n = number(job, &e.job)) || job[n] || !is_state(state))
		return 0;
	if (strcmp(index, "N/A") && (!(n = number(index, &e.index)) || index[n]))
		return 0;
	keep(state, e.state, sizeof e.state);
	keep(node, e.node, sizeof e.node);
	if (strcmp(why, "None"))
		keep(why, e.why, sizeof e.why);
	PM_VEC_PUSH(&out->list, e);
	return 1;
}

/* "3:0" or "0:9". */
static int exit_code(const char *s, PmSlurmElement *e)
{
	int64_t code, sig;
	size_t n = number(s, &code), m;

	if (!n || s[n] != ':' || !(m = number(s + n + 1, &sig)) || s[n + 1 + m])
		return 0;
	if (sig)
		snprintf(e->why, sizeof e->why, "signal %lld", (long long)sig);
	else if (code)
		snprintf(e->why, sizeof e->why, "exit code %lld", (long long)code);
	return 1;
}

static int ended_line(char *line, PmSlurmElements *out)
{
	PmSlurmElement e = { .index = -1 };
	char *rest = line, *id = field(&rest, 0), *state = field(&rest, 0), *code = field(&rest, 0),
	     *node = field(&rest, 1);
	size_t n = number(id, &e.job), m = 0;

	if (!node || !n || (id[n] && id[n] != '_'))
		return 0;
	if (id[n] == '_' && id[n + 1] == '[')
		return 1;
	if (id[n] == '_' && (!(m = number(id + n + 1, &e.index)) || id[n + 1 + m]))
		return 0;
	state[strcspn(state, " +")] = '\0'; /* "CANCELLED by 1000" */
	if (!is_state(state) || !exit_code(code, &e))
		return 0;
	keep(state, e.state, sizeof e.state);
	if (strcmp(node, "None assigned"))
		keep(node, e.node, sizeof e.node);
	PM_VEC_PUSH(&out->list, e);
	return 1;
}

PmStatus pm_slurm_parse_queue(const char *text, PmSlurmElements *out, PmErr *err)
{
	return each_line("squeue", text, queue_line, out, err);
}

PmStatus pm_slurm_parse_ended(const char *text, PmSlurmElements *out, PmErr *err)
{
	return each_line("sacct", text, ended_line, out, err);
}

PmStatus pm_slurm_parse_job(const char *text, int64_t *job, PmErr *err)
{
	size_t n = number(text, job), line = strcspn(text, "\n");

	if (n && *job > 0 && (n == line || text[n] == ';') && (!text[line] || !text[line + 1]))
		return PM_OK;
	return pm_err(
		err, PM_E_INVALID,
		"sbatch printed \"%.120s\", which is no number of a job; look with squeue whether it was "
		"taken, and take Slurm's own sbatch.",
		text);
}

PmStatus pm_slurm_parse_max_array(const char *text, int64_t *max, PmErr *err)
{
	const char *s = !strncmp(text, "MaxArraySize", 12) ? text : strstr(text, "\nMaxArraySize");

	if (s) {
		s += strcspn(s, "=");
		s += strspn(s, "= ");
		if (number(s, max) && *max > 1)
			return PM_OK;
	}
	return pm_err(
		err, PM_E_INVALID,
		"scontrol show config does not say how large an array of jobs may be (MaxArraySize above 1); "
		"ask who runs the cluster to permit arrays.");
}
