/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of vector and data-movement operators: splitting, the loop, copies, cost. */
#include "traces/lower/vector/tiles.h"

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/estimate.h"
#include "traces/lower/launch.h"

typedef unsigned long long ull;

enum {
  RESERVED_UB_BYTES = 8192 + 256, /* the compiler's, and the hardware's */
  BANKS_BYTES = 512,              /* where the banks of UB and fast GM addresses repeat */
  CORE_BYTES_MIN = 4096,          /* less is not worth another core */
  BURSTS_MAX = 4095,
  TURN_CYCLES = 64, /* flags and scalar work of a turn, in the estimate */
};

uint64_t vtile_pitch(uint64_t cols, unsigned element_bytes) {
  uint64_t block = BLOCK_BYTES / element_bytes;
  return ceil_div(cols, block) * block;
}

uint64_t vtile_align(uint64_t bytes) { return round_up(bytes, BANKS_BYTES); }

uint64_t vtile_reserve(uint64_t *used, uint64_t bytes) {
  uint64_t address = *used;
  *used += vtile_align(bytes);
  return address;
}

uint64_t vtile_ub_bytes(const struct vinci_soc *soc) {
  return (uint64_t)soc->ub_bytes - RESERVED_UB_BYTES;
}

/* ---- splitting ---------------------------------------------------------------- */

void vtile_counts(struct vtile *tile) {
  uint64_t outer = 1;
  for (unsigned i = 0; i < tile->space.outers; i++)
    outer *= tile->space.outer[i];
  tile->row_tiles = ceil_div(tile->space.rows, tile->rows);
  tile->col_tiles = ceil_div(tile->space.cols, tile->cols);
  tile->tiles = outer * tile->row_tiles * tile->col_tiles;
  tile->per_block = ceil_div(tile->tiles, tile->blocks);
}

bool vtile_count(struct lower_job *job, struct vtile *tile) {
  unsigned cores = soc_core_count(job->soc, emit_vector_core(job->soc));
  if (tile->rows == 0 || tile->cols == 0 || tile->blocks == 0)
    return lower_refuse(job, "a tile needs rows, columns and a core");
  if (tile->rows > tile->space.rows || tile->cols > tile->space.cols)
    return lower_refuse(job, "the tile is larger than the %llu x %llu elements to be cut",
                        (ull)tile->space.rows, (ull)tile->space.cols);
  if (tile->rows > BURSTS_MAX)
    return lower_refuse(job, "a copy has at most %d rows", BURSTS_MAX);
  if (tile->blocks > cores)
    return lower_refuse(job, "there are only %u cores", cores);
  if (tile->buffers < 1 || tile->buffers > 2)
    return lower_refuse(job, "buffers is 1 or 2");
  vtile_counts(tile);
  if (tile->blocks > tile->tiles)
    return lower_refuse(job, "there are only %llu tiles for %llu cores", (ull)tile->tiles,
                        (ull)tile->blocks);
  return true;
}

void vtile_split_run(uint64_t cores, struct vtile *tile, unsigned element_bytes,
                     uint64_t elements_max) {
  uint64_t unit = BANKS_BYTES / element_bytes, all = tile->space.cols;
  uint64_t run = max_u64(ceil_div(all, cores), CORE_BYTES_MIN / element_bytes);
  run = round_up(run, unit);
  /* What one tile can hold is not cut for the sake of multiples. */
  uint64_t most = min_u64(run, all) <= elements_max ? run : elements_max / unit * unit;
  uint64_t turns = ceil_div(run, max_u64(most, unit));
  tile->rows = 1;
  tile->cols = min_u64(all, round_up(ceil_div(run, turns), unit));
  tile->blocks = ceil_div(ceil_div(all, tile->cols), turns);
}

