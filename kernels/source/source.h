/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled kernels as programs. A kernel library holds the device code of a kernel, compiled for
 * the host, an image for each kind of core. A core executes the code of its image in a context of
 * its own (fiber.c) which stops at each intrinsic and hands an instruction over (issue.c).
 *
 * What a kernel does may depend on values. So a kernel is executed once with values, and what each
 * block issues is kept (log.c). Runs with time and checks take the instructions from there. Runs
 * with values execute the code again, because scalar code may write memory too.
 */
#ifndef VINCI_KERNELS_SOURCE_SOURCE_H
#define VINCI_KERNELS_SOURCE_SOURCE_H

#include "core/base/diag.h"
#include "core/isa/program.h"
#include "core/isa/source.h"
#include "include/vinci/cce/issue.h"
#include "kernels/source/depends.h"
#include "kernels/source/library.h"
#include "kernels/source/tokens.h"

enum { SOURCE_ROWS_MAX = 1 << 16, SOURCE_ARGS_MAX = 32 };
/* An argument of the kernel: the address of a tensor, or a number. */
struct source_arg {
  bool is_tensor;
  uint32_t tensor; /* of the trace */
  uint32_t parts;  /* of a list: its tensors, which follow `tensor`; else 0 */
  uint64_t value;
};
/* How the values of an intrinsic become the operands of an instruction. */
enum source_value { VALUE_PLAIN, VALUE_PIPE, VALUE_QUANT, VALUE_GM };
struct source_form {
  const struct source_form *next;
  const char *name, *operands;
  enum isa_op op;
  unsigned count;
  struct {
    uint8_t arg;
    uint8_t kind; /* enum source_value */
    uint8_t bits; /* of its field; 0: any number */
  } value[ISA_ARGS_MAX];
  int64_t arg[ISA_ARGS_MAX]; /* what the intrinsic fixes, and defaults */
};

struct source_fiber;
struct source_cache_lines;
struct source_log;
struct source_told;

struct source {
  struct program_source program; /* first */
  struct vinci_trace *trace;
  const struct vinci_soc *soc;
  struct arena arena; /* rows and forms; the trace's own is sealed */
  const char *kernel; /* symbol of the function */
  struct source_library *library;
  bool owns_library;
  /* A launch calls the function of this symbol with the kernel and its arguments; else NULL. */
  const char *enter;
  const void *arguments;
  uint64_t workspace; /* address of the library's own memory; 0: none */
  struct source_image image[CORE_KIND_COUNT];
  struct source_arg arg[SOURCE_ARGS_MAX];
  uint32_t arg_count;
  const struct source_form *forms;
  struct program_cut *cuts; /* as program.cuts */
  uint32_t cut_capacity;
  struct source_fiber **fibers; /* by core; NULL: has not run */
  uint32_t core_count;
  uint64_t *place_of_row; /* hash table: address in the code, kind of core, instruction; row + 1 */
  struct source_log *log;
  struct source_cache_lines *looked_at; /* of looks.c; NULL: none yet */
  bool wants_accesses;                  /* of scalar code, in the log */
  bool recorded, last_look;             /* the log is whole; nobody looks at ranges afterwards */
  bool wants_caches;                    /* values are those of cores with data caches */
  /* Code of the block that touches most of it, by kind of core; its row. */
  uint64_t touched_bytes[CORE_KIND_COUNT];
  uint32_t fetch_row[CORE_KIND_COUNT];
  bool handlers_set;
  bool syncs;    /* the library was compiled with automatic synchronisation (sync.c) */
  bool in_order; /* and wants its values in the order of the code */
};

/* ---- fibers (fiber.c): the functions of program_source, while a kernel is executed ---- */
void source_fiber_start(struct source *source, const struct source_place *place);
enum stream_step source_fiber_next(struct source *source, uint32_t core, struct inst *inst,
                                   struct vinci_diag *diag);
const struct source_place *source_fiber_place(const struct source *source, uint32_t core);
/* Whether the instruction that a core has just given is not for the recording. */
bool source_fiber_is_late(const struct source *source, uint32_t core);
/* Whether the code of a core looks at memory and has not seen what it waits for: a recording does
 * not tell of such waits. */
