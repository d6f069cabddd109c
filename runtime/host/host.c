/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - loaded objects, and launches on them.
 *
 * A launch takes a copy of the object and a lane: a scheduler with its fibers and dynamic shared memory.
 * Lanes belong to no module, so that a process with many kernels has as many stacks as the largest of its
 * concurrent launches need. They go when no module is loaded any more.
 */
#include "runtime/host/host.h"

#include "base/core/arena.h"
#include "base/core/str.h"
#include "runtime/emu/emu_sched.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct Copy {
	struct Copy *next;
	void *so;
	const PmEmuModule *m;
} Copy;

struct PmHostModule {
	char *label;
	unsigned char *object;
	size_t n;
	pthread_mutex_t lock;
	pthread_cond_t returned;
	Copy *idle;
	int n_copies;
};

enum { LINE = 64 };
typedef struct Lane {
	struct Lane *next;
	PmEmuSched s;
	unsigned char dyn[PM_EMU_MAX_SMEM + LINE]; /* from the first multiple of LINE on */
} Lane;

static struct {
	pthread_mutex_t lock;
	Lane *idle;
	size_t n_modules;
	uint32_t n_loads;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- what a kernel calls ----------------------------------------------------------------------------------
 */

/* The object is compiled without printf (--debug-print alone has it). */
static int print(const char *format, const PmEmuPrintArg *v, int n)
{
	(void)format;
	(void)v;
	(void)n;
	pm__emu_fail(pm__emu_running, PM_E_DEVICE,
		     "called printf, which works in passmith eval --debug-print.");
	return 0;
}

static const PmEmuCalls calls = {
	pm__emu_sched_barrier, pm__emu_sched_warp, pm__emu_sched_trap, memcpy, memmove, memset, print
};

/* --- lanes -----------------------------------------------------------------------------------------------
 */

static Lane *take_lane(void)
{
	Lane *l;

	pthread_mutex_lock(&all.lock);
	l = all.idle;
	if (l)
		all.idle = l->next;
	pthread_mutex_unlock(&all.lock);
	if (l)
		return l;
	l = pm_xcalloc(1, sizeof *l);
	pm__emu_sched_open(&l->s);
	l->s.calls = &calls;
	l->s.dyn = l->dyn + (LINE - (uintptr_t)l->dyn % LINE);
	return l;
}

static void free_lane(Lane *l)
{
	pm__emu_sched_close(&l->s);
	free(l);
}

/* One whose launch has failed has fibers that stopped in the middle of a kernel. */
static void give_lane_back(Lane *l, int failed)
{
	if (failed) {
		free_lane(l);
		return;
	}
	pthread_mutex_lock(&all.lock);
	l->next = all.idle;
	all.idle = l;
	pthread_mutex_unlock(&all.lock);
}

/* One module more or less; with the last one all lanes go. Returns a number that no other call has got. */
static uint32_t count_module(int more)
{
	Lane *l = NULL;
	uint32_t n;

	pthread_mutex_lock(&all.lock);
	all.n_modules += (size_t)more;
	if (!all.n_modules) {
		l = all.idle;
		all.idle = NULL;
	}
	n = all.n_loads++;
	pthread_mutex_unlock(&all.lock);
	while (l) {
		Lane *next = l->next;

		free_lane(l);
		l = next;
	}
	return n;
}

/* --- copies of an object ----------------------------------------------------------------------------------
 */

static PmStatus write_all(int fd, const unsigned char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno != EINTR)
			return PM_E_IO;
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		}
	}
	return PM_OK;
}

enum { PATH = 256 };

static size_t add_bits(char *out, uint64_t v, int bits)
{
	size_t n = 0;

	for (int i = 0; i < bits; i++) {
		if (v >> i & 1)
			out[n++] = '.';
		out[n++] = '/';
	}
	return n;
}

/* A loader takes two files of one name for one file, and a descriptor's number comes again: the number of the
 * load is in the name, as slashes with a dot before them and without. So is an address of this code, which
 * may be in several libraries of the process: each counts for itself. */
static void path_of(int fd, uint32_t number, char out[PATH])
{
	size_t n = (size_t)snprintf(out, PATH, "/proc/self/fd/");

	n += add_bits(out + n, (uint64_t)(uintptr_t)&all >> 4, 44);
	n += add_bits(out + n, number, 32);
	snprintf(out + n, PATH - n, "%d", fd);
}

static PmStatus load_copy(const PmHostModule *m, uint32_t number, Copy **out, PmErr *err)
{
	int fd = memfd_create("passmith-kernel", MFD_CLOEXEC);
	char path[PATH];
	Copy c = { 0 };

	if (fd < 0 || write_all(fd, m->object, m->n)) {
		int why = errno;

		if (fd >= 0)
			close(fd);
		return pm_err(
			err, PM_E_IO,
			"The %zu bytes of kernel '%s' cannot be put into memory to be loaded (%s); free "
			"memory or raise the limit of open files.",
			m->n, m->label, strerror(why));
	}
	path_of(fd, number, path);
	c.so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	close(fd);
	if (!c.so) {
		const char *why = dlerror();

		return pm_err(err, PM_E_INVALID,
			      "Kernel '%s' cannot be loaded (%s); compile it again for this machine.",
			      m->label, why ? why : "the loader gives no reason");
	}
	c.m = pm__emu_module_of(c.so);
	if (!c.m) {
		dlclose(c.so);
		return pm_err(err, PM_E_INVALID,
			      "Kernel '%s' was not compiled for this version of passmith; compile it again.",
			      m->label);
	}
	*out = pm_xmalloc(sizeof **out);
	**out = c;
	return PM_OK;
}

