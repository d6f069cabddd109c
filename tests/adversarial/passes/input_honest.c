/* SPDX-License-Identifier: Apache-2.0 */
/* input_honest.c - the same work as the attacks on inputs, to the end. */
#include "input_rules.h"

PM_PLUGIN("input_honest", "1", &honest_sin, &honest_bytes, &honest_words, &honest_abs, &honest_max,
	  &honest_arg, &honest_inverse, &honest_pole, &honest_step, &honest_clip, &honest_nan, &honest_add)
