/* SPDX-License-Identifier: Apache-2.0 */
/* object.h - a pass's shared object, read once: what is hashed, gated and mapped are the same bytes. */
#ifndef MATCHER_OBJECT_H
#define MATCHER_OBJECT_H

#include "base/core/hash.h"
#include "base/core/str.h"

typedef struct PmObject {
	char *path; /* owned; for messages */
	PmStr bytes;
	char sha256[PM_SHA256_HEX];
	char refused[PM_ERR_MAX]; /* "" or why it is REJECT_ELF whatever its bytes are: no regular file, or
				     longer than any object may be */
} PmObject;

/* Reads the file; nothing looks at it again. A file that is too long keeps no bytes, has a digest, and is
 * refused. PM_E_NOT_FOUND, PM_E_IO or PM_E_INVALID when it cannot be read. Release *out in every case. */
PmStatus pm_object_read(const char *path, PmObject *out, PmErr *err);
void pm_object_release(PmObject *o);

#endif
