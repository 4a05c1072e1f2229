/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chakra traces as jobs. A first look at all files finds the pairs that send and receive, and names
 * the families of groups; a second one writes the programs. Ranks whose rows are the same share a
 * program, so that the job grows with what differs and not with the ranks.
 */
#include "devices/exchange/chakra_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/digest.h"
#include "core/base/file.h"

enum { PATH_BYTES = 4096, FILE_BYTES_MAX = 1 << 30 };

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool trace_path(const struct chakra_reading *reading, uint32_t file, char path[PATH_BYTES]) {
  return snprintf(path, PATH_BYTES, "%s.%" PRIu32 ".et", reading->name, file) < PATH_BYTES;
}

/* A job with fewer ranks than files would leave some out without a word. */
static enum vinci_status count_files(struct chakra_reading *reading, uint32_t ranks) {
  char path[PATH_BYTES];
  while (reading->files < GROUP_DEVICES_MAX && trace_path(reading, reading->files, path) &&
         access(path, R_OK) == 0)
    reading->files++;
  reading->ranks = ranks ? ranks : reading->files;
  if (reading->files == 0) {
    (void)diag_error(reading->diag, VINCI_E_IO, "no trace '%s.0.et'", reading->name);
    diag_hint(reading->diag, "give what stands before the number of the rank");
    return VINCI_E_IO;
  }
  if (reading->files == 1 || reading->ranks == reading->files)
    return VINCI_OK;
  return diag_error(reading->diag, VINCI_E_USAGE,
                    "%u traces of '%s', and %u ranks: give one trace for all, or one for each",
                    reading->files, reading->name, reading->ranks);
}

typedef enum vinci_status visit_fn(struct chakra_reading *reading, const struct chakra_trace *trace,
                                   uint32_t rank);

static enum vinci_status with_trace(struct chakra_reading *reading, uint32_t file, uint32_t rank,
                                    visit_fn *visit) {
  char path[PATH_BYTES];
  struct chakra_trace trace;
  size_t length;
  if (!trace_path(reading, file, path))
    return diag_error(reading->diag, VINCI_E_USAGE, "the name of the traces is too long");
  char *bytes = file_read(path, FILE_BYTES_MAX, &length, reading->diag);
  if (!bytes)
    return reading->diag->status;
  enum vinci_status status = chakra_decode(path, bytes, length, &trace, reading->diag);
  free(bytes);
  if (status != VINCI_OK)
    return status;
  reading->versionless = reading->versionless || !*trace.version;
  status = visit(reading, &trace, rank);
  chakra_trace_free(&trace);
  return status;
}

/* ---- the first look -------------------------------------------------------------------------- */

static void count_left_out(struct chakra_reading *reading, const struct chakra_node *node) {
  uint32_t at = 0;
  if (node->type == CHAKRA_COMP) {
    reading->host++;
    return;
  }
  if (node->type < CHAKRA_TYPES) {
    reading->left_out[node->type]++;
    return;
  }
  while (at < reading->unknown_count && reading->unknown_types[at] != node->type)
    at++;
  if (at == CHAKRA_UNKNOWN_MAX) {
    reading->unknown_more++;
    return;
  }
  reading->unknown_types[at] = node->type;
  reading->unknown_counts[at]++;
  reading->unknown_count += at == reading->unknown_count;
}

static enum vinci_status need_all(struct chakra_reading *reading) {
  if (reading->all)
    return VINCI_OK;
  reading->all = chakra_new_entry(reading, "");
  struct chakra_members *group = reading->all ? chakra_add_group(reading, reading->all) : NULL;
  for (uint32_t i = 0; group && i < reading->ranks; i++)
    group->ranks[group->count++] = i;
  return group ? chakra_join_named(reading, reading->all, "all") : no_memory(reading->diag);
}

