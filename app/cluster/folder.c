/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c - publishing files in the folder of a plan, and reading findings. */
#include "app/cluster/folder.h"

#include "base/core/hash.h"
#include "base/core/json.h"
#include "base/core/rng.h"
#include "base/sys/io.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_MAX = 512, SEAL = 17, FINDINGS_MAX = 1 << 30, AGAIN = 5 };

#define FORMAT "passmith findings 1"

/* ---- names ---- */

void pm_cluster_worker_name(char name[PM_CLUSTER_WORKER])
{
	char host[33] = "";

	if (gethostname(host, sizeof host - 1))
		snprintf(host, sizeof host, "unknown");
	host[sizeof host - 1] = '\0';
	for (char *p = host; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '-' && *p != '_' && *p != '.')
			*p = '_';
	snprintf(name, PM_CLUSTER_WORKER, "%s-%ld-%08x", host, (long)getpid(),
		 (unsigned)(pm_rng_secure_seed() & 0xffffffffu));
}

void pm_cluster_path(const char *dir, const char *folder, const char *name, PmStr *out)
{
	pm_str_add(out, dir);
	if (folder)
		pm_str_addf(out, "/%s", folder);
	pm_str_addf(out, "/%s", name);
}

int64_t pm_cluster_number(const char *name, const char *suffix)
{
	size_t n = strspn(name, "0123456789");
	int64_t value = 0;

	if (!n || n > 9 || (n > 1 && *name == '0'))
		return -1;
	for (size_t i = 0; i < n; i++)
		value = value * 10 + (name[i] - '0');
	if (!strcmp(suffix, "."))
		return name[n] == '.' && name[n + 1] ? value : -1;
	return strcmp(name + n, suffix) ? -1 : value;
}

/* ---- the file server's clock ---- */

int pm_cluster_touched(const char *path, double *at)
{
	struct stat sb;
	int fd = open(path, O_RDONLY | O_CLOEXEC), bad = fd < 0 || fstat(fd, &sb);

	if (fd >= 0)
		close(fd);
	if (!bad)
		*at = (double)sb.st_mtim.tv_sec + 1e-9 * (double)sb.st_mtim.tv_nsec;
	return bad ? -1 : 0;
}

PmStatus pm_cluster_now(const char *dir, double *now, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	char self[PM_CLUSTER_WORKER];
	PmStatus st = PM_OK;
	int fd;

	pm_cluster_worker_name(self);
	pm_str_addf(&path, "%s/running/clock.%s.tmp", dir, self);
	fd = open(path.s, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || futimens(fd, NULL))
		st = pm_path_error("write", path.s, 1, err);
	if (fd >= 0)
		close(fd);
	if (!st && pm_cluster_touched(path.s, now))
		st = pm_path_error("read", path.s, 0, err);
	unlink(path.s);
	pm_str_release(&path);
	return st;
}

/* ---- publishing ---- */

/* 0, or -1 with errno. */
static int write_whole(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0) {
			errno = w ? errno : EIO;
			return -1;
		}
		p += w;
		n -= (size_t)w;
	}
	return fsync(fd);
}

