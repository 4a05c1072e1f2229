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
 *   them only when the block has changed sides (core/unit_flag.h);
 * - atomic stores to GM commute.
 *
 * Reading a byte that nothing has written since the block began (on-chip buffers) or at all
 * (GM tensors that are no inputs) is an error. Loads of L0A and L0B move whole fractals, and rows
 * of them that the operands do not fill have no part in a result that counts, so there
 * only fractals of which no byte is written are reported. Of the windows of load3d even fewer
 * are known to be used, so there only loads from what is not written at all.
 */
#include <inttypes.h>

#include "core/check_run.h"
#include "core/layout.h"
#include "core/unit_flag.h"

enum { CHIP_PAGE_SHIFT = 14, GM_PAGE_SHIFT = 16 };
/* Tag of bytes that an earlier kernel has written: all of it comes before. */
enum { CORE_OF_EARLIER_KERNEL = UINT16_MAX };

/* What an instruction moves at a time, as far as unwritten bytes are concerned. */
enum load { LOAD_BYTES, LOAD_FRACTALS, LOAD_SQUARES, LOAD_WINDOWS };

/* An access, and the shadow of its memory. */
struct target {
  const struct inst_access *access;
  struct shadow *shadow;
  uint64_t base; /* address of the shadow's first byte */
  bool tracks;   /* some access to this memory writes, so that order matters */
  bool starts_written;
  bool records; /* of reads: the reader is kept at once, not after the writes */
};

/* An instruction on its way through the shadows. */
struct visit {
  struct check_run *run;
  const struct machine_step *step;
  const struct target *target; /* the access that is looked at */
  struct order_tag tag;
  enum load load;
  uint64_t run_start;
  uint64_t piece; /* bytes that count as written when any of them is */
  int64_t unwritten_at;
  uint64_t unwritten;
};

/* ---- order ------------------------------------------------------------------------ */

static bool is_exempt(const struct visit *visit, struct order_tag earlier, bool both_write) {
  uint8_t both = earlier.flags & visit->tag.flags;
  if (both_write && both & TAG_ATOMIC)
    return true;
  if (visit->target->access->space != SPACE_L0C)
    return false;
  if (earlier.pipe == PIPE_M && visit->tag.pipe == PIPE_M)
    return both & TAG_BACK_TO_BACK ||
           (earlier.flags & TAG_UNIT_TURN && visit->tag.flags & TAG_UNIT_FLAG);
  return earlier.pipe != visit->tag.pipe && both & TAG_UNIT_FLAG;
}

static bool is_ordered(const struct visit *visit, struct order_tag earlier) {
  return earlier.epoch == 0 || earlier.core == CORE_OF_EARLIER_KERNEL ||
         order_before(visit->run->order, visit->step, earlier);
}

static void report_hazard(const struct visit *visit, enum finding_kind kind,
                          struct order_tag earlier, uint64_t start, uint64_t end) {
  struct check_run *run = visit->run;
  bool overlaps = kind == FINDING_WAW && visit->target->access->space == SPACE_GM &&
                  earlier.block != visit->tag.block && check_wants(run, VINCI_CHECK_MEMCHECK);
  if (overlaps)
    kind = FINDING_OVERLAP;
  else if (!check_wants(run, VINCI_CHECK_RACECHECK))
    return;
  struct check_finding finding = check_finding_of(run, kind, visit->step);
  finding.space = (uint8_t)visit->target->access->space;
  finding.event[1].write = visit->target->access->write;
  finding.event[0] = check_event_of_tag(run, earlier, kind != FINDING_WAR);
  finding.has_range = true;
  finding.address = (int64_t)(visit->target->base + start);
  finding.bytes = end - start;
  findings_add(run->findings, &finding);
}

static void check_against(const struct visit *visit, enum finding_kind kind,
                          struct order_tag earlier, uint64_t start, uint64_t end) {
  if (!is_ordered(visit, earlier) && !is_exempt(visit, earlier, kind == FINDING_WAW))
    report_hazard(visit, kind, earlier, start, end);
}

static bool same_pipe(struct order_tag a, struct order_tag b) {
  return a.core == b.core && a.block == b.block && a.pipe == b.pipe;
}

