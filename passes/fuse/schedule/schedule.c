/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c - how threads share a section: elements of a vector, threads of a row, rows of a block. */
#include "../fuse.h"

enum {
	REGISTERS = 96, /* words that a thread keeps from loop to loop */
	HOLDERS = 512,  /* threads that hold a row as it lies in memory */
	COMPUTING = 32, /* registers that a thread of them computes with */
	JOINING = 1024  /* bytes of shared memory in which they join their sums */
};

/* Threads that keep the target busy. */
static int64_t full(void)
{
	return f_target()->full;
}

int f_try_vec(Ctx *c, Section *s, int vec)
{
	s->vec = vec;
	s->group = s->group ? s->group : 1;
	c->keep = s->rows != 0;
	if (!f_build(c, s)) {
		if (vec > 1)
			c->fail = NULL;
		return 0;
	}
	return vec == 1 || s->turned || !s->lane_loads;
}

static int64_t pow2_from(int64_t n)
{
	int64_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

int f_widest(const Ctx *c, const Section *s)
{
	int i, best = 4;

	for (i = 0; i < s->n_out; i++) {
		int size = (int)pm_dtype_bytes(c->g->op[c->arg_out[s->out[i]]].dtype);

		if (size == 2)
			best = 8;
	}
	return best;
}

/* The widest vectors that leave so many threads. */
static void vectors(Ctx *c, Section *s, int64_t fewest)
{
	int vec = f_widest(c, s);
	int64_t n = f_numel(&c->g->op[s->shape[0]]);

	while (vec > 1 && (n % vec || n / vec < fewest))
		vec /= 2;
	if (c->other && vec > 1)
		vec /= 2;
	while (!f_try_vec(c, s, vec) && vec > 1)
		vec /= 2;
}

/* The axis, and 1, of a scatter that adds whose results are those of the section, and whose lines lie side by
 * side: threads that have several of its places read each index once for all of them. 0: there is none. */
static int scatter_axis(const Ctx *c, const Section *s)
{
	int i, k, d;

	for (i = 0; i < c->g->n_ops; i++) {
		const Op *o = &c->g->op[i];

		if (o->kind != OP_SCATTER || o->mode & SCATTER_LAST || !f_computed(c, o) ||
		    o->axis == o->rank - 1)
			continue;
		for (k = 0; k < s->n_out; k++) {
			const Op *r = &c->g->op[c->arg_out[s->out[k]]];

			for (d = 0; d < o->rank && r->rank == o->rank && r->dim[d] == o->dim[d]; d++)
				;
			if (r->rank != o->rank || d < o->rank)
				break;
		}
		if (k == s->n_out)
			return 1 + o->axis;
	}
	return 0;
}

static void plain(Ctx *c, Section *s)
{
	const Target *t = f_target();
	int64_t n = f_numel(&c->g->op[s->shape[0]]);
	double time;

	vectors(c, s, full() / 4);
	time = f_section_time(s);
	s->turned = c->fail ? 0 : scatter_axis(c, s);
	if (s->turned) {
		vectors(c, s, full() / 8);
		if (c->fail || f_section_time(s) + t->strided_lane_us > time) {
			c->fail = NULL;
			s->turned = 0;
			vectors(c, s, full() / 4);
		}
	}
	n /= s->vec;
	s->group = s->per_block = 1;
	s->block = n < t->full / 8 && !s->turned ? 64 : n < t->full / 2 && !s->turned ? 128 : 256;
	s->blocks = (n + s->block - 1) / s->block;
}

/* Each thread has `vec` neighbouring rows, `across` threads stand side by side. 0: not these. */
static int wide_columns(Ctx *c, Section *s, int vec, int across, int64_t g)
{
	if (s->rows % vec)
		return 0;
	s->group = (int)g;
	s->per_block = across;
	s->block = across * s->group;
	s->wide = 1;
	return f_try_vec(c, s, vec);
}

/* What is large is read 16 bytes at a time where there are many rows. Where there are few, so many that they
 * make blocks enough of 64 bytes side by side, or else slices, which are read again for each reduction but
 * the first. */
static int large_columns(Ctx *c, Section *s)
{
	enum { ACROSS = 16, DEEP = 64, MOST = 256 };
	int64_t blocks = f_target()->is.sm_count * 8 / 11; /* of 1,024 threads: most SMs have one */
	int vec = f_widest(c, s), few = s->rows / vec * 32 < full() / 2, sliced = s->n_reds == 1;
	int64_t g = 8;

	if (few && s->rows / (2 * ACROSS) >= blocks && s->extent >= 4 * DEEP && !(c->other && sliced))
		return wide_columns(c, s, 2, ACROSS, DEEP);
	if (few && !sliced)
		return 0;
	vec /= c->other && !few ? 2 : 1;
	while (s->rows / vec * g < full() / 2 && g < 32 && 4 * g <= s->extent)
		g *= 2;
	while (vec > 1 && !wide_columns(c, s, vec, (int)(MOST / g), g))
		vec /= 2;
	return vec > 1;
}

/* Rows side by side of which a block reads whole sectors of 32 bytes: parts of a product are floats. */
static int sector_rows(const Ctx *c, const Section *s)
{
	int size = (int)pm_dtype_bytes(c->g->op[s->shape[0]].dtype);

	return 32 / (c->apart || size > 4 ? 4 : size);
}

/* Neighbouring threads have neighbouring rows; several threads share one where there are few rows. Fewer rows
 * side by side leave less of a GPU idle: where each element is a sum of its own there is more to do than to
 * read, and where few blocks of 32 rows are made, their multiprocessors read for all. */
static void columns(Ctx *c, Section *s)
{
	enum { THREADS = 64, MOST = 32, DEEP = 64, EACH = 8 };
	/* So few blocks that more threads do not take others' place, each with elements enough to pay for the
	 * join. */
	int few = s->rows * MOST < full() / 8 && s->extent >= DEEP * EACH;
	int large = s->bytes >= f_target()->large_bytes && c->n_sections == 1, sums = c->sums && c->alone;
	int64_t g = 1;
	int least;

	s->column = 1;
	if (large && large_columns(c, s))
		return;
	s->wide = 0;
	while (s->rows * g < full() / 2 && g < (few ? DEEP : MOST) && g * (sums ? 2 : 4) <= s->extent)
		g *= 2;
	s->group = (int)g;
	s->per_block = g == 1 ? 128 : 32;
	least = sums ? 8 : sector_rows(c, s);
	while (s->per_block > least && s->per_block * g > THREADS &&
	       s->rows < (int64_t)f_target()->is.sm_count * s->per_block)
		s->per_block /= 2;
	s->block = s->per_block * s->group;
	if (large)
		f_try_vec(c, s, 1);
}

int64_t f_kept_words(const Section *s, int64_t g)
{
	return (s->extent / f_step(s) + g - 1) / g * s->vec * s->cached;
}

int f_fits(const Section *s, int64_t g)
{
	int64_t block = s->wide ? s->block : g;

	return f_kept_words(s, g) <= (block > 512 ? REGISTERS / 3 : block > 256 ? REGISTERS / 2 : REGISTERS);
}

/* Where rows are many and leave lanes of a warp idle in their last turn, half a warp leaves fewer. */
static int half_warps(const Section *s, int64_t chunks)
{
	enum { G = 16 };
	int64_t warps = (chunks + 31) / 32 * 32, halves = (chunks + G - 1) / G * G;

	return s->bytes >= f_target()->large_bytes && s->rows * G >= full() && chunks > 32 &&
	       chunks <= F_TURNS * G && halves * 8 <= warps * 7;
}

/* Threads of a row, of whose elements their vectors leave no more in their last full turn than one for each;
 * 0: it is not such a row. */
static int64_t leaves_tail(int64_t chunks, int64_t g, int vec)
{
	int64_t left = chunks % g;

	return chunks > g && left && left * vec <= g ? g : 0;
}

/* What is large, and has nothing but its reductions: a last turn of few threads takes as long as one of all.
 * So many threads a row, if it has a tail then; 0. */
static int64_t with_tail(Ctx *c, Section *s, int64_t chunks, int64_t g)
{
	int group = s->group;

	if (c->other || s->vec == 1 || s->bytes < f_target()->large_bytes || s->rows * 32 < full() ||
	    f_along(c) || s->cached || chunks % g == 0)
		return 0;
	s->group = (int)leaves_tail(chunks, g < 32 ? 32 : g, s->vec);
	if (!s->group && g < 32)
		s->group = (int)leaves_tail(chunks, g, s->vec);
	s->tail = s->group > 0;
	if (s->tail && f_build(c, s))
		return s->group;
	c->fail = NULL;
	s->tail = 0;
	s->group = group;
	return 0;
}

int f_fit(const Ctx *c)
{
	enum { LEAST = 18, LITTLE = 28, FEW = 40, SOME = 72 }; /* words */
	const Section *s = &c->section[0];
	/* Of what is kept for later loops, one loop's values take the places of another's. */
	int64_t words = c->early_words + c->kept_words / 2;
	/* So many threads have 64 registers each, or 85. Rows of half types that are read once, by small
	 * blocks, are computed with 12 beside what is loaded. */
	int all = f_target()->is.sm_registers, once = !c->kept_words && s->vec == 8 && s->block <= 128,
	    threads = once && s->tail && words <= LEAST ? all / 32
		      : once && words <= LITTLE         ? all / 42
		      : words <= FEW                    ? all / 64
		      : words <= SOME                   ? all * 3 / 256
							: 1;

	if (s->hold)
		return s->hold;
	if (c->n_sections > 1 || !s->rows || s->split || s->bytes < f_target()->large_bytes ||
	    s->block > threads)
		return 1;
	return threads / s->block;
}

/* Blocks have up to `most` threads where a row does not take them all. */
static void share(Section *s, int64_t g, int most)
{
	s->group = (int)g;
	s->per_block = g > 32 ? 1
			      : (int)((s->rows * g < full() / 16 ? 32
				       : s->rows * g < full()    ? 128
								 : most) /
				      g);
	s->block = g > 32 ? (int)g : s->per_block * s->group;
	s->column = 0;
}

int64_t f_held_words(const Section *s)
{
	return (f_target()->is.sm_registers / (s->hold * HOLDERS) - COMPUTING) / 4 * 4;
}

int64_t f_held_bytes(const Section *s)
{
	/* What a block may have on any GPU from sm_80 on (CUDA programming guide, compute capabilities): the
	 * kernel has to run there, too. */
	enum { ANYWHERE = 99 << 10 };
	const PmTarget *t = &f_target()->is;
	int64_t share = t->sm_shared_bytes / s->hold - t->block_kept_shared_bytes;

	return (share < ANYWHERE ? share : ANYWHERE) - JOINING;
}

/* A row that fits no block's registers as it is computed may do as it lies in memory, in registers and shared
 * memory of 512 threads. Three blocks on a multiprocessor, or two: one loads while others compute. */
static int holders(const Section *s, int64_t chunks)
{
	enum { MOST = 3, FEWEST = 2, CHUNK = 16 /* bytes */ };
	Section by = *s;

	if (s->bytes < f_target()->large_bytes || s->rows < FEWEST * (int64_t)f_target()->is.sm_count ||
	    f_fits(s, 1024))
		return 0;
	for (by.hold = MOST; by.hold >= FEWEST; by.hold--)
		if (chunks * CHUNK <= f_held_words(&by) * 4 * HOLDERS + f_held_bytes(&by))
			return by.hold;
	return 0;
}

static void along(Ctx *c, Section *s)
{
	int64_t chunks, g, tails;
	int vec = f_widest(c, s);

	/* Lanes are left idle where there are rows enough. */
	while (vec > 1 &&
	       (s->extent % vec || (s->extent / vec < 32 &&
				    s->rows * (s->extent / vec) < full() / (s->extent / vec < 16 ? 4 : 16))))
		vec /= 2;
	while (!f_try_vec(c, s, vec) && vec > 1)
		vec /= 2;
	chunks = s->extent / s->vec;
	g = pow2_from(chunks);
	/* Two turns of a warp take less than a join of two. */
	if (g == 64)
		g = 32;
	if (!c->other && half_warps(s, chunks)) {
		g = 16;
	} else if (g > 32) {
		int64_t most = g > 1024 ? 1024 : g, keeps = 32;

		g = 32;
		while (g < most && (chunks > 8 * g || s->rows * g < full()))
			g *= 2;
		/* A row that is read once is worth more than short joins. */
		while (keeps < most && !f_fits(s, keeps))
			keeps *= 2;
		if (g < keeps && f_fits(s, keeps))
			g = keeps;
		s->hold = g == 1024 && c->n_sections == 1 ? holders(s, chunks) : 0;
		if (s->hold)
			g = c->other ? g : HOLDERS;
		else if (c->other)
			g = g > 32 ? g / 2 : chunks > 64 ? 64 : 32;
		s->hold = c->other ? 0 : s->hold;
	}
	tails = with_tail(c, s, chunks, g);
	/* Small blocks end one by one: with the few instructions of half types that counts. */
	share(s, tails ? tails : g, s->bytes >= f_target()->large_bytes && s->vec == 8 ? 128 : 256);
}

void f_decide_to_keep(Ctx *c, Section *s)
{
	int cached = s->cached;

	c->keep = s->keep = !s->split && (s->cached || !s->wide) && f_fits(s, s->group);
	f_build(c, s);
	s->cached = cached;
}

/* What lies across memory is read by sectors that neighbouring rows need too: several rows of a block use
 * them while they are near. */
static void gather_rows(Ctx *c, Section *s)
{
	int64_t g = s->group;
	double spread = s->spread;

	if (s->column || s->hold || s->tail || g <= 32 || s->rows < 8 || spread < s->bytes / 2)
		return;
	share(s, 32, 256);
	f_decide_to_keep(c, s);
	if (s->spread < spread && (s->keep || s->spread < spread / 4))
		return;
	share(s, g, 256);
	f_decide_to_keep(c, s);
}

/* Every element by itself, or by pieces of an axis; microseconds. */
static double elements(Ctx *c, Section *s)
{
	plain(c, s);
	if (!c->fail && f_lies_across(s))
		f_stage_elements(c, s);
	return f_section_time(s);
}

/* Takes the results that lie across what is read from s; 0 when these are all or none. */
static int part(Ctx *c, Section *s, Section *across)
{
	Section from = *s;
	int i;

	*across = from;
	across->n_out = s->n_out = 0;
	for (i = 0; i < from.n_out && !c->fail; i++) {
		Section one = from, *to;

		one.out[0] = from.out[i];
		one.shape[0] = from.shape[i];
		one.axes[0] = from.axes[i];
		one.n_out = 1;
		plain(c, &one);
		to = f_lies_across(&one) ? across : s;
		to->out[to->n_out] = from.out[i];
		to->shape[to->n_out] = from.shape[i];
		to->axes[to->n_out++] = from.axes[i];
	}
	return !c->fail && s->n_out && across->n_out;
}

/* Of its time, what is estimated of a section that has results of both kinds. On an H200, of six graphs that
 * multiply and transpose [n, 56, 56, 96], n = 1, 4 and 24, in float and float16: 0.63 to 0.83. */
static const double BOTH_SHARE = 0.7;

/* Results that lie as the operands do and results that do not are made apart where that takes less. */
static void plain_or_apart(Ctx *c, Section *s)
{
	Section straight = *s, across, both;
	double time = elements(c, s);

	if (c->fail || s->n_out == 1 || !(s->cut || f_lies_across(s)) || c->n_sections == F_SECTIONS)
		return;
	both = *s;
	if (part(c, &straight, &across)) {
		c->section[c->n_sections] = across; /* scheduled in its turn */
		if (elements(c, &straight) + elements(c, &across) < time / BOTH_SHARE && !c->fail) {
			both = straight;
			c->n_sections++;
		}
	}
	c->fail = NULL;
	*s = both;
	c->keep = s->keep;
	f_build(c, s);
}

void f_schedule(Ctx *c, Section *s)
{
	if (s->dot) {
		f_schedule_product(c, s);
		return;
	}
	if (!s->rows) {
		plain_or_apart(c, s);
		return;
	}
	s->group = s->per_block = 1;
	s->hold = s->stage = s->tail = 0;
	if (!f_try_vec(c, s, 1))
		return;
	if (s->across > s->along && s->rows > 1)
		columns(c, s);
	else
		along(c, s);
	f_decide_to_keep(c, s);
	gather_rows(c, s);
	f_stage_rows(c, s);
	if (s->stage)
		s->split = 0;
	else
		f_split(c, s);
	if (s->split)
		f_decide_to_keep(c, s);
	s->blocks = (f_groups(s) + s->per_block - 1) / s->per_block * (s->split ? s->split : 1);
}
