/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses of scalar code, for checks. The code tells of each access (access.c): an address and
 * where in the code, which a few instructions put into a table. When the table is full, and at each
 * intrinsic, the accesses become entries of the log. Between two intrinsics nothing of the core
 * changes but for scalar code, so accesses of one place that adjoin become one entry, as long as no
 * access of another place comes between that the order would matter to.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/source/assembler.h"
#include "kernels/source/source.h"

enum { TOLD_ENTRIES = 1 << 10, OPEN_MAX = 8 };

/* As the code below writes them. */
struct told_entry {
  uint64_t address; /* in device memory, or in UB */
  uint64_t from;    /* where the call returns to */
  uint64_t rdx;
};

/* Bytes that one place in the code has accessed. */
struct told_run {
  uint32_t row;
  uint8_t space;
  bool write;
  int64_t start, end;
};

struct source_told {
  struct told_entry entry[TOLD_ENTRIES];
  struct told_run open[OPEN_MAX]; /* not in the log yet, in their order */
  unsigned open_count;
  bool failed; /* memory is short */
};

#if defined(__x86_64__)
void source_take_gm(void);
void source_take_ub(void);
__attribute__((used, visibility("hidden"))) void source_told_full(struct vinci_cce_watch *watch);

#define MEMBER(name, at)                                                                           \
  _Static_assert(offsetof(struct vinci_cce_watch, name) == (at), "the code below knows the "       \
                                                                 "places")
MEMBER(gm_bytes, 8);
MEMBER(take_gm, 48);
MEMBER(gm_end, 64);
MEMBER(ub_end, 72);
MEMBER(next, 80);
MEMBER(end, 88);
_Static_assert(sizeof(struct told_entry) == 24, "the code below knows the size");

/*
 * rax: an address, rcx: the structure; both may change, other registers and what lies below the
 * stack's end by 128 bytes may not. Who accesses what is not there comes back at once.
 */
__asm__(".text\n"
        ".hidden source_take_gm\n"
        ".globl source_take_gm\n"
        ".type source_take_gm, @function\n"
        "source_take_gm:\n"
        "  cmpq 8(%rcx), %rax\n"
        "  jae 9f\n"
        "  cmpq 64(%rcx), %rax\n"
        "  jb 1f\n"
        "  jmp 2f\n"
        "9: ret\n"
        ".hidden source_take_ub\n"
        ".globl source_take_ub\n"
        ".type source_take_ub, @function\n"
        "source_take_ub:\n"
        "  cmpq 72(%rcx), %rax\n"
        "  jb 1f\n"
        "2: pushq %rdx\n"
        "  movq 80(%rcx), %rdx\n"
        "  movq %rdx, 88(%rcx)\n"
        "  popq %rdx\n"
        "1: pushq %rdx\n"
        "  movq 80(%rcx), %rdx\n"
        "  movq %rax, (%rdx)\n"
        "  movq 8(%rsp), %rax\n"
        "  movq %rax, 8(%rdx)\n"
        "  movq (%rsp), %rax\n"
        "  movq %rax, 16(%rdx)\n"
        "  addq $24, %rdx\n"
        "  movq %rdx, 80(%rcx)\n"
        "  cmpq 88(%rcx), %rdx\n"
        "  popq %rdx\n"
        "  ja 3f\n"
        "  ret\n"
        "3: pushq %rbp\n"
        "  movq %rsp, %rbp\n"
        "  pushq %rdx\n"
        "  pushq %rsi\n"
        "  pushq %rdi\n"
        "  pushq %r8\n"
        "  pushq %r9\n"
        "  pushq %r10\n"
        "  pushq %r11\n"
        "  subq $1024, %rsp\n"
        "  andq $-64, %rsp\n"
        "  fxsave (%rsp)\n"
        "  movq %rcx, %rdi\n"
        "  call source_told_full\n"
        "  fxrstor (%rsp)\n"
        "  leaq -56(%rbp), %rsp\n"
        "  popq %r11\n"
        "  popq %r10\n"
        "  popq %r9\n"
        "  popq %r8\n"
        "  popq %rdi\n"
        "  popq %rsi\n"
        "  popq %rdx\n"
        "  popq %rbp\n"
        "  ret\n");
#endif

/* ---- entries of the log ---- */

static void write_run(struct source_core *core, const struct told_run *run) {
  struct inst inst = {.op = run->write ? OP_SCALAR_STORE : OP_SCALAR_LOAD, .row = run->row};
  inst.arg[ACCESS_ADDRESS] = run->start;
  inst.arg[ACCESS_BYTES] = run->end - run->start;
  inst.arg[ACCESS_SPACE] = run->space;
  core->told->failed |= !source_log_add(core->source, &core->place, &inst);
}

static void close_runs(struct source_core *core) {
  struct source_told *told = core->told;
  for (unsigned i = 0; i < told->open_count; i++)
    write_run(core, &told->open[i]);
  told->open_count = 0;
}

static bool overlap(const struct told_run *one, const struct told_run *other) {
  return one->space == other->space && one->start < other->end && other->start < one->end;
}

/* Whether an access may count as made when an open run began: nothing that began later, of which
 * one writes, has bytes of the access. */
static bool may_join(const struct source_told *told, unsigned index, const struct told_run *run) {
  const struct told_run *open = &told->open[index];
  if (open->row != run->row || open->write != run->write || open->space != run->space ||
      run->start > open->end || run->end < open->start)
    return false;
  for (unsigned i = index + 1; i < told->open_count; i++)
    if ((told->open[i].write || run->write) && overlap(&told->open[i], run))
      return false;
  return true;
}