static void drop_copy(Copy *c)
{
	dlclose(c->so);
	free(c);
}

/* An idle copy, one more, or the next that comes back. */
static PmStatus take_copy(PmHostModule *m, Copy **out, PmErr *err)
{
	PmStatus st;

	pthread_mutex_lock(&m->lock);
	while (!m->idle && m->n_copies == PM_HOST_COPIES)
		pthread_cond_wait(&m->returned, &m->lock);
	*out = m->idle;
	if (*out)
		m->idle = (*out)->next;
	else
		m->n_copies++;
	pthread_mutex_unlock(&m->lock);
	if (*out)
		return PM_OK;
	st = load_copy(m, count_module(0), out, err);
	if (st) {
		pthread_mutex_lock(&m->lock);
		m->n_copies--;
		pthread_cond_signal(&m->returned);
		pthread_mutex_unlock(&m->lock);
	}
	return st;
}

static void give_copy_back(PmHostModule *m, Copy *c)
{
	pthread_mutex_lock(&m->lock);
	c->next = m->idle;
	m->idle = c;
	pthread_cond_signal(&m->returned);
	pthread_mutex_unlock(&m->lock);
}

/* --- modules -------------------------------------------------------------------------------------------- */

static PmStatus judge(const void *object, size_t n, const char *label, PmErr *err)
{
	PmStr why = PM_STR_INIT;
	PmStatus st = pm__emu_object_judge(object, n, &why);

	if (st)
		st = pm_err(err, PM_E_INVALID,
			    "Kernel '%s' is not an object that passmith compiled: %s Compile it again.",
			    label, why.s);
	pm_str_release(&why);
	return st;
}

PmStatus pm_host_load(const void *object, size_t n, const char *label, PmHostModule **out, PmErr *err)
{
	PmStatus st = judge(object, n, label, err);
	PmHostModule *m;
	Copy *c = NULL;

	if (st)
		return st;
	m = pm_xcalloc(1, sizeof *m);
	m->label = pm_xstrdup(label);
	m->object = pm_xmalloc(n);
	memcpy(m->object, object, n);
	m->n = n;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->returned, NULL);
	count_module(1);
	st = take_copy(m, &c, err);
	if (!st) {
		give_copy_back(m, c);
		st = pm__emu_module_check(c->m, m->label, err);
	}
	if (st) {
		pm_host_unload(m);
		return st;
	}
	*out = m;
	return PM_OK;
}

void pm_host_unload(PmHostModule *m)
{
	if (!m)
		return;
	while (m->idle) {
		Copy *c = m->idle;

		m->idle = c->next;
		drop_copy(c);
	}
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->returned);
	free(m->object);
	free(m->label);
	free(m);
	count_module(-1);
}

/* --- launches ------------------------------------------------------------------------------------------- */

static PmStatus check_args(const PmEmuEntry *e, const char *label, const PmHostLaunch *l, PmErr *err)
{
	PmStatus st = pm__emu_entry_count(e, label, l->n_args, err);

	for (int i = 0; i < l->n_args && !st; i++)
		if (l->kinds[i] != e->kind[i] || e->kind[i] >= PM_EMU_OTHER)
			st = pm_err(err, PM_E_DEVICE,
				    "Kernel '%s' (entry '%s'): parameter %d is %s, but the launch gives %s.",
				    label, e->name, i, pm__emu_kind_name(e->kind[i]),
				    pm__emu_kind_name(l->kinds[i]));
	return st;
}

static PmStatus run(const PmHostModule *m, const Copy *c, const PmEmuEntry *e, const PmHostLaunch *l,
		    PmErr *err)
{
	uint64_t n = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	Lane *lane = take_lane();
	PmStatus st = PM_OK;

	lane->s.module = c->m;
	lane->s.entry = e;
	lane->s.args = l->args;
	lane->s.label = m->label;
	pm__emu_sched_begin(&lane->s, l->grid, l->block);
	for (uint64_t k = 0; k < n && !st; k++)
		st = pm__emu_sched_block(&lane->s, k, 0, err);
	pm__emu_sched_end(&lane->s);
	give_lane_back(lane, st != PM_OK);
	return st;
}

PmStatus pm_host_launch(PmHostModule *m, const PmHostLaunch *l, PmErr *err)
{
	const PmEmuEntry *e = NULL;
	Copy *c = NULL;
	PmStatus st = take_copy(m, &c, err);

	if (st)
		return st;
	st = pm__emu_entry_find(c->m, m->label, l->entry, &e, err);
	if (!st)
		st = pm__emu_entry_shape(e, m->label, l->grid, l->block, l->smem, pm__emu_entry_shared(c->m),
					 err);
	if (!st)
		st = check_args(e, m->label, l, err);
	if (!st)
		st = run(m, c, e, l, err);
	give_copy_back(m, c);
	return st;
}
