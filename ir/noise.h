/* noise.h - removes what an exporter left behind and what changes nothing.
 *
 * Extraction does this before it looks for motifs, so that one model exported twice gives the same ones.
 */
#ifndef IR_NOISE_H
#define IR_NOISE_H

#include "ir/graph.h"

/* Takes out of a sorted, inferred graph: Identity; Cast to the type it has; Transpose into the order it has;
 * Reshape, Expand and Slice to the size it has; Concat of one operand; all but one of constants of the same
 * type and bytes (up to 1 KiB); what nothing depends on. Outputs keep their order and on a device
 * their values bit for bit, but may change their names (the reference, which holds doubles, rounds once less
 * where a Cast goes). A node whose result is an output stays when its operand is an input, a constant or an
 * output. Ids of what remains do not change. Returns the number of nodes removed. */
size_t pm_graph_drop_noise(PmGraph *g);

#endif
