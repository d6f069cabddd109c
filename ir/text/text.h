/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - the text form of a graph: ONNX's textual syntax, printed canonically.
 *
 *   <ir_version: 8, opset_import: ["" : 18], metadata_props: ["key": "value"]>
 *   name (float[N,128] x, int64[2] i) => (float[N,128] y)
 *   <float[128] w = {1, 0.5, ...}, float[128,128] big = ["location": "weights.bin", "offset": "0", "length":
 * "65536"], float[N] t>
 *   {
 *      h = Add (x, w)
 *      [node_name] y, mask = "com.acme:Thing" <raw = "...", k: float = 2> (h, , i)
 *   }
 *
 * - The list after the outputs holds constants, and value types that inference cannot derive (results of
 *   opaque nodes).
 * - Attributes that hold their default are left out; the rest come in table order, then by name. `k = 1` is
 * an int, `k = 1.5` a float (always with point, exponent, inf or nan), `k = "s"` a string, `[1, 2]` ints,
 * `[1.0]` floats, `["a"]` strings; empty lists carry their type: `k: ints = []`. Tensors: `k = float[2] {1,
 * 2}`; graphs: `k = name (..) => (..) {..}`.
 * - Numbers: %.9g for float, float16, bfloat16, %.17g for double; nan, inf, -inf; bool as 0 and 1.
 * - Names that are not C identifiers are quoted like strings.
 * - print(parse(print(g))) == print(g), byte for byte.
 */
#ifndef IR_TEXT_H
#define IR_TEXT_H

#include "base/core/vec.h"
#include "ir/core/graph.h"

/* The sources of kernels beside a text: text i is s[i], n[i] bytes. Borrowed from a graph, or from bytes. */
typedef struct PmTextSources {
	PM_VEC(const char *) s;
	PM_VEC(size_t) n;
} PmTextSources;

typedef struct PmPrintOpts {
	int renumber; /* canonical names v0, v1, ... in execution order; node names dropped */
	/* Constants of more than this many elements are printed as ["location": "@", ...]: by reference, to
	 * be bound again by name by whoever knows them (pm_graph_bind_consts). 0 = print all data that is at
	 * hand. */
	int64_t max_inline;
	int no_header; /* leave out the <...> line of a model and its metadata */
	int no_stats; /* of the metadata leave out PM_STATS_KEY (ir/data/stats.h), often longer than the graph
		       */
	/* Where given: sources of the graph's kernels are added to it, each once, and the text has "@i" for
	 * source i, to be bound again by pm_graph_bind_sources. They point into the graph. */
	PmTextSources *sources;
} PmPrintOpts;

/* Appends the text of a graph; opts may be NULL. Constants without data print by location. */
PmStatus pm_graph_print(const PmGraph *g, const PmPrintOpts *opts, PmStr *out, PmErr *err);

/* Parses exactly one model or graph; types are inferred and the result is verified. Errors give line and
 * column and what was expected. Input of any size and content is safe: budgets and depth limits apply.
 * The header line is optional. Returns owned. */
PmStatus pm_graph_parse(const char *text, size_t n, PmGraph **out, PmErr *err);
/* The same within `budget` bytes for all graphs of the text together (PM_E_LIMIT), and as many again for
 * what is only needed while it is read. */
PmStatus pm_graph_parse_within(const char *text, size_t n, size_t budget, PmGraph **out, PmErr *err);

/* Gives every constant of `g` that is by reference ("@") the data of the constant of the same name and
 * type in `from`; PM_E_NOT_FOUND names one that has none. Other constants without data get it where `from`
 * has one of their name and type, and stay as they are where not. */
PmStatus pm_graph_bind_consts(PmGraph *g, const PmGraph *from, PmErr *err);

/* Gives the kernels of `g`, whose sources are all "@i", the sources that they name: at most PM_MAX_SOURCE
 * bytes each, without zero bytes. PM_E_INVALID for a source that is no such reference, or that names none. */
PmStatus pm_graph_bind_sources(PmGraph *g, const PmTextSources *sources, PmErr *err);
/* Frees the list, not the texts. */
void pm_text_sources_release(PmTextSources *s);

/* Appends the value of an attribute for messages: "3", "[1, 2]", a text as it is, of a tensor its type, "(a
 * graph)". */
void pm_attr_describe(const PmAttr *a, PmStr *out);

#endif
