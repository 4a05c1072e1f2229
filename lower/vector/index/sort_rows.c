/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of sort and topk. Scores are sorted in single precision, the largest first; for the
 * smallest first they change their sign before and after. What a chunk lacks is filled with what
 * comes last. Work is one chain: a chunk comes in, is sorted, and goes out.
 */
#include <inttypes.h>
#include <math.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/index/sort.h"

enum { FLOAT_BYTES = 4, LISTS = 4, FLAG = 0, FREE_FLAG = 1, SYNC_FLAG = 0, REPEATS_MAX = 255 };

/* What comes last, in the type of x and before the sign changes. */
static double last_value(const struct sort *sort) {
  return sort->descending ? -(double)INFINITY : (double)INFINITY;
}

struct expr sort_at_element(struct emit *e, const char *tensor, struct expr row, uint64_t columns,
                            struct expr first, uint64_t bytes) {
  return x_add(x_name(e, tensor), x_mul(x_add(x_mul(row, columns), first), bytes));
}

static uint64_t other_buffer(const struct sort *sort, uint64_t buffer) {
  return buffer == sort->a_at ? sort->b_at : sort->a_at;
}

static void put_sign(struct emit *e, uint64_t at) {
  EMIT(e, "vmuls", F("dst", at), F("src", at), F("scalar", vscalar(DTYPE_FP32, -1.0)),
       F("repeat", 1), W("type", "fp32"));
}

void sort_put_entries(struct emit *e, const struct sort *sort, const char *copy, struct expr dst,
                      struct expr src, uint64_t entries) {
  EMIT(e, copy, F("dst", dst), F("src", src), F("len_burst", entries * sort->entry / BLOCK_BYTES));
}

static void put_conversion(struct emit *e, enum dtype from, enum dtype to, uint64_t dst,
                           uint64_t src) {
  vunit_convert(&(struct vunit){.emit = e}, 0, 0, from, to, EXPR(dst), EXPR(src));
}

/* ---- one chunk ------------------------------------------------------------------------------- */

/* Elements of a row from a chunk on into the second buffer, or the first if they convert; then
 * scores in the first half of the second buffer, where they are in its second half. */
static void put_scores(struct emit *e, const struct sort *sort, struct expr row,
                       struct expr chunk) {
  uint64_t entries = sort->chunk, scores = sort->b_at;
  bool converts = sort->type != DTYPE_FP32;
  struct expr first = x_mul(chunk, entries), raw = EXPR(converts ? sort->a_at : scores);
  struct expr length = emit_named(e, "length", x_min(entries, x_sub(sort->columns, first)));
  vtile_load_run(e, sort->type, raw,
                 sort_at_element(e, "x", row, sort->columns, first, vtile_bytes(sort->type)),
                 length);
  emit_handshake(e, PIPE_MTE2, PIPE_V, FLAG);
  if (sort->columns % entries != 0)
    vfill_tail(e, raw, length, entries, sort->type, last_value(sort));
  vmask_count(e, entries);
  if (converts) {
    put_conversion(e, sort->type, DTYPE_FP32, scores, sort->a_at);
    emit_barrier(e, PIPE_V);
  }
  if (!sort->descending)
    put_sign(e, scores);
  EMIT(e, "vadds", F("dst", scores + entries * FLOAT_BYTES), F("src", sort->numbers_at),
       F("scalar", first), F("repeat", 1), W("type", "int32"));
  emit_barrier(e, PIPE_V);
}

void sort_put_merge(struct emit *e, const struct sort *sort, uint64_t dst, uint64_t src,
                    uint64_t list, uint64_t entries, uint64_t repeat) {
  uint64_t lists = ceil_div(entries, list), at[LISTS], length[LISTS];
  if (lists == 1) {
    sort_put_entries(e, sort, "copy_ubuf_to_ubuf", EXPR(dst), EXPR(src), entries);
    return;
  }
  for (uint64_t i = 0; i < LISTS; i++) {
    length[i] = i < lists ? min_u64(list, entries - i * list) : 0;
    at[i] = i < lists ? src + i * list * sort->entry : src;
  }
  EMIT(e, "vmrgsort4", F("dst", dst), F("src0", at[0]), F("src1", at[1]), F("src2", at[2]),
       F("src3", at[3]), F("repeat", repeat), F("length0", length[0]), F("length1", length[1]),
       F("length2", length[2]), F("length3", length[3]), F("lists", lists),
       W("type", dtype_name(sort->work)));
}

