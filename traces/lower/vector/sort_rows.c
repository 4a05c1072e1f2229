/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of sort and topk. Scores are sorted in single precision, the largest first; for the
 * smallest first they change their sign before and after. What a chunk lacks is filled with what
 * comes last. Work is one chain: a chunk comes in, is sorted, and goes out.
 */
#include <math.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/vector/sort.h"

typedef unsigned long long ull;

enum { FLOAT_BYTES = 4, LISTS = 4, FLAG = 0, FREE_FLAG = 1, SYNC_FLAG = 0 };
enum { FLOATS_PER_BLOCK = BLOCK_BYTES / FLOAT_BYTES };

static void put_count(struct emit *e, const char *format, ull count) {
  emit_row(e, "set_vector_mask,high=0,low=%s", emit_text(e, format, count));
}

/* The numbers 0, 1, 2 ...: eight lanes by hand, then twice as many again and again. */
static void put_numbers(struct emit *e, const struct sort *sort) {
  ull all = (ull)sort->chunk, at = (ull)sort->numbers_at;
  emit_comment(e, "Where elements of a chunk are.");
  emit_row(e, "set_mask_norm");
  for (ull lane = 0; lane < FLOATS_PER_BLOCK; lane++) {
    emit_row(e, "set_vector_mask,high=0,low=%llu", 1ull << lane);
    emit_row(e, "vector_dup,dst=%llu,scalar=%llu,repeat=1,type=int32", at, lane);
  }
  emit_row(e, "set_mask_count");
  for (ull count = FLOATS_PER_BLOCK; count < all; count *= 2) {
    emit_barrier(e, PIPE_V);
    put_count(e, "%llu", (ull)min_u64(count, all - count));
    emit_row(e, "vadds,dst=%llu,src=%llu,scalar=%llu,repeat=1,type=int32", at + count * FLOAT_BYTES,
             at, count);
  }
  emit_barrier(e, PIPE_V);
}

static void put_flag(struct emit *e, enum pipe from, enum pipe to, int id) {
  emit_set_flag(e, from, to, "%d", id);
  emit_wait_flag(e, from, to, "%d", id);
}

/* ---- one chunk ------------------------------------------------------------------------------- */

/* What comes last, in the type of x and before the sign changes. */
static long long last_bits(const struct sort *sort) {
  return vscalar_bits(sort->type, sort->descending ? -(double)INFINITY : (double)INFINITY);
}

/* Elements of row `row` from `chunk` on into the second buffer, or the first if they convert. */
static void put_load(struct emit *e, const struct sort *sort) {
  ull bytes = vtile_bytes(sort->type), chunk = (ull)sort->chunk;
  emit_let(e, "length", "min(%llu,%llu-chunk*%llu)", chunk, (ull)sort->columns, chunk);
  emit_row(e,
           "%s,dst=%llu,src=x+(row*%llu+chunk*%llu)*%llu,len_burst=length*%llu,"
           "right_pad=(%d-length*%llu%%%d)%%%d/%llu",
           vtile_copy_name(false, sort->type),
           sort->type == DTYPE_FP32 ? (ull)sort->b_at : (ull)sort->a_at, (ull)sort->columns, chunk,
           bytes, bytes, BLOCK_BYTES, bytes, BLOCK_BYTES, BLOCK_BYTES, bytes);
}

/* Behind a chunk that is not full, from the next block on. */
static void put_tail(struct emit *e, const struct sort *sort, ull at) {
  ull bytes = vtile_bytes(sort->type), per_block = BLOCK_BYTES / bytes, chunk = (ull)sort->chunk;
  if (sort->columns % sort->chunk == 0)
    return;
  emit_let(e, "filled", "(length+%llu)/%llu*%llu", per_block - 1, per_block, per_block);
  emit_loop(e, "tail", "filled<%llu", chunk);
  put_count(e, "%llu-filled", chunk);
  emit_row(e, "vector_dup,dst=%llu+filled*%llu,scalar=%lld,repeat=1,type=%s", at, bytes,
           last_bits(sort), dtype_name(sort->type));
  emit_endloop(e);
  emit_barrier(e, PIPE_V);
}

