/* SPDX-License-Identifier: Apache-2.0 */
/* cmds.h - the commands' entry points, generated from cmds.def, and what they share. */
#ifndef CLI_CMDS_H
#define CLI_CMDS_H

#include "app/eval/variant_list.h"
#include "app/watch/watch.h"
#include "base/core/json.h"
#include "base/sys/progress.h"
#include "cli/args.h"
#include "ir/core/graph.h"
#include "ir/onnx/onnx.h"

#define XX(name, args, summary, example) int pm_cmd_##name(const PmCmd *cmd, int argc, char **argv);
#include "cli/cmds.def"
#undef XX

/* pm_model_load and pm_model_save (app/model/model_file.h), with the stage of the answer set: "reading", and
 * "working" when that went well; "writing". */
PmStatus pm_cli_load(const char *path, PmGraph **out, PmOnnxReport *report, PmErr *err);
PmStatus pm_cli_save(const PmGraph *g, const char *path, PmErr *err);
/* pm_variant_list_of_graph (app/eval/variants.h) of a model file that pm_cli_load reads. */
PmStatus pm_cli_variants(const char *path, int variants, uint64_t seed, PmVariantList *out, PmErr *err);
/* Steps `bar`, a PmProgress: what work in libpassmith calls as it goes on. */
void pm_cli_step(void *bar, const char *item);
/* Shows such work in `bar`, unless --quiet was given, and says its complaints (cli/answer.h). */
PmWatch pm_cli_watch(PmProgress *bar);

/* Says on stderr how many weights of a model are made up and how; nothing when none are. */
void pm_cli_say_weights(const char *path, const PmWeightsReport *r);
/* The same as {"synthesised": n, "bytes": b, "how": {...}, "as": {...}}; returns owned. */
cJSON *pm_cli_weights_json(const PmWeightsReport *r);

/* Before anything runs on `device`: sets what libraries may do there, and says on stderr which of them is not
 * there, so that the baseline's products or convolutions run on our own kernels. */
void pm_cli_libraries(const char *device, int tf32);

#endif
