/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - passmith: picks the command. */
#include "cli/args.h"

#include "base/core/version.h"
#include "cli/cmds.h"

#include <stdio.h>
#include <string.h>

static const PmCmd cmds[] = {
#define XX(name, args, summary, example) { #name, args, summary, example, pm_cmd_##name },
#include "cli/cmds.def"
#undef XX
};

enum { N_CMDS = sizeof cmds / sizeof *cmds };

/* The name of a command as it is typed: of serve_bench, "serve-bench". */
static const char *typed(const char *name)
{
	static char text[32];
	size_t i = 0;

	for (; name[i] && i < sizeof text - 1; i++)
		text[i] = name[i] == '_' ? '-' : name[i];
	text[i] = '\0';
	return text;
}

static int help(FILE *to)
{
	fprintf(to, "passmith: compiler passes written by programs, checked and scored.\n\ncommands:\n");
	for (int i = 0; i < N_CMDS; i++)
		fprintf(to, "  %-11s %s\n", typed(cmds[i].name), cmds[i].summary);
	fprintf(to, "\nEvery command takes --help and --json; passmith --version. Exit codes: 0 done, 1 the "
		    "answer is no, 2 usage,\n"
		    "3 environment, 4 bad input, 5 internal.\n");
	return to == stdout ? 0 : 2;
}

static int run(const char *name, int argc, char **argv)
{
	for (int i = 0; i < N_CMDS; i++)
		if (!strcmp(name, typed(cmds[i].name))) {
			PmCmd cmd = cmds[i];

			cmd.name = typed(cmd.name);
			pm_cli_begin(argc, argv);
			return pm_cli_end(cmd.run(&cmd, argc, argv));
		}
	pm_cli_begin(argc, argv);
	pm_cli_complain("There is no command '%.60s'; passmith --help lists them.", name);
	return pm_cli_end(2);
}

int main(int argc, char **argv)
{
	char option[] = "--help";

	if (argc < 2)
		return help(stderr);
	if (!strcmp(argv[1], "help") && argc > 2)
		return run(argv[2], 1, (char *[]){ option, NULL });
	if (!strcmp(argv[1], "--version"))
		return puts("passmith " PM_VERSION) == EOF ? 3 : 0;
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help(stdout);
	return run(argv[1], argc - 2, argv + 2);
}
