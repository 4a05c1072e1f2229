/* SPDX-License-Identifier: Apache-2.0 */
/*
 * racecheck and initcheck on shadow memory.
 *
 * Two accesses to a byte, one of them a write, need an order (check_order.h). That holds
 * inside one pipe too: "in order" is not "finished", and only PipeBarrier makes sure that the
 * reads and writes of earlier instructions of a pipe are complete (Ascend C, intra-core
 * synchronization); the vendor's checker reports RAW, WAR and WAW there as well. Exceptions:
 * - mad after mad on the same accumulators needs no barrier when both have 10 tiles of 16 x 16
 *   or more (Ascend C, Mmad);
 * - mad and fixpipe that both carry the unit flag are ordered block by block by the hardware, and
 *   so are the mad that hands a block over and the next one with the flag: the machine executes
 *   them only when the block has changed sides (core/control/unit_flag.h);
 * - atomic stores to GM of the same operation and type commute. Such a store reads what lies
 *   there, so it comes after every other kind of access, and something must be there.
 *
 * Reading a byte that nothing has written since the block began (on-chip buffers) or at all
 * (GM tensors that are no inputs, but for their tails) is an error. Loads of L0A and L0B move whole
 * fractals, and rows of them that the operands do not fill have no part in a result that counts, so
 * there only fractals of which no byte is written are reported. Of the windows of load3d even fewer
 * are known to be used, so there only loads from what is not written at all.
 */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/check/check_flow.h"
#include "core/check/check_history.h"
#include "core/check/check_pads.h"
#include "core/check/check_shadow_fine.h"
#include "core/chip/layout.h"
#include "core/control/unit_flag.h"

/* Scalar code writes numbers here and there, and a page of many cells is long to change; pages of
 * large tensors would be many. */
enum { CHIP_PAGE_SHIFT = 14, GM_PAGE_SHIFT = 16, GM_PAGE_SHIFT_OF_CODE = 11 };
enum { SMALL_PAGES_BYTES_MAX = 1 << 28 };

/* What of an unwritten part counts: whole pieces, from the start of the run on. */
static void note_unwritten(struct visit *visit, uint64_t start, uint64_t end) {
  uint64_t first = (start - visit->run_start + visit->piece - 1) / visit->piece;
  uint64_t last = (end - visit->run_start) / visit->piece;
  if (first >= last)
    return;
  if (visit->unwritten == 0)
    visit->unwritten_at = (int64_t)(visit->target->base + visit->run_start + first * visit->piece);
  visit->unwritten += (last - first) * visit->piece;
}

/*
 * Bytes that were written from what nobody wrote. Instructions that only move them, or sum them up,
 * pass that on. The vector unit of coupled cores gets whole fractals of L0C, so what it makes of
 * hollow rows is not followed.
 */
static void look_at_hollow(struct visit *visit, const struct shadow_cell *cell, uint64_t start,
                           uint64_t end) {
  visit->holes = true;
  if (visit->passes || visit->step->pipe == PIPE_V)
    return;
  if (visit->hollow.epoch == 0)
    visit->hollow = cell->write;
  note_unwritten(visit, start, end);
}

/* Of an access that wants something to be there. */
static void look_for_writes(struct visit *visit, const struct shadow_cell *cell, uint64_t start,
                            uint64_t end) {
  if (cell->write.flags & TAG_HOLLOW) {
    look_at_hollow(visit, cell, start, end);
    return;
  }
  if (cell->write.flags & TAG_PADS)
    check_pads_read(visit, cell, start, end);
  if (cell->write.epoch != 0 && history_same_block(cell->write, visit->tag))
    return;
  enum written written = history_written(visit, cell);
  if (written == WRITTEN_ASIDE && !visit->target->exact) {
    history_note_race(visit);
  } else if (written != WRITTEN) {
    visit->holes = true;
    visit->written_aside |= written == WRITTEN_ASIDE;
    note_unwritten(visit, start, end);
  }
}

