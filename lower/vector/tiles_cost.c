/* SPDX-License-Identifier: Apache-2.0 */
/* What tiles of vector and data-movement operators are expected to cost. */
#include "core/base/arith.h"
#include "core/isa/isa.h"
#include "lower/estimate/estimate.h"
#include "lower/select/select.h"
#include "lower/vector/tiles.h"

static uint64_t without_start(const struct path_cost *path, uint64_t cycles, uint64_t copies) {
  uint64_t hidden_mcycles = (uint64_t)path->startup_mcycles - estimate_next_mcycles(path);
  return copies > 0 ? cycles - hidden_mcycles / MILLI : cycles;
}

/* Cycles of one tile on the pipes; that the scalar unit takes to issue all of that. */
struct tile_cycles {
  uint64_t in, compute, out, acknowledge, issue;
};

/* How long the vector unit is at work before the scalar unit gets to the copies of the next tile:
 * until the queue holds what is left of the instructions. */
static uint64_t queued_cycles(const struct vinci_soc *soc, const struct vtile_work *work) {
  uint64_t queue = soc_queue_depth(soc, PIPE_V);
  if (work->instructions <= queue)
    return 0;
  return work->vector_cycles * (work->instructions - queue) / work->instructions;
}

/*
 * From tile to tile. With two buffers: the busiest pipe, on which a copy starts behind the one
 * before it, or half the time for which a buffer is not free for the tile after the next. With one
 * buffer the next tile comes in while results go out, if these have a place of their own.
 */
static uint64_t turn_cycles(const struct vinci_soc *soc, const struct vtile *tile,
                            const struct vtile_work *work, const struct tile_cycles *cycles) {
  uint64_t in = cycles->in, out = cycles->out + cycles->acknowledge;
  uint64_t held = cycles->compute + (tile->parts & VTILE_COMPUTES ? max_u64(in, out) : in + out);
  uint64_t busiest = max_u64(without_start(&soc->path[PATH_GM_UB], in, work->in_copies),
                             without_start(&soc->path[PATH_UB_GM], cycles->out, work->out_copies));
  /* Ends of rows come back through the engine that loads, behind the next tile, see select.c. */
  if (work->out_cut > 0 && !select_has(soc, OP_COPY_UBUF_TO_GM_ALIGN_B8))
    busiest = in + out;
  if (tile->buffers == 1)
    return max_u64(held, cycles->issue);
  busiest = max_u64(busiest, max_u64(cycles->compute, cycles->issue));
  uint64_t queued = queued_cycles(soc, work);
  busiest = max_u64(busiest, queued > 0 ? queued + in : 0);
  return max_u64(busiest, ceil_div(held, 2));
}

/* A copy with bursts that cut blocks. Chips that copy whole blocks alone have an instruction for
 * each, and to device memory another for its end. */
static uint64_t copy_cycles(const struct vinci_soc *soc, enum path path, uint64_t bytes,
                            uint64_t copies, uint64_t cut) {
  const struct path_cost *cost = &soc->path[path];
  uint64_t each = (uint64_t)cost->unaligned_mcycles;
  if (!select_has(soc, OP_COPY_GM_TO_UBUF_ALIGN_B8))
    each = (uint64_t)cost->startup_mcycles * (path == PATH_UB_GM ? 2 : 1);
  return estimate_copies(cost, bytes, copies) + cut * each / MILLI;
}

/* The scalar unit issues copies while the first of them move, then what the vector unit does: two
 * flags between each two pipes and for each free buffer, and its instructions. */
static struct tile_cycles cycles_of(const struct vinci_soc *soc, const struct vtile_work *work) {
  enum { FLAGS = 8 };
  uint64_t each = kernel_issue_cycles(soc, work->code);
  uint64_t vector_issue = each * (FLAGS + work->instructions);
  struct tile_cycles cycles = {
      .in = copy_cycles(soc, PATH_GM_UB, work->in_bytes + work->in_beyond, work->in_copies,
                        work->in_cut),
      .out = copy_cycles(soc, PATH_UB_GM, work->out_bytes + work->out_beyond, work->out_copies,
                         work->out_cut),
      .compute = max_u64(work->vector_cycles, vector_issue),
      .acknowledge = (uint64_t)soc->path[PATH_UB_GM].acknowledge_mcycles / MILLI,
      .issue = vector_issue + each * (work->in_copies + work->out_copies)};
  uint64_t index = estimate_copies(&soc->path[PATH_GM_UB], 0, work->index_copies);
  cycles.in = max_u64(cycles.in, each * work->in_copies) + index;
  cycles.issue += index;
  cycles.out = max_u64(cycles.out, each * work->out_copies);
  return cycles;
}

/*
 * Tiles of a core behind its first, in thousandths: those at the end of rows and columns are
 * smaller, and a core that walks from end to end meets them.
 */
static uint64_t mtiles_behind(const struct vtile *tile) {
  const struct vtile_space *space = &tile->space;
  uint64_t behind = tile->per_block - 1, period = tile->row_tiles * tile->col_tiles;
  uint64_t mrows = MILLI * (tile->row_tiles * tile->rows - space->rows) / tile->rows;
  uint64_t mcols = MILLI * (tile->col_tiles * tile->cols - space->cols) / tile->cols;
  uint64_t less = tile->per_block / tile->col_tiles * mcols +
                  tile->per_block / period * tile->col_tiles * mrows;
  return behind * MILLI - min_u64(less, behind * MILLI);
}

