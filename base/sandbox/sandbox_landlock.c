/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_landlock.c - files and TCP ports by Landlock: denied, but for what is listed. */
#include "base/sandbox/sandbox_priv.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

/* Accesses by bit, as the kernel numbers them; headers may be older than the kernel. */
enum {
	RUN = 1 << 0,
	WRITE = 1 << 1,
	READ = 1 << 2,
	LIST = 1 << 3,
	REMOVE = 1 << 4 | 1 << 5,
	MAKE = 1 << 7 | 1 << 8, /* folders and files; no devices, sockets, links */
	TRUNCATE = 1 << 14,
	OF_FILES = RUN | WRITE | READ | TRUNCATE, /* what a rule for a file may say */
};

/* The kernel counts the bits of handled_access_fs by version; one that does not know all is asked for fewer.
 */
static const uint64_t fs_access[] = { 0, 0x1fff, 0x3fff, 0x7fff, 0x7fff, 0xffff };

/* 0 when the rule was added or the path does not exist. */
static int allow(int ruleset, const char *path, uint64_t access, uint64_t handled)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = access & handled };
	struct stat sb;
	int fd = open(path, O_PATH | O_CLOEXEC), rc;

	if (fd < 0)
		return 0;
	if (fstat(fd, &sb) == 0 && !S_ISDIR(sb.st_mode))
		rule.allowed_access &= OF_FILES;
	rule.parent_fd = fd;
	rc = (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	close(fd);
	return rc;
}

static int allow_all(int ruleset, const PmSandboxPaths *p, uint64_t handled)
{
	int rc = 0;

	for (size_t i = 0; !rc && p->run && p->run[i]; i++)
		rc = allow(ruleset, p->run[i], RUN | READ | LIST, handled);
	for (size_t i = 0; !rc && p->read && p->read[i]; i++)
		rc = allow(ruleset, p->read[i], READ | LIST, handled);
	if (!rc && p->write) {
		rc = allow(ruleset, p->write, READ | LIST | WRITE | REMOVE | MAKE | TRUNCATE, handled);
		if (!rc)
			rc = allow(ruleset, "/dev/null", READ | WRITE, handled);
	}
	return rc;
}

int pm__landlock(const PmSandboxPaths *p)
{
	/* The first fields of the kernel's structure; older kernels take fewer. */
	uint64_t attr[3] = { 0, 0, 0 };
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* version */), fd;
	size_t last = sizeof fs_access / sizeof *fs_access - 1;
	int ok;

	if (abi < 1)
		return 0;
	attr[0] = fs_access[(size_t)abi < last ? (size_t)abi : last];
	attr[1] = abi >= 4 ? 3 : 0; /* TCP: bind, connect */
	attr[2] = abi >= 6 ? 3 : 0; /* abstract sockets and signals of others */
	fd = syscall(SYS_landlock_create_ruleset, attr, sizeof *attr * (abi >= 6 ? 3 : abi >= 4 ? 2 : 1), 0);
	if (fd < 0)
		return 0;
	ok = (!p || allow_all((int)fd, p, attr[0]) == 0) &&
	     syscall(SYS_landlock_restrict_self, (int)fd, 0) == 0;
	close((int)fd);
	return ok;
}
