/* SPDX-License-Identifier: Apache-2.0 */
/* build.c - compiles passes, and starts one from the template. */
#include "matcher/host/build.h"

#include "base/sandbox/compiler_box.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_SOURCE = 4 << 20,
	MAX_FILES = 64,
	MAX_DEPTH = 8, /* headers that include headers */
	MAX_ARGS = 64 + MAX_FILES,
};

/* The text of a .cu file as `static const char NAME_cu[] = "..."`, one literal a line, lines kept. */
static void embed(const char *name, const char *path, const PmStr *text, PmStr *out)
{
	int at_start = 1;

	pm_str_addf(out,
		    "/* Made from %s by passmith build. */\nstatic const char %s_cu[] =\n\t\"#line 1 "
		    "\\\"%s\\\"\\n\"\n",
		    pm_path_base(path), name, pm_path_base(path));
	for (size_t i = 0; i < text->len; i++) {
		char c = text->s[i];

		if (at_start)
			pm_str_add(out, "\t\"");
		at_start = c == '\n';
		if (c == '\n')
			pm_str_add(out, "\\n\"\n");
		else if (c == '"' || c == '\\')
			pm_str_addf(out, "\\%c", c);
		else if (c == '?') /* "??" could begin a trigraph */
			pm_str_add(out, "\\?");
		else
			pm_str_addc(out, c);
	}
	pm_str_add(out, at_start ? "\t;\n" : "\"\n\t;\n");
}

/* The file `cu` becomes NAME.cu.h in `dir`. */
static PmStatus embed_file(const char *cu, const char *dir, PmErr *err)
{
	PmStr name = PM_STR_INIT, text = PM_STR_INIT, header = PM_STR_INIT, path = PM_STR_INIT;
	const char *base = pm_path_base(cu);
	PmStatus st = pm_read_file(cu, MAX_SOURCE, &text, err);

	if (!st) {
		pm_str_addn(&name, base, strlen(base) - strlen(".cu"));
		embed(name.s, cu, &text, &header);
		pm_str_addf(&name, ".cu.h");
		pm_path_join(dir, name.s, &path);
		st = pm_write_file(path.s, header.s, header.len, err);
	}
	pm_str_release(&name);
	pm_str_release(&text);
	pm_str_release(&header);
	pm_str_release(&path);
	return st;
}

/* What `file` includes in quotes and lies beside it: NAME.cu for a NAME.cu.h is embedded, a header is looked
 * through in turn. What is not there is left for the compiler to report. */
static PmStatus embed_included(const char *file, const char *dir, int depth, PmErr *err)
{
	static const char word[] = "#include \"";
	PmStr text = PM_STR_INIT, path = PM_STR_INIT;
	PmStatus st = pm_read_file(file, MAX_SOURCE, &text, err);
	const char *p = text.s, *end;

	for (; !st && p && (p = strstr(p, word)); p = end) {
		p += strlen(word);
		end = p + strcspn(p, "\"\n");
		pm_str_clear(&path);
		pm_str_addn(&path, file, (size_t)(pm_path_base(file) - file));
		pm_str_addn(&path, p, (size_t)(end - p));
		if (pm_str_ends(path.s, ".cu.h")) {
			path.s[path.len -= strlen(".h")] = '\0';
			if (pm_path_exists(path.s))
				st = embed_file(path.s, dir, err);
		} else if (depth < MAX_DEPTH && pm_path_exists(path.s)) {
			st = embed_included(path.s, dir, depth + 1, err);
		}
	}
	pm_str_release(&text);
	pm_str_release(&path);
	return st;
}

/* The folder of generated SDK headers: in $PASSMITH_BUILD, beside the program, in the source folder's build,
 * or, of an installed program, that of all SDK headers. */
static PmStatus gen_dir(const char *root, PmStr *out, PmErr *err)
{
	static const char *const below[] = { "gen", "gen", "build/gen", "include" };
	const char *build = getenv("PASSMITH_BUILD");
	PmStr exe = PM_STR_INIT, probe = PM_STR_INIT;
	const char *folder[] = { build && *build ? build : NULL, NULL, root, root };
	int found = 0;

	if (!pm_self_dir(&exe, NULL))
		folder[1] = exe.s;
	for (int i = 0; i < 4 && !found; i++) {
		if (!folder[i])
			continue;
		pm_str_clear(out);
		pm_path_join(folder[i], below[i], out);
		pm_str_clear(&probe);
		pm_path_join(out->s, "passmith/ops.h", &probe);
		found = pm_path_exists(probe.s);
	}
	pm_str_release(&exe);
	pm_str_release(&probe);
	return found ? PM_OK
		     : pm_err(err, PM_E_ENV,
			      "The SDK header passmith/ops.h was not found beside the program nor below %s; "
			      "run "
			      "make first.",
			      root);
}

typedef struct Sources {
	PmStr path[MAX_FILES];
	size_t n;
} Sources;