/* Those of the cores that have enough to do with the elements of a space. */
static uint64_t worthy_cores(uint64_t cores, const struct vtile *tile, unsigned element_bytes,
                             uint64_t outer) {
  uint64_t bytes = outer * tile->space.rows * tile->space.cols * element_bytes;
  return min_u64(cores, ceil_div(bytes, CORE_BYTES_MIN));
}

void vtile_split_rows(uint64_t cores, struct vtile *tile, unsigned element_bytes,
                      uint64_t rows_max) {
  uint64_t outer = 1;
  for (unsigned i = 0; i < tile->space.outers; i++)
    outer *= tile->space.outer[i];
  cores = worthy_cores(cores, tile, element_bytes, outer);
  /* Cores that share one outer index; tiles of nearly equal height. */
  uint64_t sharing = max_u64(1, cores / outer);
  uint64_t run = ceil_div(tile->space.rows, min_u64(sharing, tile->space.rows));
  uint64_t turns = ceil_div(run, rows_max);
  tile->rows = ceil_div(run, turns);
  uint64_t tiles =
      outer * ceil_div(tile->space.rows, tile->rows) * ceil_div(tile->space.cols, tile->cols);
  tile->blocks = ceil_div(tiles, ceil_div(tiles, min_u64(tiles, cores)));
}

/* ---- the loop ------------------------------------------------------------------ */

/* "min(tile,all-start)", or a number where it is the same for all tiles. */
static const char *extent_text(struct emit *e, const char *name, uint64_t tile, uint64_t all,
                               const char *start) {
  if (all % tile == 0)
    return emit_text(e, "%llu", (ull)tile);
  emit_let(e, name, "min(%llu,%llu-%s)", (ull)tile, (ull)all, start);
  return emit_text(e, "%s", name);
}

static const char *start_text(struct emit *e, const char *name, const char *index, uint64_t step,
                              uint64_t count) {
  if (count == 1)
    return "0";
  emit_let(e, name, "%s*%llu", index, (ull)step);
  return emit_text(e, "%s", name);
}

/* Names of the tile t: its outer indices, where it starts, how large it is. */
static void put_position(struct emit *e, struct vtile *tile) {
  const char *p = tile->prefix, *rest = emit_text(e, "%st", p);
  uint64_t below = tile->col_tiles;
  const char *row = emit_text(e, tile->col_tiles > 1 ? "(%st/%llu)" : "%st", p, (ull)below);
  const char *col = emit_text(e, "(%st%%%llu)", p, (ull)below);
  uint64_t outer = 1;
  for (unsigned i = 0; i < tile->space.outers; i++)
    outer *= tile->space.outer[i];
  if (outer > 1 || tile->col_tiles > 1)
    row = emit_text(e, "(%s%%%llu)", row, (ull)tile->row_tiles);
  if (outer == 1 && tile->row_tiles == 1)
    col = rest;
  tile->row_text = start_text(e, emit_text(e, "%srow", p), row, tile->rows, tile->row_tiles);
  tile->col_text = start_text(e, emit_text(e, "%scol", p), col, tile->cols, tile->col_tiles);
  tile->rows_text =
      extent_text(e, emit_text(e, "%srows", p), tile->rows, tile->space.rows, tile->row_text);
  tile->cols_text =
      extent_text(e, emit_text(e, "%scols", p), tile->cols, tile->space.cols, tile->col_text);
  below *= tile->row_tiles;
  for (unsigned i = tile->space.outers; i-- > 0;) {
    const char *name = emit_text(e, "%so%u", p, i);
    if (tile->space.outer[i] == 1)
      name = "0";
    else if (i == 0)
      emit_let(e, name, "%s/%llu", rest, (ull)below);
    else
      emit_let(e, name, "%s/%llu%%%llu", rest, (ull)below, (ull)tile->space.outer[i]);
    tile->outer_text[i] = name;
    below *= tile->space.outer[i];
  }
}

struct flag_pair {
  enum pipe from, to;
};

