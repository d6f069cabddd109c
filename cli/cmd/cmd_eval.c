/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_eval.c - passmith eval: scores passes on a task, resuming what a database already holds. */
#include "cli/eval/eval.h"

#include "cli/cmds.h"
#include "cli/eval_options.h"
#include "extract/variants/variants.h"

#include <string.h>
#include <sys/mman.h>

/* What the parser cannot know of what is evaluated: 0, or the exit code after one sentence. */
static int check_selection(const PmCmd *cmd, const PmEvalCmd *e)
{
	int64_t number;

	if (e->dtype && pm_dtype_from_name(e->dtype) < 0)
		return pm_cli_usage(cmd,
				    "There is no element type '%.40s'; float, float16 and bfloat16 are "
				    "some that exist.",
				    e->dtype);
	if (e->shape > PM_MAX_SHAPES)
		return pm_cli_usage(cmd, "--shape takes a number from 0 to %d.", PM_MAX_SHAPES);
	for (size_t i = 0; i < e->only.list.n; i++)
		if (!pm_parse_i64(e->only.list.v[i], &number) || number < 0)
			return pm_cli_usage(cmd, "--only takes the number of a variant, not '%.40s'.",
					    e->only.list.v[i]);
	if (e->record_path && (pm__eval_is_part(e) || e->fail_fast))
		return pm_cli_usage(cmd, "A part of the variants has no score, and so no record: leave out "
					 "--record, or --dtype, --shape, --only and --fail-fast.");
	return 0;
}

/* Whether there is something beside --quick that a first answer has not. */
static int check_quick(const PmCmd *cmd, const PmEvalCmd *e)
{
	if (e->opts.first_answer &&
	    (e->db_path || e->record_path || e->key_path || e->replay_path || e->save_dir || e->confirm ||
	     e->hidden >= 0 || e->fail_fast || e->opts.debug_print))
		return pm_cli_usage(cmd,
				    "A first answer has no score, is not kept and looks at no hidden shape: "
				    "leave out --quick, or --db, --record, --sign-key, --replay, "
				    "--save-failing, --confirm, --hidden, --fail-fast and "
				    "--debug-print.");
	return 0;
}

/* The same of everything else. */
static int check_args(const PmCmd *cmd, PmEvalCmd *e)
{
	int code;

	if (!e->targets.list.n || !e->passes.list.n)
		return pm_cli_usage(cmd, "eval takes a task, pack or model, or several of them, and at least "
					 "one --pass.");
	code = pm_cli_gpus_usage(cmd, e->gpus, e->opts.device);
	if (code)
		return code;
	if (e->targets.list.n > 1 &&
	    (e->record_path || e->save_dir || e->progress_path || e->opts.debug_print || pm__eval_is_part(e)))
		return pm_cli_usage(cmd,
				    "These are of one task, pack or model: leave out --record, "
				    "--save-failing, --progress, --debug-print, --dtype, --shape and --only, "
				    "or evaluate one alone.");
	if (e->gpus && (e->record_path || e->save_dir))
		return pm_cli_usage(cmd,
				    "Give --record or --save-failing without --gpus: they are of one GPU.");
	code = pm_cli_eval_words(cmd, e->preset, e->reference);
	if (code)
		return code;
	if (e->opts.check_only && (e->db_path || e->record_path))
		return pm_cli_usage(cmd, "What was not timed is not stored: leave out --check-only, or --db "
					 "and --record.");
	if (e->record_path && e->replay_path)
		return pm_cli_usage(cmd, "What is replayed has no score, and so no record: leave out "
					 "--replay or --record.");
	if (e->opts.debug_print && (pm_device_kind(e->opts.device) != PM_DEVICE_EMU || e->db_path ||
				    e->record_path || e->replay_path || e->key_path || e->save_dir))
		return pm_cli_usage(cmd,
				    "Kernels print on emu alone, and a debugging run has no score and is "
				    "not kept: leave out --debug-print, or --device cuda, --db, --record, "
				    "--sign-key, --replay and --save-failing.");
	if (e->key_path && !e->record_path)
		return pm_cli_usage(cmd, "--sign-key signs the file of --record: give both.");
	if (e->strong && e->weak)
		return pm_cli_usage(cmd, "Give --require-sandbox or --weak-sandbox, not both.");
	if (e->hidden > PM_MAX_HIDDEN_SHAPES)
		return pm_cli_usage(cmd, "--hidden takes a number from 0 to %d.", PM_MAX_HIDDEN_SHAPES);
	if (!pm_tier_from_name(e->tier, &e->opts.tier))
		return pm_cli_usage(cmd, "There is no precision '%.40s'; strict, tf32 and bf16 exist.",
				    e->tier);
	e->opts.reference_on_gpu = !strcmp(e->reference, "auto");
	code = check_quick(cmd, e);
	return code ? code : check_selection(cmd, e);
}

