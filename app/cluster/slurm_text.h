/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_text.h - Slurm as text: the scripts that it is given, and what its programs print.
 *
 * Nothing here runs a program or reads a file. What is printed comes from outside: a line that is not as it
 * was asked for is PM_E_INVALID with a sentence that has it.
 */
#ifndef APP_CLUSTER_SLURM_TEXT_H
#define APP_CLUSTER_SLURM_TEXT_H

#include "base/core/err.h"
#include "base/core/str.h"
#include "base/core/vec.h"

/* The formats that squeue and sacct are asked for. */
#define PM_SLURM_QUEUE_FORMAT "%F|%K|%T|%N|%r"
#define PM_SLURM_ENDED_FORMAT "JobID,State,ExitCode,NodeList"

/* After so many restarts of one element its script gives up: it was asked to stop each time, and is not
 * finished. */
enum { PM_SLURM_MAX_RESTARTS = 100 };

/* What the scripts of a plan are made from. Strings are borrowed; NULL = none. */
typedef struct PmSlurmOpts {
	const char *name;       /* of the jobs; no other plan has it */
	const char *dir;        /* of the plan, absolute */
	const char *program;    /* passmith, as the nodes find it */
	const char *gres;       /* "gpu:1" */
	const char *constraint; /* a feature of nodes, as the model of their GPUs */
	const char *site;       /* more options of sbatch, in one line: "--partition=gpu --time=2:00:00" */
	const char *setup;      /* one line of shell before the program: "module load cuda" */
	const char *launch;     /* words before the program: "apptainer exec --nv /images/passmith.sif" */
	int64_t shards;         /* at least 1 */
	int64_t at_once;        /* elements that run at once; 0 = any number */
} PmSlurmOpts;

/* Appends the script of the array's elements, and that of the job that collects. PM_E_INVALID when a text
 * cannot stand in a script: the sentence names the option. */
PmStatus pm_slurm_element_script(const PmSlurmOpts *o, PmStr *out, PmErr *err);
PmStatus pm_slurm_collect_script(const PmSlurmOpts *o, PmStr *out, PmErr *err);

/* Appends indices of an array as sbatch takes them: "0-4,7%16". They rise; at_once 0 = without a limit. */
void pm_slurm_array(const int64_t *index, size_t n, int64_t at_once, PmStr *out);

/* One job, or one element of an array, as a program says. Texts are cut where they are too long, and clean.
 */
typedef struct PmSlurmElement {
	int64_t job;    /* of the array */
	int64_t index;  /* in the array; -1 = the job is no array */
	char state[24]; /* "RUNNING", "NODE_FAIL" */
	char node[64];  /* "" = none */
	char why[96];   /* squeue: why it waits; sacct: "exit code 3", "signal 9", or "" */
} PmSlurmElement;

typedef struct PmSlurmElements {
	PM_VEC(PmSlurmElement) list;
} PmSlurmElements;

/* What `sbatch --parsable` prints: "12" or "12;cluster". */
PmStatus pm_slurm_parse_job(const char *text, int64_t *job, PmErr *err);
/* What `squeue -h -r -o PM_SLURM_QUEUE_FORMAT` prints, appended to *out. */
PmStatus pm_slurm_parse_queue(const char *text, PmSlurmElements *out, PmErr *err);
/* What `sacct -n -P -X -o PM_SLURM_ENDED_FORMAT` prints; elements that have not begun, which it prints as a
 * range, are left out. */
PmStatus pm_slurm_parse_ended(const char *text, PmSlurmElements *out, PmErr *err);
/* MaxArraySize of what `scontrol show config` prints: indices are below it. */
PmStatus pm_slurm_parse_max_array(const char *text, int64_t *max, PmErr *err);

#endif
