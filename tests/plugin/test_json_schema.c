/* SPDX-License-Identifier: Apache-2.0 */
/* test_json_schema.c - what every command prints under --json is what docs/reference/json says.
 *
 * A member that an object with `properties` and without `additionalProperties` does not list is an error: it
 * is not documented.
 */
#include "app/tools/schema.h"
#include "base/core/json.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "tests/lib/need.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Needs what stands above. */
#include <cmocka.h>

/* ---- the check ---- */

static int check(const cJSON *schema, const cJSON *j, const char *where, PmStr *why)
{
	return pm_schema_check(schema, j, where, PM_SCHEMA_CLOSED, why);
}

static cJSON *parse(const char *text)
{
	cJSON *j = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_json_parse(text, strlen(text), &j, &err))
		fail_msg("%s\n%.400s", err.text, text);
	return j;
}

static void wrong_answers_are_found(void **state)
{
	static const char *const schema =
		"{\"type\": \"object\", \"required\": [\"a\"], \"properties\": {\"a\": {\"type\": "
		"[\"number\", \"null\"]}, "
		"\"m\": {\"type\": \"object\", \"additionalProperties\": {\"type\": \"string\"}}, "
		"\"l\": {\"type\": \"array\", \"items\": {\"type\": \"object\", \"required\": [\"x\"]}}}}";
	static const char *const right[] = { "{\"a\": 1}",
					     "{\"a\": null, \"m\": {\"k\": \"v\"}, \"l\": [{\"x\": 1}]}" };
	static const char *const wrong[] = { "{}",
					     "[]",
					     "{\"a\": \"1\"}",
					     "{\"a\": 1, \"b\": 2}",
					     "{\"a\": 1, \"m\": {\"k\": 2}}",
					     "{\"a\": 1, \"l\": [{\"x\": 1}, {}]}",
					     "{\"a\": 1, \"l\": {}}" };
	cJSON *s = parse(schema);
	PmStr why = PM_STR_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
		cJSON *j = parse(right[i]);

		if (!check(s, j, "", &why))
			fail_msg("%s: %s", right[i], why.s);
		cJSON_Delete(j);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		cJSON *j = parse(wrong[i]);

		assert_int_equal(check(s, j, "", &why), 0);
		cJSON_Delete(j);
	}
	cJSON_Delete(s);
	pm_str_release(&why);
}

/* ---- the commands ---- */

