/* SPDX-License-Identifier: Apache-2.0 */
/* path.c - folders and paths: making, listing and removing folders, and the ones the program lives in. */
#include "base/core/arena.h"
#include "base/core/vec.h"
#include "base/sys/io.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 64 }; /* of folders pm_remove_tree walks into */

static const char *what_next(int e, int writes)
{
	switch (e) {
	case ENOENT:
	case ENOTDIR:
		return writes ? "; make its folder first" : "; check the path";
	case EACCES:
	case EPERM:
	case EROFS:
		return writes ? "; choose a place that you may write to" : "; check its permissions";
	case EISDIR:
		return "; give the path of a file";
	case EEXIST:
		return "; give the path of a folder";
	case ENOSPC:
	case EDQUOT:
		return "; make room there";
	default:
		return "";
	}
}

PmStatus pm_path_error(const char *verb, const char *path, int writes, PmErr *err)
{
	int e = errno;

	return pm_err(err, !writes && (e == ENOENT || e == ENOTDIR) ? PM_E_NOT_FOUND : PM_E_IO,
		      "Cannot %s \"%s\": %s%s.", verb, path, strerror(e), what_next(e, writes));
}

int pm_path_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

int pm_path_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int pm_path_is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

int64_t pm_file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
}

const char *pm_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void pm_path_dir(const char *path, PmStr *out)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		pm_str_add(out, ".");
	else if (slash == path)
		pm_str_add(out, "/");
	else
		pm_str_addn(out, path, (size_t)(slash - path));
}

void pm_path_join(const char *dir, const char *name, PmStr *out)
{
	pm_str_add(out, dir);
	if (*dir && !pm_str_ends(dir, "/"))
		pm_str_addc(out, '/');
	pm_str_add(out, name);
}

PmStatus pm_mkdirs(const char *path, PmErr *err)
{
	PmStr part = PM_STR_INIT;
	const char *p = path;
	PmStatus rc = PM_OK;

	if (!*path)
		return pm_err(err, PM_E_INVALID, "Cannot make a folder with an empty name.");
	if (pm_path_is_dir(path)) /* as for every kernel that is looked up */
		return PM_OK;
	while (*p) {
		size_t n;

		n = strspn(p, "/");
		n += strcspn(p + n, "/");
		pm_str_addn(&part, p, n);
		p += n;
		if (mkdir(part.s, 0777) != 0) {
			int why = errno;

			if (pm_path_is_dir(part.s))
				continue;
			errno = why;
			rc = pm_path_error("make the folder", part.s, 1, err);
			break;
		}
	}
	pm_str_release(&part);
	return rc;
}

static PmStatus remove_tree(const char *path, int depth, PmErr *err)
{
	PmNames names = { 0 };
	PmStr sub = PM_STR_INIT;
	struct stat st;
	PmStatus rc;
	size_t i;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? PM_OK : pm_path_error("remove", path, 1, err);
	if (!S_ISDIR(st.st_mode)) /* links are removed, never followed */
		return unlink(path) == 0 || errno == ENOENT ? PM_OK : pm_path_error("remove", path, 1, err);
	if (depth == 0)
		return pm_err(err, PM_E_LIMIT, "\"%s\" is more than %d folders deep; remove it by hand.",
			      path, MAX_DEPTH);
	rc = pm_list_dir(path, &names, err);
	for (i = 0; !rc && i < names.n; i++) {
		pm_str_clear(&sub);
		pm_path_join(path, names.v[i], &sub);
		rc = remove_tree(sub.s, depth - 1, err);
	}
	if (!rc && rmdir(path) != 0 && errno != ENOENT)
		rc = pm_path_error("remove", path, 1, err);
	pm_names_release(&names);
	pm_str_release(&sub);
	return rc;
}

PmStatus pm_remove_tree(const char *path, PmErr *err)
{
	const char *base;
	size_t n = strlen(path);

	while (n > 0 && path[n - 1] == '/')
		n--;
	if (n == 0)
		return pm_err(err, PM_E_INVALID, "Refusing to remove the folder \"%s\".", path);
	for (base = path + n; base > path && base[-1] != '/'; base--)
		;
	n -= (size_t)(base - path);
	if ((n == 1 && base[0] == '.') || (n == 2 && base[0] == '.' && base[1] == '.'))
		return pm_err(err, PM_E_INVALID, "Refusing to remove the folder \"%s\".", path);
	return remove_tree(path, MAX_DEPTH, err);
}

