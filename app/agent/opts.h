/* SPDX-License-Identifier: Apache-2.0 */
/* opts.h - what is asked of an experiment. */
#ifndef AGENT_OPTS_H
#define AGENT_OPTS_H

#include "app/watch/watch.h"

#include <stddef.h>
#include <stdint.h>

typedef enum { PM_AGENT_SINGLE, PM_AGENT_SAMPLE, PM_AGENT_ITERATE, PM_AGENT_BEST_OF } PmAgentMode;
typedef enum { PM_AGENT_AUTO, PM_AGENT_NATIVE, PM_AGENT_TEXT } PmAgentTools;
/* What a model is told of an evaluation: what is wrong, how fast it is. */
enum { PM_FEEDBACK_NONE = 0, PM_FEEDBACK_E = 1, PM_FEEDBACK_P = 2, PM_FEEDBACK_EP = 3 };

enum { PM_AGENT_SAMPLES = 10000, PM_AGENT_ITERATIONS = 1000, PM_AGENT_PARALLEL = 64 }; /* at most */

typedef struct PmAgentOpts {
	const char *base_url, *model;
	const char *key; /* NULL = none; nowhere stored */
	const char *db, *out, *device;
	const char *gpus;         /* of evaluations, as of passmith eval --gpus; NULL = the first */
	const char *const *tasks; /* names, numbers or hashes */
	size_t n_tasks;
	const char *split; /* all tasks of it instead; or NULL */
	PmAgentMode mode;
	int feedback;
	PmAgentTools tools;
	int64_t samples, iterations;            /* at least 1 */
	int parallel;                           /* processes, at least 1 */
	int64_t budget_tokens;                  /* in and out of all samples; 0 = none */
	double budget_usd, price_in, price_out; /* 0 = none; prices are of a million tokens */
	double temperature;                     /* < 0 = the endpoint's */
	int64_t seed;                           /* sample N has seed + N */
	int64_t max_tokens;                     /* of an answer; 0 = the endpoint's */
	double seconds;                         /* for an answer; 0 = 600 */
	int tries;                              /* requests for one answer; at least 1 */
	double first_wait;                      /* seconds */
	double deadline;                        /* seconds of an evaluation; 0 = as passmith eval has it */
	const PmWatch *watch;
} PmAgentOpts;

/* The words of options, and -1 for what is none; and the words again, static. */
int pm_agent_mode(const char *word);
int pm_agent_feedback(const char *word);
int pm_agent_tools(const char *word);
const char *pm_agent_mode_word(PmAgentMode mode);
const char *pm_agent_feedback_word(int feedback);
const char *pm_agent_tools_word(PmAgentTools tools);

#endif
