/* cmds.h - the commands' entry points, generated from cmds.def, and what they share. */
#ifndef CLI_CMDS_H
#define CLI_CMDS_H

#include "base/core/json.h"
#include "base/sys/io.h"
#include "cli/args.h"
#include "ir/core/graph.h"
#include "ir/onnx/onnx.h"

#define XX(name, args, summary, example) int pm_cmd_##name(const PmCmd *cmd, int argc, char **argv);
#include "cli/cmds.def"
#undef XX

/* Reads a model by its ending: .onnx, or IR text otherwise. Weights that are not at hand are made up when
 * they are needed (ir/data/weights.h). `report` may be NULL; it is filled for text too. */
PmStatus pm_cli_load(const char *path, PmGraph **out, PmOnnxReport *report, PmErr *err);
/* The same for a model whose file the caller has at hand: it is not opened again, only data beside it is. */
PmStatus pm_cli_load_read(const char *path, const PmMap *file, PmGraph **out, PmOnnxReport *report,
			  PmErr *err);
/* Says on stderr how many weights of a model are made up and how; nothing when none are. */
void pm_cli_say_weights(const char *path, const PmWeightsReport *r);
/* The same as {"synthesised": n, "bytes": b, "how": {...}, "as": {...}}; returns owned. */
cJSON *pm_cli_weights_json(const PmWeightsReport *r);

/* Writes a model by the ending of the path: .onnx, or IR text otherwise. */
PmStatus pm_cli_save(const PmGraph *g, const char *path, PmErr *err);

/* Before anything runs on `device`: sets what libraries may do there, and says on stderr which of them is not
 * there, so that the baseline's products or convolutions run on our own kernels. */
void pm_cli_libraries(const char *device, int tf32);

#endif
