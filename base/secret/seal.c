/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c - signed text: keys, signing, and checking. */
#include "base/secret/seal.h"

#include "base/core/json.h"
#include "base/sys/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#define KEY_HEADER "passmith key 1, ed25519: keep this file secret\n"

enum {
	SEED_HEX = 2 * crypto_sign_SEEDBYTES,
	KEY_FILE = sizeof KEY_HEADER - 1 + SEED_HEX + 1,
	SIGNATURE_HEX = 2 * crypto_sign_BYTES + 1
};

_Static_assert(2 * crypto_sign_PUBLICKEYBYTES + 1 == PM_SEAL_KEY_HEX, "a public key has 32 bytes");

static void start(void)
{
	if (sodium_init() < 0)
		PM_BUG("libsodium found no source of randomness");
}

/* Exactly `bytes` bytes from as many pairs of digits. */
static int from_hex(const char *hex, size_t n, unsigned char *out, size_t bytes)
{
	size_t got = 0;

	return n == 2 * bytes && !sodium_hex2bin(out, bytes, hex, n, NULL, &got, NULL) && got == bytes;
}

static PmStatus write_key(const char *path, const char *text, PmErr *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	ssize_t n;

	if (fd < 0 && errno == EEXIST)
		return pm_err(err, PM_E_IO, "%s is there already; a key is not replaced, name another file.",
			      path);
	if (fd < 0)
		return pm_path_error("write", path, 1, err);
	n = write(fd, text, KEY_FILE);
	if (n != KEY_FILE || fsync(fd)) {
		close(fd);
		unlink(path);
		return pm_err(err, PM_E_IO, "The key could not be written to %s; check the room on its disk.",
			      path);
	}
	close(fd);
	return PM_OK;
}

PmStatus pm_seal_make_key(const char *path, char key[PM_SEAL_KEY_HEX], PmErr *err)
{
	unsigned char seed[crypto_sign_SEEDBYTES], pk[crypto_sign_PUBLICKEYBYTES],
		sk[crypto_sign_SECRETKEYBYTES];
	char text[KEY_FILE + 1] = KEY_HEADER;
	PmStatus st;

	start();
	randombytes_buf(seed, sizeof seed);
	crypto_sign_seed_keypair(pk, sk, seed);
	sodium_bin2hex(key, PM_SEAL_KEY_HEX, pk, sizeof pk);
	sodium_bin2hex(text + sizeof KEY_HEADER - 1, SEED_HEX + 1, seed, sizeof seed);
	text[KEY_FILE - 1] = '\n';
	st = write_key(path, text, err);
	sodium_memzero(seed, sizeof seed);
	sodium_memzero(sk, sizeof sk);
	sodium_memzero(text, sizeof text);
	return st;
}

static PmStatus read_key(const char *path, unsigned char *pk, unsigned char *sk, PmErr *err)
{
	unsigned char seed[crypto_sign_SEEDBYTES];
	PmStr text = PM_STR_INIT;
	size_t head = sizeof KEY_HEADER - 1;
	PmStatus st = pm_read_file(path, 4096, &text, err);

	if (!st && (text.len != KEY_FILE || memcmp(text.s, KEY_HEADER, head) != 0 ||
		    !from_hex(text.s + head, SEED_HEX, seed, sizeof seed)))
		st = pm_err(err, PM_E_INVALID,
			    "%s is no key to sign with; make one with passmith verify --new-key FILE.", path);
	if (!st)
		crypto_sign_seed_keypair(pk, sk, seed);
	sodium_memzero(text.s, text.len);
	sodium_memzero(seed, sizeof seed);
	pm_str_release(&text);
	return st;
}

PmStatus pm_seal(const char *payload, size_t n, const char *key_path, PmStr *out, PmErr *err)
{
	unsigned char pk[crypto_sign_PUBLICKEYBYTES], sk[crypto_sign_SECRETKEYBYTES],
		signature[crypto_sign_BYTES];
	char key[PM_SEAL_KEY_HEX], hex[SIGNATURE_HEX];
	PmStatus st = PM_OK;

	start();
	if (!n || memchr(payload, '\n', n))
		return pm_err(err, PM_E_INTERNAL, "What is to be sealed is not one line; report this.");
	if (key_path)
		st = read_key(key_path, pk, sk, err);
	if (st)
		return st;
	pm_str_addn(out, payload, n);
	pm_str_addc(out, '\n');
	if (!key_path)
		return PM_OK;
	crypto_sign_detached(signature, NULL, (const unsigned char *)payload, n, sk);
	sodium_memzero(sk, sizeof sk);
	sodium_bin2hex(key, sizeof key, pk, sizeof pk);
	sodium_bin2hex(hex, sizeof hex, signature, sizeof signature);
	pm_str_addf(out, "{\"algorithm\":\"ed25519\",\"key\":\"%s\",\"signature\":\"%s\"}\n", key, hex);
	return PM_OK;
}

/* The second line. */
static PmStatus check(const char *line, size_t n, PmSealed *s, PmErr *err)
{
	unsigned char pk[crypto_sign_PUBLICKEYBYTES], signature[crypto_sign_BYTES];
	const char *key, *hex;
	cJSON *j = NULL;
	PmStatus st = pm_json_parse(line, n, &j, err);

	if (st)
		return pm_err_ctx(err, "the line of the signature");
	key = pm_json_str(j, "key", "");
	hex = pm_json_str(j, "signature", "");
	if (strcmp(pm_json_str(j, "algorithm", ""), "ed25519") != 0 ||
	    !from_hex(key, strlen(key), pk, sizeof pk) ||
	    !from_hex(hex, strlen(hex), signature, sizeof signature)) {
		st = pm_err(err, PM_E_INVALID,
			    "The second line is no ed25519 signature with a key of 64 and a signature of 128 "
			    "hexadecimal digits.");
	} else {
		s->is_signed = 1;
		sodium_bin2hex(s->key, sizeof s->key, pk, sizeof pk);
		s->is_valid = !crypto_sign_verify_detached(signature, (const unsigned char *)s->payload, s->n,
							   pk);
	}
	cJSON_Delete(j);
	return st;
}

PmStatus pm_seal_open(const char *text, size_t n, PmSealed *out, PmErr *err)
{
	const char *end = n ? memchr(text, '\n', n) : NULL, *second = end ? end + 1 : NULL;
	size_t rest = second ? n - (size_t)(second - text) : 0;

	start();
	memset(out, 0, sizeof *out);
	if (!end || end == text)
		return pm_err(err, PM_E_INVALID, "It does not begin with a whole line of payload.");
	out->payload = text;
	out->n = (size_t)(end - text);
	if (!rest)
		return PM_OK;
	if (second[rest - 1] != '\n' || memchr(second, '\n', rest - 1))
		return pm_err(err, PM_E_INVALID, "What follows the payload is not one whole line.");
	return check(second, rest - 1, out, err);
}
