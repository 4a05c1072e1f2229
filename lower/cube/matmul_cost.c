/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tilings of matmul are expected to cost, and what the estimate of conv2d_backprop_filter has
 * in common with that.
 *
 * A block takes as long as its busiest pipe. MTE2 pays a start-up for each panel and moves bytes at
 * the rate of a hit in L2, of a miss for what no other core has fetched, or at the core's share of
 * L2, whichever is slowest; where L0C holds one block only, the cube waits while the fixpipe
 * empties L0C. The first panels come in, and the last turn is multiplied and its block leaves,
 * while other pipes idle. All cores together are no faster than device memory.
 */
#include "lower/cube/matmul_cost.h"
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/result/result.h"
#include "lower/cube/conv.h"
#include "lower/cube/matmul_tail.h"
#include "lower/estimate/estimate.h"
#include "lower/select/select.h"

uint64_t cube_cycles_at(uint64_t bytes, uint64_t mbytes_per_cycle) {
  return mbytes_per_cycle ? bytes * MILLI / mbytes_per_cycle : 0;
}

/* A chip-wide rate per core, in thousandths of a byte per cycle. */
static uint64_t share(const struct vinci_soc *soc, uint64_t bytes_per_second, uint64_t cores) {
  return max_u64(1, bytes_per_second / cores * MILLI / (uint64_t)soc->core_hz);
}

uint64_t cube_rate(const struct vinci_soc *soc, enum path path, uint64_t cores) {
  return min_u64((uint64_t)soc->path[path].mbytes_per_cycle,
                 share(soc, (uint64_t)soc->l2_bytes_per_second, cores));
}

static uint64_t startup(const struct vinci_soc *soc, enum path path) {
  return (uint64_t)soc->path[path].startup_mcycles;
}

/*
 * The scalar unit issues every instruction. Of a step in L0: two loads, a mad, and the flags
 * between MTE1 and M. Of a panel: the copy, and two flags, each set and waited for.
 */
enum { STEP_INSTRUCTIONS = 7, PANEL_INSTRUCTIONS = 5 };

/*
 * On coupled cores a load brings a row of fractals alone: of A 16 rows, but where load3d takes all
 * windows at once; of B what is one fractal deep, where B has to be transposed. The loads beyond
 * one of each.
 */
static uint64_t more_loads(const struct vinci_soc *soc, const struct matmul *mm,
                           const struct cube_round *round) {
  bool coupled = mm->coupled && !round->at_once;
  bool by_row = coupled && !(mm->conv && select_has(soc, OP_IMG2COLV2_CBUF_TO_CA));
  bool turned = coupled && (mm->conv ? mm->conv->gradient : !mm->trans_b);
  uint64_t rows = by_row ? ceil_div(round->m, FRACTAL_ROWS) - 1 : 0;
  return round->steps * rows +
         (turned ? round->k_tiles - min_u64(round->k_tiles, round->steps) : 0);
}

static uint64_t scalar_cycles(const struct vinci_soc *soc, const struct matmul *mm,
                              const struct cube_round *round) {
  return kernel_issue_cycles(soc, mm->conv ? KERNEL_CONV : KERNEL_CUBE) * round->count *
         (round->steps * STEP_INSTRUCTIONS + round->panels * PANEL_INSTRUCTIONS +
          more_loads(soc, mm, round));
}

void cube_cost_rounds(struct lower_job *job, const struct matmul *mm,
                      const struct cube_round *round) {
  const struct vinci_soc *soc = job->soc;
  uint64_t tiles = ceil_div(round->m, (uint64_t)soc->cube_m) *
                   ceil_div(round->n, (uint64_t)soc->cube_n) * round->k_tiles;
  uint64_t loads = round->steps * (startup(soc, PATH_L1_L0A) + startup(soc, PATH_L1_L0B)) / MILLI;
  job->cost.cube_cycles =
      round->count * (tiles * mm->cube_mcycles + round->steps * (uint64_t)soc->cube_issue_mcycles) /
      MILLI;
  job->cost.scalar_cycles = scalar_cycles(soc, mm, round);
  job->cost.mte1_cycles =
      round->count *
      (cube_cycles_at(round->a_bytes, (uint64_t)soc->path[PATH_L1_L0A].mbytes_per_cycle) +
       cube_cycles_at(round->b_bytes, (uint64_t)soc->path[PATH_L1_L0B].mbytes_per_cycle) + loads);
  job->cost.share_cycles =
      max_u64(max_u64(job->cost.cube_cycles, job->cost.mte1_cycles), job->cost.scalar_cycles) /
      round->count;
}