static PmStatus add_source(const char *folder, const char *name, Sources *out, PmErr *err)
{
	if (out->n == MAX_FILES)
		return pm_err(err, PM_E_LIMIT,
			      "%s makes it more than %d .c files; a pass has at most as many.", folder,
			      MAX_FILES);
	pm_str_init(&out->path[out->n]);
	pm_path_join(folder, name, &out->path[out->n++]);
	return PM_OK;
}

/* The .c files of a folder, by name, and with `below` those of the folders in it. */
static PmStatus sources_in(const char *folder, int below, Sources *out, PmErr *err)
{
	PmNames names = { 0 };
	PmStatus st = pm_list_dir(folder, &names, err);

	for (size_t i = 0; i < names.n && !st; i++) {
		PmStr path = PM_STR_INIT;

		pm_path_join(folder, names.v[i], &path);
		if (pm_str_ends(names.v[i], ".c"))
			st = add_source(folder, names.v[i], out, err);
		else if (below && names.v[i][0] != '.' && pm_path_is_dir(path.s))
			st = sources_in(path.s, 0, out, err);
		pm_str_release(&path);
	}
	pm_names_release(&names);
	return st;
}

/* The .c files of a folder and of the folders in it; or the file itself. */
static PmStatus sources_of(const char *source, Sources *out, PmErr *err)
{
	PmStatus st;

	if (!pm_path_is_dir(source)) {
		pm_str_init(&out->path[out->n]);
		pm_str_add(&out->path[out->n++], source);
		return PM_OK;
	}
	st = sources_in(source, 1, out, err);
	if (!st && !out->n)
		st = pm_err(err, PM_E_NOT_FOUND, "The folder %s holds no .c file.", source);
	return st;
}

/* What compilers are told of, and where the SDK's headers are. */
typedef struct Folders {
	PmStr root, include, gen, passes, of_source, work;
} Folders;

static PmStatus find_folders(const char *source, Folders *f, PmErr *err)
{
	PmStatus st = pm_root_dir(&f->root, err);

	if (!st)
		st = gen_dir(f->root.s, &f->gen, err);
	if (!st)
		st = pm_temp_dir("build", &f->work, err);
	if (st)
		return st;
	pm_path_join(f->root.s, "include", &f->include);
	pm_path_join(f->root.s, "passes", &f->passes);
	if (pm_path_is_dir(source))
		pm_str_add(&f->of_source, source);
	else
		pm_path_dir(source, &f->of_source);
	return PM_OK;
}

static void release_folders(Folders *f)
{
	if (f->work.len)
		pm_remove_tree(f->work.s, NULL);
	pm_str_release(&f->root);
	pm_str_release(&f->include);
	pm_str_release(&f->gen);
	pm_str_release(&f->passes);
	pm_str_release(&f->of_source);
	pm_str_release(&f->work);
}

/* The compiler sees the author's folder and our headers: a source that includes, or takes in as data, another
 * file of this machine does not compile. */
static PmStatus run_boxed(const char *const *args, const char *cc, const Folders *f, PmProcResult *r,
			  PmErr *err)
{
	const char *read[] = { f->of_source.s, f->include.s,         f->gen.s, f->passes.s,
			       "/usr/include", "/usr/local/include", NULL };
	const char *argv[MAX_ARGS + PM_COMPILER_BOX_ENV + 1];
	PmLimits lim = { .seconds = 120,
			 .cpu_seconds = 120,
			 .memory = (int64_t)8 << 30,
			 .file_size = (int64_t)256 << 20 };
	PmCompilerBox box;
	PmStatus st;
	size_t n = 0;

	pm_compiler_box_open(&box, cc, read, f->work.s);
	for (; box.env[n]; n++)
		argv[n] = box.env[n];
	while (*args)
		argv[n++] = *args++;
	argv[n] = NULL;
	pm_compiler_box_limit(&box, &lim);
	st = pm_run(argv, NULL, 0, &lim, r, err);
	pm_compiler_box_close(&box);
	return st;
}

/* Into the file `made`. */
static PmStatus compile(const char *source, const Sources *files, const Folders *f, const char *made,
			PmStr *messages, PmErr *err)
{
	const char *cc = getenv("CC");
	const char *args[MAX_ARGS] = { cc && *cc ? cc : "cc",
				       "-std=c11",
				       "-O2",
				       "-Wall",
				       "-Wextra",
				       "-fPIC",
				       "-shared",
				       "-nostdlib",
				       "-nostartfiles",
				       "-fno-stack-protector",
				       "-Wl,-z,now",
				       "-Wl,-z,noexecstack",
				       "-Wl,-z,separate-code",
				       "-Wl,--build-id=none",
				       "-fvisibility=hidden",
				       "-I",
				       f->include.s,
				       "-I",
				       f->gen.s,
				       "-I",
				       f->work.s,
				       "-o",
				       made };
	PmProcResult r;
	PmStatus st;
	size_t n = 0;

	while (args[n])
		n++;
	for (size_t i = 0; i < files->n; i++)
		args[n++] = files->path[i].s;
	st = run_boxed(args, args[0], f, &r, err);
	if (st)
		return st;
	pm_str_addn(messages, r.errtext.s, r.errtext.len);
	if (r.end != PM_PROC_EXITED || r.code == 127)
		st = pm_err(err, PM_E_ENV, "The C compiler '%s' does not run; install gcc or set CC.",
			    args[0]);
	else if (r.code)
		st = pm_err(err, PM_E_INVALID, "%s does not compile; the compiler's messages are above.",
			    source);
	pm_proc_result_release(&r);
	return st;
}

