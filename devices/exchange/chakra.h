/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution traces of MLCommons Chakra, schema 0.0.4: a file NAME.RANK.et for each rank, nodes of
 * work and communication with what they depend on, and a JSON file of process groups. Numbers of
 * fields: schema/protobuf/et_def.proto of mlcommons/chakra; frames and attributes: src/generator
 * and src/converter there; groups: "enable communicator groups" in the documentation of ASTRA-sim.
 * GROUP.md says what becomes of what.
 */
#ifndef VINCI_DEVICES_EXCHANGE_CHAKRA_H
#define VINCI_DEVICES_EXCHANGE_CHAKRA_H

#include <stdio.h>

#include "core/base/arena.h"
#include "devices/flow/run.h"

#define CHAKRA_VERSION "0.0.4"

enum chakra_type {
  CHAKRA_INVALID,
  CHAKRA_METADATA,
  CHAKRA_MEM_LOAD,
  CHAKRA_MEM_STORE,
  CHAKRA_COMP,
  CHAKRA_SEND,
  CHAKRA_RECV,
  CHAKRA_COLL,
  CHAKRA_STORAGE,
  CHAKRA_BATCH,
  CHAKRA_CHECKPOINT,
  CHAKRA_TYPES
};

/* Attributes that are read and written; those that begin with vinci_ keep what the schema has no
 * place for: X(id, name). */
#define CHAKRA_NUMBER_LIST(X)                                                                      \
  X(IS_CPU_OP, "is_cpu_op")                                                                        \
  X(STREAM, "stream")                                                                              \
  X(COMM_TYPE, "comm_type")                                                                        \
  X(COMM_SIZE, "comm_size")                                                                        \
  X(COMM_SRC, "comm_src")                                                                          \
  X(COMM_DST, "comm_dst")                                                                          \
  X(ROOT, "root")                                                                                  \
  X(BYTES, "vinci_bytes")                                                                          \
  X(DURATION_PS, "vinci_duration_ps")                                                              \
  X(MEMORY_MILLI, "vinci_memory_milli")                                                            \
  X(EARLIEST_PS, "vinci_earliest_ps")
#define CHAKRA_TEXT_LIST(X)                                                                        \
  X(PG_NAME, "pg_name")                                                                            \
  X(FAMILY, "vinci_family")                                                                        \
  X(ALGORITHM, "vinci_algorithm")

enum chakra_number {
#define X(id, name) CHAKRA_##id,
  CHAKRA_NUMBER_LIST(X)
#undef X
      CHAKRA_NUMBERS
};
enum chakra_text {
#define X(id, name) CHAKRA_##id,
  CHAKRA_TEXT_LIST(X)
#undef X
      CHAKRA_TEXTS
};

struct chakra_node {
  uint64_t id, duration_us;
  const char *name;
  uint32_t type;  /* enum chakra_type, or one that this program does not know */
  uint32_t given; /* a bit for each number that the node has */
  uint64_t numbers[CHAKRA_NUMBERS];
  const char *texts[CHAKRA_TEXTS]; /* NULL: none */
  uint64_t *deps;                  /* ids, of both kinds */
  size_t dep_count, dep_capacity;
};

static inline bool chakra_has(const struct chakra_node *node, enum chakra_number number) {
  return node->given >> number & 1;
}

struct chakra_trace {
  struct arena arena;
  const char *path, *version; /* version "": the file does not say */
  struct chakra_node *nodes;  /* for free(), with what belongs to them */
  size_t node_count, node_capacity;
};

/*
 * Decodes a file. Errors: VINCI_E_INPUT with the byte, for what is no such file and for other
 * versions of the schema. Free after success.
 */
VINCI_MUST_CHECK enum vinci_status chakra_decode(const char *path, const void *bytes, size_t length,
                                                 struct chakra_trace *out, struct vinci_diag *diag);
void chakra_trace_free(struct chakra_trace *trace);
/* "COMP_NODE"; NULL for a type that the schema does not have. */
const char *chakra_type_name(uint32_t type);

/* The collective of a comm_type, COLLECTIVE_OPS for none; and back, -1 where Chakra has none. */
enum collective_op chakra_collective(uint64_t comm_type);
int chakra_comm_type(enum collective_op op);

struct chakra_options {
  uint32_t ranks;     /* 0: as many as there are files; one file serves any number */
  const char *groups; /* file of process groups; NULL: NAME.groups.json, if there */
  const char *system; /* for the job, may be NULL */
};

/*
 * Reads NAME.0.et, NAME.1.et ... and writes the job (GROUP.md). *notes: what was left out, one a
 * line, for free(); NULL when memory is short.
 */
VINCI_MUST_CHECK enum vinci_status chakra_to_job(const char *name,
                                                 const struct chakra_options *options, FILE *out,
                                                 char **notes, struct vinci_diag *diag);
/* Writes NAME.RANK.et for each rank, and NAME.groups.json. */
VINCI_MUST_CHECK enum vinci_status chakra_from_job(const char *name, const struct group_job *job,
                                                   struct vinci_diag *diag);

#endif