static void put_runs(struct emit *e, const struct sort *sort, uint64_t first, uint64_t runs) {
  uint64_t at = first * SORT_RUN, scores = sort->b_at + at * FLOAT_BYTES;
  EMIT(e, "vbitsort", F("dst", sort->a_at + at * SORT_ENTRY), F("src0", scores),
       F("src1", scores + sort->chunk * FLOAT_BYTES), F("repeat", runs), W("type", "fp32"));
}

uint64_t sort_put_levels(struct emit *e, const struct sort *sort, uint64_t from, uint64_t run) {
  uint64_t chunk = sort->chunk, to = other_buffer(sort, from);
  for (uint64_t list = run; list < chunk; list *= LISTS) {
    uint64_t groups = chunk / (LISTS * list), rest = chunk % (LISTS * list);
    uint64_t done = groups * LISTS * list * sort->entry, swapped = from;
    emit_barrier(e, PIPE_V);
    if (groups > 0)
      sort_put_merge(e, sort, to, from, list, LISTS * list, groups);
    if (rest > 0)
      sort_put_merge(e, sort, to + done, from + done, list, rest, 1);
    from = to;
    to = swapped;
  }
  emit_barrier(e, PIPE_V);
  return from;
}

/* Runs of 32 entries, then lists of 128, 512 ...; returns where the sorted chunk is. */
static uint64_t put_sorted(struct emit *e, const struct sort *sort) {
  uint64_t runs = sort->chunk / SORT_RUN;
  put_runs(e, sort, 0, min_u64(runs, REPEATS_MAX));
  if (runs > REPEATS_MAX)
    put_runs(e, sort, REPEATS_MAX, runs - REPEATS_MAX);
  return sort_put_levels(e, sort, sort->a_at, SORT_RUN);
}

/* ---- results --------------------------------------------------------------------------------- */

/*
 * Entries come apart into scores and indices in a buffer of as many bytes; both are stored. The
 * buffer they were in takes the converted scores.
 */
static void put_results(struct emit *e, const struct sort *sort, struct expr row,
                        uint64_t entries_at, struct expr count, struct expr first) {
  uint64_t scores = other_buffer(sort, entries_at), kept = sort->chunk;
  if (sort->form == SORT_RUNNING)
    kept = sort->best;
  uint64_t indices = scores + kept * FLOAT_BYTES;
  vmask_count(e, x_mul(count, 2));
  vunit_take_words(e, EXPR(scores), entries_at, 1);
  vunit_take_words(e, EXPR(indices), entries_at, 2);
  emit_barrier(e, PIPE_V);
  vmask_count(e, count);
  if (!sort->descending) {
    put_sign(e, scores);
    emit_barrier(e, PIPE_V);
  }
  if (sort->type != DTYPE_FP32) {
    put_conversion(e, DTYPE_FP32, sort->type, entries_at, scores);
    scores = entries_at;
  }
  emit_handshake(e, PIPE_V, PIPE_MTE3, FLAG);
  vtile_store_run(e, sort->type,
                  sort_at_element(e, "y", row, sort->keep, first, vtile_bytes(sort->type)),
                  EXPR(scores), count);
  vtile_store_run(e, DTYPE_INT32, sort_at_element(e, "y1", row, sort->keep, first, FLOAT_BYTES),
                  EXPR(indices), count);
}

/* Opens the loop over this block's share of the pieces of work; its bodies are chains. */
static struct expr open_units(struct emit *e, uint64_t count) {
  struct expr unit = emit_units(e, count, "unit");
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, FREE_FLAG);
  return unit;
}

static void close_units(struct emit *e) {
  emit_set(e, PIPE_MTE3, PIPE_MTE2, FREE_FLAG);
  emit_end(e);
}

/* ---- rows of one chunk ----------------------------------------------------------------------- */

static void put_whole(struct emit *e, const struct sort *sort) {
  struct expr row = emit_named(e, "row", open_units(e, sort->rows));
  put_scores(e, sort, row, emit_assigned(e, "chunk", EXPR(0)));
  put_results(e, sort, row, put_sorted(e, sort), EXPR(sort->keep), EXPR(0));
  close_units(e);
}

/* ---- the best of a long row ------------------------------------------------------------------ */

