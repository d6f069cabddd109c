/* SPDX-License-Identifier: Apache-2.0 */
/* attack.h - running an attack: it ends in its verdict, and an honest pass right after it still works. */
#ifndef TESTS_LIB_ATTACK_H
#define TESTS_LIB_ATTACK_H

#include "matcher/host/pass_host.h"

/* Runs `so` on a graph with y = x * sigmoid(x) in two places. Release the outcome. `rule`: only this one, or
 * NULL. */
PmPassOutcome pm_attack_run(const char *so, const char *rule, double seconds);
/* The same, and fails the running case unless the verdict is `want` and the sentence or the list of problems
 * contains `part`; then runs passes/silu.so, which must be OK. */
void pm_attack(const char *so, const char *rule, double seconds, PmVerdict want, const char *part);
/* The verdict of one run under the referee. */
PmVerdict pm_attack_verdict(const char *so);
/* Under the referee, which runs the pass twice. */
void pm_attack_referee(const char *so, PmVerdict want, const char *part);
/* 1 when `name` is one of the names in `list`, which are separated by spaces. */
int pm_attack_is_one_of(const char *name, const char *list);

#endif