static enum vinci_status look_at_node(struct chakra_reading *reading,
                                      const struct chakra_trace *trace,
                                      const struct chakra_node *node, uint32_t rank) {
  struct chakra_entry *named;
  uint32_t pair[2];
  enum vinci_status status = chakra_named_entry(reading, trace, node, &named);
  if (status == VINCI_OK && named && node->texts[CHAKRA_FAMILY])
    return chakra_join_named(reading, named, node->texts[CHAKRA_FAMILY]);
  if (status == VINCI_OK && node->type == CHAKRA_COLL)
    return named ? VINCI_OK : need_all(reading);
  if (status == VINCI_OK)
    status = chakra_pair_of(reading, trace, node, rank, named, pair);
  if (status != VINCI_OK || chakra_find_pair(reading, pair))
    return status;
  struct chakra_entry *entry = chakra_new_entry(reading, NULL);
  struct chakra_members *group = entry ? chakra_add_group(reading, entry) : NULL;
  if (!group)
    return no_memory(reading->diag);
  memcpy(group->ranks, pair, sizeof pair);
  group->count = 2;
  return VINCI_OK;
}

static enum vinci_status look(struct chakra_reading *reading, const struct chakra_trace *trace,
                              uint32_t rank) {
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < trace->node_count; i++) {
    const struct chakra_node *node = &trace->nodes[i];
    if (!chakra_is_row(node))
      count_left_out(reading, node);
    else if (node->type != CHAKRA_COMP)
      status = look_at_node(reading, trace, node, rank);
  }
  return status;
}

/* ---- the second look: programs --------------------------------------------------------------- */

static enum vinci_status find_group(void *context, const struct chakra_trace *trace,
                                    const struct chakra_node *node, uint32_t rank,
                                    struct chakra_place *out, struct vinci_diag *diag) {
  struct chakra_reading *reading = context;
  struct chakra_entry *entry;
  uint32_t pair[2], member;
  enum vinci_status status = chakra_named_entry(reading, trace, node, &entry);
  if (status == VINCI_OK && node->type != CHAKRA_COLL && !node->texts[CHAKRA_FAMILY]) {
    status = chakra_pair_of(reading, trace, node, rank, entry, pair);
    entry = status == VINCI_OK ? chakra_find_pair(reading, pair) : NULL;
  }
  entry = entry ? entry : reading->all;
  if (status != VINCI_OK)
    return status;
  const struct chakra_members *group = entry ? chakra_group_with(entry, rank, &member) : NULL;
  if (!group)
    return chakra_fail(trace, node, diag, "is of a process group without rank %u", rank);
  *out = (struct chakra_place){reading->families[entry->family].name, group->count};
  return VINCI_OK;
}

static enum vinci_status keep_program(struct chakra_reading *reading, char *text, size_t length,
                                      uint32_t rank) {
  uint64_t digest = digest_bytes(DIGEST_SEED, text, length);
  uint32_t at = 0;
  while (at < reading->program_count &&
         !(reading->programs[at].digest == digest && reading->programs[at].length == length &&
           memcmp(reading->programs[at].text, text, length) == 0))
    at++;
  struct chakra_program *program = &reading->programs[at];
  if (at == reading->program_count) {
    *program = (struct chakra_program){.text = text, .length = length, .digest = digest};
    program->ranks = calloc(reading->ranks, sizeof *program->ranks);
    reading->program_count++;
    if (!program->ranks)
      return no_memory(reading->diag);
  } else {
    free(text);
  }
  program->ranks[program->count++] = rank;
  return VINCI_OK;
}

static enum vinci_status write_rows(struct chakra_reading *reading,
                                    const struct chakra_trace *trace, uint32_t rank) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return no_memory(reading->diag);
  enum vinci_status status = chakra_put_rows(trace, rank, find_group, reading, out, reading->diag);
  bool failed = ferror(out);
  if ((!file_close_text(out, &text) || failed) && status == VINCI_OK)
    status = no_memory(reading->diag);
  if (status == VINCI_OK)
    return keep_program(reading, text, length, rank);
  free(text);
  return status;
}

/* ---- the job --------------------------------------------------------------------------------- */

/* Ranks as a list, with those that follow each other as a range. */
static void put_ranks(const uint32_t *ranks, uint32_t count, FILE *out) {
  for (uint32_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && ranks[end] == ranks[end - 1] + 1; end++)
      ;
    fprintf(out, "%s%" PRIu32, i ? " " : "", ranks[i]);
    if (end > i + 1)
      fprintf(out, "-%" PRIu32, ranks[end - 1]);
  }
}