uint64_t cube_store_cycles(const struct vinci_soc *soc, enum path path, uint64_t bytes,
                           uint64_t cores) {
  return startup(soc, path) / MILLI + cube_cycles_at(bytes, cube_rate(soc, path, cores));
}

uint64_t cube_split_cycles(const struct vinci_soc *soc, uint64_t bytes) {
  return cube_cycles_at(bytes, (uint64_t)soc->split_mbytes_per_cycle);
}

/*
 * Loads and products of a block in panels `deep` of k, two of which L1 holds: while one is
 * multiplied the next comes in, and the last of a block may be shorter. From the first panel on.
 */
static uint64_t panels_cycles(const struct cube_line *line, uint64_t deep, uint64_t loads,
                              uint64_t compute) {
  uint64_t count = ceil_div(line->depth, deep), rest = line->depth - (count - 1) * deep;
  uint64_t load = loads / line->blocks, mul = compute / line->blocks;
  if (count == 1)
    return (line->blocks - 1) * max_u64(load, mul) + mul;
  uint64_t long_load = load * deep / line->depth, short_load = load * rest / line->depth;
  uint64_t long_mul = mul * deep / line->depth, short_mul = mul * rest / line->depth;
  uint64_t wrap = max_u64(long_load, short_mul);
  return line->blocks *
             ((count - 2) * max_u64(long_load, long_mul) + max_u64(short_load, long_mul) + wrap) -
         wrap + short_mul;
}

/* Cores that are launched first have a block more where cores walk through blocks together, or a
 * larger block. How much earlier than the last they start counts, up to the time of a block. */
static uint64_t early_cycles(const struct lower_job *job, const struct matmul_tiling *t,
                             const struct cube_line *line, uint64_t block_cycles) {
  enum core_kind kind = emit_cube_core(job->soc);
  uint64_t more = t->blocks_total % t->cores;
  if (more == 0 && line->is_cut)
    more = t->cores - 1;
  if (t->resident != RESIDENT_NONE || more == 0)
    return 0;
  return min_u64(block_cycles, launch_spread_cycles(job->soc, kind, t->cores) -
                                   launch_block_cycles(job->soc, kind, t->cores, more - 1));
}

static uint64_t product_cycles(const struct lower_job *job, const struct matmul_tiling *t,
                               const struct cube_line *line) {
  const struct lower_cost *cost = &job->cost;
  uint64_t cube = cost->cube_cycles, fix = cost->fix_cycles;
  uint64_t launch = start_spread_cycles(job->soc, KERNEL_CUBE, t->cores);
  /* One step is on its way to L0 before the first mad, or multiplied behind the last load. */
  uint64_t step = min_u64(cube, cost->mte1_cycles) / line->steps;
  if (t->c_slots == 1)
    cube += fix + line->blocks * line->block_start;
  uint64_t products = max_u64(cube, cost->mte1_cycles);
  uint64_t compute = max_u64(products, cost->scalar_cycles);
  uint64_t last = fix / line->blocks;
  /* Behind the last outer panel: its inner ones, and the last products; or all of its products.
   * Their instructions wait in the queues by then. */
  uint64_t inner = line->group_cycles;
  uint64_t tail = max_u64(inner + products / line->turns, products / line->groups);
  uint64_t by_loads = cost->mte2_cycles - inner + tail + last;
  uint64_t by_panels =
      max_u64(panels_cycles(line, line->outer_k, cost->mte2_cycles, compute),
              panels_cycles(line, line->inner_k, line->groups * line->group_cycles, compute));
  uint64_t by_cube = line->first_cycles + max_u64(compute, by_panels) + last;
  uint64_t by_stores = line->first_cycles + compute / line->blocks + fix;
  uint64_t work = max_u64(max_u64(by_loads, by_cube), by_stores);
  /* Device memory is at work while cores are launched. */
  uint64_t spread = launch_spread_cycles(job->soc, emit_cube_core(job->soc), t->cores);
  uint64_t idle = estimate_memory_idle(line->device_cycles, spread, work);
  uint64_t by_device = line->device_cycles + tail + last + idle;
  by_device -= min_u64(by_device, spread);
  return max_u64(work - early_cycles(job, t, line, work / line->blocks), by_device) + step + launch;
}

