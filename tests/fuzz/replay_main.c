/* SPDX-License-Identifier: Apache-2.0 */
/* replay_main.c - a plain main for fuzz targets: replays inputs, and mutations of them, without libFuzzer.
 *
 * fuzz_X [-n COUNT] [-s SECONDS] [FILE|FOLDER]... runs every file, then up to COUNT inputs made from them
 * (from nothing when there are none) by a fixed random stream, for SECONDS at most. Speaks TAP.
 * The same command line makes the same inputs: run it under a debugger to see a crash again.
 */
#include "base/core/rng.h"
#include "base/core/str.h"
#include "base/core/vec.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MAX_INPUT = 1 << 20, MAX_NEW = 512 };

typedef PM_VEC(PmStr) Inputs;

/* The target gets its bytes in a heap block of exactly that size, so that a sanitizer sees every overrun. */
static void run(const char *p, size_t n)
{
	uint8_t *exact = pm_xmalloc(n);

	memcpy(exact, p, n);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
}

static int load(const char *path, Inputs *in, int depth)
{
	PmErr err;
	PmStr s = PM_STR_INIT, sub = PM_STR_INIT;
	PmNames names = { 0 };
	int bad = 0;
	size_t i;

	pm_err_init(&err);
	if (pm_path_is_dir(path)) {
		bad = depth == 0 || pm_list_dir(path, &names, &err) != PM_OK;
		for (i = 0; i < names.n; i++) {
			pm_str_clear(&sub);
			pm_path_join(path, names.v[i], &sub);
			bad |= load(sub.s, in, depth - 1);
		}
	} else if (pm_read_file(path, MAX_INPUT, &s, &err) == PM_OK) {
		PM_VEC_PUSH(in, s);
	} else {
		bad = 1;
	}
	if (bad && err.text[0])
		printf("# %s\n", err.text);
	pm_names_release(&names);
	pm_str_release(&sub);
	return bad;
}

/* A few edits at random places: other bytes, cuts, repeats, and numbers that are often wrong. */
static void mutate(PmRng *rng, PmStr *s)
{
	static const char *const words[] = { "-1", "0", "9223372036854775807", "(", ")", "\"", "\\", "," };
	int edits = (int)pm_rng_range(rng, 1, 6);

	while (edits--) {
		size_t at = s->len ? (size_t)pm_rng_range(rng, 0, (int64_t)s->len - 1) : 0;
		size_t n = s->len - at;
		const char *w;

		if (n > 16)
			n = (size_t)pm_rng_range(rng, 1, 16);
		switch (n ? pm_rng_range(rng, 0, 4) : 4) {
		case 0:
			s->s[at] = (char)pm_rng_u64(rng);
			break;
		case 1:
			s->s[at] = (char)(s->s[at] ^ 1 << pm_rng_range(rng, 0, 7));
			break;
		case 2: /* cut out */
			memmove(s->s + at, s->s + at + n, s->len - at - n + 1);
			s->len -= n;
			break;
		case 3: { /* repeat at the end */
			PmStr copy = PM_STR_INIT;

			pm_str_addn(&copy, s->s + at, n);
			pm_str_addn(s, copy.s, copy.len);
			pm_str_release(&copy);
			break;
		}
		default:
			w = words[pm_rng_range(rng, 0, (int64_t)(sizeof words / sizeof *words) - 1)];
			if (s->len - at >= strlen(w))
				memcpy(s->s + at, w, strlen(w));
			else
				pm_str_add(s, w);
		}
	}
}

static void make_input(PmRng *rng, const Inputs *in, PmStr *s)
{
	int64_t n;

	pm_str_clear(s);
	if (in->n) {
		const PmStr *from = &in->v[pm_rng_range(rng, 0, (int64_t)in->n - 1)];

		pm_str_addn(s, from->s, from->len);
	} else {
		for (n = pm_rng_range(rng, 0, MAX_NEW); n > 0; n--)
			pm_str_addc(s, (char)pm_rng_range(rng, 0, pm_rng_range(rng, 0, 1) ? 255 : 127));
	}
	mutate(rng, s);
}

int main(int argc, char **argv)
{
	int64_t count = 0, seconds = 60, done = 0;
	double until;
	Inputs in = { 0 };
	PmStr s = PM_STR_INIT;
	int i, bad = 0;
	PmRng rng;
	size_t k;

	for (i = 1; i < argc; i++) {
		int64_t *value = pm_str_eq(argv[i], "-n")   ? &count
				 : pm_str_eq(argv[i], "-s") ? &seconds
							    : NULL;

		if (!value)
			bad |= load(argv[i], &in, 8);
		else if (++i >= argc || !pm_parse_i64(argv[i], value))
			bad = 1;
	}
	printf("1..1\n");
	fflush(stdout);
	for (k = 0; k < in.n; k++)
		run(in.v[k].s, in.v[k].len);
	pm_rng_init_named(&rng, 1, "replay");
	for (until = pm_now() + (double)seconds; done < count && pm_now() < until; done++) {
		make_input(&rng, &in, &s);
		run(s.s, s.len);
	}
	printf("%s 1 - %zu inputs and %lld made from them\n",
	       bad || (in.n == 0 && done == 0) ? "not ok" : "ok", in.n, (long long)done);
	for (k = 0; k < in.n; k++)
		pm_str_release(&in.v[k]);
	PM_VEC_RELEASE(&in);
	pm_str_release(&s);
	return bad;
}
