/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: a cycle-level simulator of Ascend "Da Vinci" AI Cores.
 *
 * The library reads a hardware description and a compiled operator trace, runs
 * the trace on the modelled chip and returns counters. The shortest use:
 *
 *     struct vinci_diag diag = {0};
 *     vinci_soc *soc;
 *     vinci_trace *trace;
 *     vinci_result *result;
 *     if (vinci_soc_load("Ascend910B4", NULL, &soc, &diag) == VINCI_OK &&
 *         vinci_trace_load("add.csv", soc, &trace, &diag) == VINCI_OK &&
 *         vinci_run(soc, trace, NULL, &result, &diag) == VINCI_OK)
 *       printf("%" PRIu64 " cycles\n", vinci_result_total_cycles(result));
 *     else
 *       vinci_diag_print(&diag, stderr);
 *
 * Life cycle: a SoC may be changed by vinci_soc_set() until it is first used to
 * load a trace; traces and results keep no reference to the text they came from.
 * Every *_free accepts NULL. No function prints (except those that take a FILE), exits, or changes
 * the locale. Any thread may call; SoC and trace may be shared once they change no more. In a
 * process with SystemC, the first thread alone advances its time, and not inside its processes.
 *
 * Errors: every function that can fail returns a status and, when the caller
 * passes a diagnostic, fills that with the first error.
 */
#ifndef VINCI_H
#define VINCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define VINCI_API __attribute__((visibility("default")))
#define VINCI_MUST_CHECK __attribute__((warn_unused_result))
#else
#define VINCI_API
#define VINCI_MUST_CHECK
#endif

/*
 * Status codes: name, value, process exit code, sentence. The values are part of
 * the interface and never change; new ones are added at the end.
 */
#define VINCI_STATUS_LIST(X)                                                                       \
  X(OK, 0, 0, "success")                                                                           \
  X(E_GATE, 1, 1, "a regression gate failed")                                                      \
  X(E_USAGE, 2, 2, "usage or configuration error")                                                 \
  X(E_INPUT, 3, 3, "the input was rejected")                                                       \
  X(E_MISMATCH, 4, 4, "values differ from the expected ones")                                      \
  X(E_CHECK, 5, 5, "a check found an error")                                                       \
  X(E_DEADLOCK, 6, 6, "the simulated program hangs")                                               \
  X(E_LIMIT, 7, 7, "a limit was reached; results are partial")                                     \
  X(E_INTERNAL, 8, 8, "internal error")                                                            \
  X(E_NOMEM, 9, 8, "out of memory")                                                                \
  X(E_IO, 10, 2, "a file could not be read or written")

enum vinci_status {
#define X(name, value, exit_code, text) VINCI_##name = value,
  VINCI_STATUS_LIST(X)
#undef X
};

/* The sentence of a status. */
VINCI_API const char *vinci_status_text(enum vinci_status status);
/* The exit code a program should end with for this status. */
VINCI_API int vinci_status_exit_code(enum vinci_status status);

/* A diagnostic, owned by the caller, zero-initialised before first use. The first error reported
 * into it stays; later ones are dropped. Warnings go to `warn`. */
struct vinci_diag {
  enum vinci_status status;
  unsigned long line;                     /* 1-based, 0 = no position */
  unsigned long column;                   /* 1-based byte column, 0 = whole line */
  char path[256];                         /* empty = no file */
  char text[1024];                        /* what is wrong */
  char hint[256];                         /* how to mend it, may be empty */
  char excerpt[160];                      /* the offending line, cut to fit, may be empty */
  unsigned excerpt_column;                /* column of the error inside excerpt, 0 = none */
  void (*warn)(void *, const char *text); /* NULL, or gets "FILE:LINE: warning: ..." */
  void *warn_context;
};

/* Prints `path:line:column: error: text`, the line with a caret, and the hint. */
VINCI_API void vinci_diag_print(const struct vinci_diag *diag, FILE *out);

typedef struct vinci_soc vinci_soc;
typedef struct vinci_trace vinci_trace;
typedef struct vinci_result vinci_result;

/* Versions of the program and of the model: the latter changes with results. The commit that both
 * were built from, with a "+" when files had changed; "": not known, as of a release. */
VINCI_API const char *vinci_version(void);
VINCI_API const char *vinci_model_revision(void);
VINCI_API const char *vinci_commit(void);

/* ---- hardware descriptions ---------------------------------------------- */

