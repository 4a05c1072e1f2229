/* SPDX-License-Identifier: Apache-2.0 */
/* From a tiling to its program, and from its program to its time. */
#include "lower/plan/program.h"

#include "core/base/arith.h"
#include "lower/estimate/estimate.h"
#include "lower/estimate/trial.h"
#include "lower/select/select.h"

/* What is used again from tiling to tiling. */
struct lower_program {
  struct record record;
  struct trial *trial;
  /* Cycles for which all blocks together read, write, compute: the least so far. */
  uint64_t work[3];
  uint64_t begin; /* up to the first copy, without waits for other cores */
  bool tried;
};

static struct lower_program *program_of(struct lower_job *job) {
  if (!job->program) {
    job->program = ARENA_NEW(job->arena, struct lower_program);
    if (job->program)
      job->program->trial = trial_new(job->soc, job->arena);
  }
  return job->program && job->program->trial ? job->program : NULL;
}

/* The bytes of all blocks that device memory has to deliver: what several cores read of a tensor
 * comes once, and what the kernel has written itself is in L2. */
static uint64_t device_bytes(const struct record *record, const struct trial_times *times,
                             uint64_t blocks) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < record->tensor_count; i++)
    if (!record->tensor[i].hidden)
      sum += min_u64(times->tensor_bytes[i] * blocks, record->tensor[i].bytes);
  return sum;
}

/* Of all cores, from the start of the first one's first copy to the end of all reads of the last,
 * or of all writes where nothing is read; what L2 cannot hold of the results goes to device memory
 * as well. */
static uint64_t flow_cycles(const struct vinci_soc *soc, const struct record *record,
                            const struct record_stream *stream, const struct trial_times *times) {
  uint64_t blocks = stream->blocks, l2_bytes = (uint64_t)soc->l2_bytes / blocks;
  uint64_t in_bytes = device_bytes(record, times, blocks) / blocks;
  uint64_t out_bytes = times->write_bytes;
  uint64_t bytes = in_bytes + (out_bytes > l2_bytes ? out_bytes - l2_bytes : 0);
  bool reads = times->read_bytes > 0;
  uint64_t last = reads ? times->read_end : times->write_end;
  uint64_t first_end = times->first_bytes > 0 ? times->first_end : last;
  uint64_t first_bytes = times->first_bytes > 0 ? times->first_bytes : times->read_bytes;
  /* The share of what is read that comes from device memory. */
  if (reads)
    first_bytes = (uint64_t)((uint128)first_bytes * in_bytes / times->read_bytes);
  uint64_t turns = max_u64(times->turns, 1);
  /* Copies that overlap, of which the first takes most of the time, count as a single copy. */
  bool ahead = times->ahead && last - first_end >= first_end - times->begin;
  if (times->ahead && !ahead) {
    first_end = last;
    first_bytes = bytes;
  }
  uint64_t rest_cycles = last - first_end;
  const struct estimate_flow flow = {
      .kind = stream->kind,
      .launched = blocks,
      .cores = blocks,
      .in_bytes = first_bytes,
      .in_cycles = first_end - times->begin,
      .ahead_bytes = ahead ? first_bytes : 0,
      .rest_bytes = bytes - min_u64(first_bytes, bytes),
      .rest_cycles = rest_cycles,
      .turn_cycles = turns > 1 ? rest_cycles / (turns - 1) : times->end - times->begin,
      .out_cycles = times->busy[PIPE_MTE3] / turns,
      .moving_cycles = times->writing_cycles / turns,
      .beside_cycles = times->busy[PIPE_V] > 0 ? times->busy[PIPE_MTE3] / turns : 0,
      .out_pieces =
          max_u64(times->write_copies, ceil_div(times->write_bytes, FLOW_PIECE_BYTES)) / turns};
  return estimate_flow(soc, &flow);
}

/* How much later the last block starts than the one before. */
static uint64_t last_start_cycles(const struct vinci_soc *soc, const struct record_stream *stream) {
  uint64_t last = stream->blocks - 1;
  return last == 0 ? 0
                   : launch_block_cycles(soc, stream->kind, stream->blocks, last) -
                         launch_block_cycles(soc, stream->kind, stream->blocks, last - 1);
}

/* By how much the last block is sooner done than another; not more than that other one starts
 * before. */
static uint64_t sooner_cycles(struct lower_program *program, const struct record_stream *stream,
                              uint64_t end, uint64_t before) {
  struct trial_times times;
  if (before == 0 ||
      !trial_run(program->trial, &program->record, stream, stream->blocks - 1, UINT64_MAX, &times))
    return 0;
  return min_u64(before, end - min_u64(times.end, end));
}