static int run(PmEvalCmd *e)
{
	PmErr err;
	int all_ok = 1, code = 0, several;

	pm_err_init(&err);
	/* Who may compute less exactly is measured against a baseline that may. */
	e->tf32 |= e->opts.tier > PM_TIER_STRICT;
	e->variants |= pm__eval_is_part(e);
	e->opts.seed = (uint64_t)e->seed;
	if (e->hidden < 0)
		e->hidden = PM_HIDDEN_SHAPES;
	if (e->opts.debug_print || e->opts.first_answer)
		e->hidden = 0;
	e->opts.require_sandbox = e->strong || ((e->db_path || e->record_path) && !e->weak);
	e->opts.confirm_above = e->confirm ? 1 : 0;
	e->opts.preset = !strcmp(e->preset, "passnet") ? PM_PRESET_PASSNET : PM_PRESET_SOUND;
	e->save = (PmFailing){
		.dir = e->save_dir, .preset = e->preset, .tf32 = e->tf32, .confirm = e->confirm
	};
	e->target = e->targets.list.v[0];
	several = e->targets.list.n > 1 || e->gpus;
	if (e->gpus && pm_cli_gpus(e->gpus, &e->seats, &err))
		return pm_cli_fail(&err);
	if (e->progress_path && pm_events_open(e->progress_path, &e->events, &err))
		return pm_cli_fail(&err);
	if (pm_device_kind(e->opts.device) == PM_DEVICE_CUDA) /* whose driver takes its time */
		e->look = pm_look_begin(e->opts.device);
	pm_cli_libraries(e->opts.device, e->tf32);
	if (!pm_cli_quiet && e->targets.list.n == 1) {
		e->opts.found = pm__eval_say_found;
		e->opts.found_arg = e;
		pm__eval_want_first_answer(e);
	}
	if (several)
		return pm__eval_many(e, &code, &err) ? pm_cli_fail(&err) : code;
	return pm__eval_target(e, &all_ok, &err) ? pm_cli_fail(&err) : !all_ok;
}

