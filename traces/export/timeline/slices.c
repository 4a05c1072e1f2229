/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.json: the timeline of the page that `vinci report` writes. A lane is a pipe of a core; its
 * slices are three numbers each: cycles since the end of the slice before, cycles of the slice, and
 * the index of its kind. A kind is what many slices have in common: line, instruction, path,
 * bytes, and the largest cause of its busy cycles. Memory: the lanes, and 32 bytes a kind.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/base/lookup.h"
#include "core/isa/isa.h"
#include "traces/export/report/report.h"
#include "traces/export/timeline/lanes.h"

enum { NO_CAUSE = CAUSE_COUNT, PUT_BYTES = 3 * (DECIMAL_TEXT_BYTES + 1) };

struct kind {
  uint64_t bytes;
  uint32_t line;
  uint16_t op;
  uint8_t path, cause;
};

/* Kinds in the order in which they were met. */
struct kinds {
  struct kind *items;
  size_t count, capacity;
  struct lookup table;
};

static uint64_t key_of(const struct kind *kind) {
  uint64_t rest = (uint64_t)kind->line << 32 | (uint64_t)kind->op << 16 |
                  (uint64_t)kind->path << 8 | kind->cause;
  return digest_word(digest_word(DIGEST_SEED, kind->bytes), rest);
}

static bool same(const struct kind *a, const struct kind *b) {
  return a->bytes == b->bytes && a->line == b->line && a->op == b->op && a->path == b->path &&
         a->cause == b->cause;
}

static bool make_room(struct kinds *kinds) {
  if (kinds->count < kinds->capacity)
    return true;
  size_t capacity = kinds->capacity ? 2 * kinds->capacity : 256;
  struct kind *items = realloc(kinds->items, capacity * sizeof *items);
  if (!items)
    return false;
  kinds->items = items;
  kinds->capacity = capacity;
  return true;
}

/* The number of a kind; LOOKUP_NONE when memory is short. */
static size_t number_of(struct kinds *kinds, const struct kind *kind) {
  uint64_t key = key_of(kind);
  size_t looked = 0, at;
  while ((at = lookup_next(&kinds->table, key, &looked)) != LOOKUP_NONE)
    if (same(&kinds->items[at], kind))
      return at;
  if (!make_room(kinds) || !lookup_add(&kinds->table, NULL, key, kinds->count))
    return LOOKUP_NONE;
  kinds->items[kinds->count] = *kind;
  return kinds->count++;
}

static struct kind kind_of(const struct result_event *event) {
  struct kind kind = {event->bytes, event->line, event->op, event->path, NO_CAUSE};
  unsigned largest = 0;
  for (unsigned i = 1; i < EVENT_CAUSES; i++)
    largest = event->cause_cycles[i] > event->cause_cycles[largest] ? i : largest;
  if (event->cause_cycles[largest] > 0)
    kind.cause = event->cause[largest];
  return kind;
}

static size_t put(char *text, uint64_t value) {
  size_t length = decimal_put(text, (int64_t)value);
  text[length] = ',';
  return length + 1;
}

/* Slices of a lane. Bars without length take no time and are left out. */
static bool write_slices(const struct vinci_result *result, const struct lane *lane,
                         struct kinds *kinds, FILE *out) {
  uint64_t end = 0;
  bool first = true;
  for (size_t i = 0; i < lane->count; i++) {
    const struct bar *bar = &lane->bars[i];
    char text[PUT_BYTES] = ",";
    if (bar->end <= bar->start)
      continue;
    struct kind kind = kind_of(&result->events[bar->index]);
    size_t number = number_of(kinds, &kind);
    if (number == LOOKUP_NONE)
      return false;
    size_t length = put(text, bar->start - end);
    length += put(text + length, bar->end - bar->start);
    length += put(text + length, number);
    if (!first)
      fputc(',', out);
    fwrite(text, 1, length - 1, out);
    end = bar->end;
    first = false;
  }
  return true;
}

static void write_kinds(const struct kinds *kinds, FILE *out) {
  fputs("],\n\"kinds\":[", out);
  for (size_t i = 0; i < kinds->count; i++) {
    const struct kind *kind = &kinds->items[i];
    fprintf(out, "%s\n[%" PRIu32 ",\"%s\",\"%s\",%" PRIu64 ",\"%s\",%d]", i ? "," : "", kind->line,
            isa_row((enum isa_op)kind->op)->name,
            kind->path < PATH_COUNT ? path_name((enum path)kind->path) : "", kind->bytes,
            kind->cause < CAUSE_COUNT ? cause_row((enum cause)kind->cause)->key : "",
            lanes_orders(kind->op));
  }
  fputs("]}\n", out);
}

static bool write_lanes(struct lanes *lanes, struct kinds *kinds, FILE *out) {
  struct lane lane;
  bool first = true;
  fprintf(out, "{\"schema\":%d,\"lanes\":[", REPORT_SCHEMA);
  while (lanes_next(lanes, &lane)) {
    const struct core_result *core = &lanes->result->cores[lane.core];
    char name[48];
    result_core_name(core, name, sizeof name);
    fprintf(out, "%s\n{\"core\":\"%s\",\"pipe\":\"%s\",\"hz\":%" PRIu64 ",\"slices\":[",
            first ? "" : ",", name, pipe_name(lane.pipe), core->hz);
    if (!write_slices(lanes->result, &lane, kinds, out))
      return false;
    fputs("]}", out);
    first = false;
  }
  write_kinds(kinds, out);
  return true;
}

enum vinci_status export_slices(const struct vinci_result *result,
                                const struct timeline_choice *choice, FILE *out,
                                struct vinci_diag *diag) {
  struct lanes lanes;
  struct kinds kinds = {0};
  bool done = lanes_open(&lanes, result, choice);
  if (done) {
    done = write_lanes(&lanes, &kinds, out);
    lanes_close(&lanes);
  }
  free(kinds.items);
  lookup_free(&kinds.table);
  return done ? export_flush(out, "slices.json", diag)
              : diag_error(diag, VINCI_E_NOMEM, "out of memory");
}