/* Scores in the first half of the second buffer, where they are in its second half. */
static void put_scores(struct emit *e, const struct sort *sort) {
  ull chunk = (ull)sort->chunk, raw = (ull)sort->a_at, scores = (ull)sort->b_at;
  bool converts = sort->type != DTYPE_FP32;
  put_tail(e, sort, converts ? raw : scores);
  put_count(e, "%llu", chunk);
  if (converts) {
    emit_row(e, "%s,dst=%llu,src=%llu,repeat=1", vconvert_inst(e->soc, sort->type, DTYPE_FP32),
             scores, raw);
    emit_barrier(e, PIPE_V);
  }
  if (!sort->descending)
    emit_row(e, "vmuls,dst=%llu,src=%llu,scalar=%lld,repeat=1,type=fp32", scores, scores,
             vscalar_bits(DTYPE_FP32, -1.0));
  emit_row(e, "vadds,dst=%llu,src=%llu,scalar=chunk*%llu,repeat=1,type=int32",
           scores + chunk * FLOAT_BYTES, (ull)sort->numbers_at, chunk);
  emit_barrier(e, PIPE_V);
}

/* One instruction that merges up to four lists which follow each other; a single one is copied. */
static void put_merge(struct emit *e, ull dst, ull src, ull list, ull entries, ull repeat) {
  ull lists = ceil_div(entries, list);
  if (lists == 1) {
    emit_row(e, "copy_ubuf_to_ubuf,dst=%llu,src=%llu,len_burst=%llu", dst, src,
             entries * SORT_ENTRY / BLOCK_BYTES);
    return;
  }
  const char *sources = "", *lengths = "";
  for (ull i = 0; i < LISTS; i++) {
    ull length = i < lists ? min_u64(list, entries - i * list) : 0;
    sources =
        emit_text(e, "%s,src%llu=%llu", sources, i, i < lists ? src + i * list * SORT_ENTRY : src);
    lengths = emit_text(e, "%s,length%llu=%llu", lengths, i, length);
  }
  emit_row(e, "vmrgsort4,dst=%llu%s,repeat=%llu%s,lists=%llu,type=fp32", dst, sources, repeat,
           lengths, lists);
}

/* Runs of 32 entries, then lists of 128, 512 ...; returns where the sorted chunk is. */
static uint64_t put_sorted(struct emit *e, const struct sort *sort) {
  ull chunk = (ull)sort->chunk, from = (ull)sort->a_at, to = (ull)sort->b_at;
  emit_row(e, "vbitsort,dst=%llu,src0=%llu,src1=%llu,repeat=%llu,type=fp32", from, to,
           to + chunk * FLOAT_BYTES, (ull)min_u64(chunk / SORT_RUN, 255));
  if (chunk / SORT_RUN > 255)
    emit_row(e, "vbitsort,dst=%llu,src0=%llu,src1=%llu,repeat=1,type=fp32",
             from + 255ull * SORT_RUN * SORT_ENTRY, to + 255ull * SORT_RUN * FLOAT_BYTES,
             to + (chunk + 255ull * SORT_RUN) * FLOAT_BYTES);
  for (ull list = SORT_RUN; list < chunk; list *= LISTS) {
    ull groups = chunk / (LISTS * list), rest = chunk % (LISTS * list);
    ull done = groups * LISTS * list * SORT_ENTRY, swapped = from;
    emit_barrier(e, PIPE_V);
    if (groups > 0)
      put_merge(e, to, from, list, LISTS * list, groups);
    if (rest > 0)
      put_merge(e, to + done, from + done, list, rest, 1);
    from = to;
    to = swapped;
  }
  emit_barrier(e, PIPE_V);
  return from;
}

/* ---- results --------------------------------------------------------------------------------- */

/*
 * Entries come apart into scores and indices in a buffer of as many bytes; both are stored. The
 * buffer they were in takes the converted scores.
 */