/*
 * Loads the hardware description of a SoC ("Ascend910B4"), or of a file "mine.lua". data_dir is the
 * folder holding soc/; NULL looks at $VINCI_DATA, then at the installed folder (a library in its
 * build folder: at the sources). The caller frees the result.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_soc_load(const char *name, const char *data_dir, vinci_soc **out, struct vinci_diag *diag);
/* Overrides one number: "l2.size=96MiB". Units as in `vinci soc show`. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_soc_set(vinci_soc *soc, const char *assignment,
                                                           struct vinci_diag *diag);
VINCI_API const char *vinci_soc_name(const vinci_soc *soc);
VINCI_API void vinci_soc_free(vinci_soc *soc);

/* ---- traces -------------------------------------------------------------- */

/* Reads and checks a trace file for a SoC. "-" reads standard input. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_trace_load(const char *path,
                                                              const vinci_soc *soc,
                                                              vinci_trace **out,
                                                              struct vinci_diag *diag);
/* The same from memory; name stands for the path in messages. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_trace_parse(const char *name, const char *text,
                                                               size_t length, const vinci_soc *soc,
                                                               vinci_trace **out,
                                                               struct vinci_diag *diag);
/* Writes the trace in canonical form; reading it back gives the same trace. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_trace_write(const vinci_trace *trace, FILE *out,
                                                               struct vinci_diag *diag);
VINCI_API void vinci_trace_free(vinci_trace *trace);

/* ---- operators --------------------------------------------------------------- */

/* An operator that can be lowered to a trace, and one of its keys. */
struct vinci_op {
  const char *name;
  const char *text;         /* one line */
  const char *vendor_types; /* names in profiles: "MatMulV2|MatMulV3" */
  size_t key_count;
};
struct vinci_op_key {
  const char *name;
  const char *kind;     /* "size", "shape", "dtype", "word", "number" */
  const char *choices;  /* of a word or dtype: "a|b|c" */
  const char *fallback; /* NULL: must be given (but for tiling keys); "": absent unless given */
  const char *text;
  bool tiling; /* chosen by cost unless given */
};
/* What the simulated time of an operator is compared with: profiles of real kernels, and a bound
 * that bandwidths and arithmetic give for one large case. */
struct vinci_op_comparison {
  const char *formats; /* of its tensors: "ND", "NCHW, NC1HWC0" */
  unsigned silicon_rows;
  const char *bound;      /* what the bound counts */
  unsigned bound_percent; /* the time is at most this percentage of the bound */
  const char *example;    /* arguments of the large case */
};
VINCI_API size_t vinci_op_count(void);
VINCI_API bool vinci_op_info(size_t index, struct vinci_op *out);
VINCI_API bool vinci_op_key(size_t index, size_t key_index, struct vinci_op_key *out);
/* False for an operator that is compared with nothing. */
VINCI_API bool vinci_op_comparison(size_t index, struct vinci_op_comparison *out);

/* Lowers an operator; args are texts "key=value". The text is that of the trace, with comments;
 * free it with vinci_text_free(). */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_compile(const vinci_soc *soc, const char *op,
                                                           const char *const *args,
                                                           size_t arg_count, vinci_trace **out,
                                                           struct vinci_diag *diag);
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_compile_text(const vinci_soc *soc, const char *op, const char *const *args, size_t arg_count,
                   char **text, struct vinci_diag *diag);
VINCI_API void vinci_text_free(char *text);

/* A tiling and its closed-form cost: cycles of the busiest core; pipes overlap in the total. */
struct vinci_tiling {
  const char *args; /* "tile=128x256x64 split_k=1": arguments that ask for this tiling */
  uint32_t blocks;
  uint64_t total_cycles, cube_cycles, vector_cycles, mte1_cycles, mte2_cycles, mte3_cycles,
      fix_cycles;
  uint64_t gm_bytes;
};
/* The tiling vinci_compile() would take; text holds its args. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_op_tiling(const vinci_soc *soc, const char *op, const char *const *args, size_t arg_count,
                char *text, size_t text_size, struct vinci_tiling *out, struct vinci_diag *diag);
/* All legal tilings, with the tiling keys in args held fixed; visit returns false to stop. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_op_tilings(const vinci_soc *soc, const char *op, const char *const *args, size_t arg_count,
                 bool (*visit)(void *context, const struct vinci_tiling *tiling), void *context,
                 struct vinci_diag *diag);

/* ---- simulation ---------------------------------------------------------- */
/* How closely the memory behind the cores is modelled. */
enum vinci_memory {
  VINCI_MEMORY_CYCLE, /* requests, network, L2 slices, DRAM commands */
  VINCI_MEMORY_FLAT,  /* start-up and bandwidth limits, L2 residency; several times as fast */
  VINCI_MEMORY_AUTO,  /* cycle, or a part of that and an estimate by flat (vinci_auto.h) */
};
/* And, with VINCI_MEMORY_CYCLE, the network. */
enum vinci_network {
  VINCI_NETWORK_PACKET, /* packets reserve cycles of links; good to 60 % load of a link */
  VINCI_NETWORK_FLIT,   /* virtual channels and credits, cycle by cycle */
};

