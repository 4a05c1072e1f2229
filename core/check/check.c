/* SPDX-License-Identifier: Apache-2.0 */
/* vinci_check(): the checks as an observer of the abstract machine. */
#include "core/check/check.h"

#include <string.h>

#include "core/check/check_flow.h"
#include "core/check/check_pads.h"
#include "core/check/check_run.h"
#include "core/isa/taken.h"

/* Shadow memory may take 1 GiB; tensors of tens of GB in runs of a few bytes would take more. */
#define SHADOW_BYTES_MAX (UINT64_C(1) << 30)

/* ---- events ------------------------------------------------------------------------ */

struct finding_event check_event_of_tag(const struct check_run *run, struct order_tag tag,
                                        bool write) {
  const struct program_row *row = &run->trace->rows[tag.row];
  const struct program_kernel *kernel = &run->trace->kernels[run->kernel];
  enum core_kind kind = placement_kind(&run->placement, tag.core);
  uint32_t aiv = tag.core - run->placement.kind_count[CORE_AIC];
  return (struct finding_event){
      .row = tag.row,
      .line = row->line,
      .op = (uint16_t)program_row_op(row),
      .pipe = tag.pipe == ORDER_STORES ? PIPE_S : tag.pipe,
      .core_kind = (uint8_t)kind,
      .block = tag.block,
      .member = kernel->mixed && kind == CORE_AIV ? aiv % soc_vectors_per_cube(run->soc) : 0,
      .mixed = kernel->mixed,
      .write = write,
      .given = true,
  };
}

struct finding_event check_event(const struct check_run *run, const struct machine_step *step,
                                 bool write) {
  struct order_tag tag = {
      .row = step->inst->row,
      .core = (uint16_t)step->core,
      .block = (uint16_t)step->block,
      .pipe = (uint8_t)step->pipe,
  };
  return check_event_of_tag(run, tag, write);
}

struct check_finding check_finding_of(const struct check_run *run, enum finding_kind kind,
                                      const struct machine_step *step) {
  struct check_finding finding = {
      .kind = (uint8_t)kind, .kernel = run->kernel, .serial = run->serial};
  finding.event[1] = check_event(run, step, false);
  return finding;
}

/* ---- the observer --------------------------------------------------------------------- */

static bool goes_on(const struct check_run *run) {
  return !run->findings->failed && !run->pool.failed;
}

/* Whether what is left undone says anything: code that was stopped has not come to its end. */
static bool was_stopped(const struct check_run *run) {
  return run->trace->source && run->trace->source->stopped;
}

static void end_kernel(struct check_run *run) {
  if (!run->kernel_begun)
    return;
  check_state_end_kernel(run);
  check_disputed_end_kernel(run);
  if (!check_wants(run, VINCI_CHECK_SYNCCHECK) || was_stopped(run))
    return;
  for (uint32_t core = 0; core < run->placement.core_count; core++)
    check_sync_signals(run, core);
}

static bool begin_kernel(void *context, const struct program_kernel *kernel) {
  struct check_run *run = context;
  end_kernel(run);
  run->kernel = (uint32_t)(kernel - run->trace->kernels);
  run->kernel_begun = true;
  check_note_writers(run);
  if (run->uses_shadow)
    check_begin_kernel_shadows(run);
  return goes_on(run);
}

static bool begin_block(void *context, const struct machine_step *step) {
  struct check_run *run = context;
  if (check_wants(run, VINCI_CHECK_SYNCCHECK) && !was_stopped(run))
    check_sync_signals(run, step->core);
  order_begin_block(run->order, step);
  check_begin_block_reads(run, step->core);
  check_state_begin_block(run, step->core);
  check_cache_begin_block(run, step->core);
  if (run->uses_shadow)
    check_begin_block_shadows(run, step);
  return goes_on(run);
}

static bool execute(void *context, const struct machine_step *step) {
  struct check_run *run = context;
  struct order_flag_use use = {0};
  run->serial++;
  check_state_step(run, step);
  check_disputed_step(run, step);
  run->findings->executed_instructions += !run->exact;
  if (!order_step(run->order, step, &use))
    run->findings->failed = true;
  if (check_wants(run, VINCI_CHECK_SYNCCHECK))
    check_sync_step(run, step, &use);
  if (step->pipe == PIPE_S || step->pipe == PIPE_ALL)
    return goes_on(run);
  if (step->inst->op == OP_VREDUCEV2)
    check_taken_write(run, step);
  struct inst_access access[INST_ACCESS_MAX];
  unsigned count = registry_access((enum isa_op)step->inst->op)(run->soc, step->inst, access);
  bool inside = true;
  for (unsigned i = 0; i < count; i++) {
    if (access[i].bytes > 0 && !check_memory(run, step, &access[i])) {
      access[i].bytes = 0;
      inside = false;
    }
    check_cache_transfer(run, step, &access[i]);
    if (access[i].write && access[i].bytes > 0 && access[i].runs.bytes > 0)
      check_rows(run, step, &access[i]);
    inst_join_runs(&access[i]);
  }
  if (run->uses_shadow && count > 0)
    check_accesses(run, step, access, count, inside);
  return goes_on(run);
}

