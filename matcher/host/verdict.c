/* verdict.c - names and meanings of verdicts. */
#include "matcher/host/verdict.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name, *meaning;
} verdicts[] = {
#define XX(name, meaning) { #name, meaning },
#include "matcher/host/verdicts.def"
#undef XX
};

const char *pm_verdict_name(PmVerdict v)
{
	return (unsigned)v < PM_N_VERDICTS ? verdicts[v].name : "UNKNOWN";
}

const char *pm_verdict_meaning(PmVerdict v)
{
	return (unsigned)v < PM_N_VERDICTS ? verdicts[v].meaning : "not a verdict";
}

PmVerdict pm_verdict_from_name(const char *name)
{
	for (int v = 0; v < PM_N_VERDICTS; v++)
		if (!strcmp(verdicts[v].name, name))
			return (PmVerdict)v;
	return PM_N_VERDICTS;
}
