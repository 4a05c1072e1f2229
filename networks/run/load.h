/* SPDX-License-Identifier: Apache-2.0 */
/* Networks in any form: the content says whether it is a graph as text or an ONNX model. */
#ifndef VINCI_NETWORKS_RUN_LOAD_H
#define VINCI_NETWORKS_RUN_LOAD_H

#include "networks/onnx/onnx.h"

/* Options are for models; a text for which some are given is VINCI_E_USAGE. The bytes have to
 * outlive the graph, which the caller frees. */
VINCI_MUST_CHECK enum vinci_status graph_load_bytes(const char *name, const void *bytes,
                                                    size_t length,
                                                    const struct onnx_options *options,
                                                    struct graph *out, struct vinci_diag *diag);
/* The same of a file, "-" being standard input. Models of any length: a file is mapped, its folder
 * is where external data lie. The graph keeps the file. */
VINCI_MUST_CHECK enum vinci_status graph_load_file(const char *path,
                                                   const struct onnx_options *options,
                                                   struct graph *out, struct vinci_diag *diag);

#endif
