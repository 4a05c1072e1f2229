/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator's other tilings take: those that the closed form finds cheapest, and of each
 * kind (more cores, parts of k, the other number of buffers) the cheapest two, run on the same
 * chip. Then the same operator with operands that lie in fractals.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "studies/sweep/measure.h"

enum { CHEAPEST = 4, OF_KIND = 2, ARGS_MAX = 64, TEXT_BYTES = LEVER_CHANGE_BYTES };

struct candidate {
  char args[TEXT_BYTES];
  uint64_t estimate;
};

/* The cheapest of a kind, the first first. */
struct shelf {
  struct candidate candidate[CHEAPEST];
  size_t count;
};

struct tilings {
  struct measuring *measuring;
  char own[TEXT_BYTES]; /* of the run */
  uint32_t own_blocks;
  struct shelf shelf[LEVER_KINDS];
};

/* ---- arguments --------------------------------------------------------------------------------
 */

/* The value of a key in "split=1 tile=128x64x256"; length 0: no such key. */
static const char *value_of(const char *args, const char *key, size_t *length) {
  size_t key_length = strlen(key);
  for (const char *at = args; at; at = strchr(at, ' ')) {
    at += *at == ' ';
    if (strncmp(at, key, key_length) == 0 && at[key_length] == '=') {
      *length = strcspn(at + key_length + 1, " ");
      return at + key_length + 1;
    }
  }
  *length = 0;
  return "";
}

static bool same_value(const char *a, const char *b, const char *key) {
  size_t a_length, b_length;
  const char *a_value = value_of(a, key, &a_length), *b_value = value_of(b, key, &b_length);
  return a_length == b_length && memcmp(a_value, b_value, a_length) == 0;
}

static bool is_given(const struct vinci_savings_options *options, const char *key, size_t length) {
  for (size_t i = 0; i < options->arg_count; i++)
    if (strncmp(options->args[i], key, length) == 0 && options->args[i][length] == '=')
      return true;
  return false;
}

/* Leaves out of "a=1 b=2" what the caller has given. */
static void take_given_away(const struct vinci_savings_options *options, char *args) {
  char *to = args;
  for (char *at = args, *next; *at; at = next) {
    size_t length = strcspn(at, " ");
    next = at + length + (at[length] == ' ');
    if (is_given(options, at, strcspn(at, "=")))
      continue;
    if (to > args)
      *to++ = ' ';
    memmove(to, at, length);
    to += length;
  }
  *to = '\0';
}

/* Cycles with more arguments; 0: the operator cannot be lowered so. */
static enum vinci_status run_with(struct measuring *measuring, const char *more, uint64_t *cycles) {
  const struct vinci_savings_options *options = measuring->options;
  const char *args[ARGS_MAX];
  char words[TEXT_BYTES];
  size_t count = 0;
  struct vinci_diag refused = {0};
  vinci_trace *trace = NULL;
  *cycles = 0;
  snprintf(words, sizeof words, "%s", more);
  for (size_t i = 0; i < options->arg_count && count < ARGS_MAX; i++)
    args[count++] = options->args[i];
  char *rest = words;
  for (char *word = strtok_r(rest, " ", &rest); word && count < ARGS_MAX;
       word = strtok_r(NULL, " ", &rest))
    args[count++] = word;
  if (vinci_compile(measuring->soc, options->op, args, count, &trace, &refused) != VINCI_OK)
    return VINCI_OK;
  enum vinci_status status = measure_run(measuring, measuring->soc, trace, false, cycles);
  vinci_trace_free(trace);
  return status;
}

/* ---- tilings ----------------------------------------------------------------------------------
 */

/* What differs from the tiling of the run, the rarest first. */
static enum lever_kind kind_of(const struct tilings *tilings, const struct vinci_tiling *tiling) {
  if (!same_value(tilings->own, tiling->args, "split") ||
      !same_value(tilings->own, tiling->args, "splits"))
    return LEVER_SPLIT;
  if (!same_value(tilings->own, tiling->args, "buffers"))
    return LEVER_BUFFERS;
  return tiling->blocks > tilings->own_blocks ? LEVER_CORES : LEVER_TILES;
}

static bool consider(void *context, const struct vinci_tiling *tiling) {
  struct tilings *tilings = context;
  if (strcmp(tiling->args, tilings->own) == 0 || strlen(tiling->args) >= TEXT_BYTES)
    return true;
  enum lever_kind kind = kind_of(tilings, tiling);
  struct shelf *shelf = &tilings->shelf[kind];
  size_t most = kind == LEVER_TILES ? CHEAPEST : OF_KIND, at = shelf->count;
  for (; at > 0 && shelf->candidate[at - 1].estimate > tiling->total_cycles; at--)
    if (at < most)
      shelf->candidate[at] = shelf->candidate[at - 1];
  if (at < most) {
    snprintf(shelf->candidate[at].args, TEXT_BYTES, "%s", tiling->args);
    shelf->candidate[at].estimate = tiling->total_cycles;
  }
  if (shelf->count < most)
    shelf->count++;
  return true;
}

