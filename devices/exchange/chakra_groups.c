/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process groups of Chakra traces as families of groups of a job. The file of groups has ranks for
 * each name; lists of ranks make a family at once, so that one trace serves any number of ranks.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "devices/exchange/chakra_read.h"
#include "traces/format/json_read.h"

enum { PATH_BYTES = 4096, FILE_BYTES_MAX = 1 << 30 };

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

/* ---- process groups -------------------------------------------------------------------------- */

struct chakra_entry *chakra_new_entry(struct chakra_reading *reading, const char *key) {
  struct chakra_entry *entry = ARENA_NEW(&reading->arena, struct chakra_entry);
  if (!entry)
    return NULL;
  *entry = (struct chakra_entry){.key = key, .family = UINT32_MAX};
  *reading->end = entry;
  reading->end = &entry->next;
  return entry;
}

static struct chakra_entry *find_entry(const struct chakra_reading *reading, const char *key) {
  struct chakra_entry *entry = reading->entries;
  while (entry && (!entry->key || strcmp(entry->key, key) != 0))
    entry = entry->next;
  return entry;
}

struct chakra_members *chakra_add_group(struct chakra_reading *reading,
                                        struct chakra_entry *entry) {
  if (entry->count == entry->capacity) {
    uint32_t capacity = entry->capacity ? 2 * entry->capacity : 1;
    struct chakra_members *groups = ARENA_ARRAY(&reading->arena, struct chakra_members, capacity);
    if (!groups)
      return NULL;
    if (entry->count)
      memcpy(groups, entry->groups, entry->count * sizeof *groups);
    entry->groups = groups;
    entry->capacity = capacity;
  }
  entry->groups[entry->count] =
      (struct chakra_members){ARENA_ARRAY(&reading->arena, uint32_t, reading->ranks), 0};
  return entry->groups[entry->count].ranks ? &entry->groups[entry->count++] : NULL;
}

struct groups_reader {
  struct chakra_reading *reading;
  struct chakra_entry *entry;
  struct chakra_members *group; /* that is being read */
  bool lists, numbers;
};

static enum vinci_status rank_item(struct json_reader *json, const char *key, void *context) {
  struct groups_reader *own = context;
  const char *at = json->at;
  uint64_t rank;
  (void)key;
  enum vinci_status status = json_read_whole(json, UINT32_MAX, &rank);
  if (status == VINCI_OK && rank >= own->reading->ranks)
    status = json_read_fail(json, at, "rank %" PRIu64 ": the traces have %u ranks", rank,
                            own->reading->ranks);
  for (uint32_t i = 0; status == VINCI_OK && i < own->entry->count; i++)
    for (uint32_t m = 0; m < own->entry->groups[i].count; m++)
      if (own->entry->groups[i].ranks[m] == rank)
        return json_read_fail(json, at, "rank %" PRIu64 " is in this group twice", rank);
  if (status == VINCI_OK)
    own->group->ranks[own->group->count++] = (uint32_t)rank;
  return status;
}

static enum vinci_status list_item(struct json_reader *json, const char *key, void *context) {
  struct groups_reader *own = context;
  const char *at = json->at;
  bool list = *at == '[';
  own->lists = own->lists || list;
  own->numbers = own->numbers || !list;
  if (own->lists && own->numbers)
    return json_read_fail(json, at, "a group is ranks, or lists of ranks, and not both");
  if (!list && own->group)
    return rank_item(json, key, context);
  own->group = chakra_add_group(own->reading, own->entry);
  if (!own->group)
    return no_memory(json->diag);
  return list ? json_read_list(json, rank_item, own) : rank_item(json, key, context);
}

static enum vinci_status named_group(struct json_reader *json, const char *key, void *context) {
  struct groups_reader *own = context;
  const char *at = json->at;
  if (find_entry(own->reading, key))
    return json_read_fail(json, at, "group \"%.40s\" is there twice", key);
  *own =
      (struct groups_reader){.reading = own->reading, .entry = chakra_new_entry(own->reading, key)};
  if (!own->entry)
    return no_memory(json->diag);
  enum vinci_status status = json_read_list(json, list_item, own);
  bool empty = own->entry->count == 0;
  for (uint32_t i = 0; i < own->entry->count; i++)
    empty = empty || own->entry->groups[i].count == 0;
  return status == VINCI_OK && empty ? json_read_fail(json, at, "a group has no ranks") : status;
}

enum vinci_status chakra_read_groups(struct chakra_reading *reading, const char *given) {
  char path[PATH_BYTES];
  size_t length;
  if (!given) {
    if (snprintf(path, sizeof path, "%s.groups.json", reading->name) >= (int)sizeof path ||
        access(path, R_OK) != 0)
      return VINCI_OK;
    given = path;
  }
  char *text = file_read_text(given, FILE_BYTES_MAX, &length, reading->diag);
  if (!text)
    return reading->diag->status;
  struct groups_reader own = {.reading = reading};
  struct json_reader json = {.path = given,
                             .text = text,
                             .end = text + length,
                             .at = text,
                             .arena = &reading->arena,
                             .diag = reading->diag};
  enum vinci_status status = json_read_object(&json, named_group, &own);
  if (status == VINCI_OK)
    status = json_read_end(&json);
  free(text);
  return status;
}

/* ---- which group a node means ---------------------------------------------------------------- */

const struct chakra_members *chakra_group_with(const struct chakra_entry *entry, uint32_t rank,
                                               uint32_t *member) {
  for (uint32_t i = 0; i < entry->count; i++)
    for (*member = 0; *member < entry->groups[i].count; ++*member)
      if (entry->groups[i].ranks[*member] == rank)
        return &entry->groups[i];
  return NULL;
}