void sort_put_better(struct emit *e, const struct sort *sort, struct expr is_first, uint64_t list) {
  uint64_t best = sort->best, merged = other_buffer(sort, list);
  emit_if(e, "one", is_first);
  sort_put_entries(e, sort, "copy_ubuf_to_ubuf", EXPR(sort->best_at), EXPR(list), best);
  emit_barrier(e, PIPE_V);
  emit_end(e);
  emit_if(e, "more", x_sub(1, is_first));
  EMIT(e, "vmrgsort4", F("dst", merged), F("src0", sort->best_at), F("src1", list), F("src2", list),
       F("src3", list), F("length0", best), F("length1", best), F("lists", 2),
       W("type", dtype_name(sort->work)));
  emit_barrier(e, PIPE_V);
  sort_put_entries(e, sort, "copy_ubuf_to_ubuf", EXPR(sort->best_at), EXPR(merged), best);
  emit_barrier(e, PIPE_V);
  emit_end(e);
}

/* A list of a row in device memory. */
static struct expr list_at(struct emit *e, struct expr row, uint64_t lists, struct expr list,
                           uint64_t entries) {
  return sort_at_element(e, "lists", row, lists, list, entries * SORT_ENTRY);
}

/* The best of a row lie apart from both buffers: their parts go to the first. */
static void put_best(struct emit *e, const struct sort *sort, struct expr row) {
  put_results(e, sort, row, sort->best_at, EXPR(sort->keep), EXPR(0));
}

static void put_best_of_segments(struct emit *e, const struct sort *sort) {
  emit_comment(e, "All cores meet; a core for each row merges the lists of its segments.");
  emit_meet(e, SYNC_FLAG);
  struct expr row = emit_named(e, "row", open_units(e, sort->rows));
  struct expr list = emit_for(e, "list", sort->segments);
  emit_wait(e, PIPE_V, PIPE_MTE2, FLAG);
  sort_put_entries(e, sort, "copy_gm_to_ubuf", EXPR(sort->a_at),
                   list_at(e, row, sort->segments, list, sort->best), sort->best);
  emit_handshake(e, PIPE_MTE2, PIPE_V, FLAG);
  sort_put_better(e, sort, x_eq(list, 0), sort->a_at);
  emit_set(e, PIPE_V, PIPE_MTE2, FLAG);
  emit_end(e);
  put_best(e, sort, row);
  close_units(e);
}

static void put_running(struct emit *e, const struct sort *sort) {
  uint64_t segments = sort->segments;
  emit_set(e, PIPE_V, PIPE_MTE2, FLAG);
  struct expr unit = open_units(e, sort->rows * segments);
  struct expr row = emit_assigned(e, "row", x_div(unit, segments));
  struct expr segment = emit_assigned(e, "segment", x_mod(unit, segments));
  struct expr begin = emit_assigned(e, "begin", x_div(x_mul(segment, sort->chunks), segments));
  struct expr end =
      emit_assigned(e, "end", x_div(x_mul(x_add(segment, 1), sort->chunks), segments));
  emit_comment(e, "Up to %" PRIu64 " chunks.", ceil_div(sort->chunks, segments));
  struct expr turn = emit_for(e, "turn", x_sub(end, begin));
  struct expr chunk = emit_named(e, "chunk", x_add(begin, turn));
  emit_wait(e, PIPE_V, PIPE_MTE2, FLAG);
  put_scores(e, sort, row, chunk);
  sort_put_better(e, sort, x_eq(turn, 0), put_sorted(e, sort));
  emit_set(e, PIPE_V, PIPE_MTE2, FLAG);
  emit_end(e);
  if (segments > 1) {
    emit_handshake(e, PIPE_V, PIPE_MTE3, FLAG);
    sort_put_entries(e, sort, "copy_ubuf_to_gm", list_at(e, EXPR(0), 0, unit, sort->best),
                     EXPR(sort->best_at), sort->best);
  } else {
    put_best(e, sort, row);
  }
  emit_handshake(e, PIPE_MTE3, PIPE_V, FLAG);
  close_units(e);
  if (segments > 1)
    put_best_of_segments(e, sort);
  emit_wait(e, PIPE_V, PIPE_MTE2, FLAG);
}

/* ---- all of a long row ----------------------------------------------------------------------- */

bool sort_next_stage(uint64_t chunks, struct sort_stage *stage) {
  if (stage->distance > 1) {
    stage->distance /= 2;
  } else {
    stage->half = stage->half ? 2 * stage->half : 1;
    stage->distance = stage->half;
  }
  if (stage->half >= chunks)
    return false;
  uint64_t group = 2 * stage->distance;
  stage->first = stage->distance % stage->half;
  stage->span = 2 * stage->half;
  uint64_t rest = (chunks - stage->first) % group;
  stage->pairs = (chunks - stage->first) / group * stage->distance +
                 (rest > stage->distance ? rest - stage->distance : 0);
  return true;
}