static bool read_row(void *context, const struct machine_step *step) {
  struct check_run *run = context;
  run->serial++;
  if (step->inst->arg[READ_WIDTH] == READ_REGISTER)
    check_taken_read(run, step);
  else
    check_word_read(run, step);
  if (!order_read(run->order, step))
    run->findings->failed = true;
  return goes_on(run);
}

static bool scalar_access(void *context, const struct machine_step *step) {
  struct check_run *run = context;
  run->serial++;
  if (step->inst->op == OP_SCALAR_CLEAN) {
    order_clean(run->order, step);
    check_cache_clean(run, step);
    return goes_on(run);
  }
  if (isa_is_of_threads((enum isa_op)step->inst->op))
    order_thread(run->order, step);
  check_scalar_access(run, step);
  check_cache_scalar(run, step);
  return goes_on(run);
}

static bool end_access(void *context, const struct machine_step *step) {
  struct check_run *run = context;
  if (!order_read(run->order, step))
    run->findings->failed = true;
  return goes_on(run);
}

static bool end_block(void *context, const struct machine_step *step) {
  struct check_run *run = context;
  if (check_wants(run, VINCI_CHECK_SYNCCHECK) && !was_stopped(run))
    check_sync_end_block(run, step);
  check_state_end_block(run, step->core);
  return goes_on(run);
}

static bool deliver(void *context, const struct signal_delivery *delivery) {
  struct check_run *run = context;
  if (!order_deliver(run->order, delivery))
    run->findings->failed = true;
  return goes_on(run);
}

static bool misuse(void *context, const struct machine_step *step, const struct misuse *misuse) {
  struct check_run *run = context;
  if (check_wants(run, VINCI_CHECK_SYNCCHECK))
    check_sync_misuse(run, step, misuse);
  return goes_on(run);
}

/* ---- preparation ------------------------------------------------------------------------- */

static void find_args(struct check_run *run) {
  for (unsigned op = 0; op < OP_COUNT; op++) {
    const struct isa_row *row = isa_row((enum isa_op)op);
    run->unit_flag_arg[op] = (int8_t)isa_arg_find(row, "unit_flag", strlen("unit_flag"));
    run->square_arg[op] = (int8_t)isa_arg_find(row, "frac_gap", strlen("frac_gap"));
    run->window_arg[op] = (int8_t)isa_arg_find(row, "filter_w", strlen("filter_w"));
    run->m_arg[op] = (int8_t)isa_arg_find(row, "m", 1);
    run->n_arg[op] = (int8_t)isa_arg_find(row, "n", 1);
  }
}

/* Tensors of one name in several kernels are one memory. */
static void find_memories(struct check_run *run) {
  const struct program_tensor *tensors = run->trace->tensors;
  for (uint32_t i = 0; i < run->trace->tensor_count; i++) {
    run->memory[i] = 0;
    while (tensors[run->memory[i]].address != tensors[i].address)
      run->memory[i]++;
  }
}

static void index_names(struct check_run *run) {
  uint32_t at = 0;
  for (uint64_t row = 0; row <= run->trace->row_count; row++) {
    while (at < run->trace->named_count && run->trace->named[at].row < row)
      at++;
    run->first_named[row] = at;
  }
}

/* Which tensors need a shadow: those that some kernel writes, and those that start empty. */
static void choose_tensors(struct check_run *run) {
  for (run->kernel = 0; run->kernel < run->trace->kernel_count; run->kernel++)
    check_note_writers(run);
  run->kernel = 0;
  for (uint32_t i = 0; i < run->trace->tensor_count; i++) {
    if (run->memory[i] != i)
      continue;
    struct check_tensor *tensor = &run->tensors[i];
    enum tensor_io io = run->trace->tensors[i].io;
    tensor->starts_written = io == TENSOR_IN || io == TENSOR_INOUT;
    tensor->has_shadow = run->uses_shadow && (tensor->written_so_far || !tensor->starts_written);
    tensor->written_so_far = false;
  }
}