bool source_fibers_look(const struct source *source);
/* What scalar code has accessed so far. */
struct program_scalar source_fibers_scalar(const struct source *source);
void source_fibers_free(struct source *source);

/* The last places at which a core has looked without an instruction between (looks.c). */
enum { SOURCE_LOOKS = 8 };
struct source_looks {
  struct {
    uint64_t code, address;
  } last[SOURCE_LOOKS];
  unsigned count;
  uint64_t instructions; /* of the core by then */
};

/* What an intrinsic needs to know of the core that executes. */
struct source_core {
  struct source *source;
  struct source_sync sync;
  struct source_tokens tokens;
  bool is_late; /* core->inst has a place of its own in the recording */
  struct source_place place;
  struct inst *inst; /* to fill */
  struct vinci_diag *diag;
  uint64_t instructions;
  uint64_t ctrl;
  uint64_t base;  /* where the image lies */
  uint64_t entry; /* of the kernel, in the image */
  /* Instructions of scalar code that the host has executed, and those before the last intrinsic. */
  const volatile uint64_t *counter; /* NULL: the code does not count */
  uint64_t counted;
  bool in_threads;                /* the code is that of threads of the vector unit, */
  uint64_t threads_from;          /* and what was counted where they began */
  struct vinci_cce_block *blocks; /* of the code: what has been executed */
  size_t block_count;
  struct vinci_cce_watch *watch; /* NULL: the code does not count its accesses */
  bool tells;                    /* of each of them */
  struct source_told *told;      /* told.c; NULL: nobody wants to know */
  struct source_dcache *dcache;  /* dcache.c; NULL: values are as if there were no cache */
  const uint8_t *gm;
  struct source_looks looks;
};

/* ---- accesses of scalar code (told.c) ---- */
/* From now on the code of a core tells of its accesses; false: out of memory. */
bool source_told_start(struct source_core *core);
/* What it has told so far goes to the log. False when an access has left its memory, or memory is
 * short: source_told_failed(). */
bool source_told_end(struct source_core *core);
bool source_told_failed(const struct source_core *core);
/* Threads begin or end, and may call what scalar code calls: rows of places are found anew. */
void source_told_forget(struct source_core *core);
/* Whether accesses go to the log. */
bool source_told_logs(const struct source_core *core);
void source_told_free(struct source_core *core);
/* An access that has ended in a fault. */
void source_told_fault(struct source_core *core, int64_t address, bool write, uint64_t from);
/* The code gives up an address of its cache. */
void source_told_clean(struct source_core *core, uint64_t address, bool whole_cache, uint64_t from);
/* The code of a core stops at an access that is not in its memory (fiber.c). */
_Noreturn void source_fiber_stop(struct source_core *core);

/* ---- waits through memory (looks.c) ---- */
/* The code at a place gives up an address of its cache; whether other cores have to go on. */
bool source_look(struct source_core *core, uint64_t code, uint64_t address, bool whole_cache);

/* ---- intrinsics (issue.c) ---- */
/* Fills core->inst from what an intrinsic gives, called from `address` in the code; false with a
 * diagnostic when there is no such instruction. */
bool source_issue(struct source_core *core, struct vinci_cce_inst *inst, const int64_t *values,
                  uint64_t address);
/* The pipe of a number of pipe_t; PIPE_COUNT: none. */
enum pipe source_issue_pipe(int64_t number);
/* The row of an instruction that the code calls at an address; SOURCE_ROWS_MAX: no more room. */
uint32_t source_issue_row(struct source_core *core, uint64_t address, enum isa_op op);
/* Of kernels with automatic synchronisation: an instruction that was held back is in core->inst;
 * and a barrier takes the place of one that has to wait for vector instructions before. */
bool source_sync_held(struct source_core *core);
void source_sync(struct source_core *core);
/* Fills core->inst with the scalar work that lies before an intrinsic called from `address`; false
 * when there is none. */