/* Before the linker says so among the compiler's messages. It replaces a file, where the folder lets it. */
static PmStatus want_writable(const char *out, PmErr *err)
{
	PmStr dir = PM_STR_INIT;
	PmStatus st = PM_OK;

	pm_path_dir(out, &dir);
	errno = pm_path_is_dir(out) ? EISDIR : 0;
	if (errno || (access(dir.s, W_OK) != 0 && access(out, W_OK) != 0))
		st = pm_path_error("write", out, 1, err);
	pm_str_release(&dir);
	return st;
}

/* The object at its place, whole or not at all: one that is mapped by a running pass does not change. */
static PmStatus hand_out(const char *made, const char *out, PmErr *err)
{
	enum { MAX_OBJECT = 256 << 20 };
	PmStr object = PM_STR_INIT;
	PmStatus st = pm_read_file(made, MAX_OBJECT, &object, err);

	if (!st)
		st = pm_write_file(out, object.s, object.len, err);
	pm_str_release(&object);
	return st;
}

PmStatus pm_pass_build(const char *source, const char *out, PmStr *messages, PmErr *err)
{
	Folders folders = { 0 };
	Sources files = { .n = 0 };
	PmStr made = PM_STR_INIT;
	PmStatus st = PM_OK;

	if (!pm_str_ends(source, ".c") && !pm_path_is_dir(source))
		st = pm_err(err, PM_E_UNSUPPORTED,
			    "%s is not a .c file; a pass is one C file, with its kernels in it or in a .cu "
			    "file beside it, or a folder of .c files.",
			    source);
	else if (!pm_path_exists(source))
		st = pm_err(err, PM_E_NOT_FOUND, "There is no file %s.", source);
	if (!st)
		st = sources_of(source, &files, err);
	if (!st)
		st = want_writable(out, err);
	if (!st)
		st = find_folders(source, &folders, err);
	for (size_t i = 0; i < files.n && !st; i++)
		st = embed_included(files.path[i].s, folders.work.s, 0, err);
	if (!st) {
		pm_path_join(folders.work.s, "pass.so", &made);
		st = compile(source, &files, &folders, made.s, messages, err);
	}
	if (!st)
		st = hand_out(made.s, out, err);
	for (size_t i = 0; i < files.n; i++)
		pm_str_release(&files.path[i]);
	release_folders(&folders);
	pm_str_release(&made);
	return st;
}

static int is_identifier(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return 0;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return 0;
	return 1;
}

PmStatus pm_pass_new_from(const char *text, const char *old, const char *name, const char *dir, PmStr *path,
			  PmErr *err)
{
	PmStr made = PM_STR_INIT, file = PM_STR_INIT;
	const char *p = text, *hit;
	PmStatus st = PM_OK;

	if (!is_identifier(name) || strlen(name) > 64)
		st = pm_err(err, PM_E_INVALID,
			    "'%.80s' is no name for a pass; use letters, digits and underscores, such as "
			    "my_fusion.",
			    name);
	pm_str_addf(&file, "%s.c", name);
	pm_path_join(dir, file.s, path);
	if (!st && pm_path_exists(path->s))
		st = pm_err(err, PM_E_CONFLICT, "%s exists already; choose another name or remove it.",
			    path->s);
	for (; (hit = strstr(p, old)); p = hit + strlen(old)) {
		pm_str_addn(&made, p, (size_t)(hit - p));
		pm_str_add(&made, name);
	}
	pm_str_add(&made, p);
	if (!st)
		st = pm_mkdirs(dir, err);
	if (!st)
		st = pm_write_file(path->s, made.s, made.len, err);
	pm_str_release(&made);
	pm_str_release(&file);
	return st;
}

PmStatus pm_pass_new(const char *name, const char *dir, PmStr *path, PmErr *err)
{
	PmStr root = PM_STR_INIT, from = PM_STR_INIT, text = PM_STR_INIT;
	PmStatus st = pm_root_dir(&root, err);

	if (!st) {
		pm_path_join(root.s, "passes/TEMPLATE.c", &from);
		st = pm_read_file(from.s, MAX_SOURCE, &text, err);
	}
	st = st ? st : pm_pass_new_from(text.s, "TEMPLATE", name, dir, path, err);
	pm_str_release(&root);
	pm_str_release(&from);
	pm_str_release(&text);
	return st;
}
