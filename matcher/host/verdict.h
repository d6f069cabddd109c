/* verdict.h - the named ways in which the evaluation of a pass can end (matcher/host/verdicts.def). */
#ifndef MATCHER_VERDICT_H
#define MATCHER_VERDICT_H

typedef enum PmVerdict {
#define XX(name, meaning) PM_VERDICT_##name,
#include "matcher/host/verdicts.def"
#undef XX
	PM_N_VERDICTS
} PmVerdict;

/* "PASS_TIMEOUT"; "UNKNOWN" for a number that is none. Static storage. */
const char *pm_verdict_name(PmVerdict v);
/* One line for the author of a pass. */
const char *pm_verdict_meaning(PmVerdict v);
/* PM_N_VERDICTS when there is none of that name. */
PmVerdict pm_verdict_from_name(const char *name);

#endif
