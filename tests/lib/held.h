/* SPDX-License-Identifier: Apache-2.0 */
/* held.h - what a test process holds, for tests of what comes and goes without traces. */
#ifndef TESTS_LIB_HELD_H
#define TESTS_LIB_HELD_H

/* Open descriptors. */
int test_open_files(void);
/* Mappings whose line in /proc/self/maps has the word; "" = all. */
int test_mappings(const char *word);

#endif