/* Each of the two chunks is two sorted lists. */
void sort_put_pair(struct emit *e, const struct sort *sort, struct expr lower, uint64_t distance) {
  uint64_t bytes = sort->chunk * sort->entry;
  struct expr low = emit_named(e, "low", lower), high = x_add(low, distance * bytes);
  sort_put_entries(e, sort, "copy_gm_to_ubuf", EXPR(0), low, sort->chunk);
  sort_put_entries(e, sort, "copy_gm_to_ubuf", EXPR(bytes), high, sort->chunk);
  emit_handshake(e, PIPE_MTE2, PIPE_V, FLAG);
  sort_put_merge(e, sort, 2 * bytes, 0, sort->chunk / 2, sort->chunk / 2 * LISTS, 1);
  emit_handshake(e, PIPE_V, PIPE_MTE3, FLAG);
  sort_put_entries(e, sort, "copy_ubuf_to_gm", low, EXPR(2 * bytes), sort->chunk);
  sort_put_entries(e, sort, "copy_ubuf_to_gm", high, EXPR(3 * bytes), sort->chunk);
}

static void put_stage(struct emit *e, const struct sort *sort, const struct sort_stage *stage) {
  uint64_t distance = stage->distance;
  emit_meet(e, SYNC_FLAG);
  if (stage->pairs == 0)
    return;
  struct expr unit = emit_units(e, sort->rows * stage->pairs, "unit");
  struct expr row = emit_assigned(e, "row", x_div(unit, stage->pairs));
  struct expr pair = emit_assigned(e, "pair", x_mod(unit, stage->pairs));
  struct expr chunk =
      emit_assigned(e, "chunk",
                    x_add(x_add(stage->first, x_mul(x_div(pair, distance), 2 * distance)),
                          x_mod(pair, distance)));
  emit_if(e, "together",
          x_eq(x_div(chunk, stage->span), x_div(x_add(chunk, distance), stage->span)));
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, FREE_FLAG);
  sort_put_pair(e, sort, list_at(e, row, sort->chunks, chunk, sort->chunk), distance);
  close_units(e);
  emit_end(e);
}

static void put_network(struct emit *e, const struct sort *sort) {
  struct sort_stage stage = {0};
  uint64_t wanted = ceil_div(sort->keep, sort->chunk);
  struct expr unit = open_units(e, sort->rows * sort->chunks);
  struct expr row = emit_assigned(e, "row", x_div(unit, sort->chunks));
  put_scores(e, sort, row, emit_assigned(e, "chunk", x_mod(unit, sort->chunks)));
  uint64_t at = put_sorted(e, sort);
  emit_handshake(e, PIPE_V, PIPE_MTE3, FLAG);
  sort_put_entries(e, sort, "copy_ubuf_to_gm", list_at(e, EXPR(0), 0, unit, sort->chunk), EXPR(at),
                   sort->chunk);
  close_units(e);
  while (sort_next_stage(sort->chunks, &stage)) {
    emit_comment(e, "All cores meet; chunks %" PRIu64 " apart are merged.", stage.distance);
    put_stage(e, sort, &stage);
  }
  emit_comment(e, "All cores meet; entries become scores and indices.");
  emit_meet(e, SYNC_FLAG);
  unit = open_units(e, sort->rows * wanted);
  row = emit_assigned(e, "row", x_div(unit, wanted));
  struct expr chunk = emit_assigned(e, "chunk", x_mod(unit, wanted));
  struct expr first = x_mul(chunk, sort->chunk);
  sort_put_entries(e, sort, "copy_gm_to_ubuf", EXPR(sort->a_at),
                   list_at(e, row, sort->chunks, chunk, sort->chunk), sort->chunk);
  emit_handshake(e, PIPE_MTE2, PIPE_V, FLAG);
  put_results(e, sort, row, sort->a_at, x_min(sort->chunk, x_sub(sort->keep, first)), first);
  close_units(e);
}

void sort_emit_rows(struct emit *e, const struct sort *sort) {
  if (sort->proposals) {
    sort_proposals_emit(e, sort);
    return;
  }
  const struct vtable numbers = vtable_series(sort->numbers_at, 1);
  emit_comment(e, "Where elements of a chunk are.");
  vtables_fill(e, &numbers, 1, sort->chunk);
  emit_barrier(e, PIPE_V);
  EMIT(e, "set_mov_pad_val", F("value", vscalar(sort->type, last_value(sort))));
  emit_set(e, PIPE_MTE3, PIPE_MTE2, FREE_FLAG);
  if (sort->form == SORT_WHOLE)
    put_whole(e, sort);
  else
    (sort->form == SORT_RUNNING ? put_running : put_network)(e, sort);
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, FREE_FLAG);
}
