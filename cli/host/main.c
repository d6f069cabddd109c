/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - passmith-host, the program that runs passes: job on stdin, answer on stdout
 * (matcher/host/pass_job.h).
 *
 * passmith starts it with limits, a deadline and an empty environment. In order: read the job, judge the
 * shared object, map it, enter the sandbox, and only then call into it.
 */
#include "base/sandbox/sandbox.h"
#include "base/sys/io.h"
#include "integrity/gates/elf_gate.h"
#include "integrity/referee/sandbox_fault.h"
#include "matcher/host/pass_job.h"

#include <alloca.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_all(PmStr *out)
{
	static char chunk[1 << 16];
	ssize_t n;

	while ((n = read(0, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		pm_str_addn(out, chunk, (size_t)n);
	}
	return 0;
}

/* stdio asks the system about its descriptor, which the sandbox forbids. */
static void answer(const PmStr *s)
{
	size_t sent = 0;

	while (sent < s->len) {
		ssize_t n = write(1, s->s + sent, s->len - sent);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			_exit(1);
		sent += (size_t)n;
	}
}

static void refuse_object(const PmPassJob *job, const PmStr *problems, int n, PmStr *out)
{
	char message[PM_ERR_MAX];
	int len = (int)problems->len; /* without the end of the last line */

	snprintf(message, sizeof message,
		 "'%s' may not be loaded, for %d reason%s; build it with `passmith build`, or with the line "
		 "in docs/reference/building.md. %.*s",
		 job->name, n, n == 1 ? "" : "s", len > 0 ? len - 1 : 0, problems->s);
	pm__answer_refusal("REJECT_ELF", message, problems->s, out);
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The C library asks the system for the size of memory when it first sorts more than a kilobyte, and
 * remembers: that has to happen before the sandbox forbids it. */
static void prime_library(void)
{
	static int big[1024];

	qsort(big, sizeof big / sizeof *big, sizeof *big, by_value);
}

/* Nothing of the plugin has run when this fails. */
static void enter(const PmPassJob *job)
{
	char text[] = PM__CHILD_BOXED;
	PmStr boxed = { .s = text, .len = sizeof text - 1 }, lost = PM_STR_INIT;
	unsigned missing = job->require & ~pm_sandbox_enter();

	if (missing) {
		pm_sandbox_lost(missing, &lost);
		fputs(lost.s, stderr);
		_exit(PM__CHILD_UNBOXED);
	}
	answer(&boxed);
}

/* By variant, stack and heap lie elsewhere too: answers that depend on addresses differ between two runs. */
static void run(const PmPassJob *job, const PmElf *elf, PmLoaded *plugin, PmStr *out)
{
	volatile char *stack = alloca(16 + (job->variant & 1) * 4096);
	volatile char *heap = malloc(16 + (job->variant & 1) * 4096);

	stack[0] = 0;
	if (heap)
		heap[0] = 0;
	prime_library();
	pm_target_set(job->target);
	pm_target_trials(job->trial, job->n_trials);
	pm_sandbox_name_faults();
	enter(job);
	pm__pass_child(job, elf, plugin, out);
}

int main(void)
{
	PmStr in = PM_STR_INIT, out = PM_STR_INIT, problems = PM_STR_INIT;
	PmPassJob job;
	PmLoaded plugin;
	PmElf elf;
	PmErr err;
	int n;

	pm_err_init(&err);
	if (read_all(&in) || pm__job_read(&in, &job, &err)) {
		fprintf(stderr, "passmith-host: %s\n", err.code ? err.text : "stdin cannot be read.");
		return 2;
	}
	n = pm_elf_gate(job.object, job.object_len, &elf, &problems);
	if (n)
		refuse_object(&job, &problems, n, &out);
	else if (pm_plugin_map(&elf, job.variant, &plugin, &err))
		pm__answer_refusal("REJECT_ELF", err.text, "", &out);
	else
		run(&job, &elf, &plugin, &out);
	answer(&out);
	/* No destructors: a plugin's code may still be pointed to. */
	_exit(0);
}