PmStatus pm_temp_dir(const char *tag, PmStr *out, PmErr *err)
{
	const char *tmp = getenv("TMPDIR");
	PmStr path = PM_STR_INIT;
	PmStatus rc = PM_OK;

	pm_path_join(tmp && *tmp ? tmp : "/tmp", "passmith-", &path);
	pm_str_addf(&path, "%s-XXXXXX", tag);
	if (mkdtemp(path.s))
		pm_str_add(out, path.s);
	else
		rc = pm_path_error("make a temporary folder", path.s, 1, err);
	pm_str_release(&path);
	return rc;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

PmStatus pm_list_dir(const char *path, PmNames *out, PmErr *err)
{
	struct dirent *e;
	PmStatus rc = PM_OK;
	size_t start = out->n;
	DIR *d = opendir(path);

	if (!d)
		return pm_path_error("list the folder", path, 0, err);
	for (errno = 0; (e = readdir(d)) != NULL; errno = 0)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			PM_VEC_PUSH(out, pm_xstrdup(e->d_name));
	if (errno)
		rc = pm_path_error("list the folder", path, 0, err);
	closedir(d);
	if (out->n > start)
		qsort(out->v + start, out->n - start, sizeof *out->v, by_bytes);
	return rc;
}

void pm_names_release(PmNames *n)
{
	size_t i;

	for (i = 0; i < n->n; i++)
		free(n->v[i]);
	PM_VEC_RELEASE(n);
}

PmStatus pm_cache_dir(PmStr *out, PmErr *err)
{
	const char *own = getenv("PASSMITH_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	PmStr path = PM_STR_INIT;
	char *real;
	PmStatus rc;

	if (own && *own)
		pm_str_add(&path, own);
	else if (xdg && *xdg)
		pm_path_join(xdg, "passmith", &path);
	else if (home && *home)
		pm_path_join(home, ".cache/passmith", &path);
	else
		return pm_err(
			err, PM_E_ENV,
			"No folder for the cache: neither PASSMITH_CACHE nor XDG_CACHE_HOME nor HOME is set; "
			"set PASSMITH_CACHE to a folder that may be written.");
	rc = pm_mkdirs(path.s, err);
	if (rc)
		pm_err_ctx(err, "The cache of compiled kernels (set PASSMITH_CACHE to have it elsewhere)");
	/* Children in boxes work in other folders, where a relative path leads nowhere. */
	real = rc ? NULL : realpath(path.s, NULL);
	if (!rc)
		pm_str_add(out, real ? real : path.s);
	free(real);
	pm_str_release(&path);
	return rc;
}

static int is_root(const char *dir)
{
	PmStr p = PM_STR_INIT;
	int yes;

	pm_path_join(dir, "include/passmith", &p);
	yes = pm_path_is_dir(p.s);
	pm_str_clear(&p);
	pm_path_join(dir, "runtime", &p);
	yes = yes && pm_path_is_dir(p.s);
	pm_str_release(&p);
	return yes;
}

PmStatus pm_self_dir(PmStr *out, PmErr *err)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n <= 0)
		return pm_err(err, PM_E_ENV,
			      "The running program's own path cannot be read from /proc/self/exe.");
	path[n] = '\0';
	pm_path_dir(path, out);
	return PM_OK;
}

PmStatus pm_root_dir(PmStr *out, PmErr *err)
{
	const char *env = getenv("PASSMITH_ROOT");
	char path[4096];
	ssize_t n;

	if (env && *env) {
		if (!is_root(env))
			return pm_err(err, PM_E_ENV,
				      "PASSMITH_ROOT is \"%s\", which holds no include/passmith and runtime "
				      "folders; "
				      "point it at the Passmith source folder, or at lib/passmith of an "
				      "installation.",
				      env);
		pm_str_add(out, env);
		return PM_OK;
	}
	n = readlink("/proc/self/exe", path, sizeof path - 1);
	for (path[n > 0 ? n : 0] = '\0'; n > 0;) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path)
			break;
		*slash = '\0';
		if (is_root(path)) {
			pm_str_add(out, path);
			return PM_OK;
		}
	}
	return pm_err(err, PM_E_ENV,
		      "Cannot find the folder that holds include/passmith and runtime above the program; "
		      "set PASSMITH_ROOT to the Passmith source folder.");
}

const char *pm_cuda_home(void)
{
	const char *home = getenv("CUDA_HOME");

	return home && *home ? home : "/usr/local/cuda";
}
