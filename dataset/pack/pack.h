/* SPDX-License-Identifier: Apache-2.0 */
/* pack.h - a task as a folder that needs no database.
 *
 *   ROOT/<h0h1>/<h2h3>/<hash>/task.json     what the task is, and the hash of every file
 *                             graphs/       variants: 000.onnx, 001.onnx, ...; and bases that are no
 * variants: base0.onnx bases (base0.onnx) README.md     for the author
 *
 * The folder's name is the task's hash, which covers the variants' canonical hashes; task.json covers the
 * files. A pack is written beside its place and moved there when it is whole, so a folder of that name is
 * complete. Packing what was unpacked gives the same bytes. The ordinary reader believes nothing: files are
 * hashed, models imported, and their canonical hashes and the task's computed again.
 */
#ifndef DATASET_PACK_H
#define DATASET_PACK_H

#include "base/core/json.h"
#include "dataset/store/db.h"
#include "ir/core/graph.h"

enum { PM_PACK_SCHEMA = 1 };

/* Writes a stored task below `root` unless it is there; appends its folder to *dir. `rules` (borrowed, may be
 * NULL) is put into task.json as "rules": whatever decides how the task is judged. *is_new may be NULL. */
PmStatus pm_pack_write(PmDb *db, int64_t task, const char *root, const cJSON *rules, PmStr *dir, int *is_new,
		       PmErr *err);

/* One graph of a pack; borrowed until the callback returns. */
typedef struct PmPackGraph {
	const PmGraph *g;
	const char *hash, *label, *base; /* base: hash of the graph it is a variant of, or "" */
	int64_t ordinal;                 /* of the variant; -1 for a base that is no variant */
	int shape, dtype;
	const char *ref, *ref_why; /* as in PmVariantRow */
} PmPackGraph;
typedef PmStatus (*PmPackFn)(void *arg, const PmPackGraph *m, PmErr *err);

/* Reads and checks a pack: calls fn (may be NULL) for the bases and then the variants in order. *manifest
 * (may be NULL) receives task.json, owned by the caller. PM_E_INVALID names the file that is wrong. */
PmStatus pm_pack_read(const char *dir, PmPackFn fn, void *arg, cJSON **manifest, PmErr *err);
/* 1 when the path is a folder that holds a task.json. */
int pm_pack_is(const char *path);

/* Stores the pack's task, its graphs, and where they come from. *id receives the task. */
PmStatus pm_pack_unpack(const char *dir, PmDb *db, int64_t *id, int *is_new, PmErr *err);

#endif