static void put_results(struct emit *e, const struct sort *sort, ull entries_at, ull parts_at,
                        const char *count, const char *first) {
  ull bytes = vtile_bytes(sort->type), scores = parts_at;
  ull indices = parts_at + (sort->form == SORT_RUNNING ? sort->best : sort->chunk) * FLOAT_BYTES;
  emit_row(e, "set_vector_mask,high=0,low=(%s)*2", count);
  emit_row(e, "vreducev2,dst=%llu,src0=%llu,src1=%llu,repeat=1,pattern=1,type=uint32", scores,
           entries_at, entries_at);
  emit_row(e, "vreducev2,dst=%llu,src0=%llu,src1=%llu,repeat=1,pattern=2,type=uint32", indices,
           entries_at, entries_at);
  emit_barrier(e, PIPE_V);
  emit_row(e, "set_vector_mask,high=0,low=%s", count);
  if (!sort->descending) {
    emit_row(e, "vmuls,dst=%llu,src=%llu,scalar=%lld,repeat=1,type=fp32", scores, scores,
             vscalar_bits(DTYPE_FP32, -1.0));
    emit_barrier(e, PIPE_V);
  }
  if (sort->type != DTYPE_FP32) {
    emit_row(e, "%s,dst=%llu,src=%llu,repeat=1", vconvert_inst(e->soc, DTYPE_FP32, sort->type),
             entries_at, scores);
    scores = entries_at;
  }
  put_flag(e, PIPE_V, PIPE_MTE3, FLAG);
  emit_row(e, "%s,dst=y+(row*%llu+%s)*%llu,src=%llu,len_burst=(%s)*%llu",
           vtile_copy_name(true, sort->type), (ull)sort->keep, first, bytes, scores, count, bytes);
  emit_row(e, "%s,dst=y1+(row*%llu+%s)*%d,src=%llu,len_burst=(%s)*%d",
           vtile_copy_name(true, DTYPE_INT32), (ull)sort->keep, first, FLOAT_BYTES, indices, count,
           FLOAT_BYTES);
}

static ull other_buffer(const struct sort *sort, ull buffer) {
  return buffer == sort->a_at ? (ull)sort->b_at : (ull)sort->a_at;
}

/* Opens the loop over this block's share of so many pieces of work; its bodies are chains. */
static void open_units(struct emit *e, ull count) {
  emit_loop(e, "u", "(%llu-blk+blocks-1)/blocks", count);
  emit_let(e, "unit", "blk+u*blocks");
  emit_wait_flag(e, PIPE_MTE3, PIPE_MTE2, "%d", FREE_FLAG);
}

static void close_units(struct emit *e) {
  emit_set_flag(e, PIPE_MTE3, PIPE_MTE2, "%d", FREE_FLAG);
  emit_endloop(e);
}

/* ---- rows of one chunk ----------------------------------------------------------------------- */

static void put_whole(struct emit *e, const struct sort *sort) {
  open_units(e, sort->rows);
  emit_let(e, "row", "unit");
  emit_let(e, "chunk", "0");
  put_load(e, sort);
  put_flag(e, PIPE_MTE2, PIPE_V, FLAG);
  put_scores(e, sort);
  ull at = put_sorted(e, sort);
  put_results(e, sort, at, other_buffer(sort, at), emit_text(e, "%llu", (ull)sort->keep), "0");
  close_units(e);
}

/* ---- the best of a long row ------------------------------------------------------------------ */

static void put_entries(struct emit *e, ull dst, ull src, ull entries) {
  emit_row(e, "copy_ubuf_to_ubuf,dst=%llu,src=%llu,len_burst=%llu", dst, src,
           entries * SORT_ENTRY / BLOCK_BYTES);
  emit_barrier(e, PIPE_V);
}

/* The best so far, which come first among equals, and a list; the very first list is the best. */
static void put_better(struct emit *e, const struct sort *sort, const char *first, ull list) {
  ull best = (ull)sort->best, merged = other_buffer(sort, list);
  emit_loop(e, "one", "%s", first);
  put_entries(e, (ull)sort->best_at, list, best);
  emit_endloop(e);
  emit_loop(e, "more", "1-(%s)", first);
  emit_row(e,
           "vmrgsort4,dst=%llu,src0=%llu,src1=%llu,src2=%llu,src3=%llu,length0=%llu,length1=%llu,"
           "lists=2,type=fp32",
           merged, (ull)sort->best_at, list, list, list, best, best);
  emit_barrier(e, PIPE_V);
  put_entries(e, (ull)sort->best_at, merged, best);
  emit_endloop(e);
}

