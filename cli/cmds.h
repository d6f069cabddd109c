/* cmds.h - the commands' entry points, generated from cmds.def, and what they share. */
#ifndef CLI_CMDS_H
#define CLI_CMDS_H

#include "base/json.h"
#include "cli/args.h"
#include "ir/graph.h"
#include "ir/onnx.h"

#define XX(name, args, summary, example) int pm_cmd_##name(const PmCmd *cmd, int argc, char **argv);
#include "cli/cmds.def"
#undef XX

/* Reads a model by its ending: .onnx, or IR text otherwise. `report` may be NULL; it is filled for text too.
 */
PmStatus pm_cli_load(const char *path, PmGraph **out, PmOnnxReport *report, PmErr *err);

/* Writes a model by the ending of the path: .onnx, or IR text otherwise. */
PmStatus pm_cli_save(const PmGraph *g, const char *path, PmErr *err);

/* Writes one JSON value to stdout and frees it. */
void pm_cli_put_json(cJSON *j);

#endif
