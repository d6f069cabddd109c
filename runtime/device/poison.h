/* SPDX-License-Identifier: Apache-2.0 */
/* poison.h - what outputs and scratch hold before a call that is checked, rehearsed or timed.
 *
 * There is one law for all calls of an evaluation, and the bits are drawn by its secret
 * (base/secret/secret.h), so that what a kernel finds in memory nobody has written says nothing about who
 * asks.
 */
#ifndef RUNTIME_POISON_H
#define RUNTIME_POISON_H

#include <stdint.h>

/* Fills of 32 bits. NaN in every floating-point type of 16, 32 and 64 bits, with either sign; or a plain
 * number about one in each. All other bits are random. */
typedef enum PmPoisonKind { PM_POISON_NAN, PM_POISON_NUMBER } PmPoisonKind;
/* Of a call's 64 random bits the kind, as often the one as the other, */
PmPoisonKind pm_poison_kind(uint64_t bits);
/* the pattern, */
uint32_t pm_poison(uint64_t bits);
/* and what a second call gets that has to differ from it in every element: of the same bits' other kind. */
uint32_t pm_poison_other(uint64_t bits);

#endif