static void put_best_of_segments(struct emit *e, const struct sort *sort) {
  ull bytes = (ull)sort->best * SORT_ENTRY;
  emit_comment(e, "All cores meet; a core for each row merges the lists of its segments.");
  emit_row(e, "ffts_cross_core_sync,pipe=MTE3,mode=0,id=%d", SYNC_FLAG);
  emit_row(e, "wait_flag_dev,id=%d", SYNC_FLAG);
  open_units(e, sort->rows);
  emit_let(e, "row", "unit");
  emit_loop(e, "list", "%llu", (ull)sort->segments);
  emit_wait_flag(e, PIPE_V, PIPE_MTE2, "%d", FLAG);
  emit_row(e, "copy_gm_to_ubuf,dst=%llu,src=lists+(row*%llu+list)*%llu,len_burst=%llu",
           (ull)sort->a_at, (ull)sort->segments, bytes, bytes / BLOCK_BYTES);
  put_flag(e, PIPE_MTE2, PIPE_V, FLAG);
  put_better(e, sort, "list==0", (ull)sort->a_at);
  emit_set_flag(e, PIPE_V, PIPE_MTE2, "%d", FLAG);
  emit_endloop(e);
  put_results(e, sort, (ull)sort->best_at, (ull)sort->a_at, emit_text(e, "%llu", (ull)sort->keep),
              "0");
  close_units(e);
}