/* Of a node with a name of a group; *out NULL: without. */
enum vinci_status chakra_named_entry(const struct chakra_reading *reading,
                                     const struct chakra_trace *trace,
                                     const struct chakra_node *node, struct chakra_entry **out) {
  const char *key = node->texts[CHAKRA_PG_NAME];
  *out = NULL;
  if (!key || !*key)
    return VINCI_OK;
  *out = find_entry(reading, key);
  if (*out)
    return VINCI_OK;
  enum vinci_status status = chakra_fail(trace, node, reading->diag,
                                         "is of process group \"%.40s\", which no file of groups "
                                         "has",
                                         key);
  diag_hint(reading->diag, "give the groups as JSON: {\"%.40s\": [0, 1, ...]}", key);
  return status;
}

/* Who sends and who receives: as the node says, or the two ranks of its group. */
enum vinci_status chakra_pair_of(const struct chakra_reading *reading,
                                 const struct chakra_trace *trace, const struct chakra_node *node,
                                 uint32_t rank, const struct chakra_entry *named,
                                 uint32_t pair[2]) {
  bool sends = node->type == CHAKRA_SEND;
  enum chakra_number other = sends ? CHAKRA_COMM_DST : CHAKRA_COMM_SRC;
  uint32_t member = 0;
  const struct chakra_members *group = named ? chakra_group_with(named, rank, &member) : NULL;
  pair[sends ? 0 : 1] = rank;
  if (chakra_has(node, other)) {
    if (reading->files == 1 && reading->ranks > 1)
      return chakra_fail(trace, node, reading->diag,
                         "names a rank, and the trace is that of all ranks: give one for each");
    if (node->numbers[other] >= reading->ranks || node->numbers[other] == rank)
      return chakra_fail(trace, node, reading->diag, "has to do with rank %" PRIu64 " of %u",
                         node->numbers[other], reading->ranks);
    pair[sends ? 1 : 0] = (uint32_t)node->numbers[other];
    return VINCI_OK;
  }
  if (!group || group->count != 2)
    return chakra_fail(trace, node, reading->diag, "says neither %s nor a group of two ranks",
                       sends ? "comm_dst" : "comm_src");
  pair[sends ? 1 : 0] = group->ranks[!member];
  return VINCI_OK;
}

struct chakra_entry *chakra_find_pair(const struct chakra_reading *reading,
                                      const uint32_t pair[2]) {
  struct chakra_entry *entry = reading->entries;
  while (entry &&
         (entry->key || entry->groups->ranks[0] != pair[0] || entry->groups->ranks[1] != pair[1]))
    entry = entry->next;
  return entry;
}

/* ---- families -------------------------------------------------------------------------------- */

static struct chakra_family *new_family(struct chakra_reading *reading, const char *name,
                                        uint32_t size) {
  if (reading->family_count == JOB_FAMILIES_MAX) {
    (void)diag_error(reading->diag, VINCI_E_LIMIT,
                     "process groups that overlap need more than %d families", JOB_FAMILIES_MAX);
    return NULL;
  }
  struct chakra_family *family = &reading->families[reading->family_count++];
  *family = (struct chakra_family){.size = size,
                                   .taken = ARENA_ARRAY(&reading->arena, bool, reading->ranks)};
  snprintf(family->name, sizeof family->name, "%s", name);
  if (family->taken)
    return family;
  (void)no_memory(reading->diag);
  return NULL;
}

/* Whether no group of the entry shares a rank with the family. */
static bool fits(const struct chakra_family *family, const struct chakra_entry *entry) {
  for (uint32_t i = 0; i < entry->count; i++)
    for (uint32_t m = 0; m < entry->groups[i].count; m++)
      if (family->taken[entry->groups[i].ranks[m]])
        return false;
  return true;
}

static void join(struct chakra_reading *reading, struct chakra_entry *entry,
                 struct chakra_family *family) {
  entry->family = (uint32_t)(family - reading->families);
  for (uint32_t i = 0; i < entry->count; i++)
    for (uint32_t m = 0; m < entry->groups[i].count; m++)
      family->taken[entry->groups[i].ranks[m]] = true;
}

/* The family that the trace names: those of jobs that were written as Chakra. */
enum vinci_status chakra_join_named(struct chakra_reading *reading, struct chakra_entry *entry,
                                    const char *name) {
  uint32_t i = 0;
  if (entry->family != UINT32_MAX)
    return VINCI_OK;
  while (i < reading->family_count && strcmp(reading->families[i].name, name) != 0)
    i++;
  struct chakra_family *family =
      i < reading->family_count ? &reading->families[i] : new_family(reading, name, 0);
  if (!family)
    return reading->diag->status;
  if (fits(family, entry))
    join(reading, entry, family);
  return VINCI_OK;
}

/* The others: groups of a size that share no rank are a family. */
enum vinci_status chakra_join_others(struct chakra_reading *reading) {
  for (struct chakra_entry *entry = reading->entries; entry; entry = entry->next) {
    uint32_t size = entry->groups->count, at = 0;
    char name[CHAKRA_NAME_BYTES];
    if (entry->family != UINT32_MAX)
      continue;
    while (at < reading->family_count &&
           !(reading->families[at].open && reading->families[at].size == size &&
             fits(&reading->families[at], entry)))
      at++;
    snprintf(name, sizeof name, "%s%u", entry->key ? "group" : "pair", reading->family_count);
    struct chakra_family *family =
        at < reading->family_count ? &reading->families[at] : new_family(reading, name, size);
    if (!family)
      return reading->diag->status;
    family->open = true;
    join(reading, entry, family);
  }
  return VINCI_OK;
}