static void add_run(struct source_core *core, const struct told_run *run) {
  struct source_told *told = core->told;
  for (unsigned i = told->open_count; i-- > 0;) {
    struct told_run *open = &told->open[i];
    /* Whoever may not read these bytes may not write them either, so the write says it all. */
    if (!run->write && open->write && open->space == run->space && open->start <= run->start &&
        open->end >= run->end)
      return;
    if (!may_join(told, i, run))
      continue;
    open->start = run->start < open->start ? run->start : open->start;
    open->end = run->end > open->end ? run->end : open->end;
    return;
  }
  if (told->open_count == OPEN_MAX)
    close_runs(core);
  told->open[told->open_count++] = *run;
}

/* ---- accesses ---- */

/* The bits behind the call that an entry comes from: in the last four bytes of an instruction of
 * seven. */
static uint32_t word_of(const struct told_entry *entry) {
  enum { BEFORE_WORD = 3 };
  uint32_t word;
  memcpy(&word, (const uint8_t *)(uintptr_t)entry->from + BEFORE_WORD, sizeof word);
  return word;
}

static bool lies_inside(const struct source_core *core, const struct told_run *run) {
  uint64_t end = run->space == SPACE_UB ? core->watch->ub_end : core->watch->gm_end;
  return run->start >= 0 && (uint64_t)run->end <= end;
}

/* Takes an access; false when its memory ends before. */
static bool take_access(struct source_core *core, int64_t address, uint64_t bytes, unsigned word,
                        uint64_t from) {
  struct told_run run = {.space = word & ASM_UB ? SPACE_UB : SPACE_GM,
                         .start = address,
                         .end = address + (int64_t)bytes};
  for (unsigned i = 0; i < 2; i++) {
    run.write = i == 1;
    if (!(word & (run.write ? ASM_WRITES : ASM_READS)) || bytes == 0)
      continue;
    run.row = source_row(core->source, core->place.kind, from - core->base,
                         run.write ? OP_SCALAR_STORE : OP_SCALAR_LOAD);
    if (run.row != SOURCE_ROWS_MAX)
      add_run(core, &run);
  }
  return bytes == 0 || lies_inside(core, &run);
}

/* Takes what the table holds; false when an access leaves its memory. */
static bool empty_table(struct source_core *core) {
  struct source_told *told = core->told;
  const struct told_entry *end = (const struct told_entry *)(const void *)core->watch->next;
  bool inside = true;
  for (const struct told_entry *entry = told->entry; entry < end && inside; entry++) {
    uint32_t word = word_of(entry);
    uint64_t bytes = word & ASM_COUNT_IN_RDX ? entry->rdx : word & ASM_BYTES;
    inside = take_access(core, (int64_t)entry->address, bytes, word, entry->from - 1);
  }
  core->watch->next = (uint64_t *)(void *)told->entry;
  core->watch->end = (uint64_t *)(void *)(told->entry + TOLD_ENTRIES - 1);
  return inside;
}

#if defined(__x86_64__)
void source_told_full(struct vinci_cce_watch *watch) {
  struct source_core *core = watch->owner;
  if (empty_table(core) && !core->told->failed)
    return;
  close_runs(core);
  source_fiber_stop(core);
}
#endif

bool source_told_start(struct source_core *core) {
#if defined(__x86_64__)
  struct vinci_cce_watch *watch = core->watch;
  if (!core->tells || !core->source->wants_accesses || core->source->recorded)
    return true;
  if (!core->told)
    core->told = calloc(1, sizeof *core->told);
  if (!core->told)
    return false;
  core->told->open_count = 0;
  watch->take_gm = source_take_gm;
  watch->take_ub = source_take_ub;
  watch->gm_end = core->source->trace->gm_bytes;
  watch->ub_end = soc_space_bytes(core->source->soc, SPACE_UB);
  watch->next = (uint64_t *)(void *)core->told->entry;
  watch->end = (uint64_t *)(void *)(core->told->entry + TOLD_ENTRIES - 1);
  watch->owner = core;
#endif
  return true;
}

bool source_told_end(struct source_core *core) {
  if (!core->told)
    return true;
  bool inside = empty_table(core);
  close_runs(core);
  return inside && !core->told->failed;
}

bool source_told_failed(const struct source_core *core) { return core->told && core->told->failed; }

void source_told_fault(struct source_core *core, int64_t address, bool write, uint64_t from) {
  if (!core->told)
    return;
  (void)empty_table(core);
  (void)take_access(core, address, 1, write ? ASM_WRITES : ASM_READS, from);
  close_runs(core);
}

void source_told_clean(struct source_core *core, uint64_t address, bool whole_cache,
                       uint64_t from) {
  enum { LINE_BYTES = 64 };
  if (!core->told || !source_told_end(core))
    return;
  struct inst inst = {.op = OP_SCALAR_CLEAN};
  inst.row = source_row(core->source, core->place.kind, from - core->base, OP_SCALAR_CLEAN);
  if (inst.row == SOURCE_ROWS_MAX)
    return;
  inst.arg[ACCESS_ADDRESS] = (int64_t)((address - (uint64_t)(uintptr_t)core->gm) & ~UINT64_C(63));
  inst.arg[ACCESS_BYTES] = whole_cache ? 0 : LINE_BYTES;
  inst.arg[ACCESS_SPACE] = SPACE_GM;
  core->told->failed |= !source_log_add(core->source, &core->place, &inst);
}