int pm_cmd_eval(const PmCmd *cmd, int argc, char **argv)
{
	PmEvalCmd e = { .opts = { .device = "emu", .deadline = PM_EVAL_DEADLINE },
			.hidden = -1, /* nobody said */
			.preset = "sound",
			.reference = "cpu",
			.tier = "strict",
			.shape = -1 };
	const PmOpt opts[] = {
		{ "--pass", PM_OPT_LIST, &e.passes, "a pass (may be given several times)" },
		{ "--db", PM_OPT_STR, &e.db_path,
		  "database that holds the task; results are kept and resumed" },
		{ "--device", PM_OPT_DEVICE, &e.opts.device, "emu (times are modelled) or cuda" },
		{ "--gpus", PM_OPT_STR, &e.gpus,
		  "cuda: all, or numbers and UUIDs with commas (0,2): graphs go to whichever GPU is free" },
		PM_OPT_TARGET_ROW(&e.opts.profile),
		{ "--reference", PM_OPT_STR, &e.reference,
		  "cpu (default), or auto: with --device cuda the GPU computes large products of the "
		  "reference" },
		{ "--preset", PM_OPT_STR, &e.preset,
		  "sound (default) or passnet: how closeness and scores count" },
		{ "--precision", PM_OPT_STR, &e.tier,
		  "strict (default), tf32 or bf16: how exact results have to be" },
		{ "--seed", PM_OPT_INT, &e.seed,
		  "of the shapes of --variants, and of what is resumed (default 0); of nothing secret" },
		{ "--hidden", PM_OPT_COUNT, &e.hidden,
		  "shapes that are drawn now, on which the pass has to be right too (default 2)" },
		{ "--replay", PM_OPT_STR, &e.replay_path,
		  "a report (-o): draws the same again; the result has no score and is not stored" },
		{ "--variants", PM_OPT_FLAG, &e.variants, "with a model: also its other shapes and dtypes" },
		{ "--deadline", PM_OPT_NUM, &e.opts.deadline,
		  "seconds that one variant may take (default 120, 0 = any): what is not checked then is "
		  "named and scores as the baseline" },
		{ "--quick", PM_OPT_FLAG, &e.opts.first_answer,
		  "a first answer alone: the smallest variant, on some of the inputs; no score, and not "
		  "kept" },
		{ "--check-only", PM_OPT_FLAG, &e.opts.check_only,
		  "say whether it is right, and take no times: without --db and --record" },
		{ "--dtype", PM_OPT_STR, &e.dtype,
		  "only variants of this element type (float16); a part of the variants has no score" },
		{ "--shape", PM_OPT_COUNT, &e.shape,
		  "only variants of this shape (a number; 0 = the original's)" },
		{ "--only", PM_OPT_LIST, &e.only,
		  "only this variant (a number from 0; may be given several times)" },
		{ "--jobs", PM_OPT_COUNT, &e.jobs,
		  "evaluations at once: of several graphs, of the variants and hidden shapes of one "
		  "(default: "
		  "all processors, cuda: 3 of one graph, up to 4 graphs, and what memory has room for); what "
		  "is timed runs alone" },
		{ "-j", PM_OPT_COUNT, &e.jobs, "the same as --jobs" },
		{ "--fail-fast", PM_OPT_FLAG, &e.fail_fast,
		  "stop at the first variant on which the pass fails" },
		{ "--save-failing", PM_OPT_STR, &e.save_dir,
		  "write each variant on which a pass fails to this folder, with the line that runs it "
		  "again" },
		{ "--debug-print", PM_OPT_FLAG, &e.opts.debug_print,
		  "emu: printf of kernels goes to stderr; the result has no score and is not kept" },
		{ "--timings", PM_OPT_FLAG, &e.opts.timings,
		  "also say where the time went, by stage and by class of inputs" },
		{ "--summary", PM_OPT_FLAG, &e.summary, "one line per pass only" },
		{ "--graphs", PM_OPT_FLAG, &e.opts.graphs,
		  "cuda: every call of both sides replays its launches as one CUDA graph" },
		{ "--tf32", PM_OPT_FLAG, &e.tf32, "cuda: let libraries of the baseline use TF32 for float" },
		{ "--require-sandbox", PM_OPT_FLAG, &e.strong,
		  "only where no layer of the sandbox is missing (default with --db and --record)" },
		{ "--weak-sandbox", PM_OPT_FLAG, &e.weak,
		  "with --db or --record: also where a layer is missing; the result says so" },
		{ "--confirm", PM_OPT_FLAG, &e.confirm,
		  "cuda: what is faster is measured again, with other inputs; two runs must agree" },
		{ "--progress", PM_OPT_STR, &e.progress_path,
		  "also write to this file, as soon as each variant is finished, a line of JSON with its "
		  "record" },
		{ "-o", PM_OPT_STR, &e.json_out, "also write the JSON report to this file" },
		{ "--record", PM_OPT_STR, &e.record_path,
		  "also write a sealed record, which passmith verify checks anywhere" },
		{ "--sign-key", PM_OPT_STR, &e.key_path,
		  "sign the record with this key (passmith verify --new-key makes one)" },
		{ 0 },
	};
	int code = 0;

	if (pm_args_parse(cmd, opts, argc, argv, &e.targets, &code)) {
		code = check_args(cmd, &e);
		if (!code)
			code = run(&e);
	}
	if (e.answered)
		munmap(e.answered, sizeof *e.answered);
	pm_seats_free(e.seats);
	pm_events_close(e.events);
	pm_replay_release(&e.replay);
	pm_variant_list_release(&e.variant_list);
	pm_db_close(e.db);
	PM_VEC_RELEASE(&e.passes.list);
	PM_VEC_RELEASE(&e.only.list);
	PM_VEC_RELEASE(&e.targets.list);
	return code;
}