/* Bytes of N in each full tile that a core has on the mean. */
static uint64_t mean_bytes(const struct vtile *tile, uint64_t tile_bytes) {
  uint64_t full = tile->row_tiles * tile->rows * tile->col_tiles * tile->cols;
  uint64_t bytes = tile->tiles * tile_bytes;
  return (uint64_t)((uint128)bytes * (tile->space.rows * tile->space.cols) / full / tile->blocks);
}

static uint64_t launched_of(const struct vtile *tile, const struct vtile_work *work) {
  return work->launched ? work->launched : tile->blocks;
}

/* Of all cores, from the start of the first up to the last read of the last; what L2 cannot hold of
 * the results goes to device memory as well. */
static uint64_t reads_cycles(const struct vinci_soc *soc, const struct vtile *tile,
                             const struct vtile_work *work, const struct tile_cycles *cycles,
                             uint64_t turn) {
  uint64_t l2_bytes = (uint64_t)soc->l2_bytes / tile->blocks;
  uint64_t new_bytes = work->in_bytes - min_u64(work->again_bytes, work->in_bytes);
  uint64_t in_bytes = mean_bytes(tile, new_bytes);
  uint64_t out_bytes = mean_bytes(tile, work->out_bytes);
  uint64_t bytes = in_bytes + (out_bytes > l2_bytes ? out_bytes - l2_bytes : 0);
  uint64_t first_bytes = min_u64(new_bytes, bytes);
  const struct estimate_flow flow = {
      .kind = emit_vector_core(soc),
      .launched = work->goes_on ? 0 : launched_of(tile, work),
      .cores = tile->blocks,
      .in_bytes = first_bytes,
      .in_cycles = cycles->in,
      .ahead_bytes = tile->buffers > 1 && tile->per_block > 1 ? first_bytes : 0,
      .rest_bytes = bytes - first_bytes,
      .rest_cycles = mtiles_behind(tile) * turn / MILLI,
      .turn_cycles = turn,
      .out_cycles = cycles->out,
      .moving_cycles = work->out_bytes * MILLI / (uint64_t)soc->path[PATH_UB_GM].mbytes_per_cycle,
      .beside_cycles = tile->parts & VTILE_COMPUTES ? cycles->out : 0,
      .out_pieces = max_u64(work->out_copies, ceil_div(work->out_bytes, FLOW_PIECE_BYTES)),
  };
  return estimate_flow(soc, &flow);
}

/* By how much the last core, which has the rest of the tiles, is sooner done than another; not more
 * than that other core starts before. */
static uint64_t sooner_cycles(const struct vinci_soc *soc, const struct vtile *tile, uint64_t turn,
                              uint64_t blocks) {
  uint64_t lacking = tile->per_block * tile->blocks - tile->tiles;
  if (blocks < 2 || blocks != tile->blocks || lacking >= tile->per_block)
    return 0;
  uint64_t mfull = MILLI * (tile->space.rows - (tile->row_tiles - 1) * tile->rows) / tile->rows *
                   (tile->space.cols - (tile->col_tiles - 1) * tile->cols) / tile->cols;
  if (tile->per_block < tile->row_tiles * tile->col_tiles)
    lacking = lacking * MILLI + MILLI - min_u64(mfull, MILLI);
  else
    lacking *= MILLI;
  enum core_kind kind = emit_vector_core(soc);
  uint64_t before = launch_block_cycles(soc, kind, blocks, blocks - 1) -
                    launch_block_cycles(soc, kind, blocks, blocks - 2);
  return min_u64(before, lacking * turn / MILLI);
}

/* The core that starts last ends last: the last tile is computed and goes out behind all reads. */
void vtile_cost(struct lower_job *job, const struct vtile *tile, const struct vtile_work *work) {
  const struct vinci_soc *soc = job->soc;
  const struct tile_cycles cycles = cycles_of(soc, work);
  uint64_t blocks = launched_of(tile, work), start = 0;
  if (!work->goes_on)
    start = estimate_start(soc, work->code, blocks) +
            (work->in_copies > 0 ? estimate_first_read(soc, blocks) : 0);
  /* Behind the first tile: with two buffers the scalar unit is ahead but for the flags of a tile.
   */
  enum { TURN_FLAGS = 2 };
  uint64_t flags = TURN_FLAGS * kernel_issue_cycles(soc, work->code);
  uint64_t scalar =
      (tile->per_block - 1) * (tile->buffers > 1 ? flags : (uint64_t)soc->kernel_turn_cycles);
  uint64_t turn = turn_cycles(soc, tile, work, &cycles);
  job->cost = (struct lower_cost){
      .total_cycles = start + reads_cycles(soc, tile, work, &cycles, turn) + cycles.compute +
                      cycles.out + cycles.acknowledge + scalar -
                      (work->goes_on ? 0 : sooner_cycles(soc, tile, turn, blocks)),
      .vector_cycles = tile->per_block * work->vector_cycles,
      .mte2_cycles = tile->per_block * cycles.in,
      .mte3_cycles = tile->per_block * cycles.out,
      .gm_bytes = tile->tiles * (work->in_bytes + work->out_bytes),
      .blocks = (uint32_t)blocks,
  };
}
