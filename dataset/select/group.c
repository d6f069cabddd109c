/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - the rules by which stored graphs become tasks. */
#include "dataset/select/group.h"

#include "base/core/vec.h"

#include <stdlib.h>
#include <string.h>

typedef struct Row {
	PmSample s;
	size_t number; /* in the caller's list */
	/* Least hash among the graphs with these operators, and among those of its bucket: the numbers of
	 * texts depend on the order of storing, these do not. */
	const char *rank, *bucket;
	char used;
} Row;

typedef struct Job {
	PM_VEC(PmGroup) group;
	PM_VEC(size_t) member;
	size_t stride;
} Job;

const char *pm_group_rule_name(PmGroupRule r)
{
	static const char *const names[] = { "stride", "cross-shape", "dtype", "sparse" };

	return names[r];
}

static int cmp_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_op_seq(const void *x, const void *y)
{
	const Row *a = x, *b = y;
	int c = cmp_i64(a->s.op_seq, b->s.op_seq);

	return c ? c : strcmp(a->s.hash, b->s.hash);
}

static int by_rank(const void *x, const void *y)
{
	const Row *a = x, *b = y;
	int c = strcmp(a->rank, b->rank);

	if (!c)
		c = strcmp(a->bucket, b->bucket);
	if (!c)
		c = cmp_i64(a->s.n_nodes, b->s.n_nodes);
	return c ? c : strcmp(a->s.hash, b->s.hash);
}

static int by_hash(const void *x, const void *y)
{
	const Row *const *a = x, *const *b = y;

	return strcmp((*a)->s.hash, (*b)->s.hash);
}

static void begin(Job *j, PmGroupRule rule)
{
	PM_VEC_PUSH(&j->group, ((PmGroup){ rule, j->member.n, 0 }));
}

static void add(Job *j, Row *r)
{
	PM_VEC_PUSH(&j->member, r->number);
	j->group.v[j->group.n - 1].n++;
	r->used = 1;
}

/* A group that got no member is none. */
static void end(Job *j)
{
	if (j->group.v[j->group.n - 1].n == 0)
		j->group.n--;
}

/* The end of the bucket that begins at r. */
static size_t bucket_end(const Row *r, size_t from, size_t n)
{
	size_t k = from;

	while (k < n && r[k].bucket == r[from].bucket)
		k++;
	return k;
}

static void by_stride_and_shape(Job *j, Row *r, size_t n)
{
	for (size_t i = 0, k; i < n; i = k) {
		k = bucket_end(r, i, n);
		for (size_t m = i + j->stride; m < k; m += j->stride) {
			begin(j, PM_GROUP_BY_STRIDE);
			add(j, &r[m]);
		}
	}
	begin(j, PM_GROUP_CROSS_SHAPE);
	for (size_t i = 0; i < n; i = bucket_end(r, i, n))
		add(j, &r[i]);
	end(j);
}

static void by_dtype(Job *j, Row *r, size_t n)
{
	begin(j, PM_GROUP_DTYPE);
	for (size_t i = 0, k; i < n; i = k) {
		int64_t seen[PM_GROUP_DTYPES];
		size_t n_seen = 0;

		k = bucket_end(r, i, n);
		for (size_t m = i; m < k && n_seen < PM_GROUP_DTYPES; m++) {
			size_t q = 0;

			while (q < n_seen && seen[q] != r[m].s.dtypes)
				q++;
			if (r[m].used || q < n_seen)
				continue;
			seen[n_seen++] = r[m].s.dtypes;
			add(j, &r[m]);
		}
	}
	end(j);
}

static void sparsely(Job *j, Row *r, size_t n)
{
	Row **left = pm_xcalloc(n, sizeof(Row *));
	size_t n_left = 0;

	for (size_t i = 0; i < n; i++)
		if (!r[i].used)
			left[n_left++] = &r[i];
	qsort(left, n_left, sizeof *left, by_hash);
	begin(j, PM_GROUP_SPARSE);
	for (size_t i = 0; i < n_left; i++)
		if (i % PM_GROUP_WINDOW < PM_GROUP_TAKEN)
			add(j, left[i]);
	end(j);
	free(left);
}

/* Names the buckets of graphs with the same operators, which are ordered by hash. */
static void name_buckets(Row *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (r[k].s.shapes != r[i].s.shapes)
			k++;
		r[i].bucket = r[k].s.hash;
	}
}

void pm_group(const PmSample *s, size_t n, size_t stride, PmGroups *out)
{
	Row *r = pm_xcalloc(n + 1, sizeof *r);
	Job j = { .stride = stride ? stride : PM_GROUP_STRIDE };

	for (size_t i = 0; i < n; i++)
		r[i] = (Row){ s[i], i, NULL, NULL, 0 };
	qsort(r, n, sizeof *r, by_op_seq);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && r[k].s.op_seq == r[i].s.op_seq; k++)
			r[k].rank = r[i].s.hash;
		name_buckets(r + i, k - i);
	}
	qsort(r, n, sizeof *r, by_rank);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && r[k].rank == r[i].rank; k++)
			continue;
		by_stride_and_shape(&j, r + i, k - i);
		by_dtype(&j, r + i, k - i);
		sparsely(&j, r + i, k - i);
	}
	free(r);
	*out = (PmGroups){ j.group.v, j.group.n, j.member.v, j.member.n };
}

void pm_groups_release(PmGroups *g)
{
	free(g->group);
	free(g->member);
	memset(g, 0, sizeof *g);
}