/* Keeps a reader; it takes the place of those that come before it, since what comes after it
 * comes after them. */
static void add_reader(const struct visit *visit, struct shadow_cell *cell) {
  struct order_tag tag = visit->tag;
  if (cell->read[1].epoch == 0 && (cell->read[0].epoch == 0 || same_pipe(cell->read[0], tag))) {
    cell->read[0] = tag;
    return;
  }
  unsigned free_slot = SHADOW_READERS;
  for (unsigned i = SHADOW_READERS; i-- > 0;) {
    struct order_tag old = cell->read[i];
    if (old.epoch == 0 || same_pipe(old, tag) || is_ordered(visit, old)) {
      cell->read[i] = (struct order_tag){0};
      free_slot = i;
    }
  }
  if (free_slot < SHADOW_READERS) {
    cell->read[free_slot] = tag;
    return;
  }
  struct shadow_pool *pool = visit->target->shadow->pool;
  for (uint32_t i = cell->more; i != 0; i = pool->readers[i].next) {
    struct order_tag old = pool->readers[i].tag;
    if (same_pipe(old, tag) || is_ordered(visit, old)) {
      pool->readers[i].tag = tag;
      return;
    }
  }
  shadow_add_more(pool, cell, tag);
}

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

static void visit_read(void *context, struct shadow_cell *cell, uint64_t start, uint64_t end) {
  struct visit *visit = context;
  if (cell->write.epoch == 0 && !visit->target->starts_written)
    note_unwritten(visit, start, end);
  if (!visit->target->tracks)
    return;
  check_against(visit, FINDING_RAW, cell->write, start, end);
  if (visit->target->records)
    add_reader(visit, cell);
}

static void visit_reader(void *context, struct shadow_cell *cell, uint64_t start, uint64_t end) {
  (void)start;
  (void)end;
  add_reader(context, cell);
}

static void visit_write(void *context, struct shadow_cell *cell, uint64_t start, uint64_t end) {
  struct visit *visit = context;
  check_against(visit, FINDING_WAW, cell->write, start, end);
  for (unsigned i = 0; i < SHADOW_READERS; i++)
    if (cell->read[i].epoch != 0)
      check_against(visit, FINDING_WAR, cell->read[i], start, end);
  const struct shadow_reader *readers = visit->target->shadow->pool->readers;
  for (uint32_t i = cell->more; i != 0; i = readers[i].next)
    check_against(visit, FINDING_WAR, readers[i].tag, start, end);
}

/* ---- runs of bytes ------------------------------------------------------------------- */

/* Of a load of so many bytes in one run. */
static uint64_t piece_bytes(enum load load, uint64_t bytes) {
  switch (load) {
  case LOAD_FRACTALS:
    return FRACTAL_BYTES;
  case LOAD_SQUARES: /* two fractals of 8 or 32 bits are transposed together */
    return UINT64_C(2) * FRACTAL_BYTES;
  case LOAD_WINDOWS:
    return bytes;
  default:
    return 1;
  }
}

static enum load load_of(const struct check_run *run, const struct inst *inst) {
  if (run->window_arg[inst->op] >= 0)
    return LOAD_WINDOWS;
  return run->square_arg[inst->op] >= 0 ? LOAD_SQUARES : LOAD_FRACTALS;
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
  return true;
}

static bool reader_run(void *context, int64_t address, uint64_t bytes) {
  struct visit *visit = context;
  shadow_change(visit->target->shadow, (uint64_t)address - visit->target->base, bytes, visit_reader,
                visit);
  return true;
}

static bool write_run(void *context, int64_t address, uint64_t bytes) {
  struct visit *visit = context;
  uint64_t start = (uint64_t)address - visit->target->base;
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
  findings_detail(run->findings, findings_add(run->findings, &finding),
                  "operand \"%s\" reads %" PRIu64 " bytes, of which %" PRIu64
                  " have never been written",
                  arg, visit->target->access->bytes, visit->unwritten);
}

/* ---- instructions ---------------------------------------------------------------------- */

