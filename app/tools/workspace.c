/* SPDX-License-Identifier: Apache-2.0 */
/* workspace.c - an author's files: no path leads out of the folder. */
#include "app/tools/tools_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_PATH = 512, MAX_PARTS = 16 };

PmStatus pm__ws_path(const char *path, PmErr *err)
{
	const char *p = path;
	int parts = 0;

	if (!*path)
		return pm_err(err, PM_E_INVALID,
			      "The path is empty; give the name of a file, such as pass.c.");
	if (strlen(path) > MAX_PATH)
		return pm_err(err, PM_E_INVALID, "The path has %zu bytes; at most %d are allowed.",
			      strlen(path), MAX_PATH);
	if (*path == '/')
		return pm_err(err, PM_E_INVALID,
			      "The path %.80s is absolute; paths are relative to the workspace, such as "
			      "pass.c.",
			      path);
	for (; *p; p += strspn(p, "/")) {
		size_t n = strcspn(p, "/");

		if ((n == 2 && !strncmp(p, "..", 2)) || (n == 1 && *p == '.'))
			return pm_err(err, PM_E_INVALID,
				      "The path %.80s has a part \"%.*s\"; name a file in the workspace by "
				      "its folders alone, such as sub/pass.c.",
				      path, (int)n, p);
		for (size_t i = 0; i < n; i++)
			if ((unsigned char)p[i] < ' ' || p[i] == 0x7f || p[i] == '\\')
				return pm_err(err, PM_E_INVALID,
					      "The path has a control character or a backslash; use "
					      "letters, digits, '_', '-' and '.'.");
		if (*p == '-' && p == path)
			return pm_err(err, PM_E_INVALID,
				      "The path %.80s begins with '-'; begin it with a letter.", path);
		if (++parts > MAX_PARTS)
			return pm_err(err, PM_E_INVALID, "The path has more than %d folders.", MAX_PARTS);
		p += n;
	}
	return PM_OK;
}

/* Component by component, for kernels without openat2: no link is followed. */
static int open_parts(int dir, const char *path, int flags)
{
	char part[MAX_PATH + 1];
	int at = dir, fd = -1;

	while (*path) {
		size_t n = strcspn(path, "/");

		memcpy(part, path, n);
		part[n] = '\0';
		path += n;
		path += strspn(path, "/");
		fd = openat(at, part,
			    (*path ? O_RDONLY | O_DIRECTORY : flags) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
			    0644);
		if (at != dir)
			close(at);
		at = fd;
		if (fd < 0)
			return -1;
	}
	return fd;
}

static int open_beneath(int dir, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW),
				.mode = flags & O_CREAT ? 0644 : 0,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how);

	return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_parts(dir, path, flags) : fd;
}

int pm__ws_open(const PmTools *t, const char *path, int flags, PmErr *err)
{
	int fd;

	if (pm__ws_path(path, err))
		return -1;
	fd = open_beneath(t->dir, path, flags);
	if (fd < 0 && (errno == ELOOP || errno == EXDEV))
		pm_err(err, PM_E_INVALID,
		       "The path %.80s goes through a symbolic link; name a file that lies in the workspace "
		       "itself.",
		       path);
	else if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		pm_err(err, PM_E_NOT_FOUND,
		       "There is no file %.80s in the workspace; list_files shows what there is.", path);
	else if (fd < 0)
		pm_err(err, PM_E_IO, "Cannot open %.80s: %s.", path, strerror(errno));
	return fd;
}

PmStatus pm__ws_read(const PmTools *t, const char *path, PmStr *out, PmErr *err)
{
	char chunk[16 * 1024];
	struct stat st;
	ssize_t n;
	int fd = pm__ws_open(t, path, O_RDONLY, err);

	if (fd < 0)
		return PM_E_NOT_FOUND;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return pm_err(err, PM_E_INVALID, "%.80s is a folder; name a file, list_files shows them.",
			      path);
	}
	if (st.st_size > PM__FILE_MAX) {
		close(fd);
		return pm_err(err, PM_E_LIMIT, "%.80s has %lld bytes; at most %d can be read.", path,
			      (long long)st.st_size, PM__FILE_MAX);
	}
	while ((n = read(fd, chunk, sizeof chunk)) > 0)
		pm_str_addn(out, chunk, (size_t)n);
	close(fd);
	return n < 0 ? pm_err(err, PM_E_IO, "Cannot read %.80s: %s.", path, strerror(errno)) : PM_OK;
}

