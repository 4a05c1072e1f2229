/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses of scalar code, for checks. The code tells of each access (access.c): an address and
 * where in the code, which a few instructions put into a table. When the table is full, and at each
 * intrinsic, the table is emptied.
 *
 * Between two intrinsics nothing of the core changes but for scalar code, so of all accesses there
 * only this counts: which bytes each place in the code has stored, and which it has loaded before
 * scalar code stored there. These become entries of the log, loads first.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/source/assembler.h"
#include "kernels/source/dcache.h"
#include "kernels/source/gate.h"
#include "kernels/source/source.h"
#include "kernels/source/told.h"

enum { TOLD_ENTRIES = 1 << 10, LINE_BYTES = TOLD_LINE_BYTES };
/* More is not kept line by line. */
enum { SPAN_MAX = 1 << 12 };

/* As the code below writes them. */
struct told_entry {
  uint64_t address; /* in device memory, or in UB */
  uint64_t from;    /* where the call returns to */
  uint64_t rdx;
};

/* The rows of a place in the code, and where it has accessed last: most go on in the same line. */
struct told_place {
  uint64_t from, line;
  uint32_t clears;
  uint32_t row[2];      /* of loads, of stores */
  uint32_t own[2], any; /* indices of parts, and of the line */
};

enum { PLACES = 1 << 7 };