uint64_t cube_total_cycles(const struct lower_job *job, const struct matmul_tiling *t,
                           const struct cube_line *line) {
  const struct lower_cost *cost = &job->cost;
  uint64_t emptied = t->c_slots == 1 ? cost->fix_cycles + line->blocks * line->block_start : 0;
  uint64_t busiest = max_u64(max_u64(cost->cube_cycles + emptied, cost->mte1_cycles),
                             max_u64(cost->mte2_cycles, cost->fix_cycles));
  busiest = max_u64(busiest, cost->scalar_cycles) + cost->fix_cycles / line->blocks +
            start_spread_cycles(job->soc, KERNEL_CUBE, t->cores);
  return max_u64(busiest, line->device_cycles) + cost->mte2_cycles / line->groups;
}

/* ---- MTE2 ---- */

/* Start-up of one panel. */
static uint64_t panel_start(const struct vinci_soc *soc) {
  return startup(soc, PATH_GM_L1) / MILLI;
}

struct load {
  uint64_t panels, copies; /* of one core */
  uint64_t bytes;          /* of one core */
  uint64_t unique;         /* of the operand */
  uint64_t row;            /* bytes of a row in a panel */
  uint64_t stride;         /* bytes from row to row; 0: not known */
  uint64_t run;            /* bytes that follow each other in device memory; 0: many */
  uint64_t piece;          /* bytes of these that one copy takes; 0: all */
  bool nz;
  /* Copies of coupled cores follow each other without the latency of each. Those of convolutions do
   * too, but their panels wait for room in L1: with the start-up of each, tilings of networks are
   * 1 to 5 % faster. */
  bool follows;
};

/*
 * Copies that reorder rows overlap: with two panels in L1, one starts up while the engine takes the
 * lines of the other. What a copy has of start-up beyond that shows in half.
 */
static uint64_t reorder_cycles(const struct vinci_soc *soc, const struct load *load,
                               uint64_t byte_cycles) {
  uint64_t row_bytes = max_u64(load->row, 1);
  uint64_t rows = ceil_div(load->bytes, row_bytes);
  uint64_t moving = max_u64(estimate_reorder(soc, rows, row_bytes, load->stride), byte_cycles);
  uint64_t starts = load->copies * panel_start(soc);
  return soc->path[PATH_GM_L1].overlap_issue_mcycles > 0 ? max_u64(moving, (moving + starts) / 2)
                                                         : moving + starts;
}

/* Of one core, for what no core has read before. */
static uint64_t miss_rate(const struct vinci_soc *soc, uint64_t cores) {
  uint64_t miss = (uint64_t)soc->path[PATH_GM_L1].hbm_mbytes_per_cycle;
  uint64_t rate = cube_rate(soc, PATH_GM_L1, cores);
  return miss ? min_u64(miss, rate) : rate;
}

/* L2 hands out whole granules: what is narrower than one takes as long as the granules. */
static uint64_t in_granules(uint64_t value, uint64_t run_bytes) {
  return run_bytes > 0 ? value * round_up(run_bytes, L2_GRANULE_BYTES) / run_bytes : value;
}

/* Copies that follow each other: those of a panel all do, and with two panels in L1 the start-up of
 * one shows in half, as for copies that reorder rows. */
static uint64_t following_cycles(const struct vinci_soc *soc, const struct load *load,
                                 uint64_t byte_cycles) {
  uint64_t next = estimate_next_mcycles(&soc->path[PATH_GM_L1]);
  uint64_t moving = max_u64(byte_cycles, load->copies * next / MILLI);
  return max_u64(moving + panel_start(soc), (moving + load->panels * panel_start(soc)) / 2);
}

