/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of kernels: parts of a result that a kernel computes apart from one another, as its
 * outermost dimension has them: rows of a product, images of a convolution, rows of an elementwise
 * kernel. A part of the rows is a kernel of the same operator with another argument, on parts of
 * its tensors that lie one after the other.
 */
#ifndef VINCI_NETWORKS_PASSES_ROWS_H
#define VINCI_NETWORKS_PASSES_ROWS_H

#include "networks/graph/graph.h"

struct rows {
  uint64_t count; /* rows; 0: any number, as views have */
  uint32_t split; /* bit per input: it has these rows too, else each part reads all its bytes */
};

/* False when a node's result has no such rows. */
bool rows_of(const struct graph_node *node, struct rows *out);
/* What the rows of a node are: "images", "rows of a product" ... */
const char *rows_axis(const struct graph_node *node);
/* Whether element i of the result depends on elements i of the inputs alone, of inputs that are
 * repeated on what is repeated there: what the row of the operator says (elementwise.h). Each tile
 * is read before the same tile is written, so that the result may lie where an input lies. */
bool rows_elementwise(const struct graph_node *node);
/* The arguments of the kernel of `part` of each `of` rows, "a=1 b=2"; false when they do not fit.
 */
bool rows_write(const struct graph_node *node, const struct rows *rows, uint64_t part, uint64_t of,
                char *text, size_t size);

#endif