static void visit_read(void *context, struct shadow_cell *cell, uint64_t start, uint64_t end) {
  struct visit *visit = context;
  if (!visit->target->starts_written && start < visit->target->elements)
    look_for_writes(visit, cell, start, min_u64(end, visit->target->elements));
  if (!visit->target->tracks)
    return;
  if (visit->target->shadow->holds_writers)
    history_check(visit, cell, start, end);
  else
    history_check_against(visit, cell->write, start, end);
  if (visit->target->records)
    history_keep_reader(visit, cell);
}

static void visit_write(void *context, struct shadow_cell *cell, uint64_t start, uint64_t end) {
  struct visit *visit = context;
  if (visit->tag.atomic && !visit->target->starts_written)
    look_for_writes(visit, cell, start, end);
  if (visit->target->tracks)
    history_check(visit, cell, start, end);
}

static void visit_late(void *context, struct shadow_cell *cell, uint64_t start, uint64_t end) {
  (void)start;
  (void)end;
  history_keep(context, cell);
}

/* ---- runs of bytes ------------------------------------------------------------------- */

/* Bytes that a load takes together; `bytes`: of the run. */
static uint64_t piece_bytes(enum load load, uint64_t bytes) {
  switch (load) {
  case LOAD_FRACTALS:
    return FRACTAL_BYTES;
  case LOAD_SQUARES: /* two fractals of 8 or 32 bits are transposed together */
    return UINT64_C(2) * FRACTAL_BYTES;
  case LOAD_SQUARES_INT4:
    return UINT64_C(4) * FRACTAL_BYTES;
  case LOAD_WINDOWS:
    return bytes;
  case LOAD_BIASES: /* whole pairs of blocks: Ascend C documentation, DataCopy to the bias table */
    return UINT64_C(2) * BLOCK_BYTES;
  default:
    return 1;
  }
}

/* What an instruction that writes a buffer of the matrix unit takes together. */
static enum load load_of(const struct check_run *run, const struct inst *inst, enum space space) {
  if (space == SPACE_BT)
    return LOAD_BIASES;
  if (space != SPACE_L0A && space != SPACE_L0B)
    return LOAD_BYTES;
  if (run->window_arg[inst->op] >= 0)
    return LOAD_WINDOWS;
  if (run->square_arg[inst->op] < 0)
    return LOAD_FRACTALS;
  return inst_dtype(inst) == DTYPE_INT4 ? LOAD_SQUARES_INT4 : LOAD_SQUARES;
}

static bool read_run(void *context, int64_t address, uint64_t bytes) {
  struct visit *visit = context;
  uint64_t start = (uint64_t)address - visit->target->base;
  visit->run_start = start;
  visit->piece = piece_bytes(visit->load, bytes);
  if (visit->target->tracks && visit->target->records)
    shadow_change(visit->target->shadow, start, bytes, visit_read, visit);
  else
    shadow_look(visit->target->shadow, start, bytes, visit_read, visit);
  visit->before += bytes;
  return true;
}

/* Keeps an access that has been looked at. */
static bool late_run(void *context, int64_t address, uint64_t bytes) {
  struct visit *visit = context;
  shadow_change(visit->target->shadow, (uint64_t)address - visit->target->base, bytes, visit_late,
                visit);
  return true;
}

static bool write_run(void *context, int64_t address, uint64_t bytes) {
  struct visit *visit = context;
  uint64_t start = (uint64_t)address - visit->target->base;
  visit->run_start = start;
  visit->piece = 1;
  shadow_look(visit->target->shadow, start, bytes, visit_write, visit);
  return true;
}

/* Both, where no other write of the instruction can come between. */
static bool replaced_run(void *context, int64_t address, uint64_t bytes) {
  struct visit *visit = context;
  shadow_replace(visit->target->shadow, (uint64_t)address - visit->target->base, bytes, visit_write,
                 visit, visit->tag);
  return true;
}

static bool written_run(void *context, int64_t address, uint64_t bytes) {
  struct visit *visit = context;
  if (visit->tag.atomic || visit->target->exact)
    return late_run(context, address, bytes);
  shadow_write(visit->target->shadow, (uint64_t)address - visit->target->base, bytes, visit->tag);
  return true;
}