/* In order: later lines read what earlier ones write. @ is the temporary folder, % the build folder. */
static const char *const lines[] = {
	"doctor",
	"doctor --targets",
	"import models/llama_block.gpt models/swin_block.gpt",
	"import --check models/llama_block.gpt",
	"bind models/open/bge_pooling_head.gpt --dim batch=4 --dim tokens=16 -o @/head.onnx",
	"simplify models/swin_block.gpt -o @/s.onnx",
	"simplify --list",
	"cast models/llama_block.gpt --to float16 -o @/half.onnx",
	"print models/llama_block.gpt",
	"materialize models/llama_block.gpt -o @/m.onnx",
	"run models/llama_block.gpt --device ref",
	"run models/bge_pooling_head.gpt --device emu --compare ref",
	"extract models/llama_block.gpt models/mobilenetv3_se_block.gpt --db @/w.db -j 1",
	"validate models/bge_pooling_head.gpt --seeds 1 -j 1",
	"task make --db @/w.db --for %/passes/silu.so --top 1 --name silu --shapes 2 --max-elements 2000",
	"task from models/llama_block.gpt --db @/from.db --shapes 1",
	"task from --groups tests/golden/groups.txt --db @/from.db",
	"task list --db @/w.db",
	"task show silu --db @/w.db",
	"task pack silu -o @/packs --db @/w.db",
	"task verify @/packs",
	"task gate silu --db @/w.db --honest 0",
	"task gate silu --db @/w.db --filters",
	"task export silu --db @/w.db --torch @/t",
	"task check --db @/w.db",
	"extract models/llama_block.gpt --db @/b.db -j 1",
	"task build --db @/b.db --eval 1 --ratio 0 --stride 1 --honest 0 -j 1",
	"task unpack @/packs --db @/w2.db",
	"task build --db @/w2.db --eval 0 --ratio 0",
	"mine --db @/w.db --top 2",
	"mine --db @/w.db --top 1 --show 1",
	"mine --db @/w.db --top 1 -o @/mined",
	"apply models/llama_block.gpt --pass %/passes/silu.so -o @/f.onnx",
	"apply models/llama_block.gpt --pass %/passes/silu.so -o @/f.onnx --ort-kernels @/f.kernels",
	"apply models/llama_block.gpt --passes %/passes -o @/g.onnx",
	"task from models/llama_block.gpt --db @/bank.db --shapes 1",
	"eval 1 --db @/bank.db --pass %/passes/silu.so --hidden 0 --weak-sandbox",
	"bank add @/bank %/passes/silu.so --db @/bank.db",
	"bank add @/bank %/passes/silu.so --db @/bank.db --above 100",
	"bank list @/bank",
	"bank verify @/bank",
	"apply models/llama_block.gpt --bank @/bank -o @/b.onnx",
	"apply models/llama_block.gpt --bank @/bank --lock @/b.onnx.lock -o @/b2.onnx",
	"apply models/swin_block.gpt --bank @/bank --lock @/b.onnx.lock -o @/b3.onnx",
	"compile models/llama_block.gpt --pass %/passes/silu.so -o @/c.pmz",
	"serve-bench @/c.pmz --device emu --threads 2 --runs 4",
	"new hello --dir @",
	"build @/hello.c",
	"check %/passes/silu.so",
	"explain models/llama_block.gpt --pass %/passes/silu.so",
	"explain models/llama_block.gpt --pass %/passes/grn.so",
	"explain models/swin_block.gpt --pass %/passes/fuse.so --target l4",
	"eval silu --db @/w.db --pass %/passes/silu.so --weak-sandbox --record @/r.record",
	"eval models/bge_pooling_head.gpt --pass %/passes/grn.so --hidden 0",
	"eval models/llama_block.gpt --pass %/tests/plugin/wrong_silu.so --only 0 --hidden 0 --timings",
	"eval models/llama_block.gpt --pass %/passes/silu.so --debug-print",
	"eval models/llama_block.gpt --pass %/passes/silu.so --quick",
	"cluster plan --db @/w.db --tasks silu --pass %/passes/silu.so --hidden 0 --weak-sandbox -o @/plan",
	"cluster status @/plan",
	"cluster collect @/plan",
	"cluster work @/plan",
	"cluster collect @/plan",
	"cluster resume @/plan --retry",
	"agent report --out @/agent",
	"profile models/llama_block.gpt --pass %/passes/silu.so",
	"profile models/llama_block.gpt --pass %/passes/grn.so",
	"verify @/r.record",
	"verify --new-key @/key",
	"results show silu --db @/w.db",
	"bench --db @/w.db --baselines eager --weak-sandbox -o @/bench",
	"bench --db @/w.db --baselines eager,silu --stored --view metr -p 1.5",
	"bench --db @/w.db --stored --view passnet",
	"watch --db @/w.db",
	"report --db @/w.db -o @/report.html",
	"view models/swin_block.gpt -o @/view.html",
	"view models/swin_block.gpt models/llama_block.gpt",
	"view models/swin_block.gpt models/llama_block.gpt -o @/diff.html",
	"time models/no_such_model.gpt",
	"results import @/times.json --db @/w.db",
	"db stats --db @/w.db",
	"db query SELECT(1) --db @/w.db",
	"db export -o @/e.jsonl --db @/w.db",
	"db import @/e.jsonl --db @/w3.db",
	"db merge @/w2.db --db @/w3.db",
	"db merge @/w4.db @/w.db @/w2.db --verify --against @/w4.db",
	"db conflicts --db @/w4.db",
	"db export --evidence -o @/ev.jsonl --db @/w.db",
	"db vacuum --db @/w3.db",
	"db report --db @/w.db",
	"db report -o @/x.html --db @/w.db",
	"db import tests/golden/trajectory/sessions.jsonl --db @/t.db",
	"trajectory list --db @/t.db",
	"trajectory show e3f6f0 --db @/t.db",
	"trajectory show fc6a95 --db @/t.db",
	"trajectory replay bec9af --db @/t.db",
	"trajectory export --db @/t.db --first-success --unique -o @/t.jsonl",
	"conform --per-op 1 --device ref",
	"mcp --tools",
	"eval models/no_such_model.gpt --pass %/passes/silu.so",
	"eval --no-such-option",
	"eval --help",
};

enum { MAX_WORDS = 24 };

/* A command's name as it is typed. */
static void typed(const char *name, char out[32])
{
	snprintf(out, 32, "%s", name);
	for (; *out; out++)
		*out = *out == '_' ? '-' : *out;
}

static cJSON *schema_of(const char *command, size_t n)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	cJSON *j;
	PmErr err;

	pm_err_init(&err);
	pm_str_addf(&path, "docs/reference/json/%.*s.schema.json", (int)n, command);
	if (pm_read_file(path.s, 0, &text, &err))
		fail_msg("%s", err.text);
	j = parse(text.s);
	pm_str_release(&path);
	pm_str_release(&text);
	return j;
}

