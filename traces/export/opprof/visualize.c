/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visualize_data.bin: what MindStudio Insight opens, as blocks. Each has a head of 12 bytes, little
 * endian: length of the content with its padding (8), type, padding, version, a reserved byte; then
 * JSON, padded to 4 bytes. Blocks here: the text of the trace or of a kernel's source where it is
 * known, the timeline, times by line, times by instruction. Left out: the figures that need
 * counters of a board. The block of a text has the path of its file between head and content, in
 * bytes that the length leaves out; tables name the file by this path, which here is the name
 * alone.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "core/isa/isa.h"
#include "traces/export/export.h"
#include "traces/export/opprof/opprof.h"

enum { BLOCK_SOURCE = 1, BLOCK_TRACE = 2, BLOCK_LINES = 3, BLOCK_INSTRUCTIONS = 4 };
enum { BLOCK_VERSION = 0x5a, BLOCK_RESERVED = 0x5a, BLOCK_UNIT = 4, PATH_BYTES = 4096 };
/* How a column is shown. */
enum { SHOWN_INTEGER = 1, SHOWN_TEXT = 3 };

/* The tables of all cores that ran a block, and the union of their rows. */
struct cores {
  const struct vinci_result *result;
  uint32_t *core;
  struct exe_table *tables;
  size_t count;
};

static void free_cores(struct cores *cores) {
  for (size_t i = 0; i < cores->count; i++)
    exe_free(&cores->tables[i]);
  free(cores->tables);
  free(cores->core);
}

static bool find_cores(struct cores *cores, const struct vinci_result *result,
                       const struct timeline_choice *choice) {
  *cores = (struct cores){.result = result,
                          .core = calloc(result->core_count + 1, sizeof *cores->core),
                          .tables = calloc(result->core_count + 1, sizeof *cores->tables)};
  bool enough = cores->core && cores->tables;
  for (uint32_t i = 0; enough && i < result->core_count; i++) {
    if (result->cores[i].blocks_run == 0 || !timeline_has_core(choice, result->cores[i].cluster))
      continue;
    enough = exe_find(&cores->tables[cores->count], result, i);
    cores->core[cores->count] = i;
    cores->count += enough;
  }
  if (!enough)
    free_cores(cores);
  return enough;
}

static const struct exe_rows *rows_of(const struct cores *cores, unsigned block, size_t core) {
  const struct exe_table *table = &cores->tables[core];
  return block == BLOCK_LINES ? &table->lines : &table->instructions;
}

static bool after(unsigned block, const struct exe_row *a, const struct exe_row *b) {
  if (a->line != b->line || block == BLOCK_LINES)
    return a->line > b->line;
  return a->op != b->op ? a->op > b->op : a->pipe > b->pipe;
}

/* The first row of all cores at or behind `place`s; NULL behind the last. */
static const struct exe_row *next_row(const struct cores *cores, unsigned block,
                                      const size_t *place) {
  const struct exe_row *first = NULL;
  for (size_t i = 0; i < cores->count; i++) {
    const struct exe_rows *rows = rows_of(cores, block, i);
    const struct exe_row *row = &rows->items[place[i]];
    if (place[i] < rows->count && (!first || after(block, first, row)))
      first = row;
  }
  return first;
}

/* A number of each core, in the order of "Cores". */
static void write_numbers(FILE *out, unsigned block, const char *key, const struct cores *cores,
                          const size_t *place, const struct exe_row *row,
                          uint64_t (*number)(const struct exe_row *row)) {
  fprintf(out, ",\"%s\":[", key);
  for (size_t i = 0; i < cores->count; i++) {
    const struct exe_rows *rows = rows_of(cores, block, i);
    const struct exe_row *own = &rows->items[place[i]];
    bool has = place[i] < rows->count && !after(block, own, row);
    fprintf(out, "%s%" PRIu64, i ? "," : "", has ? number(own) : 0);
  }
  fputc(']', out);
}

static uint64_t cycles_of(const struct exe_row *row) { return row->cycles; }
static uint64_t count_of(const struct exe_row *row) { return row->count; }
static uint64_t bytes_of(const struct exe_row *row) { return row->bytes; }

static void write_row(FILE *out, unsigned block, const struct cores *cores, const size_t *place,
                      const struct exe_row *row, const char *source) {
  if (block == BLOCK_LINES) {
    fprintf(out, "{\"Line\":%" PRIu32 ",\"Address Range\":[[\"0x%" PRIx32 "\",\"0x%" PRIx32 "\"]]",
            row->line, row->line, row->line);
  } else {
    fprintf(out, "{\"Address\":\"0x%" PRIx32 "\",\"AscendC Inner Code\":", row->line);
    fprintf(out, "%.*s:%" PRIu32 "\"", (int)strlen(source) - 1, source, row->line);
    fprintf(out, ",\"Source\":\"%s\",\"Pipe\":\"%s\"", isa_row((enum isa_op)row->op)->name,
            pipe_lane((enum pipe)row->pipe));
  }
  write_numbers(out, block, "Cycles", cores, place, row, cycles_of);
  write_numbers(out, block, "Instructions Executed", cores, place, row, count_of);
  write_numbers(out, block, "Process Bytes", cores, place, row, bytes_of);
  fputc('}', out);
}