/* Who tells whom that a buffer is free, first on the way in, then on the way out. */
static unsigned free_flags(const struct vtile *tile, struct flag_pair pairs[2]) {
  unsigned count = 0;
  bool computes = tile->parts & VTILE_COMPUTES;
  if (tile->parts & VTILE_LOADS)
    pairs[count++] = (struct flag_pair){computes ? PIPE_V : PIPE_MTE3, PIPE_MTE2};
  if (computes && (tile->parts & VTILE_STORES))
    pairs[count++] = (struct flag_pair){PIPE_MTE3, PIPE_V};
  return count;
}

static const char *flag_text(struct emit *e, const struct vtile *tile) {
  if (tile->buffers == 1)
    return emit_text(e, "%u", tile->flag);
  return emit_text(e, tile->flag ? "%shalf+%u" : "%shalf", tile->prefix, tile->flag);
}

static void put_ends(struct emit *e, const struct vtile *tile, bool start) {
  struct flag_pair pairs[2];
  unsigned count = free_flags(tile, pairs);
  if (count == 0)
    return;
  emit_loop(e, emit_text(e, "%s%s", tile->prefix, start ? "first" : "last"), "%llu",
            (ull)tile->buffers);
  for (unsigned i = 0; i < count; i++) {
    const char *id = emit_text(e, "%s%s", tile->prefix, start ? "first" : "last");
    id = tile->flag ? emit_text(e, "%s+%u", id, tile->flag) : id;
    if (start)
      emit_set_flag(e, pairs[i].from, pairs[i].to, "%s", id);
    else
      emit_wait_flag(e, pairs[i].from, pairs[i].to, "%s", id);
  }
  emit_endloop(e);
}

void vtile_open(struct emit *e, struct vtile *tile) {
  const char *p = tile->prefix;
  emit_comment(e, "Buffers are free at the start.");
  put_ends(e, tile, true);
  if (tile->tiles == tile->blocks * tile->per_block)
    emit_loop(e, emit_text(e, "%si", p), "%llu", (ull)tile->per_block);
  else
    emit_loop(e, emit_text(e, "%si", p), "min(%llu,%llu-blk*%llu)", (ull)tile->per_block,
              (ull)tile->tiles, (ull)tile->per_block);
  emit_let(e, emit_text(e, "%st", p), "blk*%llu+%si", (ull)tile->per_block, p);
  put_position(e, tile);
  tile->slot_text = emit_text(e, "%llu", (ull)tile->slot_address);
  if (tile->buffers > 1) {
    emit_let(e, emit_text(e, "%shalf", p), "%si%%%llu", p, (ull)tile->buffers);
    tile->slot_text = emit_text(e, "%shalf*%llu", p, (ull)tile->slot_bytes);
    if (tile->slot_address)
      tile->slot_text = emit_text(e, "%s+%llu", tile->slot_text, (ull)tile->slot_address);
  }
  if (tile->parts & VTILE_LOADS)
    emit_wait_flag(e, tile->parts & VTILE_COMPUTES ? PIPE_V : PIPE_MTE3, PIPE_MTE2, "%s",
                   flag_text(e, tile));
}

void vtile_loaded(struct emit *e, struct vtile *tile) {
  const char *id = flag_text(e, tile);
  bool computes = tile->parts & VTILE_COMPUTES;
  enum pipe next = computes ? PIPE_V : PIPE_MTE3;
  if (tile->parts & VTILE_LOADS) {
    emit_set_flag(e, PIPE_MTE2, next, "%s", id);
    emit_wait_flag(e, PIPE_MTE2, next, "%s", id);
  }
  if (computes && (tile->parts & VTILE_STORES))
    emit_wait_flag(e, PIPE_MTE3, PIPE_V, "%s", id);
}