static void run_line(const char *line, const char *folder)
{
	char words[1024 + 4 * 4096], *p = words;
	const char *argv[MAX_WORDS] = { built("passmith") };
	PmLimits lim = { .seconds = 300, .file_size = -1 };
	PmProcResult r = { 0 };
	PmStr why = PM_STR_INIT;
	cJSON *schema = schema_of(line, strcspn(line, " ")), *j;
	PmErr err;
	int n = 1;

	for (argv[n++] = p; *line; line++) {
		if (*line == ' ') {
			*p++ = 0;
			argv[n++] = p;
		} else if (*line == '@' || *line == '%') {
			p += sprintf(p, "%.4000s", *line == '@' ? folder : built(""));
		} else {
			*p++ = *line;
		}
	}
	*p = 0;
	argv[n++] = "--json";
	argv[n] = NULL;
	pm_err_init(&err);
	if (pm_run(argv, NULL, 0, &lim, &r, &err))
		fail_msg("%s", err.text);
	j = parse(r.out.s ? r.out.s : "");
	if (!check(schema, j, "answer", &why))
		fail_msg("passmith %s (exit %d): %s\n%.2000s", argv[1], r.code, why.s, r.out.s);
	cJSON_Delete(j);
	cJSON_Delete(schema);
	pm_str_release(&why);
	pm_proc_result_release(&r);
}

static void commands_print_what_their_schemas_say(void **state)
{
	static const char times[] =
		"{\"kind\": \"passmith_time\", \"device\": \"GPU X\", \"records\": [{\"graph\": "
		"\"00\", \"times\": {\"passmith eager\": {\"replay\": {\"seconds\": 1}}}}]}";
	static const char asked[] = "{\"model\": \"m\", \"device\": \"emu\", \"mode\": \"iterate\", "
				    "\"feedback\": \"EP\", \"samples\": 2, "
				    "\"iterations\": 3, \"tasks\": [{\"hash\": \"00\", \"name\": \"t\"}]}";
	PmStr folder = PM_STR_INIT, path = PM_STR_INIT;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	pm_test_need_device("emu");
	assert_int_equal(pm_temp_dir("schema", &folder, &err), PM_OK);
	pm_path_join(folder.s, "times.json", &path);
	assert_int_equal(pm_write_file(path.s, times, sizeof times - 1, &err), PM_OK);
	pm_str_clear(&path);
	pm_path_join(folder.s, "agent", &path);
	assert_int_equal(pm_mkdirs(path.s, &err), PM_OK);
	pm_str_add(&path, "/experiment.json");
	assert_int_equal(pm_write_file(path.s, asked, sizeof asked - 1, &err), PM_OK);
	pm_str_release(&path);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		run_line(lines[i], folder.s);
	pm_remove_tree(folder.s, NULL);
	pm_str_release(&folder);
}

/* A command without a schema fails to open one; a command without a line is not checked. */
static void every_command_has_a_schema_and_a_line(void **state)
{
	static const char *const names[] = {
#define XX(name, args, summary, example) #name,
#include "cli/cmds.def"
#undef XX
	};

	(void)state;
	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		size_t n = strlen(names[k]), i = 0;
		char name[32];

		typed(names[k], name);
		cJSON_Delete(schema_of(name, n));
		while (i < sizeof lines / sizeof *lines && (strncmp(lines[i], name, n) || lines[i][n] > ' '))
			i++;
		if (i == sizeof lines / sizeof *lines)
			fail_msg("there is no line for passmith %s", name);
	}
}

/* The paths of members without a description; `error` and `stage` are described once in each file. */
static void undescribed(const cJSON *schema, const char *where, PmStr *out)
{
	const cJSON *s;

	cJSON_ArrayForEach(s, cJSON_GetObjectItemCaseSensitive(schema, "properties"))
	{
		PmStr path = PM_STR_INIT;

		pm_str_addf(&path, "%s.%s", where, s->string);
		if (!pm_json_str(s, "description", NULL) && strcmp(s->string, "error") &&
		    strcmp(s->string, "stage"))
			pm_str_addf(out, "%s ", path.s);
		undescribed(s, path.s, out);
		pm_str_release(&path);
	}
	cJSON_ArrayForEach(s, cJSON_GetObjectItemCaseSensitive(schema, "anyOf")) undescribed(s, where, out);
	s = cJSON_GetObjectItemCaseSensitive(schema, "items");
	if (s)
		undescribed(s, where, out);
	s = cJSON_GetObjectItemCaseSensitive(schema, "additionalProperties");
	if (cJSON_IsObject(s))
		undescribed(s, where, out);
}

static void every_member_is_described(void **state)
{
	static const char *const names[] = {
#define XX(name, args, summary, example) #name,
#include "cli/cmds.def"
#undef XX
	};
	cJSON *bad = parse("{\"items\": {\"properties\": {\"a\": {\"type\": \"number\"}}}}");
	PmStr found = PM_STR_INIT;

	(void)state;
	undescribed(bad, "bad", &found);
	assert_string_equal(found.s, "bad.a ");
	cJSON_Delete(bad);
	pm_str_clear(&found);
	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		char name[32];
		cJSON *schema;

		typed(names[k], name);
		schema = schema_of(name, strlen(name));
		undescribed(schema, names[k], &found);
		cJSON_Delete(schema);
	}
	if (found.len)
		fail_msg("docs/reference/json does not describe %s", found.s);
	pm_str_release(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_answers_are_found),
		cmocka_unit_test(every_command_has_a_schema_and_a_line),
		cmocka_unit_test(every_member_is_described),
		cmocka_unit_test(commands_print_what_their_schemas_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
