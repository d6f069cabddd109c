/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc_headers.c - every header that a kernel can include, in memory.
 *
 * A compilation reads no file: that makes results depend on the sources alone, lets a compiler run where the
 * file system is closed, and leaves a kernel's #include nothing to disclose. The roots are the SDK's prelude
 * and the headers of CUDA that kernels ask for; what they include is found as a preprocessor would, and kept
 * under the name as written.
 */
#include "base/core/arena.h"
#include "base/core/vec.h"
#include "base/sys/io.h"
#include "runtime/cuda/nvrtc/nvrtc_priv.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HEADERS = 512, MAX_HEADER_BYTES = 16 << 20 };

static const char *const roots[] = { "passmith/kernel.cuh", "cuda_fp16.h", "cuda_bf16.h", "mma.h" };

typedef struct Collect {
	const char *sdk, *cuda;
	PM_VEC(char *) name, text, dir; /* dir: of the file, to resolve what it includes */
} Collect;

static int known(const Collect *c, const char *name)
{
	for (size_t i = 0; i < c->name.n; i++)
		if (!strcmp(c->name.v[i], name))
			return 1;
	return 0;
}

/* Reads dir/name; 1 when there is such a file. */
static int take(Collect *c, const char *dir, const char *name)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT, of = PM_STR_INIT;
	int found;

	pm_path_join(dir, name, &path);
	found = pm_file_size(path.s) >= 0 && !pm_read_file(path.s, MAX_HEADER_BYTES, &text, NULL);
	if (found) {
		pm_path_dir(path.s, &of);
		PM_VEC_PUSH(&c->name, pm_xstrdup(name));
		PM_VEC_PUSH(&c->text, pm_str_detach(&text, NULL));
		PM_VEC_PUSH(&c->dir, pm_str_detach(&of, NULL));
	}
	pm_str_release(&path);
	pm_str_release(&text);
	pm_str_release(&of);
	return found;
}

/* The header that a file in `dir` includes. Headers of the host (<utility>, <cstring>), which CUDA's ask for
 * only when no NVRTC compiles them, are not found, and are left out. */
static void want(Collect *c, const char *dir, const char *name)
{
	if (known(c, name) || c->name.n >= MAX_HEADERS)
		return;
	if (!(dir && take(c, dir, name)) && !take(c, c->sdk, name))
		take(c, c->cuda, name);
}

/* Every #include of a text, whatever conditions stand around it. */
static void scan(Collect *c, size_t i)
{
	const char *p = c->text.v[i];

	while ((p = strstr(p, "#")) != NULL) {
		const char *q = p + 1 + strspn(p + 1, " \t");
		char end, name[256];
		size_t n;

		p++;
		if (strncmp(q, "include", 7) != 0)
			continue;
		q += 7 + strspn(q + 7, " \t");
		end = *q == '"' ? '"' : '>';
		if (*q != '"' && *q != '<')
			continue;
		for (n = 0; n + 1 < sizeof name && q[1 + n] && q[1 + n] != end && q[1 + n] != '\n'; n++)
			name[n] = q[1 + n];
		name[n] = 0;
		if (q[1 + n] == end && n)
			want(c, c->dir.v[i], name);
	}
}

void pm__nvrtc_headers(PmNvrtcHeaders *out, const char *sdk, const char *cuda)
{
	Collect c = { .sdk = sdk, .cuda = cuda };

	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
		want(&c, NULL, roots[i]);
	for (size_t i = 0; i < c.name.n; i++)
		scan(&c, i);
	for (size_t i = 0; i < c.dir.n; i++)
		free(c.dir.v[i]);
	PM_VEC_RELEASE(&c.dir);
	out->n = (int)c.name.n;
	out->name = c.name.v;
	out->text = c.text.v;
}