static bool prepare(struct check_run *run) {
  struct arena *arena = &run->arena;
  const struct vinci_trace *trace = run->trace;
  unsigned on_shadow = VINCI_CHECK_MEMCHECK | VINCI_CHECK_RACECHECK | VINCI_CHECK_INITCHECK;
  run->uses_shadow = (run->checks & on_shadow) != 0;
  placement_count(&run->placement, run->soc, trace);
  run->cores = ARENA_ARRAY(arena, struct check_core, run->placement.core_count);
  run->tensors = ARENA_ARRAY(arena, struct check_tensor, trace->tensor_count + 1);
  run->memory = ARENA_ARRAY(arena, uint32_t, trace->tensor_count + 1);
  run->first_named = ARENA_ARRAY(arena, uint32_t, trace->row_count + 1);
  if (!run->cores || !run->tensors || !run->memory || !run->first_named)
    return false;
  find_args(run);
  index_names(run);
  find_memories(run);
  choose_tensors(run);
  return true;
}

static struct vinci_findings *create_findings(const struct vinci_trace *trace, unsigned checks) {
  struct arena arena = {0};
  struct vinci_findings *findings = ARENA_NEW(&arena, struct vinci_findings);
  if (!findings)
    return NULL;
  findings->checks = checks;
  if (trace->source)
    findings->scalar = trace->source->scalar;
  findings->waits_in_memory = program_waits_in_memory(trace->source);
  findings_say_unchecked(findings, trace->kernels[0].name);
  findings->path = arena_strdup(&arena, trace->path);
  findings->kernel_count = trace->kernel_count;
  findings->kernel_names = ARENA_ARRAY(&arena, const char *, trace->kernel_count);
  bool good = findings->path && findings->kernel_names;
  for (uint32_t i = 0; good && i < trace->kernel_count; i++) {
    findings->kernel_names[i] = arena_strdup(&arena, trace->kernels[i].name);
    good = findings->kernel_names[i] != NULL;
  }
  if (!good) {
    arena_free(&arena);
    return NULL;
  }
  findings->arena = arena;
  return findings;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static enum vinci_status execute_all(struct check_run *run, struct vinci_diag *diag) {
  struct machine_observer observer = {
      .context = run,
      .begin_kernel = begin_kernel,
      .begin_block = begin_block,
      .execute = execute,
      .end_block = end_block,
      .read = read_row,
      .access = scalar_access,
      .end_access = end_access,
      .deliver = deliver,
      .misuse = misuse,
  };
  /* In program order what is written later in the trace is the later one in reports, too. */
  struct machine_options options = {
      .order = MACHINE_PROGRAM_ORDER,
      .unchecked_ranges = true,
      .walk_order_seed = run->walk_order_seed,
      .progress = run->progress,
      .progress_context = run->progress_context,
  };
  struct vinci_diag stuck = {0};
  enum vinci_status status = trace_take(run->trace, &stuck);
  if (status == VINCI_OK) {
    status = machine_run_with(run->soc, run->trace, &options, &observer, 1, &stuck);
    trace_give_back(run->trace);
  }
  run->pool_was_full = run->pool.failed && run->pool.bytes > run->pool.bytes_max;
  if (run->pool_was_full)
    return diag_error(diag, VINCI_E_LIMIT,
                      "%s: what the program has done to memory takes more than the %llu bytes that "
                      "the checks may keep",
                      run->trace->path, (unsigned long long)run->pool.bytes_max);
  if (run->findings->failed || run->pool.failed)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the checks");
  if (status == VINCI_E_DEADLOCK) {
    check_disputed_end_kernel(run);
    if (!was_stopped(run))
      check_sync_deadlock(run, &stuck);
  } else if (status == VINCI_OK)
    end_kernel(run);
  else if (diag)
    *diag = stuck;
  return status == VINCI_E_DEADLOCK ? VINCI_OK : status;
}

/* Executes the trace with an empty memory. */
static enum vinci_status walk(struct check_run *run, struct vinci_diag *diag) {
  uint64_t bytes_max = run->pool.bytes_max;
  enum vinci_status status;
  run->kernel = 0;
  run->kernel_begun = false;
  run->state = (struct check_state){0};
  memset(run->dispute, 0, sizeof run->dispute);
  for (uint32_t i = 0; i < run->trace->tensor_count; i++)
    run->tensors[i].written_so_far = false;
  run->order = order_create(&run->arena, run->soc, run->placement.core_count, run->trace->source);
  if (run->order && check_create_shadows(run) && check_cache_create(run))
    status = execute_all(run, diag);
  else
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the checks");
  check_free_shadows(run);
  check_cache_free(run);
  check_pads_free(run);
  order_free(run->order);
  run->pool = (struct shadow_pool){.bytes_max = bytes_max};
  return status;
}

static bool wants_second_walk(const struct check_run *run) {
  bool raced = run->ub_raced && run->ub_is_shared;
  for (uint32_t i = 0; i < run->trace->tensor_count; i++)
    raced |= run->tensors[i].raced;
  return raced;
}

/*
 * Finds all there is to find. Where cores race, a second walk names every pair of lines. When
 * that takes more memory than there is, the pairs of the first walk stand.
 */
static enum vinci_status run_checks(struct check_run *run, struct vinci_diag *diag) {
  enum vinci_status status = walk(run, diag);
  if (status != VINCI_OK || !wants_second_walk(run))
    return status;
  struct vinci_diag second = {0};
  run->exact = true;
  findings_recount(run->findings);
  status = walk(run, &second);
  findings_keep_counts(run->findings);
  if (status == VINCI_OK || (status == VINCI_E_LIMIT && run->pool_was_full))
    return VINCI_OK;
  if (diag)
    *diag = second;
  return status;
}

/* What the program's fields have cut is known since the code was executed. */
static void report_cuts(struct check_run *run) {
  const struct program_source *source = run->trace->source;
  for (uint32_t i = 0; source && i < source->cut_count; i++) {
    const struct program_cut *cut = &source->cuts[i];
    const struct program_row *row = &run->trace->rows[cut->row];
    struct check_finding finding = {.kind = FINDING_OPERAND_CUT,
                                    .space = cut->arg /* each operand of an instruction */};
    enum pipe pipe = isa_row((enum isa_op)row->op)->pipe;
    finding.event[1] = (struct finding_event){.row = cut->row,
                                              .line = row->line,
                                              .op = row->op,
                                              .pipe = (uint8_t)(pipe < PIPE_ALL ? pipe : PIPE_ALL),
                                              .core_kind = cut->core_kind,
                                              .block = cut->block,
                                              .member = cut->sub,
                                              .mixed = run->trace->kernels[0].mixed,
                                              .given = true};
    finding.serial = ++run->serial;
    char text[256];
    program_cut_text(cut, (enum isa_op)row->op, text, sizeof text);
    struct check_finding *added = findings_add(run->findings, &finding);
    if (added) {
      findings_detail(run->findings, added, "%s", text);
      added->count = cut->count;
    }
  }
}

static enum vinci_status read_options(const struct vinci_check_options *options,
                                      struct check_run *run, struct vinci_diag *diag) {
  run->checks = VINCI_CHECK_ALL;
  run->pool.bytes_max = SHADOW_BYTES_MAX;
  if (!options)
    return VINCI_OK;
  if (options->struct_size != sizeof *options)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the check options is %zu, not %zu",
                      options->struct_size, sizeof *options);
  if (options->checks & ~(unsigned)VINCI_CHECK_ALL)
    return diag_error(diag, VINCI_E_USAGE, "unknown bits in the set of checks: %#x",
                      options->checks);
  if (options->checks)
    run->checks = options->checks;
  if (options->max_shadow_bytes)
    run->pool.bytes_max = options->max_shadow_bytes;
  run->walk_order_seed = options->walk_order_seed;
  run->progress = options->progress;
  run->progress_context = options->progress_context;
  return VINCI_OK;
}

enum vinci_status vinci_check(const struct vinci_soc *soc, const struct vinci_trace *trace,
                              const struct vinci_check_options *options, vinci_findings **out,
                              struct vinci_diag *diag) {
  struct check_run run = {.soc = soc, .trace = trace};
  *out = NULL;
  enum vinci_status status = read_options(options, &run, diag);
  if (status != VINCI_OK)
    return status;
  run.findings = create_findings(trace, run.checks);
  if (run.findings && prepare(&run))
    status = run_checks(&run, diag);
  else
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the checks");
  check_flow_free(&run);
  arena_free(&run.arena);
  if (status != VINCI_OK && status != VINCI_E_LIMIT) {
    vinci_findings_free(run.findings);
    return status;
  }
  if (run.checks & VINCI_CHECK_MEMCHECK)
    report_cuts(&run);
  run.findings->partial = status == VINCI_E_LIMIT || was_stopped(&run);
  findings_sort(run.findings);
  *out = run.findings;
  size_t errors = vinci_findings_count(run.findings);
  if (status != VINCI_OK || errors == 0)
    return status;
  return diag_error(diag, VINCI_E_CHECK, "%s: the checks found %zu error%s", trace->path, errors,
                    errors == 1 ? "" : "s");
}
