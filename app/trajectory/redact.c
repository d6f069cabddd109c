/* SPDX-License-Identifier: Apache-2.0 */
/* redact.c - which texts are secrets or absolute paths, and taking them out. */
#include "app/trajectory/redact.h"

#include "base/core/vec.h"
#include "base/sys/io.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

extern char **environ;

enum { LEAST_SECRET = 4, LEAST_ENV_SECRET = 8 };
static const char gone[] = "<secret>";

typedef struct Known {
	char *text; /* a secret, or a folder */
	size_t n;
	char *name; /* what stands for it */
	int folder;
} Known;

struct PmRedact {
	PM_VEC(Known) known; /* the longest first */
};

/* ---- what is known ---- */

static void add(PmRedact *r, const char *text, size_t n, const char *name, int folder)
{
	Known k = { pm_xmalloc(n + 1), n, pm_xstrdup(name), folder };
	size_t i = 0;

	memcpy(k.text, text, n);
	k.text[n] = '\0';
	PM_VEC_PUSH(&r->known, k);
	for (i = r->known.n - 1; i > 0 && r->known.v[i - 1].n < n; i--)
		r->known.v[i] = r->known.v[i - 1];
	r->known.v[i] = k;
}

void pm_redact_add_secret(PmRedact *r, const char *value)
{
	if (value && strlen(value) >= LEAST_SECRET)
		add(r, value, strlen(value), gone, 0);
}

/* A folder, and the same as some writers of JSON escape it. */
static void add_folder(PmRedact *r, const char *path, size_t n, const char *name)
{
	PmStr escaped = PM_STR_INIT;

	add(r, path, n, name, 1);
	for (size_t i = 0; i < n; i++)
		pm_str_addf(&escaped, path[i] == '/' ? "\\%c" : "%c", path[i]);
	add(r, escaped.s, escaped.len, name, 1);
	pm_str_release(&escaped);
}

void pm_redact_add_folder(PmRedact *r, const char *path, const char *name)
{
	char *real = path && *path == '/' ? realpath(path, NULL) : NULL;
	PmStr shown = PM_STR_INIT;
	size_t n = path ? strlen(path) : 0;

	while (n > 1 && path[n - 1] == '/')
		n--;
	pm_str_addf(&shown, "<%s>", name);
	if (path && *path == '/' && n > 1)
		add_folder(r, path, n, shown.s);
	if (real && strlen(real) > 1 && (strlen(real) != n || strncmp(real, path, n) != 0))
		add_folder(r, real, strlen(real), shown.s);
	free(real);
	pm_str_release(&shown);
}

static void add_environment(PmRedact *r)
{
	static const char *const ends[] = { "KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS" };

	for (char **e = environ; e && *e; e++) {
		const char *eq = strchr(*e, '=');
		size_t n = eq ? (size_t)(eq - *e) : 0;

		for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
			size_t len = strlen(ends[k]);

			if (n >= len && strncasecmp(*e + n - len, ends[k], len) == 0 &&
			    strlen(eq + 1) >= LEAST_ENV_SECRET) {
				add(r, eq + 1, strlen(eq + 1), gone, 0);
				break;
			}
		}
	}
}

PmRedact *pm_redact_new(void)
{
	PmRedact *r = pm_xcalloc(1, sizeof *r);
	PmStr dir = PM_STR_INIT;
	char *cwd = getcwd(NULL, 0);

	add_environment(r);
	pm_redact_add_folder(r, getenv("HOME"), "home");
	pm_redact_add_folder(r, getenv("TMPDIR"), "tmp");
	pm_redact_add_folder(r, "/tmp", "tmp");
	pm_redact_add_folder(r, cwd, "cwd");
	if (pm_root_dir(&dir, NULL) == PM_OK)
		pm_redact_add_folder(r, dir.s, "root");
	pm_str_clear(&dir);
	if (pm_cache_dir(&dir, NULL) == PM_OK)
		pm_redact_add_folder(r, dir.s, "cache");
	free(cwd);
	pm_str_release(&dir);
	return r;
}

void pm_redact_free(PmRedact *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->known.n; i++) {
		free(r->known.v[i].text);
		free(r->known.v[i].name);
	}
	PM_VEC_RELEASE(&r->known);
	free(r);
}

/* ---- what is found by its form: each returns how many bytes are to go, 0 for none ---- */

static int is_token(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("-_.+/=~", c));
}

static int is_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("-_.+@%", c));
}

static size_t run_of(const char *p, int (*is)(char))
{
	size_t n = 0;

	while (p[n] && is(p[n]))
		n++;
	return n;
}