static void report_unwritten(const struct visit *visit) {
  struct check_run *run = visit->run;
  if (visit->unwritten == 0 || !check_wants(run, VINCI_CHECK_INITCHECK))
    return;
  struct check_finding finding = check_finding_of(run, FINDING_UNINITIALIZED, visit->step);
  finding.space = (uint8_t)visit->target->access->space;
  finding.has_range = true;
  finding.address = visit->unwritten_at;
  finding.bytes = visit->unwritten;
  const char *arg =
      isa_row((enum isa_op)visit->step->inst->op)->arg[visit->target->access->arg].name;
  const char *what =
      visit->written_aside ? "have not certainly been written before" : "have never been written";
  if (visit->hollow.epoch != 0) {
    finding.event[0] = check_event_of_tag(run, visit->hollow, true);
    if (!(visit->hollow.flags & TAG_LEFT))
      what = visit->hollow.pipe == PIPE_M
                 ? "are sums of what nobody wrote: mad reads rows of a fractal that nobody wrote"
                 : "are copies of what nobody wrote";
  }
  findings_detail(run->findings, findings_add(run->findings, &finding),
                  "operand \"%s\" %s %" PRIu64 " bytes, of which %" PRIu64 " %s", arg,
                  visit->tag.atomic ? "changes" : "reads", visit->target->access->bytes,
                  visit->unwritten, what);
}

/* ---- instructions ---------------------------------------------------------------------- */

static uint8_t tag_flags(const struct check_run *run, const struct inst *inst, enum pipe pipe) {
  uint8_t flags = 0;
  if (pipe == PIPE_S)
    return flags;
  int8_t unit = run->unit_flag_arg[inst->op], m = run->m_arg[inst->op], n = run->n_arg[inst->op];
  if (unit >= 0 && inst->arg[unit] != 0)
    flags |= TAG_UNIT_FLAG | (inst->arg[unit] == UNIT_FLAG_TURN ? TAG_UNIT_TURN : 0);
  if (pipe == PIPE_M && m >= 0 && n >= 0) {
    int64_t rows = (inst->arg[m] + L0C_FRACTAL_SIDE - 1) / L0C_FRACTAL_SIDE;
    int64_t columns = (inst->arg[n] + L0C_FRACTAL_SIDE - 1) / L0C_FRACTAL_SIDE;
    if (rows * columns >= MAD_OVERLAP_TILES)
      flags |= TAG_BACK_TO_BACK;
  }
  return flags;
}

/* Finds the shadow of an access; false when the access needs no check. */
static bool find_shadow(struct check_run *run, const struct machine_step *step,
                        const struct inst_access *access, struct target *target) {
  *target = (struct target){
      .access = access, .atomic = history_atomic(step->inst, access), .elements = UINT64_MAX};
  if (access->space != SPACE_GM) {
    /* Registers of vector functions are in the order of the code. */
    target->tracks = access->space != SPACE_VR && check_wants(run, VINCI_CHECK_RACECHECK);
    const struct program_kernel *kernel = step->kernel;
    if (access->remote > 0 && !kernel->mixed)
      return false;
    if (access->remote > kernel->vectors_per_cube && access->remote != ACCESS_CUBE)
      return false;
    uint32_t core = inst_access_core(run->soc, access, step->core);
    target->shadow = &run->cores[core].shadow[access->space];
    if (access->space == SPACE_UB || (access->space == SPACE_L1 && run->soc->arch == ARCH_C310)) {
      run->ub_is_shared |= access->remote > 0;
      target->raced = &run->ub_raced;
      target->exact = run->exact && run->ub_is_shared && run->ub_raced;
    }
    return true;
  }
  uint32_t index = check_find_tensor(run, step->kernel, access->address);
  if (index == run->trace->tensor_count)
    return false;
  struct check_tensor *tensor = &run->tensors[run->memory[index]];
  if (!tensor->has_shadow)
    return false;
  target->shadow = &tensor->shadow;
  target->base = run->trace->tensors[index].address;
  target->elements = run->trace->tensors[index].bytes;
  target->tracks =
      tensor->written_here && (run->checks & (VINCI_CHECK_RACECHECK | VINCI_CHECK_MEMCHECK)) != 0;
  target->starts_written = tensor->starts_written;
  target->raced = &tensor->raced;
  target->exact = run->exact && tensor->raced;
  return target->tracks || !target->starts_written;
}

