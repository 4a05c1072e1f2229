/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rank tables: which device each rank of a job is, as the files rank_table.json or hccl.json of
 * HCCL say. Versions 1.0 (servers) and 1.2 (servers in super pods). Source: HCCL user guide, "rank
 * table configuration resource information"; MindCluster, "hccl.json file description".
 */
#ifndef VINCI_DEVICES_EXCHANGE_RANK_TABLE_H
#define VINCI_DEVICES_EXCHANGE_RANK_TABLE_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "devices/flow/system.h"

struct rank_server {
  const char *id;
  unsigned long line;
  uint32_t pod; /* of rank_table.pods; UINT32_MAX: in none */
};

struct rank_seat {
  uint32_t server, device; /* of rank_table.servers; within the server */
  unsigned long line, column;
};

struct rank_table {
  struct arena arena;
  const char *path;
  const char *skipped; /* members that nobody knows, with their lines; "" when there are none */
  uint32_t ranks;
  struct rank_seat *seats; /* by rank */
  uint32_t server_count, pod_count;
  struct rank_server *servers;
  const char **pods; /* their names */
};

/* Reads a table. Errors: VINCI_E_INPUT with line and column. Free after success. */
VINCI_MUST_CHECK enum vinci_status rank_table_read(const char *path, const char *text,
                                                   size_t length, struct rank_table *out,
                                                   struct vinci_diag *diag);
void rank_table_free(struct rank_table *table);

/*
 * The device of each of `ranks` ranks on a system: devices[rank]. Servers, or super pods where the
 * table has these, follow each other as groups of the level before the last. *needed: devices that
 * the system then has to have. Errors: VINCI_E_INPUT for another number of ranks, and for servers
 * or super pods that have more devices than that level joins.
 */
VINCI_MUST_CHECK enum vinci_status rank_table_place(const struct rank_table *table,
                                                    const struct group_system *system,
                                                    uint32_t ranks, uint32_t *devices,
                                                    uint32_t *needed, struct vinci_diag *diag);

#endif
