/* SPDX-License-Identifier: Apache-2.0 */
/* One session of `vinci debug`: what its commands share. */
#ifndef VINCI_CLI_DEBUG_SESSION_H
#define VINCI_CLI_DEBUG_SESSION_H

#include "cli/support/cli.h"
#include "core/base/diag.h"
#include "core/debug/debug.h"

enum { ALL_CORES = UINT32_MAX, ANY_FLAG_ID = UINT32_MAX };

enum stop_kind { STOP_LINE, STOP_INSTRUCTION, STOP_CYCLE, STOP_FLAG, STOP_WATCH };

/* Where the program stops: a breakpoint or a watched range. */
struct stop {
  enum stop_kind kind;
  unsigned number; /* as the user sees the breakpoint */
  uint32_t core;   /* or ALL_CORES */
  uint64_t hits;
  uint32_t line;
  bool past_scalar; /* scalar work of a source line does not count: other instructions follow */
  enum isa_op op;
  uint64_t cycle;
  enum pipe from, to; /* of a flag */
  uint32_t id;        /* of a flag, or ANY_FLAG_ID */
  enum space space;
  uint64_t address, bytes;
  bool used; /* STOP_CYCLE: the cycle has been reached */
};

enum { STOPS_MAX = 64, WORDS_MAX = 8, CORE_NAME_MAX = 40 };

struct session {
  const vinci_soc *soc;
  const vinci_trace *trace;
  FILE *out;                   /* what a command prints; lines that a terminal breaks */
  struct vinci_values *values; /* NULL: without values */
  struct debug *debug;
  const char *text;                  /* of the trace, or of a kernel's source; NULL: not known */
  char (*core_names)[CORE_NAME_MAX]; /* by core */
  uint32_t core;                     /* that the commands look at */
  struct stop stops[STOPS_MAX];
  unsigned stop_count, last_number;
  bool over; /* the run cannot go on */
  bool quit;
  struct vinci_diag run_diag; /* of the run */
  int exit_code;              /* of a run that is over */
};

/* A command with its words; words[0] is the command's name as typed. */
struct words {
  const char *item[WORDS_MAX];
  size_t count;
};

/* Executes one line. The diagnostic says what is wrong with the line. */
VINCI_MUST_CHECK enum vinci_status session_execute(struct session *session, const char *line,
                                                   struct vinci_diag *diag);
/* The commands with what they do. */
void session_print_commands(FILE *out);
/* Names of commands by number, NULL behind the last: for completion. */
const char *session_command_name(size_t index);

/* ---- words (cli/debug/words.c) ---- */
VINCI_MUST_CHECK enum vinci_status word_number(const char *word, const char *what, uint64_t least,
                                               uint64_t most, uint64_t *out,
                                               struct vinci_diag *diag);
/* "core0.veccore0" or its number; all: "all" is ALL_CORES. */
VINCI_MUST_CHECK enum vinci_status word_core(const struct session *session, const char *word,
                                             uint32_t *out, struct vinci_diag *diag);
/* "24" or "add.cpp:24", where the file is that of the session. */
VINCI_MUST_CHECK enum vinci_status word_line(const struct session *session, const char *word,
                                             uint64_t most, uint64_t *out, struct vinci_diag *diag);
/* Name of the file whose lines the session has. */
const char *session_file(const struct session *session);
/* A pipe of the core that is looked at. */
VINCI_MUST_CHECK enum vinci_status word_pipe(const struct session *session, const char *word,
                                             enum pipe *out, struct vinci_diag *diag);
/* "MTE2>V:0" or "MTE2>V". */
VINCI_MUST_CHECK enum vinci_status word_flag(const struct session *session, const char *word,
                                             struct stop *out, struct vinci_diag *diag);
/* "UB+0x200", "a+64", "x": a memory of the core, a buffer or a tensor of the kernel, and an offset.
 * left: bytes from there to its end, at least 1. */
struct place {
  enum space space;
  uint64_t address;
  uint64_t left;
};
VINCI_MUST_CHECK enum vinci_status word_place(const struct session *session, const char *word,
                                              struct place *out, struct vinci_diag *diag);
/* The kernel at hand. */
const struct program_kernel *session_kernel(const struct session *session);
bool session_core_has(const struct session *session, enum space space);

/* ---- going on (cli/debug/go.c) ---- */
VINCI_MUST_CHECK enum vinci_status command_step(struct session *session, const struct words *words,
                                                struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status
command_continue(struct session *session, const struct words *words, struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status command_stall(struct session *session, const struct words *words,
                                                 struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status command_until(struct session *session, const struct words *words,
                                                 struct vinci_diag *diag);

/* ---- breakpoints (cli/debug/stops.c) ---- */
VINCI_MUST_CHECK enum vinci_status command_break(struct session *session, const struct words *words,
                                                 struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status command_watch(struct session *session, const struct words *words,
                                                 struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status
command_delete(struct session *session, const struct words *words, struct vinci_diag *diag);
void stop_print(const struct session *session, const struct stop *stop);
/* The first that an event meets, or NULL. */
struct stop *stop_met(struct session *session, const struct debug_event *event);
/* The first of a cycle that has not been reached, its time in *ps; NULL: there is none. */
struct stop *stop_next_cycle(struct session *session, uint64_t *ps);

/* ---- what there is to see (cli/debug/show.c, memory.c) ---- */
VINCI_MUST_CHECK enum vinci_status command_where(struct session *session, const struct words *words,
                                                 struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status command_pipes(struct session *session, const struct words *words,
                                                 struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status
command_queues(struct session *session, const struct words *words, struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status command_flags(struct session *session, const struct words *words,
                                                 struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status command_core(struct session *session, const struct words *words,
                                                struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status command_list(struct session *session, const struct words *words,
                                                struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status command_info(struct session *session, const struct words *words,
                                                struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status command_x(struct session *session, const struct words *words,
                                             struct vinci_diag *diag);
/* "core0.veccore0" */
static inline const char *session_core_name(const struct session *session, uint32_t core) {
  return session->core_names[core];
}
/* "line 25: copy_gm_to_ubuf,dst=a", in the words of the trace; of a kernel's source
 * "add.cpp:25 copy_gm_to_ubuf: copy(a, x);". */
void session_print_row(const struct session *session, const struct inst *inst);
/* The flag or signal that a waiting instruction waits for, or nothing. */
void session_print_cause(const struct session *session, const struct inst *inst, unsigned stall);
#endif