static uint64_t load_cycles(const struct vinci_soc *soc, const struct load *load, uint64_t cores) {
  uint64_t rate = cube_rate(soc, PATH_GM_L1, cores);
  uint64_t missed = min_u64(load->bytes, load->unique / cores);
  uint64_t cycles =
      cube_cycles_at(load->bytes - missed, rate) + cube_cycles_at(missed, miss_rate(soc, cores));
  cycles = in_granules(cycles, load->run);
  /* What one copy leaves of a granule the next ones take from L2. */
  if (load->piece > 0)
    cycles += cube_cycles_at(in_granules(load->bytes, load->piece), rate) -
              cube_cycles_at(in_granules(load->bytes, load->run), rate);
  if (load->follows)
    return following_cycles(soc, load, cycles);
  return load->nz ? load->copies * panel_start(soc) + cycles : reorder_cycles(soc, load, cycles);
}

/* Blocks of the busiest core, and how often it loads an operand for them. */
static uint64_t blocks_per_core(const struct matmul_tiling *t) {
  return ceil_div(t->blocks_total, t->cores);
}

static uint64_t loads_of(const struct matmul_tiling *t, bool is_a) {
  uint64_t blocks = blocks_per_core(t), run = is_a ? t->nt : t->mt;
  bool held = t->resident == (is_a ? RESIDENT_A : RESIDENT_B);
  return held ? min_u64(blocks, ceil_div(blocks - 1, run) + 1) : blocks;
}

/* Of one batch of A. */
static uint64_t a_bytes(const struct matmul *mm, uint64_t k) {
  const struct conv *conv = mm->conv;
  return conv ? conv->c1 * conv->h * conv->w * conv->point_bytes : mm->m * k * mm->element_bytes;
}

/* A block of channels of a panel as a row. */
static void as_rows(const struct matmul *mm, const struct matmul_tiling *t, bool is_a,
                    struct load *load) {
  const struct conv *conv = mm->conv;
  uint64_t blocks = is_a ? conv_rows(conv, t->rows) * conv->w : min_u64(t->bn, mm->n);
  load->nz = false;
  load->row = blocks * BLOCK_BYTES;
  load->stride = (is_a ? conv_map_blocks(conv) : round_up(mm->n, FRACTAL_ROWS)) * BLOCK_BYTES;
}

/* B comes from vector cores, of bytes, and is in L2. */
static bool is_made(const struct matmul *mm) { return mm->vectors && mm->vectors->make_b; }

/* Of all panels; what the first of them takes, and the inner ones of a group, go to line. */
static uint64_t operand_cycles(const struct lower_job *job, const struct matmul_tiling *t,
                               bool is_a, struct cube_line *line) {
  const struct matmul *mm = job->data;
  struct matmul_copies copies = matmul_copies(job->soc, mm, t, is_a);
  uint64_t all_k = round_up(mm->k, mm->c0), times = loads_of(t, is_a);
  uint64_t k_bytes = round_up(t->k, mm->c0) * mm->element_bytes;
  uint64_t count = is_a ? min_u64(t->bm, mm->m) : min_u64(t->bn, mm->n);
  uint64_t panels = times * (is_a == t->a_outer ? t->groups : t->turns);
  struct load load = {
      .panels = panels,
      .copies = panels * copies.count,
      .bytes =
          times * (is_a && mm->conv ? matmul_a_panel_bytes(mm, t->rows, t->k) : count * k_bytes),
      .unique = is_a          ? mm->a_batches * a_bytes(mm, all_k)
                : is_made(mm) ? 0
                              : mm->b_batches * mm->n * all_k * mm->element_bytes,
      .row = copies.row_bytes,
      .stride = mm->vectors ? 0 : copies.stride_bytes,
      .run = copies.run_bytes,
      .piece = copies.piece_bytes,
      .nz = (is_a ? mm->nz_a : mm->nz_b) || copies.way == COPY_BY_COLUMN,
      .follows = mm->coupled && !mm->conv,
  };
  if (t->by_rows)
    as_rows(mm, t, is_a, &load);
  uint64_t cycles = load_cycles(job->soc, &load, t->cores);
  /* Nothing of the first panel is in L2. */
  load.panels = 1;
  load.copies = copies.count;
  load.bytes /= panels;
  line->first_cycles += load_cycles(job->soc, &load, t->cores);
  if (is_a != t->a_outer)
    line->group_cycles = cycles / (times * t->groups);
  return cycles;
}

/* ---- all ---- */

/* What is read for an element of the result beside the product. */
static uint64_t added_bytes(const struct matmul *mm) {
  return mm->residual ? mm->element_bytes : matmul_tail_read_bytes(mm);
}