/* `before` is the character before p, 0 at the beginning. */
static size_t by_prefix(const char *p, char before)
{
	static const struct {
		const char *prefix;
		size_t least; /* bytes after it */
	} forms[] = { { "sk-", 12 },         { "ghp_", 20 }, { "gho_", 20 },  { "ghs_", 20 },
		      { "ghu_", 20 },        { "hf_", 24 },  { "xoxb-", 12 }, { "xoxp-", 12 },
		      { "github_pat_", 20 }, { "AKIA", 16 }, { "AIza", 30 },  { "glpat-", 16 } };

	if (isalnum((unsigned char)before) || before == '_')
		return 0;
	for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
		size_t len = strlen(forms[k].prefix), n;

		if (strncmp(p, forms[k].prefix, len) != 0)
			continue;
		for (n = 0; isalnum((unsigned char)p[len + n]) || p[len + n] == '-' || p[len + n] == '_'; n++)
			continue;
		if (n >= forms[k].least)
			return len + n;
	}
	return 0;
}

static size_t by_pem(const char *p)
{
	const char *end;

	if (strncmp(p, "-----BEGIN ", 11) != 0)
		return 0;
	end = strstr(p + 11, "-----");
	if (!end || !memmem(p, (size_t)(end - p), "PRIVATE KEY", 11))
		return 0;
	end = strstr(end + 5, "-----END ");
	end = end ? strstr(end + 9, "-----") : NULL;
	return end ? (size_t)(end + 5 - p) : strlen(p);
}

static const char *const headers[] = {
	"authorization", "proxy-authorization", "x-api-key", "api-key", "set-cookie", "cookie", NULL
};
static const char *const members[] = { "secret",        "seed_secret",   "password",    "passwd",
				       "token",         "api_key",       "apikey",      "access_token",
				       "refresh_token", "client_secret", "private_key", NULL };

static size_t word_of(const char *p, const char *const *words)
{
	for (; *words; words++) {
		size_t n = strlen(*words);

		if (strncasecmp(p, *words, n) == 0 && !is_name(p[n]))
			return n;
	}
	return 0;
}

static size_t quotes(const char *p)
{
	return strspn(p, "\\\"'");
}

/* After a name at p + at: `: VALUE` of a header up to the end of its line or string. *keep is where the value
 * begins. */
static size_t by_header(const char *p, size_t at, size_t *keep)
{
	size_t end;

	at += quotes(p + at);
	at += strspn(p + at, " \t");
	if (p[at] != ':')
		return 0;
	at++;
	at += strspn(p + at, " \t");
	at += quotes(p + at);
	end = at + strcspn(p + at, "\"'\\\r\n");
	*keep = at;
	return end;
}

/* A member of JSON, its quotes escaped or not: `secret": "VALUE"`. */
static size_t by_member(const char *p, size_t at, size_t *keep)
{
	size_t q = quotes(p + at), end;

	if (!q)
		return 0;
	at += q;
	at += strspn(p + at, " \t\r\n");
	if (p[at] != ':')
		return 0;
	at++;
	at += strspn(p + at, " \t\r\n");
	q = quotes(p + at);
	if (!q)
		return 0;
	at += q;
	end = at + strcspn(p + at, "\"'\\");
	*keep = at;
	return end;
}

/* `secret 64 digits`, as records and commands say it. */
static size_t by_digits(const char *p, size_t at, size_t *keep)
{
	at += strspn(p + at, " \t:=\"'\\");
	*keep = at;
	return strspn(p + at, "0123456789abcdefABCDEF") >= 64 ? at + 64 : 0;
}

static size_t by_word(const char *p, char before, size_t *keep)
{
	size_t n, end = 0;

	*keep = 0;
	if (!strchr("aAbBcCpPrRsStTxX", *p) || isalnum((unsigned char)before) || before == '_' ||
	    before == '-')
		return 0;
	n = word_of(p, headers);
	if (n)
		return by_header(p, n, keep);
	n = word_of(p, members);
	if (n && (end = by_member(p, n, keep)) == 0 && strncasecmp(p, "secret", 6) == 0)
		end = by_digits(p, n, keep);
	if (!n && strncasecmp(p, "bearer ", 7) == 0) {
		*keep = 7 + strspn(p + 7, " ");
		n = run_of(p + *keep, is_token);
		end = n >= 8 ? *keep + n : 0;
	}
	return end;
}

/* "://user:password@": what stands between the slashes and the @. */
static size_t by_address(const char *p, size_t *keep)
{
	size_t n;

	if (strncmp(p, "://", 3) != 0)
		return 0;
	n = strcspn(p + 3, "/@ \t\r\n\"'<>");
	*keep = 3;
	return p[3 + n] == '@' && memchr(p + 3, ':', n) ? 3 + n : 0;
}