static PmStatus make_folders(const PmTools *t, const char *path, PmErr *err)
{
	char part[MAX_PATH + 1];
	const char *slash = path;

	while ((slash = strchr(slash, '/')) != NULL) {
		char *last;
		int fd = t->dir;

		snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
		last = strrchr(part, '/');
		if (last) {
			*last++ = '\0';
			fd = open_beneath(t->dir, part, O_RDONLY | O_DIRECTORY);
		}
		if (fd < 0 || (mkdirat(fd, last ? last : part, 0755) && errno != EEXIST))
			return pm_err(err, PM_E_IO, "Cannot make the folder of %.80s: %s.", path,
				      strerror(errno));
		if (fd != t->dir)
			close(fd);
		slash += strspn(slash, "/");
	}
	return PM_OK;
}

PmStatus pm__ws_write(const PmTools *t, const char *path, const void *p, size_t n, int *is_new, PmErr *err)
{
	PmStr temp = PM_STR_INIT;
	const char *at = p;
	size_t left = n;
	PmStatus st = pm__ws_path(path, err);
	int fd = -1, kind;

	if (!st && n > PM__FILE_MAX)
		st = pm_err(err, PM_E_LIMIT, "The text has %zu bytes; a file may have %d. Write less.", n,
			    PM__FILE_MAX);
	kind = st ? 0 : pm__ws_kind(t, path);
	if (kind == 2)
		st = pm_err(err, PM_E_INVALID, "%.80s is a folder; give the path of a file.", path);
	st = st ? st : make_folders(t, path, err);
	/* Through an old file of that name, a link among them, nothing is written: it is replaced. */
	pm_str_addf(&temp, "%s.new", path);
	if (!st) {
		fd = pm__ws_open(t, temp.s, O_WRONLY | O_CREAT | O_TRUNC, err);
		st = fd < 0 ? PM_E_IO : PM_OK;
	}
	while (!st && left) {
		ssize_t w = write(fd, at, left);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			st = pm_err(err, PM_E_IO, "Cannot write %.80s: %s.", path, strerror(errno));
		at += w > 0 ? w : 0;
		left -= w > 0 ? (size_t)w : 0;
	}
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !st && renameat(t->dir, temp.s, t->dir, path))
		st = pm_err(err, PM_E_IO, "Cannot write %.80s: %s.", path, strerror(errno));
	if (fd >= 0 && st)
		unlinkat(t->dir, temp.s, 0);
	if (is_new)
		*is_new = kind == 0;
	pm_str_release(&temp);
	return st;
}

int pm__ws_kind(const PmTools *t, const char *path)
{
	struct stat st;
	int fd = pm__ws_open(t, path, O_RDONLY, NULL), kind;

	if (fd < 0)
		return 0;
	kind = fstat(fd, &st) ? 0 : S_ISREG(st.st_mode) ? 1 : S_ISDIR(st.st_mode) ? 2 : 0;
	close(fd);
	return kind;
}

static double time_of(const struct stat *st)
{
	return (double)st->st_mtim.tv_sec + (double)st->st_mtim.tv_nsec * 1e-9;
}

double pm__ws_time(const PmTools *t, const char *path)
{
	struct stat st;
	int fd = pm__ws_open(t, path, O_RDONLY, NULL), ok;

	if (fd < 0)
		return 0;
	ok = !fstat(fd, &st);
	close(fd);
	return ok ? time_of(&st) : 0;
}

static int is_source(const char *name)
{
	static const char *const ends[] = { ".c", ".h", ".cu", ".cuh" };

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (pm_str_ends(name, ends[i]))
			return 1;
	return 0;
}

static DIR *open_folder(const PmTools *t, const char *folder)
{
	int fd = *folder ? pm__ws_open(t, folder, O_RDONLY | O_DIRECTORY, NULL)
			 : openat(t->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

double pm__ws_sources_time(const PmTools *t, const char *folder)
{
	double newest = 0;
	struct stat st;
	struct dirent *e;
	DIR *d = open_folder(t, folder);

	if (!d)
		return 0;
	while ((e = readdir(d)) != NULL)
		if (is_source(e->d_name) && !fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    time_of(&st) > newest)
			newest = time_of(&st);
	closedir(d);
	return newest;
}

PmStatus pm__ws_sources(const PmTools *t, const char *folder, PmNames *out, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	size_t n = 0;
	PmStatus st;

	pm_path_join(t->workspace, folder, &path);
	st = *folder && pm__ws_kind(t, folder) != 2
		     ? pm_err(err, PM_E_NOT_FOUND, "There is no folder %.80s in the workspace.", folder)
		     : pm_list_dir(path.s, out, err);
	for (size_t i = 0; i < out->n; i++) {
		if (is_source(out->v[i]))
			out->v[n++] = out->v[i];
		else
			free(out->v[i]);
	}
	out->n = n;
	pm_str_release(&path);
	return st;
}