void vtile_computed(struct emit *e, struct vtile *tile) {
  const char *id = flag_text(e, tile);
  if (!(tile->parts & VTILE_COMPUTES))
    return;
  if (tile->parts & VTILE_LOADS)
    emit_set_flag(e, PIPE_V, PIPE_MTE2, "%s", id);
  if (tile->parts & VTILE_STORES) {
    emit_set_flag(e, PIPE_V, PIPE_MTE3, "%s", id);
    emit_wait_flag(e, PIPE_V, PIPE_MTE3, "%s", id);
  }
}

void vtile_close(struct emit *e, struct vtile *tile) {
  if (tile->parts & VTILE_STORES)
    emit_set_flag(e, PIPE_MTE3, tile->parts & VTILE_COMPUTES ? PIPE_V : PIPE_MTE2, "%s",
                  flag_text(e, tile));
  emit_endloop(e);
  emit_comment(e, "Take back what is left set.");
  put_ends(e, tile, false);
}

/* ---- copies -------------------------------------------------------------------- */

const char *vtile_copy_name(bool to_gm, enum dtype dtype) {
  static const char *const names[2][3] = {
      {"copy_gm_to_ubuf_align_b8", "copy_gm_to_ubuf_align_b16", "copy_gm_to_ubuf_align_b32"},
      {"copy_ubuf_to_gm_align_b8", "copy_ubuf_to_gm_align_b16", "copy_ubuf_to_gm_align_b32"},
  };
  unsigned bytes = vtile_bytes(dtype);
  return names[to_gm][bytes >= 4 ? 2 : bytes - 1];
}

/* "index*step" onto a sum. */
static const char *plus(struct emit *e, const char *sum, const char *index, uint64_t step) {
  if (step == 0 || (index[0] == '0' && index[1] == '\0'))
    return sum;
  return emit_text(e, "%s+%s*%llu", sum, index, (ull)step);
}

const char *vtile_offset(struct emit *e, const struct vtile *tile,
                         const struct vtile_operand *operand) {
  uint64_t bytes = vtile_bytes(operand->dtype);
  const char *sum = emit_text(e, "%s", operand->name);
  if (operand->base)
    sum = emit_text(e, "%s+%llu", sum, (ull)(operand->base * bytes));
  for (unsigned i = 0; i < tile->space.outers; i++)
    sum = plus(e, sum, tile->outer_text[i], operand->outer_stride[i] * bytes);
  sum = plus(e, sum, tile->row_text, operand->row_stride * bytes);
  if (operand->bits)
    return emit_text(e, "%s+%s/%d", sum, tile->col_text, BITS_PER_BYTE);
  return plus(e, sum, tile->col_text, operand->col_stride * bytes);
}

static bool is_number(const char *text) {
  while (*text >= '0' && *text <= '9')
    text++;
  return *text == '\0';
}

static uint64_t number_of(const char *text) {
  uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; text++)
    value = value * 10 + (uint64_t)(*text - '0');
  return value;
}

/* Bursts of one copy: how many, how many bytes, gaps on both sides; "" where there is none. */
struct bursts {
  const char *count, *bytes, *gm_gap, *ub_gap, *pad;
};

static const char *pad_text(struct emit *e, const char *bytes, unsigned element_bytes) {
  unsigned unit = element_bytes > 4 ? 4 : element_bytes;
  if (!is_number(bytes))
    return emit_text(e, ",right_pad=(%d-(%s)%%%d)%%%d/%u", BLOCK_BYTES, bytes, BLOCK_BYTES,
                     BLOCK_BYTES, unit);
  uint64_t pad = (BLOCK_BYTES - number_of(bytes) % BLOCK_BYTES) % BLOCK_BYTES / unit;
  return pad ? emit_text(e, ",right_pad=%llu", (ull)pad) : "";
}

static const char *times(struct emit *e, const char *text, uint64_t factor) {
  if (is_number(text))
    return emit_text(e, "%llu", (ull)(number_of(text) * factor));
  return emit_text(e, factor == 1 ? "%s" : "%s*%llu", text, (ull)factor);
}