/* Whether the instruction writes to what this access may read; hulls are compared. */
static bool is_written(const struct target *read, const struct target *targets, unsigned count) {
  const struct inst_access *from = read->access;
  for (unsigned i = 0; i < count; i++) {
    const struct inst_access *to = targets[i].access;
    if (to->write && targets[i].shadow == read->shadow &&
        to->address < from->address + (int64_t)from->bytes &&
        from->address < to->address + (int64_t)to->bytes)
      return true;
  }
  return false;
}

static void visit_all(struct visit *visit, const struct target *targets, unsigned count, bool write,
                      inst_run_fn run_of_bytes) {
  for (unsigned i = 0; i < count; i++) {
    const struct inst_access *access = targets[i].access;
    if (access->write != write ||
        (run_of_bytes == write_run && !targets[i].tracks && !targets[i].atomic) ||
        (run_of_bytes == late_run && targets[i].records))
      continue;
    visit->target = &targets[i];
    visit->tag.flags = visit->flags | (write ? 0 : TAG_READ);
    visit->tag.atomic = targets[i].atomic;
    visit->unwritten = 0;
    visit->written_aside = false;
    visit->hollow.epoch = 0;
    visit->before = 0;
    if (access->runs.bytes == 0)
      (void)run_of_bytes(visit, access->address, access->bytes);
    else
      (void)inst_each_run(access, run_of_bytes, visit);
    if (visit->unwritten > 0) {
      report_unwritten(visit);
      visit->reported |= (uint8_t)(1u << i);
    }
  }
}

/* Looks at the writes, then lets them take effect. */
static void visit_writes(struct visit *visit, const struct target *targets, unsigned count) {
  const struct target *only = NULL;
  unsigned writes = 0;
  for (unsigned i = 0; i < count; i++)
    if (targets[i].access->write) {
      only = &targets[i];
      writes++;
    }
  bool replaces = writes == 1 && only->tracks && !only->atomic && !only->exact;
  if (replaces && inst_runs_are_apart(only->access)) {
    visit_all(visit, targets, count, true, replaced_run);
  } else if (writes > 0) {
    visit_all(visit, targets, count, true, write_run);
    visit_all(visit, targets, count, true, written_run);
  }
}

/*
 * An instruction is no hazard to itself: all it reads and writes is looked at before its writes
 * take effect (repeats may accumulate in one place), and reads of what it may write itself are
 * recorded last.
 */
void check_accesses(struct check_run *run, const struct machine_step *step,
                    const struct inst_access *access, unsigned access_count, bool inside) {
  struct visit visit = {.run = run,
                        .step = step,
                        .tag = order_tag(run->order, step),
                        .passes = check_flow_passes(run, step)};
  struct target targets[INST_ACCESS_MAX];
  unsigned count = 0;
  bool late = false;
  visit.flags = tag_flags(run, step->inst, step->pipe);
  if (isa_is_register((enum isa_op)step->inst->op))
    visit.load = LOAD_WINDOWS; /* of a part that nobody wrote, lanes may have no use */
  for (unsigned i = 0; i < access_count; i++) {
    if (access[i].write && visit.load == LOAD_BYTES)
      visit.load = load_of(run, step->inst, access[i].space);
    count += access[i].bytes > 0 && find_shadow(run, step, &access[i], &targets[count]);
  }
  for (unsigned i = 0; i < count; i++) {
    targets[i].records = !is_written(&targets[i], targets, count);
    late |= !targets[i].records && !targets[i].access->write;
  }
  visit_all(&visit, targets, count, false, read_run);
  bool marked = inside && check_flow_begin(&visit, targets, count);
  visit_writes(&visit, targets, count);
  if (marked)
    check_flow_end(&visit, targets, count);
  if (inside)
    check_pads_written(&visit, targets, count);
  if (late && check_wants(run, VINCI_CHECK_RACECHECK))
    visit_all(&visit, targets, count, false, late_run);
}

