/* SPDX-License-Identifier: Apache-2.0 */
/* Networks for tests, and the reference measurements of tests/reference/noc. */
#include "tests/support/networks.h"

#include <stdlib.h>
#include <string.h>

/* tests/reference/noc/booksim_parameters.csv, column R4. */
static const struct noc_config reference_router = {
    .clock_hz = 1000000000,
    .flit_bytes = 32,
    .routing_cycles = 1,
    .link_cycles = 1,
    .credit_cycles = 1,
    .vcs = 4,
    .vc_flits = 8,
};

static bool load(struct arena *arena, const char *topology, const struct noc_parameter *parameters,
                 size_t count, struct noc_config *out) {
  struct vinci_diag diag = {0};
  *out = reference_router;
  if (noc_graph_load(NULL, topology, parameters, count, arena, &out->graph, &diag) == VINCI_OK)
    return true;
  vinci_diag_print(&diag, stderr);
  return false;
}

bool networks_mesh(struct arena *arena, uint32_t columns, uint32_t rows, struct noc_config *out) {
  const struct noc_parameter parameters[] = {{"columns", columns}, {"rows", rows}};
  return load(arena, "mesh", parameters, 2, out);
}

bool networks_ring(struct arena *arena, uint32_t routers, struct noc_config *out) {
  const struct noc_parameter parameters[] = {{"terminals", routers}};
  return load(arena, "ring", parameters, 1, out);
}

bool networks_crossbar(struct arena *arena, uint32_t terminals, struct noc_config *out) {
  const struct noc_parameter parameters[] = {{"terminals", terminals}};
  return load(arena, "crossbar", parameters, 1, out);
}

bool networks_of_row(struct arena *arena, const struct networks_row *row, struct noc_config *out) {
  if (!networks_mesh(arena, row->k, row->k, out))
    return false;
  out->vcs = row->vcs;
  out->routing_cycles = row->router[1] == '3' ? 0 : 1;
  return true;
}

static void read_row(char *line, struct networks_row *row) {
  enum { COLUMNS = 17 };
  const char *cell[COLUMNS] = {0};
  for (unsigned i = 0; i < COLUMNS && line; i++)
    cell[i] = strsep(&line, ",\n");
  for (unsigned i = 0; i < COLUMNS; i++)
    if (!cell[i])
      cell[i] = "";
  snprintf(row->router, sizeof row->router, "%s", cell[0]);
  row->k = (unsigned)strtoul(cell[1], NULL, 10);
  row->vcs = (unsigned)strtoul(cell[2], NULL, 10);
  char traffic[32];
  snprintf(traffic, sizeof traffic, "%s", cell[3]);
  traffic[strcspn(traffic, ":")] = '\0'; /* "hotspot1:{0}" */
  row->traffic = noc_traffic_by_name(traffic);
  row->flits = (unsigned)strtoul(cell[4], NULL, 10);
  row->offered = strtod(cell[5], NULL);
  row->bound_share = strtod(cell[6], NULL);
  row->stable = strcmp(cell[7], "ok") == 0;
  row->latency = strtod(cell[8], NULL);
  row->accepted = strtod(cell[11], NULL);
  row->hops = strtod(cell[13], NULL);
}

size_t networks_read(const char *name, struct networks_row *rows) {
  const char *folder = getenv("TESTS_SRCDIR");
  char path[4096], line[1024];
  snprintf(path, sizeof path, "%s/tests/reference/noc/%s", folder ? folder : ".", name);
  FILE *file = fopen(path, "r");
  if (!file)
    return 0;
  size_t count = 0;
  while (count < NETWORKS_ROWS_MAX && fgets(line, sizeof line, file))
    if (line[0] != '#' && strncmp(line, "router,", 7) != 0)
      read_row(line, &rows[count++]);
  fclose(file);
  return count;
}

double networks_saturation(const struct networks_row *rows, size_t count,
                           const struct networks_row *row) {
  double highest = 0;
  for (size_t i = 0; i < count; i++)
    if (strcmp(rows[i].router, row->router) == 0 && rows[i].k == row->k &&
        rows[i].vcs == row->vcs && rows[i].traffic == row->traffic && rows[i].flits == row->flits &&
        rows[i].stable && rows[i].offered > highest)
      highest = rows[i].offered;
  return highest;
}