/* Rows of cols elements at strides on both sides. */
static void row_bursts(struct emit *e, const struct vtile *tile,
                       const struct vtile_operand *operand, struct bursts *bursts) {
  uint64_t size = vtile_bytes(operand->dtype), pitch = operand->pitch * size;
  bursts->count = emit_text(e, ",n_burst=%s", tile->rows_text);
  bursts->bytes = times(e, tile->cols_text, size);
  if (is_number(bursts->bytes)) {
    uint64_t bytes = number_of(bursts->bytes);
    uint64_t gap = (pitch - round_up(bytes, BLOCK_BYTES)) / BLOCK_BYTES;
    uint64_t gm = operand->row_stride * size - bytes;
    bursts->ub_gap = gap ? emit_text(e, "%llu", (ull)gap) : "";
    bursts->gm_gap = gm ? emit_text(e, "%llu", (ull)gm) : "";
    return;
  }
  bursts->ub_gap = emit_text(e, "%llu-(%s+%d)/%d", (ull)(pitch / BLOCK_BYTES), bursts->bytes,
                             BLOCK_BYTES - 1, BLOCK_BYTES);
  bursts->gm_gap = emit_text(e, "%llu-%s", (ull)(operand->row_stride * size), bursts->bytes);
}

static struct bursts bursts_of(struct emit *e, const struct vtile *tile,
                               const struct vtile_operand *operand) {
  uint64_t size = vtile_bytes(operand->dtype);
  struct bursts bursts = {.count = "", .gm_gap = "", .ub_gap = ""};
  bool single_row = tile->rows == 1 || operand->row_stride == 0;
  bool packed = tile->col_tiles == 1 && operand->pitch == tile->space.cols &&
                operand->row_stride == tile->space.cols;
  if (operand->bits)
    bursts.bytes = emit_text(e, "(%s+%d)/%d", tile->cols_text, BITS_PER_BYTE - 1, BITS_PER_BYTE);
  else if (operand->col_stride == 0)
    bursts.bytes =
        operand->row_stride ? times(e, tile->rows_text, size) : emit_text(e, "%llu", (ull)size);
  else if (single_row)
    bursts.bytes = times(e, tile->cols_text, size);
  else if (packed)
    bursts.bytes = times(e, tile->rows_text, size * tile->space.cols);
  else
    row_bursts(e, tile, operand, &bursts);
  bursts.pad = pad_text(e, bursts.bytes, (unsigned)size);
  return bursts;
}

static const char *gap_text(struct emit *e, const char *name, const char *value) {
  return *value ? emit_text(e, ",%s=%s", name, value) : "";
}

static const char *in_slot(struct emit *e, const struct vtile *tile, uint64_t address) {
  return address ? emit_text(e, "%s+%llu", tile->slot_text, (ull)address) : tile->slot_text;
}

void vtile_load(struct emit *e, const struct vtile *tile, const struct vtile_operand *operand) {
  struct bursts bursts = bursts_of(e, tile, operand);
  emit_row(e, "%s,dst=%s,src=%s%s,len_burst=%s%s%s%s", vtile_copy_name(false, operand->dtype),
           in_slot(e, tile, operand->address), vtile_offset(e, tile, operand), bursts.count,
           bursts.bytes, gap_text(e, "src_gap", bursts.gm_gap),
           gap_text(e, "dst_gap", bursts.ub_gap), bursts.pad);
}

void vtile_store(struct emit *e, const struct vtile *tile, const struct vtile_operand *operand) {
  struct bursts bursts = bursts_of(e, tile, operand);
  emit_row(e, "%s,dst=%s,src=%s%s,len_burst=%s%s%s", vtile_copy_name(true, operand->dtype),
           vtile_offset(e, tile, operand), in_slot(e, tile, operand->address), bursts.count,
           bursts.bytes, gap_text(e, "src_gap", bursts.ub_gap),
           gap_text(e, "dst_gap", bursts.gm_gap));
}