static void write_core_names(FILE *out, const struct cores *cores) {
  char name[48];
  fputs("{\"Cores\":[", out);
  for (size_t i = 0; i < cores->count; i++) {
    result_core_name(&cores->result->cores[cores->core[i]], name, sizeof name);
    fprintf(out, "%s\"%s\"", i ? "," : "", name);
  }
  fputc(']', out);
}

static void write_types(FILE *out, unsigned block) {
  if (block == BLOCK_LINES)
    fprintf(out, "]}],\"Files Dtype\":{\"Lines\":{\"Line\":%d,\"Address Range\":%d", SHOWN_INTEGER,
            SHOWN_TEXT);
  else
    fprintf(out,
            "],\"Instructions Dtype\":{\"Instructions\":{\"Address\":%d,\"AscendC Inner "
            "Code\":%d,\"Source\":%d,"
            "\"Pipe\":%d",
            SHOWN_TEXT, SHOWN_TEXT, SHOWN_TEXT, SHOWN_TEXT);
  fprintf(out, ",\"Cycles\":%d,\"Instructions Executed\":%d,\"Process Bytes\":%d}}}", SHOWN_INTEGER,
          SHOWN_INTEGER, SHOWN_INTEGER);
}

/* Rows of all cores are merged: each core has its own in the same order. */
static bool write_rows(FILE *out, unsigned block, const struct cores *cores, const char *source) {
  size_t *place = calloc(cores->count + 1, sizeof *place);
  if (!place)
    return false;
  write_core_names(out, cores);
  if (block == BLOCK_LINES)
    fprintf(out, ",\"Files\":[{\"Source\":%s,\"Lines\":[", source);
  else
    fputs(",\"Instructions\":[", out);
  const char *separator = "";
  for (const struct exe_row *row; (row = next_row(cores, block, place)) != NULL; separator = ",") {
    struct exe_row merged = *row;
    fputs(separator, out);
    write_row(out, block, cores, place, &merged, source);
    for (size_t i = 0; i < cores->count; i++) {
      const struct exe_rows *rows = rows_of(cores, block, i);
      place[i] += place[i] < rows->count && !after(block, &rows->items[place[i]], &merged);
    }
  }
  write_types(out, block);
  free(place);
  return true;
}

/* The path of the text, in zeros. */
static void write_path(FILE *out, const struct vinci_result *result) {
  char path[PATH_BYTES] = {0};
  const char *name = result->trace_path ? result->trace_path : "", *slash = strrchr(name, '/');
  snprintf(path, sizeof path, "%s", slash ? slash + 1 : name);
  fwrite(path, 1, sizeof path, out);
}

static void write_head(FILE *out, unsigned type, uint64_t length, unsigned padding) {
  for (unsigned i = 0; i < sizeof length; i++)
    fputc((int)((length + padding) >> 8 * i & 0xff), out);
  fputc((int)type, out);
  fputc((int)padding, out);
  fputc(type == BLOCK_INSTRUCTIONS ? 0 : BLOCK_VERSION, out);
  fputc(BLOCK_RESERVED, out);
}

/* The length comes first and is known last: the head is written twice. */
static enum vinci_status write_block(const struct cores *cores,
                                     const struct timeline_choice *choice, unsigned type,
                                     const char *source, FILE *out, struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  off_t head = ftello(out);
  write_head(out, type, 0, 0);
  if (type == BLOCK_SOURCE)
    write_path(out, cores->result);
  off_t start = ftello(out);
  if (type == BLOCK_SOURCE)
    fputs(choice->source, out);
  else if (type == BLOCK_TRACE)
    status = export_chrome(cores->result, choice, out, diag);
  else if (!write_rows(out, type, cores, source))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  off_t end = ftello(out);
  unsigned padding = (unsigned)((BLOCK_UNIT - (end - start) % BLOCK_UNIT) % BLOCK_UNIT);
  for (unsigned i = 0; i < padding; i++)
    fputc(0, out);
  if (head < 0 || start < 0 || end < 0 || fseeko(out, head, SEEK_SET) != 0)
    return status == VINCI_OK ? diag_error(diag, VINCI_E_IO, "cannot seek in the file") : status;
  write_head(out, type, (uint64_t)(end - start), padding);
  if (fseeko(out, 0, SEEK_END) != 0 && status == VINCI_OK)
    status = diag_error(diag, VINCI_E_IO, "cannot seek in the file");
  return status;
}

enum vinci_status export_visualize(const struct vinci_result *result,
                                   const struct timeline_choice *choice, FILE *out,
                                   struct vinci_diag *diag) {
  static const unsigned types[] = {BLOCK_SOURCE, BLOCK_TRACE, BLOCK_LINES, BLOCK_INSTRUCTIONS};
  struct cores cores;
  char *source = export_trace_name(result);
  enum vinci_status status = VINCI_OK;
  if (!source || !find_cores(&cores, result, choice)) {
    free(source);
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  for (size_t i = 0; status == VINCI_OK && i < sizeof types / sizeof *types; i++)
    if (types[i] != BLOCK_SOURCE || (choice->source && *choice->source))
      status = write_block(&cores, choice, types[i], source, out, diag);
  free_cores(&cores);
  free(source);
  return status;
}
