/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files that read Chakra traces: nodes of a rank become rows of a program. */
#ifndef VINCI_DEVICES_EXCHANGE_CHAKRA_READ_H
#define VINCI_DEVICES_EXCHANGE_CHAKRA_READ_H

#include "devices/exchange/chakra.h"
#include "devices/jobs/job.h"

enum { CHAKRA_NAME_BYTES = 64, CHAKRA_UNKNOWN_MAX = 16 };

/* A family of groups of the job, and how many ranks the group of this rank has. */
struct chakra_place {
  const char *family;
  uint32_t ranks;
};

/* Finds the group of a node of a rank. Errors: there is none. */
typedef enum vinci_status chakra_find_group(void *context, const struct chakra_trace *trace,
                                            const struct chakra_node *node, uint32_t rank,
                                            struct chakra_place *out, struct vinci_diag *diag);

/* A name as a part of a field of CSV: what separates fields and rows becomes _. */
void chakra_put_word(const char *name, FILE *out);
/* Whether a node becomes a row: work of the device and communication do. */
bool chakra_is_row(const struct chakra_node *node);
/* VINCI_E_INPUT about a node, which the message names. */
enum vinci_status chakra_fail(const struct chakra_trace *trace, const struct chakra_node *node,
                              struct vinci_diag *diag, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * Writes the rows of a rank: nodes in an order in which what a node depends on stands before it, in
 * the streams that they name, with events where they depend on other streams. Errors: ids that are
 * there twice or missing, nodes that depend on themselves, communication without its attributes.
 */
VINCI_MUST_CHECK enum vinci_status chakra_put_rows(const struct chakra_trace *trace, uint32_t rank,
                                                   chakra_find_group *find, void *context,
                                                   FILE *out, struct vinci_diag *diag);

struct chakra_members {
  uint32_t *ranks, count;
};

/* Groups of a name in the file of groups, or a pair of ranks; groups of an entry are a family. */
struct chakra_entry {
  struct chakra_entry *next;
  const char *key; /* NULL: a pair */
  struct chakra_members *groups;
  uint32_t count, capacity;
  uint32_t family; /* of reading.families; UINT32_MAX: not yet */
};

struct chakra_family {
  char name[CHAKRA_NAME_BYTES];
  uint32_t size; /* of its groups; 0: any */
  bool *taken;   /* by rank */
  bool open;     /* takes further entries of that size */
};

/* Ranks with the same rows. */
struct chakra_program {
  char *text;
  size_t length;
  uint64_t digest;
  uint32_t *ranks, count;
};

struct chakra_reading {
  struct arena arena;
  const char *name;
  struct vinci_diag *diag;
  uint32_t files, ranks;
  struct chakra_entry *entries, **end, *all;
  struct chakra_family families[JOB_FAMILIES_MAX];
  uint32_t family_count;
  struct chakra_program *programs;
  uint32_t program_count;
  uint64_t left_out[CHAKRA_TYPES], host, unknown_counts[CHAKRA_UNKNOWN_MAX], unknown_more;
  uint32_t unknown_types[CHAKRA_UNKNOWN_MAX], unknown_count;
  bool versionless;
};

/* An entry behind the others; key NULL: of a pair. NULL when memory is short, as below. */
struct chakra_entry *chakra_new_entry(struct chakra_reading *reading, const char *key);
/* A group without ranks yet, with room for all. */
struct chakra_members *chakra_add_group(struct chakra_reading *reading, struct chakra_entry *entry);
/* The file of process groups; given NULL: NAME.groups.json, if that exists. */
VINCI_MUST_CHECK enum vinci_status chakra_read_groups(struct chakra_reading *reading,
                                                      const char *given);
/* The group of an entry that a rank is in, and its place there; NULL: none. */
const struct chakra_members *chakra_group_with(const struct chakra_entry *entry, uint32_t rank,
                                               uint32_t *member);
/* The entry that a node names; *out NULL: the node names none. */
VINCI_MUST_CHECK enum vinci_status chakra_named_entry(const struct chakra_reading *reading,
                                                      const struct chakra_trace *trace,
                                                      const struct chakra_node *node,
                                                      struct chakra_entry **out);
/* Who sends and who receives: as the node says, or the two ranks of its group. */
VINCI_MUST_CHECK enum vinci_status chakra_pair_of(const struct chakra_reading *reading,
                                                  const struct chakra_trace *trace,
                                                  const struct chakra_node *node, uint32_t rank,
                                                  const struct chakra_entry *named,
                                                  uint32_t pair[2]);
/* NULL when there is none yet. */
struct chakra_entry *chakra_find_pair(const struct chakra_reading *reading, const uint32_t pair[2]);
/* Puts an entry into the family that the trace names, as jobs that were written as Chakra do. */
VINCI_MUST_CHECK enum vinci_status chakra_join_named(struct chakra_reading *reading,
                                                     struct chakra_entry *entry, const char *name);
/* Puts all other entries into families: groups of a size that share no rank. */
VINCI_MUST_CHECK enum vinci_status chakra_join_others(struct chakra_reading *reading);

#endif