bool source_issue_scalar(struct source_core *core, const struct vinci_cce_inst *inst,
                         uint64_t address);
/* A block has ended: its code counts, until the recording is whole. */
void source_issue_touched(struct source_core *core);
/* What a block fetches before its first instruction; false when that is not known. */
bool source_issue_fetch(const struct source *source, enum core_kind kind, struct inst *inst);
/* The row of an address of the code, new or known; SOURCE_ROWS_MAX: no more room. */
uint32_t source_row(struct source *source, enum core_kind kind, uint64_t address, enum isa_op op);
/* While the code is in a call of its own functions, the line of the innermost call that the user's
 * source has (callers.c); 0: none. */
uint32_t source_line_of_callers(const struct source_core *core);
/* Of accesses of scalar code: compilers make several of one in a loop, so a line has one row.
 * passes: those beside the data cache have another. */
uint32_t source_access_row(struct source *source, enum core_kind kind, uint64_t address,
                           enum isa_op op, bool passes);

/* ---- memory around tensors (gaps.c) ---- */
/* When a run has ended: whether nothing was written there, which is undone; VINCI_E_INPUT with a
 * diagnostic: something. Opens pages that the run has closed. */
enum vinci_status source_look_at_gaps(const struct source *source, struct vinci_values *values,
                                      struct vinci_diag *diag);

/* ---- dumps (dump.c) ---- */
/* Prints what a memory holds; a text when the memory has no such numbers. */
const char *source_dump(const struct source_core *core, const struct vinci_cce_dump *dump,
                        FILE *out);

/* ---- as a whole (kernel.c) ---- */
/* What is to be executed. */
struct source_request {
  const char *path;               /* of the library */
  struct source_library *library; /* has been read already; NULL: not yet */
  const char *kernel;             /* name of the function */
  uint32_t blocks;
  const char *const
      *args; /* "name=x,dtype=fp16,shape=8x2048,io=in", "value=7", "list=2" in order */
  size_t arg_count;
  const struct source_launch *launch; /* instead of args; NULL: none */
  bool wants_accesses;                /* for checks: the recording has those of scalar code */
  bool last_look;                     /* values alone: neither a run nor a check follows */
  bool wants_caches;                  /* values as data caches leave them: dcache.h */
  bool apart;                         /* tensors do not adjoin: their addresses are of no result */
};
/* How a program launches a kernel, on memory that outlives the launch. */
struct source_launch {
  const char *enter;                    /* symbol of the function that calls the kernel */
  const void *arguments;                /* for that function; has to stay */
  const struct program_tensor *tensors; /* the memory, in the order of addresses */
  uint32_t tensor_count;
  uint64_t workspace; /* address of the library's own memory for the kernel; 0: none */
};
/* A trace whose instructions a kernel computes, for vinci_trace_free(). Record it before it is run.
 */
VINCI_MUST_CHECK enum vinci_status source_load(const struct vinci_soc *soc,
                                               const struct source_request *request,
                                               struct vinci_trace **out, struct vinci_diag *diag);
/* Executes the kernel with these values, which it changes, and keeps what it issues. progress is
 * called as that of vinci_values_run(). */
VINCI_MUST_CHECK enum vinci_status
source_record(struct vinci_trace *trace, struct vinci_values *values,
              bool (*progress)(void *context, uint64_t instructions, unsigned done_permille),
              void *context, struct vinci_diag *diag);

/* ---- lists of tensors (lists.c) ---- */
/* "list=3": the 3 arguments behind are tensors of a list. False: another argument. *whole: the
 * count can be. */
bool source_list_count(const char *arg, uint64_t *count, bool *whole);
/* The most words that such a list takes. */
uint64_t source_list_words(uint64_t tensors);
/* Writes the lists of a kernel into device memory, while the kernel is executed. */
void source_lists_write(const struct source *source);

/* ---- a recorded kernel as a trace (record.c) ---- */
VINCI_MUST_CHECK enum vinci_status source_write(const struct vinci_trace *trace, FILE *out,
                                                struct vinci_diag *diag);

#endif
