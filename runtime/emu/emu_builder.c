/* SPDX-License-Identifier: Apache-2.0 */
/* emu_builder.c - what all compilations of the emulated device share: the compiler, its flags, and the keys
 * they make. */
#include "base/sys/io.h"
#include "runtime/device/kcache.h"
#include "runtime/emu/emu_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const flags[] = {
	"-std=c++17",
	"-O2",
	"-fPIC",
	"-Werror=vla",
	"-nostdinc",
	"-fvisibility=hidden",
	"-fno-strict-aliasing",
	"-fwrapv", /* signed integers overflow as on a GPU */
	"-fno-delete-null-pointer-checks",
	"-ffp-contract=off",
	"-fno-math-errno",
	"-fno-trapping-math",
	"-fno-exceptions",
	"-fno-rtti",
	"-fno-threadsafe-statics",
	"-fno-asynchronous-unwind-tables",
	"-fno-stack-protector",
	"-fno-tree-loop-distribute-patterns", /* a loop that copies must not become a call of memcpy */
	"-fstack-clash-protection",
	"-fdiagnostics-color=never",
	"-Wfatal-errors",
};
/* What is watched runs once or twice: compiling it well takes longer than that saves. */
static const char *const race_flags[] = { "-O1", "-fsanitize=thread", "--param=tsan-distinguish-volatile=1" };
/* What is counted, too; and the code keeps the accesses of the source, in its order: a struct is loaded at
 * once, what comes later lies later. */
static const char *const count_flags[] = {
	"-O1",
	"-gdwarf-4",
	"-g1",
	"-fsanitize=thread",
	"--param=tsan-distinguish-volatile=1",
	"-fsanitize-coverage=trace-pc",
	"-fno-tree-sra",
	"-fno-reorder-blocks",
	"-fno-thread-jumps",
	"-fno-crossjumping",
};
static const char *const link_flags[] = { "-shared", "-nostdlib", "-Wl,-z,defs", "-Wl,--as-needed" };
static const char *const link_libraries[] = { "-lm", "-lgcc" };
enum {
	N_FLAGS = sizeof flags / sizeof flags[0],
	N_RACE_FLAGS = sizeof race_flags / sizeof race_flags[0],
	N_COUNT_FLAGS = sizeof count_flags / sizeof count_flags[0],
	N_LINK = sizeof link_flags / sizeof link_flags[0],
	N_LIBRARIES = sizeof link_libraries / sizeof link_libraries[0],
};
_Static_assert(N_FLAGS + N_COUNT_FLAGS + N_LINK + N_LIBRARIES + 20 <= PM_EMU_MAX_ARGV,
	       "there is room for flags and files");

static const PmLimits version_limits = { .seconds = 60, .cpu_seconds = 60, .file_size = -1, .tries = 3 };

static void add_lines(const char *const *v, int n, PmStr *text)
{
	for (int i = 0; i < n; i++)
		pm_str_addf(text, "%s\n", v[i]);
}

int pm__emu_flags(const PmEmuBuilder *b, PmEmuMode as, const char **argv, PmStr *keep)
{
	int n = 0, i;

	for (i = 0; i < PM_EMU_KEEP; i++)
		pm_str_init(&keep[i]);
	for (i = 0; i < N_FLAGS; i++)
		argv[n++] = flags[i];
	for (i = 0; i < N_RACE_FLAGS && as == PM_EMU_RACES; i++)
		argv[n++] = race_flags[i];
	for (i = 0; i < N_COUNT_FLAGS && as == PM_EMU_COUNTS; i++)
		argv[n++] = count_flags[i];
	pm_str_addf(&keep[0], "-I%s/runtime/emu/include", b->root.s);
	pm_str_addf(&keep[1], "-I%s/include", b->root.s);
	pm_str_addf(&keep[2], "-I%s/runtime/emu/%s", b->root.s, as == PM_EMU_COUNTS ? "counts" : "races");
	for (i = 0; i < PM_EMU_KEEP; i++)
		argv[n++] = keep[i].s;
	return n;
}

void pm__emu_flags_release(PmStr *keep)
{
	for (int i = 0; i < PM_EMU_KEEP; i++)
		pm_str_release(&keep[i]);
}

/* --- what the compiler says of itself --------------------------------------------------------------------
 */

/* Asked once: by this process, and not by those that it forks afterwards. Another compiler, or another file
 * in its place, is asked again. */
static struct {
	PmStr of, says;
} version;

