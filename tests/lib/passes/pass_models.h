/* SPDX-License-Identifier: Apache-2.0 */
/* pass_models.h - the bundled models, and what the first-party passes make of them. */
#ifndef TESTS_LIB_PASS_MODELS_H
#define TESTS_LIB_PASS_MODELS_H

#include "ir/core/graph.h"

#include <stddef.h>

enum { PASS_MODELS_MAX = 16 }; /* passes */

/* Takes a model in one element type: `pass` is -1 and `fused` is `g`, or `fused` is what that pass made of
 * it. Everything is borrowed. */
typedef void (*PassModelFn)(void *arg, int pass, const char *model, int dtype, const PmGraph *g,
			    const PmGraph *fused);

/* Hands over every bundled model in float, float16 and bfloat16, each as it is and after each pass that
 * applies. Returns the number of passes; fails the running cmocka test when something cannot be done. */
size_t pass_models(PassModelFn fn, void *arg);
const char *pass_models_name(size_t pass);

#endif
