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

#include "kernels/compile/assembler.h"
#include "kernels/source/dcache.h"
#include "kernels/source/gate.h"
#include "kernels/source/log.h"
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

/* What is known of a place in the code: its accesses, their rows, and where it has accessed last,
 * as most go on in the same line. */
struct told_place {
  uint64_t from; /* where its call returns to, behind the place */
  uint64_t line;
  uint64_t limit;           /* the last address whose bytes lie in its memory */
  uint64_t mask;            /* the bytes of an access, at the start of a line */
  uint64_t space;           /* of the memory, as in a line */
  uint32_t word, unaligned; /* bits that an address must not have */
  int32_t last;             /* where in a line an access may start; below 0: none is simple */
  uint32_t clears;
  uint32_t row[2];      /* of loads, of stores */
  uint32_t own[2], any; /* indices of parts, and of the line */
};

enum { PLACES = 1 << 7 };

struct source_told {
  struct told_entry entry[TOLD_ENTRIES];
  struct told_place place[PLACES];
  struct told_lines kept; /* that are not in the log yet */
  uint64_t gm_end, ub_end;
  bool logs;   /* accesses go to the log */
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
        "  cmpq 64(%rcx), %rax\n" /* the tensors end before what is counted ends */
        "  jb 1f\n"
        "  cmpq 8(%rcx), %rax\n"
        "  jb 2f\n"
        "  ret\n"
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

/* The alignment that the source promises for an access, as a power of two; of a part of joined
 * accesses that of the part. */
static unsigned promised_alignment(unsigned word) {
  unsigned power = word / ASM_ALIGNMENT & ASM_ALIGNMENTS, bytes = word & ASM_BYTES;
  while (power > 0 && 1u << power > bytes)
    power--;
  return power;
}

static void new_place(const struct source_core *core, struct told_place *place, uint64_t from,
                      unsigned word) {
  unsigned bytes = word & ASM_BYTES;
  uint64_t end = word & ASM_UB ? core->told->ub_end : core->told->gm_end;
  bool simple = !(word & ASM_COUNT_IN_RDX) && bytes > 0 && bytes <= LINE_BYTES && bytes <= end;
  *place = (struct told_place){
      .from = from,
      .line = UINT64_MAX,
      .limit = end - bytes,
      .mask = bytes >= LINE_BYTES ? UINT64_MAX : (UINT64_C(1) << bytes) - 1,
      .space = (uint64_t)(word & ASM_UB ? SPACE_UB : SPACE_GM) << TOLD_SPACE_SHIFT,
      .word = word,
      .unaligned = (1u << promised_alignment(word)) - 1,
      .last = simple ? (int32_t)(LINE_BYTES - bytes) : -1,
      .row = {SOURCE_ROWS_MAX, SOURCE_ROWS_MAX}};
}

static inline struct told_place *place_of(struct source_core *core, uint64_t from, unsigned word) {
  struct told_place *place = &core->told->place[(from >> 3 ^ from) % PLACES];
  if (place->from != from)
    new_place(core, place, from, word);
  return place;
}

/* Code of headers that the user has not called in a line of the source: the library's own, which
 * reads device memory itself where its cores wait for each other. */
static bool is_of_library(const struct source_core *core, uint64_t from) {
  const struct source_image *image = &core->source->image[core->place.kind];
  return source_line(image, core->source->trace->path, from - core->base) == 0;
}

static enum isa_op op_of(const struct source_core *core, bool write) {
  if (core->in_threads)
    return write ? OP_THREAD_STORE : OP_THREAD_LOAD;
  return write ? OP_SCALAR_STORE : OP_SCALAR_LOAD;
}

/* The row of an access, new or known. */
static uint32_t row_of(struct source_core *core, struct told_place *place, bool write,
                       unsigned word) {
  struct source *source = core->source;
  uint64_t rows = source->trace->row_count;
  if (place->row[write] == SOURCE_ROWS_MAX)
    place->row[write] = source_access_row(source, core->place.kind, place->from - 1 - core->base,
                                          op_of(core, write), (word & ASM_PASSES) != 0);
  if (source->trace->row_count != rows && word & ASM_PASSES)
    source->trace->rows[place->row[write]].partner = PROGRAM_PASSES_CACHE;
  if (source->trace->row_count != rows && !write && !(word & ASM_UB) && !core->in_threads)
    source->program.passes |= word & ASM_PASSES || is_of_library(core, place->from - 1);
  return place->row[write];
}

/* Looks up what an access to one line needs; false: none of the place has been there. */
static inline bool find_line(const struct told_lines *kept, struct told_place *place,
                             uint64_t line) {
  uint32_t any = told_find_line(kept, line), word = place->word;
  if (any == TOLD_NONE)
    return false;
  if (word & ASM_WRITES &&
      (place->own[1] = told_find_part(kept, any, place->row[1] | TOLD_WRITES)) == TOLD_NONE)
    return false;
  if (word & ASM_READS && (place->own[0] = told_find_part(kept, any, place->row[0])) == TOLD_NONE)
    return false;
  place->any = any;
  return true;
}

/* The same, or enters that; false when there is no room for more rows, or memory. */
static bool enter_line(struct source_core *core, struct told_place *place, uint64_t line) {
  struct told_lines *kept = &core->told->kept;
  if (!has_room(core))
    return false;
  uint32_t any = told_line_of(kept, line);
  for (unsigned write = 0; write < 2; write++) {
    if (!(place->word & (write ? ASM_WRITES : ASM_READS)))
      continue;
    uint32_t row = row_of(core, place, write, place->word);
    if (row == SOURCE_ROWS_MAX)
      return false;
    place->own[write] = told_part_of(kept, any, row | (write ? TOLD_WRITES : 0));
  }
  place->any = any;
  return true;
}

/* Most accesses: a few bytes of one line, in their memory. False: not such an access. */
static inline bool take_simply(struct source_core *core, struct told_lines *kept,
                               struct told_place *place, uint64_t address) {
  int32_t first = (int32_t)(address % LINE_BYTES);
  if (first > place->last || address > place->limit || address & place->unaligned)
    return false;
  uint64_t line = place->space | address / LINE_BYTES, mask = place->mask << first;
  if (place->line != line || place->clears != kept->clears) {
    if (!find_line(kept, place, line) && !enter_line(core, place, line)) {
      place->line = UINT64_MAX;
      return true;
    }
    place->line = line;
    place->clears = kept->clears;
  }
  uint32_t word = place->word;
  struct told_line *any = &kept->lines[place->any];
  if (word & ASM_READS)
    kept->parts[place->own[0]].mask |= mask & ~any->stored;
  if (word & ASM_WRITES) {
    any->stored |= mask;
    kept->parts[place->own[1]].mask |= mask;
  }
  return true;
}

/* Takes an access; false when its memory ends before. */
static bool take_access(struct source_core *core, int64_t address, uint64_t bytes, unsigned word,
                        uint64_t from) {
  unsigned power = promised_alignment(word);
  unsigned missed = (uint64_t)address & ((1u << power) - 1) ? power : 0;
  struct told_run run = {.alignment = (uint8_t)missed,
                         .space = word & ASM_UB ? SPACE_UB : SPACE_GM,
                         .start = address,
                         .end = address + (int64_t)bytes};
  bool inside = bytes == 0 || lies_inside(core, &run);
  for (unsigned i = 0; i < 2; i++) {
    run.write = i == 1;
    if (!(word & (run.write ? ASM_WRITES : ASM_READS)) || bytes == 0)
      continue;
    run.row = row_of(core, place_of(core, from, word), run.write, word);
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

static bool take_entry(struct source_core *core, const struct told_entry *entry) {
  struct source_told *told = core->told;
  uint32_t word = word_of(entry);
  uint64_t bytes = word & ASM_COUNT_IN_RDX ? entry->rdx : word & ASM_BYTES;
  if (core->dcache && !(word & ASM_UB))
    told->failed |= !source_dcache_access(core->dcache, entry->address, bytes, word & ASM_WRITES,
                                          word & ASM_PASSES);
  return !told->logs || take_access(core, (int64_t)entry->address, bytes, word, entry->from);
}

/* Takes what the table holds; false when an access leaves its memory. */
static bool empty_table(struct source_core *core) {
  struct source_told *told = core->told;
  const struct told_entry *entry = told->entry;
  const struct told_entry *end = (const struct told_entry *)(const void *)core->watch->next;
  struct told_place *place = told->place;
  if (told->logs && !core->dcache && told_has_room(core, &told->kept)) {
    for (; entry < end; entry++) {
      if (place->from != entry->from)
        place = place_of(core, entry->from, word_of(entry));
      if (!take_simply(core, &told->kept, place, entry->address) && !take_entry(core, entry))
        break;
    }
  } else {
    while (entry < end && take_entry(core, entry))
      entry++;
  }
  start_table(core);
  return entry >= end;
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

/* Places know how far memory goes. */
static void forget_other_memory(struct source_told *told, const struct source *source) {
  uint64_t gm = source->trace->gm_bytes, ub = soc_space_bytes(source->soc, SPACE_UB);
  if (told->gm_end != gm || told->ub_end != ub)
    memset(told->place, 0, sizeof told->place);
  told->gm_end = gm;
  told->ub_end = ub;
}

void source_told_forget(struct source_core *core) {
  for (size_t i = 0; core->told && i < PLACES; i++)
    core->told->place[i].from = 0;
}

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
  forget_other_memory(core->told, source);
  watch->take_gm = source_take_gm;
  watch->take_ub = source_take_ub;
  watch->gm_end = core->told->gm_end;
  watch->ub_end = core->told->ub_end;
  start_table(core);
  watch->owner = core;
#else
  (void)core;
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
  (void)take_access(core, address, 1, write ? ASM_WRITES : ASM_READS, from + 1);
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