static void keep_least(struct lower_program *program, const struct trial_times *times,
                       uint64_t blocks) {
  const uint64_t work[] = {times->reading_cycles, times->writing_cycles, times->busy[PIPE_V]};
  bool first = !program->tried;
  program->begin = times->begin - min_u64(times->begin, times->others_cycles);
  for (unsigned i = 0; i < sizeof work / sizeof *work; i++)
    program->work[i] = first ? work[i] * blocks : min_u64(program->work[i], work[i] * blocks);
  program->tried = true;
}

/* Whether a tiling with this number of blocks may be cheaper than the best one: the pipes of all
 * blocks together work for nearly as long as in tilings that were tried. */
static bool may_be_cheaper(const struct lower_job *job) {
  enum { SHARE = 20 };
  const struct lower_program *program = job->program;
  size_t key = 0;
  while (key < job->op->key_count && !job->op->keys[key].cores)
    key++;
  uint64_t blocks = key < job->op->key_count ? job->value[key].size : 0, busy = 0;
  if (!program || !program->tried || blocks == 0)
    return true;
  for (unsigned i = 0; i < sizeof program->work / sizeof *program->work; i++)
    busy = max_u64(busy, program->work[i] / blocks);
  return launch_spread_cycles(job->soc, emit_vector_core(job->soc), blocks - 1) + program->begin +
             busy - busy / SHARE <
         job->enough_cycles;
}

/* Adds a kernel to what the job costs; false where it cannot be run. */
static bool add_kernel(struct lower_job *job, struct lower_program *program,
                       const struct record_stream *stream) {
  const struct vinci_soc *soc = job->soc;
  struct lower_cost *cost = &job->cost;
  struct trial_times times;
  uint64_t before = last_start_cycles(soc, stream);
  uint64_t others = cost->total_cycles + launch_spread_cycles(soc, stream->kind, stream->blocks);
  others -= min_u64(others, before);
  /* A block that is over takes at least as many cycles as are enough. */
  uint64_t limit = job->enough_cycles - min_u64(others, job->enough_cycles);
  if (!trial_run(program->trial, &program->record, stream, 0, limit, &times))
    return false;
  if (times.over) {
    cost->total_cycles = others + times.end;
    cost->blocks = stream->blocks;
    return true;
  }
  uint64_t last = times.read_bytes > 0 ? times.read_end : times.write_end;
  uint64_t total = cost->total_cycles + times.begin +
                   flow_cycles(soc, &program->record, stream, &times) + times.end - last;
  if (total < before || total - before < job->enough_cycles)
    total -= sooner_cycles(program, stream, times.end, before);
  cost->total_cycles = total;
  if (stream->kernel == 1)
    keep_least(program, &times, stream->blocks);
  cost->vector_cycles += times.busy[PIPE_V];
  cost->mte2_cycles += times.busy[PIPE_MTE2];
  cost->mte3_cycles += times.busy[PIPE_MTE3];
  cost->gm_bytes += (times.read_bytes + times.write_bytes) * stream->blocks;
  cost->blocks = cost->blocks ? cost->blocks : stream->blocks;
  return true;
}

/* Kernels follow each other; each but the first is launched behind the one before. */
static bool add_kernels(struct lower_job *job, struct lower_program *program) {
  const struct record *record = &program->record;
  bool possible = !record->full && record->stream_count > 0;
  job->cost = (struct lower_cost){0};
  for (uint32_t i = 0; possible && i < record->stream_count; i++) {
    const struct record_stream *stream = &record->stream[i];
    possible = (i == 0 || stream->kernel != stream[-1].kernel) && add_kernel(job, program, stream);
    if (i > 0)
      job->cost.total_cycles += launch_cycles(job->soc, stream->kind, 1);
  }
  return possible || lower_refuse(job, "the program cannot be estimated");
}

bool program_cost_of(struct lower_job *job, program_writer write) {
  struct lower_program *program = program_of(job);
  struct arena terms = {0};
  struct vinci_diag ignored = {0};
  struct emit emit;
  if (!program)
    return lower_refuse(job, "out of memory");
  emit_start(&emit, job->soc, &terms, &ignored);
  emit.selection = select_for(job->soc);
  emit.record = &program->record;
  record_start(&program->record, job->arena);
  write(job, &emit);
  emit_finish(&emit);
  job->arena->short_of_memory |= emit.status == VINCI_E_NOMEM;
  bool possible =
      emit.status == VINCI_OK ? add_kernels(job, program) : lower_refuse(job, "%s", ignored.text);
  arena_free(&terms);
  return possible;
}

bool program_cost(struct lower_job *job) {
  if (!may_be_cheaper(job)) {
    job->cost.total_cycles = job->enough_cycles;
    return true;
  }
  return program_cost_of(job, job->op->template->emit);
}