PmStatus pm_cluster_publish(const char *path, const void *p, size_t n, unsigned mode, PmErr *err)
{
	static char self[PM_CLUSTER_WORKER];
	static pid_t named; /* a child has another name */
	static unsigned serial;
	PmStr tmp = PM_STR_INIT;
	int fd, bad, saved = 0;

	if (named != getpid()) {
		pm_cluster_worker_name(self);
		named = getpid();
	}
	pm_str_addf(&tmp, "%s.%s-%u.tmp", path, self, serial++);
	fd = open(tmp.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	bad = fd < 0;
	if (!bad && (bad = write_whole(fd, p, n)) != 0)
		saved = errno;
	/* A file server may say only here that there is no room. */
	if (fd >= 0 && close(fd) && !bad)
		bad = 1, saved = errno;
	if (!bad && rename(tmp.s, path))
		bad = 1, saved = errno;
	if (bad && fd >= 0)
		unlink(tmp.s);
	pm_str_release(&tmp);
	if (!bad)
		return PM_OK;
	errno = saved ? saved : errno;
	return pm_path_error("write", path, 1, err);
}

PmStatus pm_cluster_publish_in(const char *path, const void *p, size_t n, PmErr *err)
{
	PmStr dir = PM_STR_INIT;
	PmStatus st = PM_OK;

	pm_path_dir(path, &dir);
	/* Another process may remove the folder in between, when its last file goes. */
	for (int k = 0; k < AGAIN; k++) {
		st = PM_OK;
		if (!pm_path_is_dir(dir.s))
			st = pm_mkdirs(dir.s, err);
		if (!st)
			st = pm_cluster_publish(path, p, n, 0644, err);
		if (!st || pm_path_is_dir(dir.s))
			break;
	}
	pm_str_release(&dir);
	return st;
}

/* ---- what killed writers left ---- */

/* Files of one folder of the plan, and of the folders of items in it. */
static size_t sweep(const char *folder, double before, int depth)
{
	PmStr path = PM_STR_INIT;
	PmNames names = { 0 };
	size_t n = 0;
	double at;

	if (!pm_list_dir(folder, &names, NULL)) {
		for (size_t i = 0; i < names.n; i++) {
			pm_str_clear(&path);
			pm_str_addf(&path, "%s/%s", folder, names.v[i]);
			if (pm_str_ends(names.v[i], ".tmp"))
				n += !pm_cluster_touched(path.s, &at) && at < before && !unlink(path.s);
			else if (depth && pm_cluster_number(names.v[i], "") >= 0)
				n += sweep(path.s, before, depth - 1);
		}
	}
	pm_names_release(&names);
	pm_str_release(&path);
	return n;
}

PmStatus pm_cluster_sweep(const char *dir, double age, size_t *n, PmErr *err)
{
	static const struct {
		const char *name;
		int depth;
	} folders[] = { { "pending", 0 }, { "running", 0 }, { "workers", 0 },
			{ "results", 0 }, { "partial", 1 }, { "tries", 1 } };
	PmStr path = PM_STR_INIT;
	double now;
	PmStatus st = pm_cluster_now(dir, &now, err);

	*n = 0;
	if (!st)
		*n = sweep(dir, now - age, 0);
	for (size_t i = 0; i < sizeof folders / sizeof *folders && !st; i++) {
		pm_str_clear(&path);
		pm_cluster_path(dir, NULL, folders[i].name, &path);
		*n += sweep(path.s, now - age, folders[i].depth);
	}
	pm_str_release(&path);
	return st;
}

/* ---- findings ---- */

static void seal_of(const PmClusterHead *h, const char *sha256, char seal[SEAL])
{
	snprintf(seal, SEAL, "%016llx",
		 (unsigned long long)pm_secret_u64(h->secret, sha256, (uint64_t)h->item));
}

PmStatus pm_cluster_findings_write(const char *path, const PmClusterHead *head, const PmStr *rows, PmErr *err)
{
	cJSON *j = cJSON_CreateObject();
	PmStr text = PM_STR_INIT;
	char sha256[PM_SHA256_HEX], seal[SEAL];
	PmStatus st;

	pm_sha256_hex(rows->s, rows->len, sha256);
	seal_of(head, sha256, seal);
	cJSON_AddStringToObject(j, "format", FORMAT);
	pm_json_add_i64(j, "item", head->item);
	cJSON_AddNumberToObject(j, "seconds", head->seconds);
	cJSON_AddStringToObject(j, "sha256", sha256);
	cJSON_AddStringToObject(j, "seal", seal);
	pm_json_print(j, 0, &text);
	cJSON_Delete(j);
	pm_str_addn(&text, rows->s, rows->len);
	st = pm_cluster_publish_in(path, text.s, text.len, err);
	pm_str_release(&text);
	return st;
}

/* 1 when the first line and the rows belong together, and to the item. */
static int is_sealed(const cJSON *j, const PmClusterHead *h, const char *rows, size_t n)
{
	char sha256[PM_SHA256_HEX], seal[SEAL];

	pm_sha256_hex(rows, n, sha256);
	seal_of(h, sha256, seal);
	return pm_str_eq(pm_json_str(j, "format", ""), FORMAT) && pm_json_i64(j, "item", -1) == h->item &&
	       pm_str_eq(pm_json_str(j, "sha256", ""), sha256) && pm_str_eq(pm_json_str(j, "seal", ""), seal);
}

PmStatus pm_cluster_findings_read(const char *path, PmClusterHead *head, PmStr *rows, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	cJSON *j = NULL;
	const char *end;
	PmStatus st = pm_read_file(path, FINDINGS_MAX, &text, err);

	if (st) {
		pm_str_release(&text);
		return st;
	}
	end = memchr(text.s, '\n', text.len < HEAD_MAX ? text.len : HEAD_MAX);
	if (!end || pm_json_parse(text.s, (size_t)(end - text.s), &j, NULL) ||
	    !is_sealed(j, head, end + 1, text.len - (size_t)(end + 1 - text.s)))
		st = pm_err(
			err, PM_E_INVALID,
			"%s is damaged, or is not of item %lld of this plan; remove it, and what it held is "
			"evaluated again.",
			path, (long long)head->item);
	if (!st) {
		head->seconds = pm_json_num(j, "seconds", NAN);
		pm_str_addn(rows, end + 1, text.len - (size_t)(end + 1 - text.s));
	}
	cJSON_Delete(j);
	pm_str_release(&text);
	return st;
}

double pm_cluster_findings_seconds(const char *path)
{
	char line[HEAD_MAX];
	cJSON *j = NULL;
	double seconds = NAN;
	FILE *f = fopen(path, "r");

	if (!f)
		return NAN;
	if (fgets(line, sizeof line, f) && !pm_json_parse(line, strcspn(line, "\n"), &j, NULL))
		seconds = pm_json_num(j, "seconds", NAN);
	cJSON_Delete(j);
	fclose(f);
	return seconds;
}
