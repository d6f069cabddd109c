/* SPDX-License-Identifier: Apache-2.0 */
/* str.h - a growable byte string, string interning, and number parsing that refuses junk.
 *
 * PmStr invariant: `s` is never NULL after pm_str_init (it may point at a static empty string),
 * s[len] == '\0'. The only way to take the buffer out is pm_str_detach.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/core/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PmStr {
	char *s;
	size_t len, cap;
} PmStr;

#define PM_STR_INIT                                                                                          \
	{                                                                                                    \
		pm_str_empty, 0, 0                                                                           \
	}
extern char pm_str_empty[1];

/* Makes b the empty string, which owns no storage. */
void pm_str_init(PmStr *b);
void pm_str_release(PmStr *b);              /* frees the contents and re-initialises */
void pm_str_clear(PmStr *b);                /* empties, keeps the storage */
char *pm_str_detach(PmStr *b, size_t *len); /* returns owned (free()); len may be NULL; b is re-initialised */
/* The contrary: b holds s, which is terminated behind `len` bytes and was allocated with malloc(len + 1) or
 * more. What b held before is freed. */
void pm_str_adopt(PmStr *b, char *s, size_t len);
void pm_str_reserve(PmStr *b, size_t len); /* room for `len` bytes in all: adding them moves nothing */
void pm_str_add(PmStr *b, const char *s);
void pm_str_addn(PmStr *b, const void *p, size_t n);
void pm_str_addc(PmStr *b, char c);
void pm_str_addi(PmStr *b, int64_t v); /* in decimal; several times faster than addf */
void pm_str_addf(PmStr *b, const char *fmt, ...) PM_PRINTF(2, 3);
/* Adds `s` in double quotes with \" \\ \n \t \r escaped and other bytes < 0x20 or 0x7f as \xNN;
 * bytes >= 0x80 pass through unchanged. */
void pm_str_add_quoted(PmStr *b, const char *s, size_t n);

/* Interning: equal strings get equal ids; id 0 is the empty string. Ids are dense and stable. */
typedef struct PmIntern PmIntern;
PmIntern *pm_intern_new(void);
/* One that keeps no copies: what is interned must be terminated and outlive it. */
PmIntern *pm_intern_new_borrowing(void);
void pm_intern_free(PmIntern *t);
/* Makes room for n texts in all, so that adding them moves nothing. */
void pm_intern_reserve(PmIntern *t, size_t n);
uint32_t pm_intern(PmIntern *t, const char *s, size_t n);
/* The terminated text of an id (borrowed, valid until pm_intern_free); "" for an unknown id. */
const char *pm_intern_text(const PmIntern *t, uint32_t id);
/* How many ids there are: those from 0 ("") to one less; and the bytes of a text, 0 for an unknown id. */
size_t pm_intern_n(const PmIntern *t);
size_t pm_intern_len(const PmIntern *t, uint32_t id);
/* The id of a string already interned, or UINT32_MAX. Never adds. */
uint32_t pm_intern_find(const PmIntern *t, const char *s, size_t n);

/* Whole-string conversions (optional sign, decimal; nothing before or after). 1 on success, 0 on junk. */
int pm_parse_i64(const char *s, int64_t *out);
int pm_parse_f64(const char *s, double *out);
int pm_str_eq(const char *a, const char *b); /* NULL-safe equality */
int pm_str_ends(const char *s, const char *suffix);
/* What a noun ends with that n stand before: "" for 1, else "s"; and with it "item%s %s": "is" or "are". */
const char *pm_plural(uint64_t n);
const char *pm_is_or_are(uint64_t n);

#endif