/* ---- keys and cost --------------------------------------------------------------- */

void vtile_take(const struct lower_job *job, size_t first, struct vtile *tile) {
  tile->rows = job->value[first + VTILE_KEY_ROWS].size;
  tile->cols = job->value[first + VTILE_KEY_COLS].size;
  tile->blocks = job->value[first + VTILE_KEY_BLOCKS].size;
  tile->buffers = job->value[first + VTILE_KEY_BUFFERS].size;
}

void vtile_give(struct lower_job *job, size_t first, const struct vtile *tile) {
  const uint64_t sizes[VTILE_KEYS] = {tile->rows, tile->cols, tile->blocks, tile->buffers};
  for (size_t i = 0; i < VTILE_KEYS; i++)
    job->value[first + i] = (struct lower_value){.present = true, .size = sizes[i]};
}

void vtile_fit(const struct lower_job *job, size_t first, struct vtile *tile) {
  const struct lower_value *value = &job->value[first];
  if (value[VTILE_KEY_ROWS].given)
    tile->rows = value[VTILE_KEY_ROWS].size;
  if (value[VTILE_KEY_COLS].given)
    tile->cols = value[VTILE_KEY_COLS].size;
  vtile_counts(tile);
  tile->blocks = min_u64(tile->blocks, tile->tiles);
}

static uint64_t without_start(const struct path_cost *path, uint64_t cycles, uint64_t copies) {
  uint64_t start = (uint64_t)path->startup_mcycles, next = (uint64_t)path->overlap_issue_mcycles;
  return copies > 0 && start > next ? cycles - (start - next) / MILLI : cycles;
}

/*
 * From tile to tile with two buffers: the busiest pipe, on which a copy starts behind the one
 * before it, or half the time for which a buffer is not free for the next but one.
 */
static uint64_t steady_cycles(const struct vinci_soc *soc, const struct vtile_work *work,
                              uint64_t in, uint64_t out) {
  uint64_t busiest = max_u64(without_start(&soc->path[PATH_GM_UB], in, work->in_copies),
                             without_start(&soc->path[PATH_UB_GM], out, work->out_copies));
  uint64_t held = work->vector_cycles + max_u64(in, out);
  return max_u64(max_u64(busiest, work->vector_cycles), ceil_div(held, 2));
}

void vtile_cost(struct lower_job *job, const struct vtile *tile, const struct vtile_work *work) {
  const struct vinci_soc *soc = job->soc;
  uint64_t in =
      estimate_copies(&soc->path[PATH_GM_UB], work->in_bytes + work->in_beyond, work->in_copies);
  uint64_t out =
      estimate_copies(&soc->path[PATH_UB_GM], work->out_bytes + work->out_beyond, work->out_copies);
  uint64_t one = in + out + work->vector_cycles;
  uint64_t longest = steady_cycles(soc, work, in, out);
  uint64_t bytes = tile->tiles * (work->in_bytes + work->out_bytes);
  uint64_t memory =
      estimate_memory(soc, tile->tiles * work->in_bytes, tile->tiles * work->out_bytes);
  uint64_t turns = (tile->per_block - 1) * (tile->buffers > 1 ? longest : one);
  uint64_t blocks = work->launched ? work->launched : tile->blocks;
  turns += work->goes_on ? 0 : launch_spread_cycles(soc, blocks);
  uint64_t start = work->goes_on ? 0 : estimate_start(soc, work->code, blocks);
  job->cost = (struct lower_cost){
      .total_cycles = start + max_u64(turns, memory) + one + tile->per_block * TURN_CYCLES,
      .vector_cycles = tile->per_block * work->vector_cycles,
      .mte2_cycles = tile->per_block * in,
      .mte3_cycles = tile->per_block * out,
      .gm_bytes = bytes,
      .blocks = (uint32_t)tile->blocks,
  };
}
