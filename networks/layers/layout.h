/* SPDX-License-Identifier: Apache-2.0 */
/* How a tensor of a network can lie in memory. */
#ifndef VINCI_NETWORKS_LAYERS_LAYOUT_H
#define VINCI_NETWORKS_LAYERS_LAYOUT_H

/* Id, word, what it is. */
#define LAYOUT_LIST(X)                                                                             \
  X(ND, "nd", "as the network orders the dimensions")                                              \
  X(5HD, "nc1hwc0", "blocks of 32 bytes of channels innermost")
enum layout {
#define X(id, name, text) LAYOUT_##id,
  LAYOUT_LIST(X)
#undef X
      LAYOUT_COUNT
};

#endif