static void put_families(const struct chakra_reading *reading, FILE *out) {
  for (uint32_t f = 0; f < reading->family_count; f++) {
    bool first = true;
    fputs("group,name=", out);
    chakra_put_word(reading->families[f].name, out);
    fputs(",ranks=", out);
    for (const struct chakra_entry *entry = reading->entries; entry; entry = entry->next)
      for (uint32_t i = 0; entry->family == f && i < entry->count; i++, first = false) {
        if (!first)
          putc('|', out);
        put_ranks(entry->groups[i].ranks, entry->groups[i].count, out);
      }
    putc('\n', out);
  }
}

static void put_job(const struct chakra_reading *reading, const char *system, FILE *out) {
  const char *slash = strrchr(reading->name, '/');
  fprintf(out, "job,version=%d,name=", JOB_TEXT_VERSION);
  chakra_put_word(slash ? slash + 1 : reading->name, out);
  fprintf(out, ",ranks=%" PRIu32 "%s", reading->ranks, system ? ",system=" : "");
  chakra_put_word(system ? system : "", out);
  putc('\n', out);
  put_families(reading, out);
  for (uint32_t i = 0; i < reading->program_count; i++) {
    fputs("program,ranks=", out);
    put_ranks(reading->programs[i].ranks, reading->programs[i].count, out);
    putc('\n', out);
    fwrite(reading->programs[i].text, 1, reading->programs[i].length, out);
  }
}

static void put_notes(const struct chakra_reading *reading, FILE *out) {
  if (reading->versionless)
    fputs("traces do not say their version of the schema; read as " CHAKRA_VERSION "\n", out);
  if (reading->host)
    fprintf(out, "left out: %" PRIu64 " COMP_NODE of the host (is_cpu_op)\n", reading->host);
  for (unsigned i = 0; i < CHAKRA_TYPES; i++)
    if (reading->left_out[i] && i != CHAKRA_METADATA)
      fprintf(out, "left out: %" PRIu64 " %s\n", reading->left_out[i], chakra_type_name(i));
  for (uint32_t i = 0; i < reading->unknown_count; i++)
    fprintf(out, "left out: %" PRIu64 " nodes of the unknown type %" PRIu32 "\n",
            reading->unknown_counts[i], reading->unknown_types[i]);
  if (reading->unknown_more)
    fprintf(out, "left out: %" PRIu64 " nodes of further unknown types\n", reading->unknown_more);
}

static void reading_free(struct chakra_reading *reading) {
  for (uint32_t i = 0; i < reading->program_count; i++) {
    free(reading->programs[i].text);
    free(reading->programs[i].ranks);
  }
  free(reading->programs);
  arena_free(&reading->arena);
}

enum vinci_status chakra_to_job(const char *name, const struct chakra_options *options, FILE *out,
                                char **notes, struct vinci_diag *diag) {
  struct chakra_reading reading = {.name = name, .diag = diag};
  size_t length;
  *notes = NULL;
  reading.end = &reading.entries;
  enum vinci_status status = count_files(&reading, options->ranks);
  if (status == VINCI_OK) {
    reading.programs = calloc(reading.ranks, sizeof *reading.programs);
    status = reading.programs ? chakra_read_groups(&reading, options->groups) : no_memory(diag);
  }
  for (uint32_t i = 0; status == VINCI_OK && i < reading.files; i++)
    status = with_trace(&reading, i, i, look);
  if (status == VINCI_OK)
    status = chakra_join_others(&reading);
  for (uint32_t i = 0; status == VINCI_OK && i < reading.ranks; i++)
    status = with_trace(&reading, reading.files == 1 ? 0 : i, i, write_rows);
  if (status == VINCI_OK)
    put_job(&reading, options->system, out);
  FILE *text = status == VINCI_OK ? open_memstream(notes, &length) : NULL;
  if (text) {
    put_notes(&reading, text);
    fclose(text);
  }
  reading_free(&reading);
  return status;
}
