/* SPDX-License-Identifier: Apache-2.0 */
/* input_attacks.c - the rules that are wrong for numbers which a judge may forget to draw. */
#include "input_rules.h"

PM_PLUGIN("input_attacks", "1", &S65_sin_of_large, &S66_seven_bits, &S67_sixteen_bits, &S68_int_through_float,
	  &S69_words_through_double, &SA0_words_through_int, &SA1_abs_of_the_least, &SA2_max_without_nan,
	  &SA3_last_of_ties, &SA4_zero_without_sign, &SA5_way_never_gone, &SA6_step_off_by_one,
	  &SA7_open_bound, &SA8_no_nan, &SA9_bytes_that_saturate)