static void about_cxx(const char *cxx, PmStr *out)
{
	const char *path = getenv("PATH");
	char *file = pm__emu_cxx_file(cxx);
	struct stat s;

	pm_str_addf(out, "%s\n%s\n", cxx, path ? path : "");
	if (file && !stat(file, &s))
		pm_str_addf(out, "%s %llu %llu %lld %lld.%09ld\n", file, (unsigned long long)s.st_dev,
			    (unsigned long long)s.st_ino, (long long)s.st_size, (long long)s.st_mtim.tv_sec,
			    s.st_mtim.tv_nsec);
	free(file);
}

/* Appends it. */
static PmStatus add_version(const char *cxx, PmStr *text, PmErr *err)
{
	const char *argv[] = { "env", "LC_ALL=C", cxx, "--version", NULL };
	PmStr about = PM_STR_INIT;
	PmProcResult r = { 0 };
	PmStatus rc = PM_OK;

	about_cxx(cxx, &about);
	if (!version.of.s || strcmp(version.of.s, about.s) != 0) {
		rc = pm_run(argv, NULL, 0, &version_limits, &r, NULL);
		if (rc || r.end != PM_PROC_EXITED || r.code != 0)
			rc = pm_err(err, PM_E_ENV,
				    "The emulated device needs a C++ compiler, but \"%s --version\" does not "
				    "work; install g++ or set PASSMITH_CXX to a compiler.",
				    cxx);
		if (!rc) {
			pm_str_clear(&version.of);
			pm_str_clear(&version.says);
			pm_str_add(&version.of, about.s);
			pm_str_add(&version.says, r.out.s);
		}
		pm_proc_result_release(&r);
	}
	if (!rc)
		pm_str_addf(text, "abi %d\n%s\n%s", PM_EMU_ABI, cxx, version.says.s);
	pm_str_release(&about);
	return rc;
}

PmStatus pm__emu_builder_open(PmEmuBuilder *b, PmEmuMode mode, PmErr *err)
{
	const char *cxx = getenv("PASSMITH_CXX");
	PmStr text = PM_STR_INIT;
	PmStatus rc;

	b->mode = mode;
	b->counts = NULL;
	pm_str_init(&b->root);
	pm_str_init(&b->cache);
	pm_str_init(&b->heads);
	pm_str_init(&b->cxx);
	pm_str_add(&b->cxx, cxx && *cxx ? cxx : "g++");
	rc = pm_root_dir(&b->root, err);
	if (!rc)
		rc = pm_kcache_dir("emu", &b->cache, err);
	if (!rc)
		rc = pm_kcache_dir("emu-head", &b->heads, err);
	if (!rc)
		rc = add_version(b->cxx.s, &text, err);
	add_lines(flags, N_FLAGS, &text);
	add_lines(link_flags, N_LINK, &text);
	add_lines(link_libraries, N_LIBRARIES, &text);
	if (!rc)
		rc = pm_kcache_add_headers(b->root.s, "runtime/emu/include", &text, err);
	if (!rc)
		rc = pm_kcache_add_headers(b->root.s, "include/passmith", &text, err);
	pm_sha256_hex(text.s, text.len, b->key);
	pm_str_clear(&text);
	pm_str_addf(&text, "%s\n", b->key);
	if (mode == PM_EMU_COUNTS)
		add_lines(count_flags, N_COUNT_FLAGS, &text);
	else
		add_lines(race_flags, N_RACE_FLAGS, &text);
	if (!rc && (mode == PM_EMU_RACES || mode == PM_EMU_COUNTS))
		rc = pm_kcache_add_headers(b->root.s, "runtime/emu/races", &text, err);
	if (!rc && mode == PM_EMU_COUNTS)
		rc = pm_kcache_add_headers(b->root.s, "runtime/emu/counts", &text, err);
	pm_sha256_hex(text.s, text.len, b->watch_key);
	pm_str_release(&text);
	if (rc)
		pm__emu_builder_close(b);
	return rc;
}

void pm__emu_builder_close(PmEmuBuilder *b)
{
	pm_str_release(&b->root);
	pm_str_release(&b->cache);
	pm_str_release(&b->heads);
	pm_str_release(&b->cxx);
}

int pm__emu_link_flags(const char **argv)
{
	memcpy(argv, link_flags, sizeof link_flags);
	return N_LINK;
}

int pm__emu_link_libraries(const char **argv)
{
	memcpy(argv, link_libraries, sizeof link_libraries);
	return N_LIBRARIES;
}