/* An absolute path of two names or more; *last is where its last name begins, its end when that name is to go
 * too.
 */
static size_t by_path(const char *p, char before, size_t *last)
{
	size_t n = 0, names = 0;

	if (*p != '/' || isalnum((unsigned char)before) || (before && strchr("_.)>/~*]}", before)) ||
	    strncmp(p, "/dev/", 5) == 0 || strncmp(p, "/proc/", 6) == 0)
		return 0;
	while (p[n] == '/' && is_name(p[n + 1])) {
		*last = n + 1;
		n += 1 + run_of(p + n + 1, is_name);
		names++;
	}
	if (names == 2 && (strncmp(p, "/home/", 6) == 0 || strncmp(p, "/Users/", 7) == 0))
		*last = n; /* the name of a person */
	return names >= 2 ? n : 0;
}

/* ---- taking out ---- */

static const Known *known_at(const PmRedact *r, const char *p)
{
	for (size_t k = 0; k < r->known.n; k++) {
		const Known *n = &r->known.v[k];

		if (*p != *n->text || strncmp(p, n->text, n->n) != 0)
			continue;
		if (!n->folder || !(isalnum((unsigned char)p[n->n]) || p[n->n] == '_' || p[n->n] == '-'))
			return n;
	}
	return NULL;
}

/* Takes out what begins at p, and returns how many bytes that was; 0 when nothing does. */
static size_t take_out(const PmRedact *r, const char *p, char before, PmStr *out)
{
	const Known *k = known_at(r, p);
	size_t keep = 0, skip = 0, n;

	if (k && (!k->folder || !isalnum((unsigned char)before))) {
		pm_str_add(out, k->name);
		return k->n;
	}
	if ((n = by_prefix(p, before)) || (n = by_pem(p))) {
		pm_str_add(out, gone);
		return n;
	}
	if ((n = by_word(p, before, &keep)) || (n = by_address(p, &keep))) {
		pm_str_addn(out, p, keep);
		pm_str_add(out, n > keep ? gone : "");
		return n;
	}
	if (strncmp(p, ":///", 4) == 0 && !known_at(r, p + 3)) { /* file:///a/b */
		pm_str_add(out, "://");
		skip = 3;
		before = '\0';
	}
	if ((n = by_path(p + skip, before, &keep))) {
		pm_str_add(out, n > keep ? "<path>/" : "<path>");
		pm_str_addn(out, p + skip + keep, n - keep);
	}
	return skip + n;
}

void pm_redact_text(const PmRedact *r, const char *text, PmStr *out)
{
	const char *p = text;

	while (*p) {
		size_t n = take_out(r, p, p > text ? p[-1] : '\0', out);

		if (!n)
			pm_str_addc(out, *p);
		p += n ? n : 1;
	}
}

static void set(char **s, const char *text)
{
	char *copy = cJSON_malloc(strlen(text) + 1);

	if (!copy)
		PM_BUG("out of memory for a text of %zu bytes", strlen(text));
	memcpy(copy, text, strlen(text) + 1);
	cJSON_free(*s);
	*s = copy;
}

static void replace(const PmRedact *r, char **s)
{
	PmStr out = PM_STR_INIT;

	pm_redact_text(r, *s, &out);
	if (strcmp(out.s, *s) != 0)
		set(s, out.s);
	pm_str_release(&out);
}

static int is_secret_name(const char *name)
{
	size_t n = name ? strlen(name) : 0;

	return n && (word_of(name, members) == n || word_of(name, headers) == n);
}

/* Recursion is bounded by the nesting that the parser allows. */
static void walk(const PmRedact *r, cJSON *j)
{
	cJSON *child;

	if (cJSON_IsString(j) && j->valuestring) {
		if (!is_secret_name(j->string))
			replace(r, &j->valuestring);
		else if (*j->valuestring)
			set(&j->valuestring, gone);
	} else if ((cJSON_IsNumber(j) || cJSON_IsRaw(j)) && is_secret_name(j->string)) {
		set(&j->valuestring, gone);
		j->type = (j->type & ~0xff) | cJSON_String;
	}
	cJSON_ArrayForEach(child, j) walk(r, child);
	if (j->string && !(j->type & cJSON_StringIsConst))
		replace(r, &j->string);
}

cJSON *pm_redact_json(const PmRedact *r, const cJSON *j)
{
	cJSON *copy = cJSON_Duplicate(j, 1);

	if (!copy)
		PM_BUG("out of memory for a copy of JSON");
	walk(r, copy);
	return copy;
}
