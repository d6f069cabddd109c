/* SPDX-License-Identifier: Apache-2.0 */
/* products_priv.h - what the process that computes products is asked; shared by products.c (asks) and
 * products_serve.c (answers).
 *
 * Matrices cross in pieces through memory that both share (PRODUCT_ROOM bytes). A request is a ProductAsk, a
 * reply a ProductReply. Both ends are one program; what is asked is checked all the same.
 */
#ifndef RUNTIME_PRODUCTS_PRIV_H
#define RUNTIME_PRODUCTS_PRIV_H

#include "base/core/str.h"
#include "runtime/worker/products.h"

enum { PRODUCT_ROOM = 1 << 26, PRODUCT_ROWS = 128, PRODUCT_COLUMNS = 64, PRODUCT_THREADS = 128 };

typedef enum {
	PRODUCT_BEGIN, /* m, n, k: buffers are made */
	PRODUCT_PUT,   /* `bytes` bytes of the room go to `offset` of matrix `which`: 0 = a, 1 = b */
	PRODUCT_RUN,   /* c = a * b */
	PRODUCT_GET,   /* bytes of c come to the room */
	PRODUCT_END    /* buffers are wiped and given back */
} ProductWhat;

typedef struct ProductAsk {
	ProductWhat what;
	int which;
	int64_t m, n, k, offset, bytes;
} ProductAsk;

typedef struct ProductReply {
	PmStatus status;
	char text[PM_ERR_MAX];
} ProductReply;

/* What the process is told when it is forked. */
typedef struct ProductStart {
	const char *device;
	char *room;
	PmProductFault fault;
} ProductStart;

/* A PmServeFn; `arg` is a ProductStart. */
int pm__products_serve(void *arg, const char *request, size_t n, PmStr *reply);

#endif