/* A residual is a small product for each 16 columns of a block; a load brings several of them. */
static void residual_core_cycles(struct lower_job *job, const struct cube_round *block) {
  const struct vinci_soc *soc = job->soc;
  const struct matmul *mm = job->data;
  uint64_t steps = block->count * matmul_residual_steps(mm, block->n);
  uint64_t tiles = ceil_div(block->m, (uint64_t)soc->cube_m), es = mm->element_bytes;
  if (!mm->residual)
    return;
  job->cost.cube_cycles +=
      steps * (tiles * mm->cube_mcycles + (uint64_t)soc->cube_issue_mcycles) / MILLI;
  job->cost.scalar_cycles += kernel_issue_cycles(soc, mm->conv ? KERNEL_CONV : KERNEL_CUBE) * steps;
  job->cost.mte1_cycles += steps * startup(soc, PATH_L1_L0A) / MILLI +
                           cube_cycles_at(block->count * block->m * block->n * es,
                                          (uint64_t)soc->path[PATH_L1_L0A].mbytes_per_cycle);
}

/* What does not depend on device memory. */
static void fill_core_pipes(struct lower_job *job, const struct matmul_tiling *t) {
  const struct matmul *mm = job->data;
  const struct vinci_soc *soc = job->soc;
  uint64_t blocks = blocks_per_core(t), es = mm->element_bytes;
  uint64_t m = min_u64(round_up(mm->m, FRACTAL_ROWS), t->bm);
  uint64_t n = min_u64(round_up(mm->n, FRACTAL_ROWS), t->bn);
  uint64_t k = round_up(t->k, mm->c0);
  const struct cube_round block = {.count = blocks,
                                   .m = m,
                                   .n = n,
                                   .k_tiles = k * es / (uint64_t)soc->cube_k_bytes,
                                   .steps = ceil_div(t->k, t->bk),
                                   .panels = t->groups + t->turns,
                                   .a_bytes = m * k * es,
                                   .b_bytes = n * k * es * (1 + mm->b_repeats)};
  cube_cost_rounds(job, mm, &block);
  residual_core_cycles(job, &block);
}

static void fill_gm_pipes(struct lower_job *job, const struct matmul_tiling *t,
                          struct cube_line *line) {
  const struct matmul *mm = job->data;
  const struct vinci_soc *soc = job->soc;
  uint64_t blocks = blocks_per_core(t);
  uint64_t m = min_u64(round_up(mm->m, FRACTAL_ROWS), t->bm);
  uint64_t n = min_u64(round_up(mm->n, FRACTAL_ROWS), t->bn);
  uint64_t bytes = m * n * (t->split > 1 ? ACCUMULATOR_BYTES : mm->out_bytes);
  enum path out = mm->coupled ? PATH_UB_GM : PATH_L0C_GM;
  uint64_t store = cube_store_cycles(soc, out, bytes, t->cores);
  if (mm->nz_c && mm->out_type == DTYPE_FP32 && !mm->coupled)
    store = max_u64(store, cube_split_cycles(soc, bytes));
  if (mm->coupled)
    store += matmul_coupled_line_cycles(soc, mm, min_u64(mm->m, t->rows)) +
             matmul_tail_cycles(soc, mm, m * n);
  job->cost.fix_cycles = blocks * max_u64((uint64_t)soc->path[out].minimum_mcycles / MILLI, store);
  uint64_t rows = (uint64_t)mm->bias + (mm->scale == SCALE_COLUMNS);
  line->first_cycles = rows * panel_start(soc);
  job->cost.mte2_cycles = blocks * line->first_cycles + operand_cycles(job, t, true, line) +
                          operand_cycles(job, t, false, line);
  uint64_t more = added_bytes(mm);
  if (more > 0)
    job->cost.mte2_cycles +=
        blocks * (panel_start(soc) + cube_cycles_at(m * n * more, miss_rate(soc, t->cores)));
}

/* Bytes between cores and device memory. */
static uint64_t gm_bytes(const struct matmul *mm, const struct matmul_tiling *t) {
  uint64_t results = mm->batch * mm->m * mm->n;
  uint64_t a_times = t->resident == RESIDENT_A ? 1 : t->nt;
  uint64_t b_times = (t->resident == RESIDENT_B ? 1 : t->mt) * mm->batch;
  uint64_t parts = t->split > 1 ? 2 * t->split * results * ACCUMULATOR_BYTES : 0;
  return mm->batch * a_bytes(mm, mm->k) * a_times + mm->n * mm->k * mm->element_bytes * b_times +
         results * (mm->out_bytes + added_bytes(mm)) + parts;
}

