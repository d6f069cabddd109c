/* SPDX-License-Identifier: Apache-2.0 */
/* opts.c - the words of options. */
#include "app/agent/opts.h"

#include <string.h>

static const char *const modes[] = { "single", "sample", "iterate", "best-of", NULL };
static const char *const feedbacks[] = { "none", "E", "P", "EP", NULL };
static const char *const tool_words[] = { "auto", "native", "text", NULL };

static int find(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

int pm_agent_mode(const char *word)
{
	return find(modes, word);
}

int pm_agent_feedback(const char *word)
{
	return find(feedbacks, word);
}

int pm_agent_tools(const char *word)
{
	return find(tool_words, word);
}

const char *pm_agent_mode_word(PmAgentMode mode)
{
	return modes[mode];
}

const char *pm_agent_feedback_word(int feedback)
{
	return feedbacks[feedback];
}

const char *pm_agent_tools_word(PmAgentTools tools)
{
	return tool_words[tools];
}
