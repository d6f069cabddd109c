/* SPDX-License-Identifier: Apache-2.0 */
/* secret.h - known secrets: what a test sees must not depend on chance. */
#ifndef TESTS_LIB_SECRET_H
#define TESTS_LIB_SECRET_H

#include "base/secret/secret.h"

/* The secret of a number; borrowed, valid until sixteen others were asked for. */
const PmSecret *test_secret(uint64_t number);

#endif