static void put_running(struct emit *e, const struct sort *sort) {
  ull per = ceil_div(sort->chunks, sort->segments), bytes = (ull)sort->best * SORT_ENTRY;
  emit_set_flag(e, PIPE_V, PIPE_MTE2, "%d", FLAG);
  open_units(e, sort->rows * sort->segments);
  emit_let(e, "row", "unit/%llu", (ull)sort->segments);
  emit_let(e, "segment", "unit%%%llu", (ull)sort->segments);
  emit_let(e, "begin", "segment*%llu/%llu", (ull)sort->chunks, (ull)sort->segments);
  emit_let(e, "end", "(segment+1)*%llu/%llu", (ull)sort->chunks, (ull)sort->segments);
  emit_comment(e, "Up to %llu chunks.", per);
  emit_loop(e, "turn", "end-begin");
  emit_let(e, "chunk", "begin+turn");
  emit_wait_flag(e, PIPE_V, PIPE_MTE2, "%d", FLAG);
  put_load(e, sort);
  put_flag(e, PIPE_MTE2, PIPE_V, FLAG);
  put_scores(e, sort);
  put_better(e, sort, "turn==0", put_sorted(e, sort));
  emit_set_flag(e, PIPE_V, PIPE_MTE2, "%d", FLAG);
  emit_endloop(e);
  if (sort->segments > 1) {
    put_flag(e, PIPE_V, PIPE_MTE3, FLAG);
    emit_row(e, "copy_ubuf_to_gm,dst=lists+unit*%llu,src=%llu,len_burst=%llu", bytes,
             (ull)sort->best_at, bytes / BLOCK_BYTES);
    put_flag(e, PIPE_MTE3, PIPE_V, FLAG);
  } else {
    put_results(e, sort, (ull)sort->best_at, (ull)sort->a_at, emit_text(e, "%llu", (ull)sort->keep),
                "0");
    put_flag(e, PIPE_MTE3, PIPE_V, FLAG);
  }
  close_units(e);
  if (sort->segments > 1)
    put_best_of_segments(e, sort);
  emit_wait_flag(e, PIPE_V, PIPE_MTE2, "%d", FLAG);
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

/* Two sorted chunks, each two sorted lists, into a lower and an upper one. */
static void put_pair(struct emit *e, const struct sort *sort, ull distance) {
  ull list = (ull)sort->chunk / 2, bytes = (ull)sort->chunk * SORT_ENTRY,
      blocks = bytes / BLOCK_BYTES;
  emit_let(e, "low", "lists+(row*%llu+chunk)*%llu", (ull)sort->chunks, bytes);
  emit_row(e, "copy_gm_to_ubuf,dst=0,src=low,len_burst=%llu", blocks);
  emit_row(e, "copy_gm_to_ubuf,dst=%llu,src=low+%llu,len_burst=%llu", bytes, distance * bytes,
           blocks);
  put_flag(e, PIPE_MTE2, PIPE_V, FLAG);
  put_merge(e, 2 * bytes, 0, list, LISTS * list, 1);
  put_flag(e, PIPE_V, PIPE_MTE3, FLAG);
  emit_row(e, "copy_ubuf_to_gm,dst=low,src=%llu,len_burst=%llu", 2 * bytes, blocks);
  emit_row(e, "copy_ubuf_to_gm,dst=low+%llu,src=%llu,len_burst=%llu", distance * bytes, 3 * bytes,
           blocks);
}

static void put_stage(struct emit *e, const struct sort *sort, const struct sort_stage *stage) {
  ull distance = (ull)stage->distance;
  emit_row(e, "ffts_cross_core_sync,pipe=MTE3,mode=0,id=%d", SYNC_FLAG);
  emit_row(e, "wait_flag_dev,id=%d", SYNC_FLAG);
  if (stage->pairs == 0)
    return;
  emit_loop(e, "u", "(%llu-blk+blocks-1)/blocks", (ull)(sort->rows * stage->pairs));
  emit_let(e, "unit", "blk+u*blocks");
  emit_let(e, "row", "unit/%llu", (ull)stage->pairs);
  emit_let(e, "pair", "unit%%%llu", (ull)stage->pairs);
  emit_let(e, "chunk", "%llu+pair/%llu*%llu+pair%%%llu", (ull)stage->first, distance, 2 * distance,
           distance);
  emit_loop(e, "together", "chunk/%llu==(chunk+%llu)/%llu", (ull)stage->span, distance,
            (ull)stage->span);
  emit_wait_flag(e, PIPE_MTE3, PIPE_MTE2, "%d", FREE_FLAG);
  put_pair(e, sort, distance);
  close_units(e);
  emit_endloop(e);
}

static void put_network(struct emit *e, const struct sort *sort) {
  ull bytes = (ull)sort->chunk * SORT_ENTRY;
  struct sort_stage stage = {0};
  open_units(e, sort->rows * sort->chunks);
  emit_let(e, "row", "unit/%llu", (ull)sort->chunks);
  emit_let(e, "chunk", "unit%%%llu", (ull)sort->chunks);
  put_load(e, sort);
  put_flag(e, PIPE_MTE2, PIPE_V, FLAG);
  put_scores(e, sort);
  ull at = put_sorted(e, sort);
  put_flag(e, PIPE_V, PIPE_MTE3, FLAG);
  emit_row(e, "copy_ubuf_to_gm,dst=lists+unit*%llu,src=%llu,len_burst=%llu", bytes, at,
           bytes / BLOCK_BYTES);
  close_units(e);
  while (sort_next_stage(sort->chunks, &stage)) {
    emit_comment(e, "All cores meet; chunks %llu apart are merged.", (ull)stage.distance);
    put_stage(e, sort, &stage);
  }
  emit_comment(e, "All cores meet; entries become scores and indices.");
  emit_row(e, "ffts_cross_core_sync,pipe=MTE3,mode=0,id=%d", SYNC_FLAG);
  emit_row(e, "wait_flag_dev,id=%d", SYNC_FLAG);
  ull wanted = ceil_div(sort->keep, sort->chunk);
  open_units(e, sort->rows * wanted);
  emit_let(e, "row", "unit/%llu", wanted);
  emit_let(e, "chunk", "unit%%%llu", wanted);
  emit_row(e, "copy_gm_to_ubuf,dst=%llu,src=lists+(row*%llu+chunk)*%llu,len_burst=%llu",
           (ull)sort->a_at, (ull)sort->chunks, bytes, bytes / BLOCK_BYTES);
  put_flag(e, PIPE_MTE2, PIPE_V, FLAG);
  put_results(e, sort, (ull)sort->a_at, (ull)sort->b_at,
              emit_text(e, "min(%llu,%llu-chunk*%llu)", (ull)sort->chunk, (ull)sort->keep,
                        (ull)sort->chunk),
              emit_text(e, "chunk*%llu", (ull)sort->chunk));
  close_units(e);
}

void sort_emit_rows(struct emit *e, const struct sort *sort) {
  put_numbers(e, sort);
  emit_row(e, "set_mov_pad_val,value=%lld", last_bits(sort));
  emit_set_flag(e, PIPE_MTE3, PIPE_MTE2, "%d", FREE_FLAG);
  if (sort->form == SORT_WHOLE)
    put_whole(e, sort);
  else if (sort->form == SORT_RUNNING)
    put_running(e, sort);
  else
    put_network(e, sort);
  emit_wait_flag(e, PIPE_MTE3, PIPE_MTE2, "%d", FREE_FLAG);
}
