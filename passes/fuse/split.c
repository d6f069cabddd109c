/* split.c - rows that many blocks share: one launch for each reduction, and one for the results.
 *
 * Where there are few rows and they are long, a block for each row leaves most of the GPU idle. So each row
 * is cut into as many slices as there should be blocks for it. Launch k reduces slices by reduction k of the
 * section (in the order in which they depend on each other) and leaves one number of each slice in memory;
 * the launches after it begin by joining those numbers, every block for itself and in the same order. Nothing
 * else is stored.
 */
#include "fuse.h"

enum { FULL = 132 * 1024, MOST = 264 /* blocks of a row */ };

const char *f_join(const Op *o)
{
	static const char *const join[] = { "Sum", "Sum", "Max", "Min", "Prod", "Sum" };

	return join[o->red];
}

/* Blocks for each row when `group` threads of each share it and have at least two turns left. */
static int64_t slices(const Section *s, int64_t group)
{
	int64_t wanted = FULL / (s->rows * group), most = s->extent / s->vec / (2 * group);

	wanted = wanted < most ? wanted : most;
	return wanted < MOST ? wanted : MOST;
}

/* Each reduction, and the results, have their turns over the row: fewer of them against a launch each. */
static int is_worth_it(const Section *s, int64_t group, int64_t n)
{
	enum { TURNS = 20 }; /* as long as one launch */
	int64_t before = s->extent / s->vec / s->group, after = s->extent / s->vec / (group * n);

	return n > 1 && before - after > TURNS;
}

void f_split(Ctx *c, Section *s)
{
	int64_t group = s->column ? 8 : 512, n;

	s->split = 0;
	if (c->sums || c->n_sections > 1 || !s->n_reds || s->n_reds > F_SPLITS ||
	    (!s->column && s->group <= 32))
		return;
	/* Few blocks of many threads leave more of the GPU idle than many of few. */
	while (!s->column && group > 128 && slices(s, group) * s->rows < FULL / 1024)
		group /= 2;
	if (c->other)
		group /= 2;
	n = slices(s, group);
	if (!is_worth_it(s, group, n))
		return;
	s->split = (int)n;
	s->group = (int)group;
	s->per_block = s->column ? 32 : 1;
	s->block = s->per_block * s->group;
}

/* Of reduction `number`, by slice and row. */
static void place(Ctx *c, int acc, int number, const char *slice)
{
	t_add(c, "((");
	t_add(c, f_cclass(c->var[acc].dtype));
	t_add(c, " *)(parts + ");
	t_int(c, number * c->s->split * c->s->rows);
	t_add(c, "))[");
	t_add(c, slice);
	t_add(c, " * ");
	t_int(c, c->s->rows);
	t_add(c, " + r]");
}

void f_join_parts(Ctx *c, const Op *o, int acc, int number)
{
	t_add(c, "for (int i = lane; i < ");
	t_int(c, c->s->split);
	t_add(c, "; i += ");
	t_int(c, c->s->group);
	t_add(c, ")\nv");
	t_int(c, acc);
	t_add(c, " = ");
	t_add(c, f_join(o));
	t_add(c, "::of(v");
	t_int(c, acc);
	t_add(c, ", ");
	place(c, acc, number, "i");
	t_add(c, ");\n");
}

void f_leave_part(Ctx *c, int acc, int number)
{
	t_add(c, "if (live && lane == 0)\n");
	place(c, acc, number, "slice");
	t_add(c, " = v");
	t_int(c, acc);
	t_add(c, ";\n");
	c->cut = c->out->n;
}

int f_stages(const Ctx *c)
{
	return c->section[0].split ? c->section[0].n_reds + 1 : 1;
}

int64_t f_scratch(const Ctx *c)
{
	const Section *s = &c->section[0];

	return s->split ? 8 * s->n_reds * s->split * s->rows : 0;
}
