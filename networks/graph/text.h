/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs as text: the door for compilers, planners and people. CSV, a row for the graph, one for
 * each tensor and one for each node, in the order of launch (GRAPH.md has the fields).
 */
#ifndef VINCI_NETWORKS_GRAPH_TEXT_H
#define VINCI_NETWORKS_GRAPH_TEXT_H

#include "networks/graph/graph.h"

enum { GRAPH_TEXT_VERSION = 1, GRAPH_TEXT_VALUES_MAX = 64 };

/* Whether a text begins as a graph does. */
bool graph_text_is(const char *text, size_t length);
/* Reads and checks; name is for messages. On success the caller frees the graph; VINCI_E_INPUT
 * names line, column and the mend. */
VINCI_MUST_CHECK enum vinci_status graph_text_read(const char *name, const char *text,
                                                   size_t length, struct graph *out,
                                                   struct vinci_diag *diag);
/* Writes all of a graph but values of tensors of more than GRAPH_TEXT_VALUES_MAX elements. */
void graph_text_write(const struct graph *graph, FILE *out);

#endif