struct source_told {
  struct told_entry entry[TOLD_ENTRIES];
  struct told_place place[PLACES];
  struct told_lines kept; /* that are not in the log yet */
  bool logs;              /* accesses go to the log */
  bool failed;            /* memory is short */
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

/* ---- lines ---- */

static void close_lines(struct source_core *core) {
  core->told->failed |= !told_close(core, &core->told->kept);
}

static bool has_room(struct source_core *core) {
  core->told->failed |= !told_has_room(core, &core->told->kept);
  return !core->told->failed;
}

/* Bytes of one line. */
static void mark_line(struct source_core *core, uint64_t line, uint64_t mask,
                      const struct told_run *run) {
  struct told_lines *kept = &core->told->kept;
  if (!has_room(core))
    return;
  uint32_t any = told_line_of(kept, line);
  uint32_t own = told_part_of(kept, any, run->row | (run->write ? TOLD_WRITES : 0));
  if (run->write)
    kept->lines[any].stored |= mask;
  else
    mask &= ~kept->lines[any].stored;
  kept->parts[own].mask |= mask;
}

static void add_run(struct source_core *core, const struct told_run *run) {
  if (run->end - run->start > SPAN_MAX) {
    close_lines(core);
    core->told->failed |= !told_write_run(core, run);
    return;
  }
  for (int64_t at = run->start; at < run->end;) {
    unsigned first = (unsigned)(at % LINE_BYTES);
    int64_t room = LINE_BYTES - first, rest = run->end - at, count = rest < room ? rest : room;
    uint64_t bytes = count == LINE_BYTES ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    mark_line(core, (uint64_t)run->space << TOLD_SPACE_SHIFT | (uint64_t)(at / LINE_BYTES),
              bytes << first, run);
    at += count;
  }
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

static struct told_place *place_of(struct source_core *core, uint64_t from) {
  struct told_place *place = &core->told->place[(from >> 3 ^ from) % PLACES];
  if (place->from != from)
    *place = (struct told_place){.from = from, .row = {SOURCE_ROWS_MAX, SOURCE_ROWS_MAX}};
  return place;
}

/* Code of headers that the user has not called in a line of the source: the library's own, which
 * reads device memory itself where its cores wait for each other. */
static bool is_of_library(const struct source_core *core, uint64_t from) {
  const struct source_image *image = &core->source->image[core->place.kind];
  return source_line(image, core->source->trace->path, from - core->base) == 0;
}

/* The row of an access, new or known. */
static uint32_t row_of(struct source_core *core, struct told_place *place, bool write,
                       unsigned word) {
  struct source *source = core->source;
  uint64_t rows = source->trace->row_count;
  if (place->row[write] == SOURCE_ROWS_MAX)
    place->row[write] =
        source_access_row(source, core->place.kind, place->from - core->base,
                          write ? OP_SCALAR_STORE : OP_SCALAR_LOAD, (word & ASM_PASSES) != 0);
  if (source->trace->row_count != rows && word & ASM_PASSES)
    source->trace->rows[place->row[write]].partner = PROGRAM_PASSES_CACHE;
  if (source->trace->row_count != rows && !write && !(word & ASM_UB))
    source->program.passes |= word & ASM_PASSES || is_of_library(core, place->from);
  return place->row[write];
}

/* Looks up what an access to one line needs. */
static void go_to(struct source_core *core, struct told_place *place, uint64_t line,
                  unsigned word) {
  struct told_lines *kept = &core->told->kept;
  if (!has_room(core))
    return;
  uint32_t any = told_line_of(kept, line);
  for (unsigned write = 0; write < 2; write++) {
    if (!(word & (write ? ASM_WRITES : ASM_READS)))
      continue;
    uint32_t row = place->row[write];
    if (row == SOURCE_ROWS_MAX && (row = row_of(core, place, write, word)) == SOURCE_ROWS_MAX)
      return;
    place->own[write] = told_part_of(kept, any, row | (write ? TOLD_WRITES : 0));
  }
  place->any = any;
  place->line = line;
  place->clears = kept->clears;
}

/* The alignment that an access wants and does not have, as a power of two: the source's, of a part
 * of joined accesses that of the part; 0: the access is as it should be. */
static unsigned missed_alignment(unsigned word, uint64_t address) {
  unsigned power = word / ASM_ALIGNMENT & ASM_ALIGNMENTS, bytes = word & ASM_BYTES;
  while (power > 0 && 1u << power > bytes)
    power--;
  return address & ((1u << power) - 1) ? power : 0;
}

/* Most accesses: a few bytes of one line, in their memory. False: not such an access. */
static bool take_simply(struct source_core *core, uint64_t address, unsigned word, uint64_t from) {
  struct told_lines *kept = &core->told->kept;
  unsigned bytes = word & ASM_BYTES, first = address % LINE_BYTES;
  uint64_t end = word & ASM_UB ? core->watch->ub_end : core->watch->gm_end;
  if (word & ASM_COUNT_IN_RDX || first + bytes > LINE_BYTES || address >= end ||
      end - address < bytes || missed_alignment(word, address) != 0)
    return false;
  uint64_t space = word & ASM_UB ? SPACE_UB : SPACE_GM;
  uint64_t line = space << TOLD_SPACE_SHIFT | address / LINE_BYTES;
  uint64_t mask = (bytes == LINE_BYTES ? UINT64_MAX : (UINT64_C(1) << bytes) - 1) << first;
  struct told_place *place = place_of(core, from);
  if (place->line != line || place->clears != kept->clears)
    go_to(core, place, line, word);
  if (place->line != line || place->clears != kept->clears)
    return true; /* no room for more rows, or memory */
  if (word & ASM_READS)
    kept->parts[place->own[0]].mask |= mask & ~kept->lines[place->any].stored;
  if (word & ASM_WRITES) {
    kept->parts[place->own[1]].mask |= mask;
    kept->lines[place->any].stored |= mask;
  }
  return true;
}

/* Takes an access; false when its memory ends before. */
static bool take_access(struct source_core *core, int64_t address, uint64_t bytes, unsigned word,
                        uint64_t from) {
  unsigned missed = missed_alignment(word, (uint64_t)address);
  struct told_run run = {.alignment = (uint8_t)missed,
                         .space = word & ASM_UB ? SPACE_UB : SPACE_GM,
                         .start = address,
                         .end = address + (int64_t)bytes};
  bool inside = bytes == 0 || lies_inside(core, &run);
  for (unsigned i = 0; i < 2; i++) {
    run.write = i == 1;
    if (!(word & (run.write ? ASM_WRITES : ASM_READS)) || bytes == 0)
      continue;
    run.row = row_of(core, place_of(core, from), run.write, word);
    if (run.row == SOURCE_ROWS_MAX)
      continue;
    if (inside && missed == 0)
      add_run(core, &run);
    else {
      close_lines(core);
      core->told->failed |= !told_write_run(core, &run);
    }
  }
  return inside;
}

/* A cache hears of each access before the access, a log of many at once. */
static void start_table(struct source_core *core) {
  struct source_told *told = core->told;
  core->watch->next = (uint64_t *)(void *)told->entry;
  core->watch->end = (uint64_t *)(void *)(told->entry + (core->dcache ? 0 : TOLD_ENTRIES - 1));
}

/* Takes what the table holds; false when an access leaves its memory. */
static bool empty_table(struct source_core *core) {
  struct source_told *told = core->told;
  const struct told_entry *end = (const struct told_entry *)(const void *)core->watch->next;
  bool inside = true;
  for (const struct told_entry *entry = told->entry; entry < end && inside; entry++) {
    uint32_t word = word_of(entry);
    uint64_t bytes = word & ASM_COUNT_IN_RDX ? entry->rdx : word & ASM_BYTES;
    if (core->dcache && !(word & ASM_UB))
      told->failed |= !source_dcache_access(core->dcache, entry->address, bytes, word & ASM_WRITES,
                                            word & ASM_PASSES);
    if (!told->logs)
      continue;
    inside = take_simply(core, entry->address, word, entry->from - 1) ||
             take_access(core, (int64_t)entry->address, bytes, word, entry->from - 1);
  }
  start_table(core);
  return inside;
}

#if defined(__x86_64__)
void source_told_full(struct vinci_cce_watch *watch) {
  struct source_core *core = watch->owner;
  source_gate_open();
  if (empty_table(core) && !core->told->failed) {
    source_gate_close();
    return;
  }
  close_lines(core);
  source_fiber_stop(core);
}
#endif

bool source_told_start(struct source_core *core) {
#if defined(__x86_64__)
  struct vinci_cce_watch *watch = core->watch;
  const struct source *source = core->source;
  bool logs = source->wants_accesses && !source->recorded;
  if (!core->tells || (!logs && !source->wants_caches)) {
    if (core->told) /* of an earlier execution */
      watch->take_gm = watch->take_ub = NULL;
    return true;
  }
  if (!core->told)
    core->told = calloc(1, sizeof *core->told);
  if (source->wants_caches && !core->dcache)
    core->dcache = source_dcache_new();
  if (!core->told || (source->wants_caches && !core->dcache))
    return false;
  if (core->dcache)
    source_dcache_start(core->dcache, (uint8_t *)(uintptr_t)core->gm, source->trace->gm_bytes);
  core->told->logs = logs;
  core->told->kept.clears++; /* none of an older block */
  watch->take_gm = source_take_gm;
  watch->take_ub = source_take_ub;
  watch->gm_end = core->source->trace->gm_bytes;
  watch->ub_end = soc_space_bytes(core->source->soc, SPACE_UB);
  start_table(core);
  watch->owner = core;
#endif
  return true;
}

bool source_told_end(struct source_core *core) {
  if (!core->told)
    return true;
  bool inside = empty_table(core);
  close_lines(core);
  return inside && !core->told->failed;
}

bool source_told_failed(const struct source_core *core) { return core->told && core->told->failed; }

bool source_told_logs(const struct source_core *core) { return core->told && core->told->logs; }

void source_told_free(struct source_core *core) {
  source_dcache_free(core->dcache);
  if (core->told)
    told_lines_free(&core->told->kept);
  free(core->told);
}

void source_told_fault(struct source_core *core, int64_t address, bool write, uint64_t from) {
  (void)empty_table(core);
  (void)take_access(core, address, 1, write ? ASM_WRITES : ASM_READS, from);
  close_lines(core);
}

void source_told_clean(struct source_core *core, uint64_t address, bool whole_cache,
                       uint64_t from) {
  if (!core->told || !source_told_end(core) || !source_told_logs(core))
    return;
  struct inst inst = {.op = OP_SCALAR_CLEAN};
  inst.row = source_row(core->source, core->place.kind, from - core->base, OP_SCALAR_CLEAN);
  if (inst.row == SOURCE_ROWS_MAX)
    return;
  inst.arg[ACCESS_ADDRESS] =
      (int64_t)((address - (uint64_t)(uintptr_t)core->gm) & ~(uint64_t)(LINE_BYTES - 1));
  inst.arg[ACCESS_BYTES] = whole_cache ? 0 : LINE_BYTES;
  inst.arg[ACCESS_SPACE] = SPACE_GM;
  core->told->failed |= !source_log_add(core->source, &core->place, &inst);
}
