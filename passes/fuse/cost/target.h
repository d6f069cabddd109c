/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - the GPU that kernels are written for, and the constants of what they cost there.
 *
 * The constants are the target's: include/passmith/pass.h has the facts, targets/costs.def says of each
 * constant what it is and how it is measured. No number of a GPU stands in the code.
 */
#ifndef PASSES_FUSE_TARGET_H
#define PASSES_FUSE_TARGET_H

#include "../index/limits.h"
#include "passmith/scatter.h"

#define F_COSTS(XX)                                                                                          \
	XX(again_share)                                                                                      \
	XX(beside_share)                                                                                     \
	XX(beyond_share)                                                                                     \
	XX(copy_bytes_per_us)                                                                                \
	XX(fma_per_us)                                                                                       \
	XX(front_f32_piece_cycles)                                                                           \
	XX(front_f32_read_cycles)                                                                            \
	XX(front_half_piece_cycles)                                                                          \
	XX(front_half_read_cycles)                                                                           \
	XX(front_image_f32_read_cycles)                                                                      \
	XX(front_image_half_read_cycles)                                                                     \
	XX(front_image_piece_us)                                                                             \
	XX(front_join_us)                                                                                    \
	XX(front_piece_us)                                                                                   \
	XX(large_bytes)                                                                                      \
	XX(launch_us)                                                                                        \
	XX(load_cycles)                                                                                      \
	XX(longest_f32_flops)                                                                                \
	XX(look_us)                                                                                          \
	XX(mma_per_us)                                                                                       \
	XX(overlap_share)                                                                                    \
	XX(part_join_us)                                                                                     \
	XX(row_join_us)                                                                                      \
	XX(row_turn_us)                                                                                      \
	XX(sector_missed_share)                                                                              \
	XX(serial_long_turn_us)                                                                              \
	XX(serial_turn_us)                                                                                   \
	XX(several_us)                                                                                       \
	XX(slice_bytes_per_us)                                                                               \
	XX(slice_most_bytes)                                                                                 \
	XX(sm_cycles_per_us)                                                                                 \
	XX(sm_load_bytes_per_cycle)                                                                          \
	XX(split_launch_us)                                                                                  \
	XX(split_thread_work_per_us)                                                                         \
	XX(split_turns)                                                                                      \
	XX(strided_lane_us)                                                                                  \
	XX(tile_join_us)                                                                                     \
	XX(tile_result_cycles)                                                                               \
	XX(tile_result_us)                                                                                   \
	XX(tile_store_cycles)                                                                                \
	XX(tile_wait_us)                                                                                     \
	XX(unrolled_share)                                                                                   \
	XX(wait_us)                                                                                          \
	XX(work_per_us)

typedef struct Target {
	PmTarget is;
	int64_t full; /* threads that keep it busy: half of those that there is room for */
	double l2_bytes_per_us;
	PmCallCosts call[PM_N_CALL_KINDS][2]; /* of float, and of half types */
	PmScatterCosts scatter;
#define XX(name) double name;
	F_COSTS(XX)
#undef XX
} Target;

/* Reads the target of this run, which is the same for all of its callbacks; NULL, or the name of the first
 * constant that it lacks. */
const char *f_target_read(void);
/* The same of trial number i (pm_trial); 0 when there is none. What was read before is gone. */
int f_target_try(uint32_t i);
/* As f_target_read left it. */
const Target *f_target(void);

#endif
