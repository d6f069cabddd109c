/* SPDX-License-Identifier: Apache-2.0 */
/* secret.c - keys in pages that children do not inherit; derivation by keyed BLAKE2b (libsodium). */
#include "base/secret/secret.h"

#include "base/core/err.h"

#include <sodium.h>
#include <string.h>
#include <sys/mman.h>

enum { KEY = 32 };

struct PmSecret {
	unsigned char key[KEY];
};

static PmSecret *new_page(void)
{
	PmSecret *s;

	if (sodium_init() < 0)
		PM_BUG("libsodium found no source of randomness");
	s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED || madvise(s, sizeof *s, MADV_DONTFORK))
		PM_BUG("the system gives no page that a child does not inherit");
	madvise(s, sizeof *s, MADV_DONTDUMP); /* where there is such a thing */
	return s;
}

PmSecret *pm_secret_draw(void)
{
	PmSecret *s = new_page();

	randombytes_buf(s->key, sizeof s->key);
	return s;
}

PmSecret *pm_secret_of(uint64_t number)
{
	PmSecret *s = new_page();

	for (int i = 0; i < 8; i++)
		s->key[i] = (unsigned char)(number >> (8 * i));
	return s;
}

PmSecret *pm_secret_parse(const char *hex)
{
	PmSecret *s;
	size_t n = 0;

	if (!hex || strlen(hex) != PM_SECRET_HEX - 1)
		return NULL;
	s = new_page();
	if (!sodium_hex2bin(s->key, sizeof s->key, hex, PM_SECRET_HEX - 1, NULL, &n, NULL) && n == KEY)
		return s;
	pm_secret_free(s);
	return NULL;
}

void pm_secret_free(PmSecret *s)
{
	if (!s)
		return;
	sodium_memzero(s, sizeof *s);
	munmap(s, sizeof *s);
}

void pm_secret_lend(const PmSecret *s, int on)
{
	if (madvise((void *)(uintptr_t)s, sizeof *s, on ? MADV_DOFORK : MADV_DONTFORK))
		PM_BUG("the system does not say who inherits a page");
}

/* What a derivation is for comes first: keys and numbers have nothing in common. */
static void derive(const PmSecret *s, unsigned char kind, const char *purpose, const char *subject,
		   uint64_t number, unsigned char out[KEY])
{
	crypto_generichash_state h;
	unsigned char n[9] = { kind };

	for (int i = 0; i < 8; i++)
		n[i + 1] = (unsigned char)(number >> (8 * i));
	crypto_generichash_init(&h, s->key, sizeof s->key, KEY);
	/* With terminators, so that no two are the same bytes. */
	crypto_generichash_update(&h, n, sizeof n);
	crypto_generichash_update(&h, (const unsigned char *)purpose, strlen(purpose) + 1);
	crypto_generichash_update(&h, (const unsigned char *)subject, strlen(subject) + 1);
	crypto_generichash_final(&h, out, KEY);
	sodium_memzero(&h, sizeof h);
}

PmSecret *pm_secret_derive(const PmSecret *s, const char *purpose, const char *subject, uint64_t number)
{
	PmSecret *d = new_page();

	derive(s, 'k', purpose, subject ? subject : "", number, d->key);
	return d;
}

uint64_t pm_secret_u64(const PmSecret *s, const char *purpose, uint64_t number)
{
	unsigned char out[KEY];
	uint64_t v = 0;

	derive(s, 'n', purpose, "", number, out);
	for (int i = 0; i < 8; i++)
		v |= (uint64_t)out[i] << (8 * i);
	sodium_memzero(out, sizeof out);
	return v;
}

void pm_secret_hex(const PmSecret *s, char hex[PM_SECRET_HEX])
{
	sodium_bin2hex(hex, PM_SECRET_HEX, s->key, sizeof s->key);
}