static void describe(const struct tilings *tilings, enum lever_kind kind, char *text) {
  switch (kind) {
  case LEVER_CORES:
    snprintf(text, LEVER_TEXT_BYTES, "on more than %u cores", tilings->own_blocks);
    break;
  case LEVER_SPLIT:
    snprintf(text, LEVER_TEXT_BYTES, "with k cut in other parts for the cores");
    break;
  case LEVER_BUFFERS:
    snprintf(text, LEVER_TEXT_BYTES, "with the other number of buffers");
    break;
  default:
    snprintf(text, LEVER_TEXT_BYTES, "with another tiling");
    break;
  }
}

/* The fastest of a shelf. */
static enum vinci_status measure_shelf(struct tilings *tilings, enum lever_kind kind) {
  struct measuring *measuring = tilings->measuring;
  const struct shelf *shelf = &tilings->shelf[kind];
  struct lever lever = {.kind = kind, .origin = "measured"};
  uint64_t best = 0;
  for (size_t i = 0; i < shelf->count && measure_has_steps_left(measuring); i++) {
    char args[TEXT_BYTES];
    uint64_t cycles;
    snprintf(args, sizeof args, "%s", shelf->candidate[i].args);
    take_given_away(measuring->options, args);
    enum vinci_status status = run_with(measuring, args, &cycles);
    if (status != VINCI_OK)
      return status;
    measuring->result->levers_settled |= 1u << kind; /* a kind without a tiling stays estimated */
    if (cycles == 0 || (best > 0 && cycles >= best))
      continue;
    best = cycles;
    snprintf(lever.change, sizeof lever.change, "%s", args);
  }
  describe(tilings, kind, lever.text);
  return measure_keep(measuring, &lever, best);
}

/* ---- layouts ----------------------------------------------------------------------------------
 */

/* "format_a=NZ format_b=NZ": of the operands that may lie so and do not. */
static void fractal_args(const struct vinci_savings_options *options, char *text) {
  struct vinci_op op;
  struct vinci_op_key key;
  size_t used = 0;
  *text = '\0';
  for (size_t i = 0; vinci_op_info(i, &op); i++) {
    if (strcmp(op.name, options->op) != 0)
      continue;
    for (size_t k = 0; vinci_op_key(i, k, &key); k++)
      if ((strcmp(key.name, "format_a") == 0 || strcmp(key.name, "format_b") == 0) &&
          !is_given(options, key.name, strlen(key.name)))
        used +=
            (size_t)snprintf(text + used, TEXT_BYTES - used, "%s%s=NZ", used ? " " : "", key.name);
    return;
  }
}

static enum vinci_status measure_layout(struct measuring *measuring) {
  struct lever lever = {.kind = LEVER_LAYOUT,
                        .origin = "measured; not counted what makes the operands so"};
  uint64_t cycles;
  fractal_args(measuring->options, lever.change);
  if (!*lever.change || !measure_has_steps_left(measuring))
    return VINCI_OK;
  snprintf(lever.text, sizeof lever.text, "with operands that lie in fractals (NZ) already");
  enum vinci_status status = run_with(measuring, lever.change, &cycles);
  return status == VINCI_OK ? measure_keep(measuring, &lever, cycles) : status;
}

enum vinci_status measure_tilings(struct measuring *measuring) {
  static const enum lever_kind kinds[] = {LEVER_CORES, LEVER_SPLIT, LEVER_BUFFERS, LEVER_TILES};
  const struct vinci_savings_options *options = measuring->options;
  struct vinci_diag refused = {0};
  struct vinci_tiling own;
  if (!options->op || !measure_has_steps_left(measuring))
    return VINCI_OK;
  struct tilings *tilings = calloc(1, sizeof *tilings);
  if (!tilings)
    return diag_error(measuring->diag, VINCI_E_NOMEM, "out of memory");
  tilings->measuring = measuring;
  enum vinci_status status = VINCI_OK;
  if (vinci_op_tiling(measuring->soc, options->op, options->args, options->arg_count, tilings->own,
                      sizeof tilings->own, &own, &refused) == VINCI_OK &&
      *tilings->own) {
    tilings->own_blocks = own.blocks;
    if (vinci_op_tilings(measuring->soc, options->op, options->args, options->arg_count, consider,
                         tilings, &refused) == VINCI_OK)
      for (size_t i = 0; status == VINCI_OK && i < sizeof kinds / sizeof *kinds; i++)
        status = measure_shelf(tilings, kinds[i]);
  }
  free(tilings);
  return status == VINCI_OK ? measure_layout(measuring) : status;
}
