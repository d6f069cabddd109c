/* SPDX-License-Identifier: Apache-2.0 */
/* rt_cases.h - what libpassmith_rt must do on a GPU, in the same words for a real one
 * (tests/gpu/test_rt_cuda.c) and for one that is emulated (tests/unit/rt/test_rt_cuda.c). */
#ifndef TESTS_LIB_DEVICE_RT_CASES_H
#define TESTS_LIB_DEVICE_RT_CASES_H

#include "tests/lib/device/package.h"

/* Finds the driver's functions that the cases call themselves; the driver must be loadable. Call it when no
 * process has to be forked any more. */
void rt_cases_open(void);
/* Each fails the test, naming what was wrong, unless every run of every shape of p has the bits wanted. */
/* Tensors of the host, without and with a graph, shapes in turn. */
void rt_case_host(const TestPackage *p);
/* Tensors on the device, a stream of the caller; the same, then others, then the first ones again, plain and
 * as a graph; places that are aligned and places that are not. The context that was current stays so. */
void rt_case_device(const TestPackage *p);
/* A session for each of n threads, each making `runs` runs of tensors of the host, every third as a graph.
 * When it takes long, or ends no more: stuck.h. */
void rt_case_threads(const TestPackage *p, int n, int runs);
/* The same while this thread captures a stream, and does not end that. */
void rt_case_threads_held(const TestPackage *p, int n, int runs);
/* Seconds after which that is told, and without a step after which the process ends. */
extern double rt_threads_tell_s, rt_threads_end_s;
/* A session that is warm: nothing of the caller's was read or written, and results are right; bound before,
 * and bound later. note: called in each shape when tensors are bound, when it is warm, and after the first
 * run; NULL: nobody wants to know. */
enum { RT_BOUND, RT_WARM, RT_FIRST };
void rt_case_warm(const TestPackage *p, void (*note)(int when));
/* Runs as graphs on tensors and a stream that stay; counted: how many calls of the driver were so far. Each
 * run makes as many, which are returned. */
long rt_case_host_calls(const TestPackage *p, long (*counted)(void));
/* Runs on what stays bound launch their graph and look at nothing, until something is bound, a graph takes
 * another's place, or a run copies. */
void rt_case_again(const TestPackage *p);
/* After `runs` more runs the process has as many open files, the device as much memory as before. */
void rt_case_growth(const TestPackage *p, int runs);
/* A few sets of pointers in turn, as graphs: each is captured once. captured: how many launches were so far.
 */
void rt_case_turns(const TestPackage *p, long (*captured)(void));

#endif