/* Of device memory, for each operand once; results stay in L2 but of kernels with vector cores. */
static uint64_t device_cycles(const struct vinci_soc *soc, const struct matmul *mm) {
  uint64_t results = mm->batch * mm->m * mm->n, es = mm->element_bytes;
  uint64_t read_bytes = results * added_bytes(mm) + mm->a_batches * a_bytes(mm, mm->k) +
                        mm->b_batches * mm->n * mm->k * (is_made(mm) ? 1 : es);
  uint64_t out_bytes = results * mm->out_bytes;
  return mm->vectors ? estimate_memory(soc, read_bytes + out_bytes, 0)
                     : estimate_memory(soc, read_bytes, out_bytes);
}

/* Blocks go from the cube core to the vector cores: these wait for the first block, and begin with
 * the last when the cube has ended. */
static uint64_t cycles_with_vectors(const struct vinci_soc *soc, const struct matmul_tiling *t,
                                    uint64_t total, uint64_t vectors, uint64_t blocks) {
  uint64_t launch = start_spread_cycles(soc, KERNEL_CUBE, t->cores), cube = total - launch;
  return launch + max_u64(cube + vectors / blocks, vectors + cube / blocks);
}

/* The wait of first reads, as far as it passes while the scalar unit works. */
static uint64_t early_read_cycles(const struct vinci_soc *soc, const struct matmul_tiling *t) {
  uint64_t wait = estimate_first_read(soc, t->cores);
  return t->early ? min_u64(wait, (uint64_t)soc->kernel[KERNEL_CONV].head_cycles) : 0;
}

/* Whether panels are deeper than all of k, and than whole panels of the other operand need. */
static bool is_wasteful(const struct matmul *mm, const struct matmul_tiling *t) {
  uint64_t all = mm->conv ? mm->k : round_up(mm->k, t->bk);
  return t->inner_k > all || t->outer_k > round_up(all, t->inner_k);
}

bool matmul_cost(struct lower_job *job) {
  const struct matmul *mm = job->data;
  const struct vinci_soc *soc = job->soc;
  struct lower_cost *cost = &job->cost;
  struct matmul_tiling t;
  if (!matmul_tiling(job, &t))
    return false;
  fill_core_pipes(job, &t);
  cost->total_cycles = blocks_per_core(&t) * cost->share_cycles;
  if (cost->total_cycles >= job->enough_cycles)
    return true;
  uint64_t blocks = blocks_per_core(&t);
  struct cube_line line = {.blocks = blocks,
                           .groups = blocks * t.groups,
                           .turns = blocks * t.turns,
                           .steps = blocks * ceil_div(t.k, t.bk),
                           .depth = t.k,
                           .outer_k = min_u64(t.k, t.outer_k),
                           .inner_k = min_u64(t.k, t.inner_k),
                           .device_cycles = device_cycles(soc, mm),
                           .is_cut = mm->m % t.rows || mm->n % t.bn,
                           .block_start = (uint64_t)soc->cube_startup_mcycles / MILLI};
  fill_gm_pipes(job, &t, &line);
  cost->wasteful = is_wasteful(mm, &t);
  cost->total_cycles =
      !mm->vectors ? product_cycles(job, &t, &line) : cube_total_cycles(job, &t, &line);
  cost->total_cycles -= early_read_cycles(soc, &t);
  if (t.split > 1)
    cost->total_cycles += matmul_split_cycles(soc, mm, &t);
  if (mm->vectors) {
    uint64_t vectors = mm->vectors->cycles(soc, mm, &t, blocks, loads_of(&t, false));
    cost->total_cycles =
        mm->vectors->make_b ? max_u64(cost->total_cycles, vectors) + cost->mte2_cycles / line.groups
                            : cycles_with_vectors(soc, &t, cost->total_cycles, vectors, blocks);
  }
  cost->blocks = (uint32_t)t.cores;
  cost->shares = t.split > 1 || matmul_is_flat(mm) ? 0 : t.blocks_total;
  cost->gm_bytes = gm_bytes(mm, &t);
  return true;
}