/* Most lines: their bytes have one history, which allows the access. */
static bool check_line(struct visit *visit, uint64_t mask) {
  const struct target *target = visit->target;
  uint64_t start = (uint64_t)target->access->address - target->base;
  bool reads = !target->access->write;
  if (mask == 0 || !target->tracks || target->exact || start % SHADOW_LINE_BYTES != 0 ||
      start + SHADOW_LINE_BYTES > target->shadow->bytes)
    return false;
  const struct shadow_cell *cell = shadow_fine_same(target->shadow, start, mask);
  if (!cell || !history_is_quiet(visit, cell))
    return false;
  struct shadow_cell history = *cell;
  if (reads)
    history_keep_reader(visit, &history);
  else
    history = (struct shadow_cell){.write = visit->tag};
  shadow_fine_set(target->shadow, start, mask, &history);
  return true;
}

void check_scalar_bytes(struct check_run *run, const struct machine_step *step,
                        const struct inst_access *access, uint64_t mask) {
  struct visit visit = {.run = run, .step = step, .tag = order_tag(run->order, step)};
  struct target target;
  if (access->bytes == 0 || !find_shadow(run, step, access, &target))
    return;
  target.records = true;
  visit.target = &target;
  visit.tag.flags = access->write ? 0 : TAG_READ;
  if (check_line(&visit, mask))
    return;
  inst_run_fn of_run = !access->write                   ? read_run
                       : target.tracks && !target.exact ? replaced_run
                       : target.tracks                  ? write_run
                                                        : written_run;
  uint64_t rest = mask;
  do {
    unsigned first = 0;
    uint64_t count = mask ? check_next_bytes(&rest, &first) : access->bytes;
    (void)of_run(&visit, access->address + first, count);
    if (of_run == write_run)
      (void)written_run(&visit, access->address + first, count);
  } while (rest != 0);
  if (visit.unwritten > 0) {
    struct inst_access told = *access;
    told.bytes = mask ? (uint64_t)__builtin_popcountll(mask) : access->bytes;
    target.access = &told;
    report_unwritten(&visit);
  }
}

/* ---- life of the shadows ------------------------------------------------------------------ */

bool check_create_shadows(struct check_run *run) {
  for (uint32_t c = 0; c < run->placement.core_count; c++)
    for (unsigned space = 0; space < SPACE_COUNT; space++) {
      struct check_core *core = &run->cores[c];
      if (space != SPACE_GM &&
          core_has_space(placement_kind(&run->placement, c), (enum space)space) &&
          !shadow_create(&core->shadow[space], &run->pool, &run->arena,
                         soc_space_bytes(run->soc, (enum space)space), CHIP_PAGE_SHIFT))
        return false;
    }
  for (uint32_t i = 0; i < run->trace->tensor_count; i++) {
    struct check_tensor *tensor = &run->tensors[i];
    const struct program_tensor *named = &run->trace->tensors[i];
    uint64_t bytes = named->bytes + named->tail;
    bool small = run->trace->source && bytes <= SMALL_PAGES_BYTES_MAX;
    if (tensor->has_shadow && !shadow_create(&tensor->shadow, &run->pool, &run->arena, bytes,
                                             small ? GM_PAGE_SHIFT_OF_CODE : GM_PAGE_SHIFT))
      return false;
  }
  return true;
}

void check_begin_kernel_shadows(struct check_run *run) {
  struct order_tag earlier = {.epoch = 1, .core = CORE_OF_EARLIER_KERNEL};
  for (uint32_t i = 0; i < run->trace->tensor_count; i++)
    if (run->tensors[i].has_shadow)
      shadow_settle(&run->tensors[i].shadow, earlier);
}

void check_begin_block_shadows(struct check_run *run, const struct machine_step *step) {
  for (unsigned space = 0; space < SPACE_COUNT; space++)
    shadow_clear(&run->cores[step->core].shadow[space]);
}

void check_free_shadows(struct check_run *run) {
  for (uint32_t c = 0; run->cores && c < run->placement.core_count; c++)
    for (unsigned space = 0; space < SPACE_COUNT; space++)
      shadow_free(&run->cores[c].shadow[space]);
  for (uint32_t i = 0; run->tensors && i < run->trace->tensor_count; i++)
    shadow_free(&run->tensors[i].shadow);
  shadow_pool_free(&run->pool);
}
