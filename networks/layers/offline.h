/* SPDX-License-Identifier: Apache-2.0 */
/* Values of weights that no kernel lays out: what a compiler does before it stores them. */
#ifndef VINCI_NETWORKS_LAYERS_OFFLINE_H
#define VINCI_NETWORKS_LAYERS_OFFLINE_H

#include "networks/graph/graph.h"

/*
 * Computes an offline layer from one tensor into another, of the shapes that the graph says; false
 * of a layer that is not known here. "FractalWeights" with group=G: K x C/G x ... into FRACTAL_Z,
 * groups joined to whole blocks of channels with zeros between them.
 * "WinogradWeights": K x C x 3 x 3 into 16 x C x K, transformed for F(2x2, 3x3).
 * "ScaleWords" with offset and signed: scales in fp32, one for all or one for each channel, into
 * words of the fixpipe; channels that are padding have the scale of the last. "SignedWeights" with
 * bits=4 or 8: unsigned numbers into signed ones that are 8 or 128 less, as many to a byte.
 * "UnpackedNumbers" with bits and row=N: rows of whole bytes into N numbers each, of a form:
 * unsigned, signed, e4m3, e5m2, or of 4 bits e2m1.
 */
bool offline_layer(const struct graph_node *node, const struct graph_tensor *from,
                   const void *from_bytes, const struct graph_tensor *to, void *to_bytes);

#endif
