/* SPDX-License-Identifier: Apache-2.0 */
/* Networks for tests, and the reference measurements of tests/reference/noc. */
#ifndef VINCI_TESTS_SUPPORT_NETWORKS_H
#define VINCI_TESTS_SUPPORT_NETWORKS_H

#include "noc/stream.h"

/*
 * The router of the reference measurements: one cycle each for route computation, VC
 * allocation, switch allocation, switch and link; 4 VCs of 8 flits. The graph comes from
 * scripts/noc. False when a graph cannot be loaded.
 */
bool networks_mesh(struct arena *arena, uint32_t columns, uint32_t rows, struct noc_config *out);
bool networks_ring(struct arena *arena, uint32_t routers, struct noc_config *out);
bool networks_crossbar(struct arena *arena, uint32_t terminals, struct noc_config *out);

/* One measurement of booksim_mesh_latency.csv or booksim_mesh_overload.csv. */
struct networks_row {
  char router[16]; /* R4, R3, R4-overload */
  unsigned k;
  unsigned vcs;
  enum noc_traffic traffic;
  unsigned flits;
  double offered; /* flits per terminal and cycle */
  double bound_share;
  bool stable;
  double latency;
  double accepted;
  double hops;
};

enum { NETWORKS_ROWS_MAX = 512 };

/* Reads tests/reference/noc/<name>; the number of rows, 0 when it cannot be read. */
size_t networks_read(const char *name, struct networks_row *rows);
/* Highest offered rate with a stable row on the same curve. */
double networks_saturation(const struct networks_row *rows, size_t count,
                           const struct networks_row *row);
/* The network of a row. */
bool networks_of_row(struct arena *arena, const struct networks_row *row, struct noc_config *out);

#endif
