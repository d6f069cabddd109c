/* SPDX-License-Identifier: Apache-2.0 */
/* package_bytes.h - a package put together record by record, for tests of who reads it. */
#ifndef TESTS_LIB_DEVICE_PACKAGE_BYTES_H
#define TESTS_LIB_DEVICE_PACKAGE_BYTES_H

#include "base/core/str.h"
#include "rt/format.h"

/* A whole package with at least one record in every table, whose machine code is none. Appended. */
void test_package_bytes(PmStr *out);
/* Makes the digests those of the bytes: what was changed looks as if it had been written so. */
void test_package_seal(PmStr *bytes);
/* Section number `kind` of the header. */
PmRtfSection test_package_section(const PmStr *bytes, int kind);

#endif