static uint8_t tag_flags(const struct check_run *run, const struct inst *inst, enum pipe pipe) {
  uint8_t flags = 0;
  int8_t unit = run->unit_flag_arg[inst->op], m = run->m_arg[inst->op], n = run->n_arg[inst->op];
  if (inst->registers.atomic != ATOMIC_NONE && (pipe == PIPE_MTE3 || pipe == PIPE_FIX))
    flags |= TAG_ATOMIC;
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

/* Finds the shadow of an access; false when nothing needs to be known of it. */
static bool find_shadow(struct check_run *run, const struct machine_step *step,
                        const struct inst_access *access, struct target *target) {
  *target = (struct target){.access = access};
  if (access->space != SPACE_GM) {
    target->tracks = check_wants(run, VINCI_CHECK_RACECHECK);
    const struct program_kernel *kernel = step->kernel;
    if (access->remote > (kernel->mixed ? kernel->vectors_per_cube : 0))
      return false;
    uint32_t core =
        access->remote ? soc_vector_beside(run->soc, step->core, access->remote - 1u) : step->core;
    target->shadow = &run->cores[core].shadow[access->space];
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
  target->tracks =
      tensor->written_here && (run->checks & (VINCI_CHECK_RACECHECK | VINCI_CHECK_MEMCHECK)) != 0;
  target->starts_written = tensor->starts_written;
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
    if (access->write != write || (run_of_bytes == write_run && !targets[i].tracks) ||
        (run_of_bytes == reader_run && targets[i].records))
      continue;
    visit->target = &targets[i];
    visit->unwritten = 0;
    if (access->runs.bytes == 0)
      (void)run_of_bytes(visit, access->address, access->bytes);
    else
      (void)inst_each_run(access, run_of_bytes, visit);
    if (visit->unwritten > 0)
      report_unwritten(visit);
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
  if (writes == 1 && only->tracks && inst_runs_are_apart(only->access)) {
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
                    const struct inst_access *access, unsigned access_count) {
  struct visit visit = {.run = run, .step = step, .tag = order_tag(run->order, step)};
  struct target targets[INST_ACCESS_MAX];
  unsigned count = 0;
  bool late = false;
  visit.tag.flags = tag_flags(run, step->inst, step->pipe);
  for (unsigned i = 0; i < access_count; i++) {
    if (access[i].write && (access[i].space == SPACE_L0A || access[i].space == SPACE_L0B))
      visit.load = load_of(run, step->inst);
    count += access[i].bytes > 0 && find_shadow(run, step, &access[i], &targets[count]);
  }
  for (unsigned i = 0; i < count; i++) {
    targets[i].records = !is_written(&targets[i], targets, count);
    late |= !targets[i].records && !targets[i].access->write;
  }
  visit_all(&visit, targets, count, false, read_run);
  visit_writes(&visit, targets, count);
  if (late && check_wants(run, VINCI_CHECK_RACECHECK))
    visit_all(&visit, targets, count, false, reader_run);
}

/* ---- life of the shadows ------------------------------------------------------------------ */

bool check_create_shadows(struct check_run *run) {
  for (uint32_t c = 0; c < run->core_count; c++)
    for (unsigned space = 0; space < SPACE_COUNT; space++) {
      struct check_core *core = &run->cores[c];
      if (space != SPACE_GM && core_has_space(core->kind, (enum space)space) &&
          !shadow_create(&core->shadow[space], &run->pool, &run->arena,
                         soc_space_bytes(run->soc, (enum space)space), CHIP_PAGE_SHIFT))
        return false;
    }
  for (uint32_t i = 0; i < run->trace->tensor_count; i++) {
    struct check_tensor *tensor = &run->tensors[i];
    if (tensor->has_shadow && !shadow_create(&tensor->shadow, &run->pool, &run->arena,
                                             run->trace->tensors[i].bytes, GM_PAGE_SHIFT))
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
  for (uint32_t c = 0; run->cores && c < run->core_count; c++)
    for (unsigned space = 0; space < SPACE_COUNT; space++)
      shadow_free(&run->cores[c].shadow[space]);
  for (uint32_t i = 0; run->tensors && i < run->trace->tensor_count; i++)
    shadow_free(&run->tensors[i].shadow);
  shadow_pool_free(&run->pool);
}