/* What lies in L2 when the first kernel starts. A larger L2 never holds less of the inputs. The
 * bytes that other kernels have written are at most l2.owed of the chip, whatever L2's size. */
enum vinci_l2 {
  VINCI_L2_EMPTY,
  /* The inputs, clean, that have room beside what the kernels write. An input larger than its room
   * has pushed out a part of itself. */
  VINCI_L2_WARM,
  /* Lines of other kernels of the same kind: as large a share is dirty as the trace's own tensors
   * are written. What comes in pushes them out, as in an endless sequence of such kernels. */
  VINCI_L2_STREAMING,
  /* What other kernels have written, to be written back; beside the inputs that have room in
   * l2.kept_share of L2. */
  VINCI_L2_USED,
  /* The same without the inputs. */
  VINCI_L2_DIRTY,
};

enum { VINCI_CODE_WARM = 1000000, VINCI_CODE_DEVICE }; /* code_found_ppm: all; none, nor in L2 */
struct vinci_run_options {
  size_t struct_size;  /* sizeof(struct vinci_run_options) */
  uint64_t max_cycles; /* stop with VINCI_E_LIMIT and partial results behind these; 0: no limit */
  uint64_t max_events; /* of instructions, recorded for the timeline; 0: none */
  uint64_t part_order_seed; /* not 0: shuffles the order of parts of the model; results are alike */
  /* Called now and then with the simulated time and the share of the instructions
   * that were issued (0..1000, nearly); false ends the run with VINCI_E_LIMIT. May be NULL. */
  bool (*progress)(void *context, uint64_t cycles, unsigned done_permille);
  void *progress_context;
  enum vinci_memory memory;
  enum vinci_network network;
  enum vinci_l2 l2_start;
  /* If given: earlier kernels have written N bytes, and no more can be owed. */
  bool l2_written_given;
  uint64_t l2_written_bytes;
  uint32_t code_found_ppm; /* of a kernel's code, what instruction caches hold at the start */
  bool second_buffers; /* what-if: as though each buffer that a flag gives back were there twice */
  bool pack_events;    /* in an eighth of the memory: for reports, not for timelines */
  uint32_t repeat;     /* launches in a row on one chip, whose last is the result; 0 is 1 */
  uint32_t error_bar_ppm; /* VINCI_MEMORY_AUTO: the widest that is good enough; 0: 20000 */
};

/* Runs all kernels of a trace in order on a fresh chip. options may be NULL. The SoC must be as it
 * was when the trace was loaded. On VINCI_E_LIMIT and VINCI_E_DEADLOCK *out holds the partial
 * result; on other failures it is NULL. The caller frees the result. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_run(const vinci_soc *soc,
                                                       const vinci_trace *trace,
                                                       const struct vinci_run_options *options,
                                                       vinci_result **out, struct vinci_diag *diag);
VINCI_API uint64_t vinci_result_total_cycles(const vinci_result *result);
VINCI_API void vinci_result_free(vinci_result *result);

/* ---- values ---------------------------------------------------------------- */

/*
 * Executes a trace with real bytes: what its tensors hold afterwards. A run of its own, without
 * time: vinci_run() never depends on values. Memory starts as zeros.
 */
typedef struct vinci_values vinci_values;

struct vinci_tensor {
  const char *name;
  const char *dtype; /* "fp16" ... */
  unsigned rank;
  uint64_t shape[8];
  bool input;       /* needs values before the run */
  bool output;      /* has values after the run */
  bool loaded;      /* they were given */
  const char *file; /* of the trace, may be NULL */
  void *data;       /* little-endian, int4 two to a byte, the first one in the low half */
  uint64_t bytes;
};

/* The SoC and the trace must outlive the values. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_values_create(const vinci_soc *soc,
                                                                 const vinci_trace *trace,
                                                                 vinci_values **out,
                                                                 struct vinci_diag *diag);
/* Tensors by index below the count; false for a repeated declaration. */
VINCI_API size_t vinci_values_count(const vinci_values *values);
VINCI_API bool vinci_values_tensor(const vinci_values *values, size_t index,
                                   struct vinci_tensor *out);
