/* SPDX-License-Identifier: Apache-2.0 */
/* package.h - a package in memory: its tables, checked once, so that whoever reads them stays inside. */
#ifndef RT_PACKAGE_H
#define RT_PACKAGE_H

#include "base/core/err.h"
#include "rt/format.h"

#include <stddef.h>

typedef struct PmRtPackage {
	const unsigned char *bytes;
	size_t n_bytes;
	int mapped; /* the bytes are a map of ours */
	const PmRtfHeader *header;
	/* Of each section its records and how many there are. */
#define XX(name, member, record, what)                                                                       \
	const record *member;                                                                                \
	size_t n_##member;
	PM_RTF_SECTIONS(XX)
#undef XX
} PmRtPackage;

/* Maps and checks the package at `path`. PM_E_NOT_FOUND, PM_E_IO; PM_E_INVALID when it is none, or not whole,
 * or of another version, with a sentence that names the section and the record. */
PmStatus pm_package_open(const char *path, PmRtPackage *out, PmErr *err);
/* The same of n bytes at hand, aligned to 8, which must outlive *out; `name` is for messages. With `digests`
 * 0 no digest is looked at: then the tables are all that is checked. */
PmStatus pm_package_read(const void *bytes, size_t n, const char *name, int digests, PmRtPackage *out,
			 PmErr *err);
void pm_package_close(PmRtPackage *p);
/* PM_E_INVALID when the weights in the package are not those that were written. */
PmStatus pm_package_check_weights(const PmRtPackage *p, const char *name, PmErr *err);

/* A text of the package, terminated. */
const char *pm_package_text(const PmRtPackage *p, uint32_t text);
/* Bytes of an element of the type with this ONNX number; 0 when no package has such. */
size_t pm_package_type_size(uint32_t type);
/* Sizes of value i (inputs, then outputs) in a shape, and its bytes. */
const PmRtfExtent *pm_package_extent(const PmRtPackage *p, size_t shape, size_t value);
uint64_t pm_package_value_bytes(const PmRtPackage *p, size_t shape, size_t value);
/* SHA-256 of the header with zeros in the place of its digest. */
void pm_package_digest(const PmRtfHeader *h, unsigned char digest[PM_RTF_DIGEST]);

#endif
