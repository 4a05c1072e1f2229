/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The barriers that the compiler of the chip puts between vector instructions (--cce-auto-sync):
 * one stands before an instruction that touches what an instruction behind the last barrier writes,
 * or writes what such an instruction touches. Here addresses are known, so none is there for want
 * of knowledge; the chip's compiler may have more of them.
 */
#include <string.h>

#include "core/isa/isa.h"
#include "kernels/source/source.h"

/* An instruction that waits for a barrier before is the next. */
bool source_sync_held(struct source_core *core) {
  struct source_sync *sync = &core->sync;
  struct inst *inst = core->inst;
  if (!sync->held)
    return false;
  sync->held = false;
  inst->op = sync->op;
  inst->row = sync->row;
  inst->line = sync->line;
  memcpy(inst->arg, sync->arg, sizeof inst->arg);
  return true;
}

static bool depends(const struct source_sync *sync, const struct inst_access *access) {
  int64_t end = access->address + (int64_t)access->bytes;
  unsigned count = sync->count < SOURCE_SYNC_ACCESSES ? sync->count : SOURCE_SYNC_ACCESSES;
  for (unsigned i = 0; i < count; i++)
    if (sync->access[i].begin < end && access->address < sync->access[i].end &&
        (access->write || sync->access[i].write))
      return true;
  return false;
}

/* The list goes round: the eldest access makes room for the newest. */
static void note(struct source_sync *sync, const struct inst_access *access) {
  sync->access[sync->count++ % SOURCE_SYNC_ACCESSES] = (struct source_sync_access){
      access->address, access->address + (int64_t)access->bytes, access->write};
}

static void put_barrier(struct source_core *core, uint32_t row) {
  struct inst *inst = core->inst;
  core->sync.op = inst->op;
  core->sync.row = inst->row;
  core->sync.line = inst->line;
  memcpy(core->sync.arg, inst->arg, sizeof inst->arg);
  core->sync.held = true;
  core->sync.count = 0;
  inst->op = OP_PIPE_BARRIER;
  inst->row = row;
  inst->arg[BARRIER_PIPE] = PIPE_V;
}

/* Looks at the instruction in core->inst, which becomes a barrier where one has to be before. */
void source_sync(struct source_core *core) {
  struct source_sync *sync = &core->sync;
  struct inst *inst = core->inst;
  struct inst_access access[INST_ACCESS_MAX];
  if (inst->op == OP_PIPE_BARRIER &&
      (inst->arg[BARRIER_PIPE] == PIPE_V || inst->arg[BARRIER_PIPE] == PIPE_ALL))
    sync->count = 0;
  /* Instructions of vector functions are in order by themselves. */
  if (inst_pipe(inst) != PIPE_V || isa_is_register((enum isa_op)inst->op) ||
      !registry_access((enum isa_op)inst->op))
    return;
  unsigned count = registry_access((enum isa_op)inst->op)(core->source->soc, inst, access);
  bool waits = false;
  for (unsigned i = 0; i < count && !waits; i++)
    waits = access[i].space == SPACE_UB && depends(sync, &access[i]);
  uint32_t row = waits ? source_row(core->source, core->place.kind, sync->code, OP_PIPE_BARRIER)
                       : SOURCE_ROWS_MAX;
  if (row < SOURCE_ROWS_MAX)
    put_barrier(core, row);
  for (unsigned i = 0; i < count; i++)
    if (access[i].space == SPACE_UB && access[i].bytes > 0)
      note(sync, &access[i]);
}