/*
 * Gives a tensor the values of a .npy file of its shape, with the type that FORMAT.md
 * says; the second form loads all files that the trace names for inputs that have none yet.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_values_load(vinci_values *values,
                                                               const char *tensor, const char *path,
                                                               struct vinci_diag *diag);
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_values_load_files(vinci_values *values,
                                                                     struct vinci_diag *diag);
/* Gives a tensor its bytes, as many as it has. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_values_set(vinci_values *values,
                                                              const char *tensor, const void *data,
                                                              uint64_t bytes,
                                                              struct vinci_diag *diag);
/* Gives all inputs that have none small pseudo-random values, the same ones on every host. */
VINCI_API void vinci_values_fill(vinci_values *values, uint64_t seed);
VINCI_API void vinci_values_zero(vinci_values *values); /* leaves these at zero instead */
/*
 * Executes all kernels. progress is called now and then as that of vinci_check_options, false ends
 * the run with VINCI_E_LIMIT; it may be NULL. VINCI_E_DEADLOCK when the program hangs.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_values_run(vinci_values *values,
                 bool (*progress)(void *context, uint64_t instructions, unsigned done_permille),
                 void *context, struct vinci_diag *diag);
/* Writes a tensor as a .npy file, replacing the file when it is whole. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_values_save(const vinci_values *values,
                                                               const char *tensor, const char *path,
                                                               struct vinci_diag *diag);
/* How a tensor compares with what was expected. */
struct vinci_comparison {
  uint64_t elements;
  uint64_t differing;   /* |value - expected| > atol + rtol * |expected|; NaN equals NaN */
  double largest_error; /* |value - expected|, of all elements that are both finite */
};
/* Compares with a .npy file; VINCI_E_MISMATCH names the first elements that differ. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_values_expect(const vinci_values *values, const char *tensor, const char *path, double atol,
                    double rtol, struct vinci_comparison *out, struct vinci_diag *diag);
VINCI_API void vinci_values_free(vinci_values *values);

/* ---- checks ---------------------------------------------------------------- */

/* What can be checked: bit, name as in `vinci check -t`, what it finds. */
#define VINCI_CHECK_LIST(X)                                                                        \
  X(MEMCHECK, 1, "memcheck", "accesses out of range, misaligned or to the wrong memory")           \
  X(RACECHECK, 2, "racecheck", "accesses without an order: in a pipe, between pipes and cores")    \
  X(INITCHECK, 4, "initcheck", "reads of bytes that nothing has written")                          \
  X(SYNCCHECK, 8, "synccheck", "flags that do not pair, and signals between cores")

enum vinci_checks {
#define X(id, bit, name, text) VINCI_CHECK_##id = bit,
  VINCI_CHECK_LIST(X)
#undef X
      VINCI_CHECK_ALL = 15
};

struct vinci_check_options {
  size_t struct_size; /* sizeof(struct vinci_check_options) */
  unsigned checks;    /* enum vinci_checks, several added; 0 = all */
  /* What may be kept of the memory that the program touches; 0 = 1 GiB. */
  uint64_t max_shadow_bytes;
  /* Called now and then with the instructions that were issued and their share of all (0..1000,
   * nearly; a racing program is walked twice); false ends with VINCI_E_LIMIT. May be NULL. */
  bool (*progress)(void *context, uint64_t instructions, unsigned done_permille);
  void *progress_context;
  /* For tests: other than 0 shuffles the walk over blocks and cores; findings stay the same. */
  uint64_t walk_order_seed;
};

typedef struct vinci_findings vinci_findings;

/*
 * Executes all kernels of a trace without time and checks accesses and flags. The findings do not
 * depend on the order of one run. options may be NULL. VINCI_E_CHECK with the findings in *out when
 * there are errors, such as a hang; VINCI_E_LIMIT with what was found until progress asked for an
 * end or max_shadow_bytes were too few. On other failures *out is NULL.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_check(const vinci_soc *soc,
                                                         const vinci_trace *trace,
                                                         const struct vinci_check_options *options,
                                                         vinci_findings **out,
                                                         struct vinci_diag *diag);
/* Errors, a row or pair of rows once; warnings and notes, which leave the status as it is. */
VINCI_API size_t vinci_findings_count(const vinci_findings *findings);
VINCI_API size_t vinci_findings_warnings(const vinci_findings *findings);
/* What nobody looked at, such as accesses of compiled scalar code: a text, or empty. */
VINCI_API const char *vinci_findings_unchecked(const vinci_findings *findings);
/* The report for people, in the form of msSanitizer, and check.json for scripts. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_findings_write_text(const vinci_findings *findings, FILE *out, struct vinci_diag *diag);
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_findings_write_json(const vinci_findings *findings, FILE *out, struct vinci_diag *diag);
VINCI_API void vinci_findings_free(vinci_findings *findings);

/* ---- results ------------------------------------------------------------- */

/* summary.json, which scripts rely on, and the table for people. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_result_write_json(const vinci_result *result, FILE *out, struct vinci_diag *diag);
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_result_write_text(const vinci_result *result, FILE *out, struct vinci_diag *diag);
/* A result folder: summary.json, vendor-compatible tables, trace.pftrace (vinci_timeline.h). */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_result_write_folder(const vinci_result *result, const char *folder, struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
