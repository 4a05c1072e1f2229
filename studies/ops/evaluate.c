/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluations: processes made by fork() share the loaded chip, take questions by number from memory
 * that all of them see, and leave the answers there. A process that dies costs the question it had.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/isa/program.h"
#include "core/result/result.h"
#include "core/vinci_evaluate.h"
#include "networks/workload/workload.h"

enum { JOBS_MAX = 256 };

struct answer {
  atomic_bool given;
  enum vinci_status status;
  char text[sizeof((struct vinci_evaluation *)NULL)->text];
  uint64_t total_cycles;
  uint64_t duration_ps;
  uint64_t program_digest;
};

/* Shared by all processes. */
struct board {
  atomic_size_t next; /* question */
  struct answer answer[];
};

struct batch {
  const vinci_soc *soc;
  struct vinci_evaluation *list;
  size_t count;
  struct vinci_run_options run;
  struct board *board;
  size_t board_bytes;
};

static void answer_question(const struct batch *batch, size_t index) {
  const struct vinci_evaluation *question = &batch->list[index];
  struct answer *answer = &batch->board->answer[index];
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  answer->status =
      vinci_compile(batch->soc, question->op, question->args, question->arg_count, &trace, &diag);
  if (answer->status == VINCI_OK)
    answer->status = vinci_run(batch->soc, trace, &batch->run, &result, &diag);
  if (answer->status == VINCI_OK) {
    answer->total_cycles = result->total_cycles;
    answer->duration_ps = result->total_ps;
    answer->program_digest = trace->digest;
  } else {
    snprintf(answer->text, sizeof answer->text, "%.*s", (int)sizeof answer->text - 1, diag.text);
  }
  answer->given = true;
  vinci_result_free(result);
  vinci_trace_free(trace);
}

static void work(const struct batch *batch) {
  for (size_t index; (index = atomic_fetch_add(&batch->board->next, 1)) < batch->count;)
    answer_question(batch, index);
}

static pid_t start(const struct batch *batch) {
  pid_t starter = getpid(), child = fork();
  if (child != 0)
    return child;
  /* It must not outlive a caller that is killed. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == starter)
    work(batch);
  _exit(0);
}

/* Waits for a process; true when it died of a question, and others are left. */
static bool wait_for(const struct batch *batch, pid_t child) {
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
    ;
  return (WIFSIGNALED(ended) || WEXITSTATUS(ended) != 0) && batch->board->next < batch->count;
}

static enum vinci_status work_in_processes(const struct batch *batch, unsigned jobs,
                                           struct vinci_diag *diag) {
  pid_t children[JOBS_MAX];
  unsigned alive = 0;
  while (alive < jobs && alive < batch->count && (children[alive] = start(batch)) > 0)
    alive++;
  if (alive == 0)
    return diag_error(diag, diag_status_of(errno), "cannot start a process: %s", strerror(errno));
  /* The others go on while this one is waited for. */
  while (alive > 0) {
    bool replace = wait_for(batch, children[alive - 1]);
    if (!replace || (children[alive - 1] = start(batch)) < 0)
      alive--;
  }
  if (batch->board->next < batch->count)
    return diag_error(diag, VINCI_E_IO, "the processes of the evaluations died");
  return VINCI_OK;
}

static void take_answers(const struct batch *batch) {
  for (size_t i = 0; i < batch->count; i++) {
    const struct answer *answer = &batch->board->answer[i];
    struct vinci_evaluation *out = &batch->list[i];
    out->status = answer->given ? answer->status : VINCI_E_INTERNAL;
    snprintf(out->text, sizeof out->text, "%s", answer->given ? answer->text : "its process died");
    out->total_cycles = answer->given ? answer->total_cycles : 0;
    out->duration_ps = answer->given ? answer->duration_ps : 0;
    out->program_digest = answer->given ? answer->program_digest : 0;
  }
}

enum vinci_status vinci_evaluate(const vinci_soc *soc, struct vinci_evaluation *list, size_t count,
                                 const struct vinci_evaluate_options *options,
                                 struct vinci_diag *diag) {
  static const struct vinci_evaluate_options defaults = {.struct_size = sizeof defaults};
  options = options ? options : &defaults;
  if (options->struct_size != sizeof *options)
    return diag_error(diag, VINCI_E_USAGE,
                      "struct_size of the options of evaluations is %zu, not %zu",
                      options->struct_size, sizeof *options);
  if (options->jobs > JOBS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "jobs is at most %d, not %u", JOBS_MAX, options->jobs);
  if (count == 0) /* nothing is asked, and no process is needed for that */
    return VINCI_OK;
  struct batch batch = {
      .soc = soc,
      .list = list,
      .count = count,
      .run = {.struct_size = sizeof batch.run,
              .max_cycles = options->max_cycles,
              .memory = options->memory,
              .network = options->network,
              .l2_start = options->l2_start},
      .board_bytes = sizeof(struct board) + count * sizeof(struct answer),
  };
  void *shared =
      mmap(NULL, batch.board_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  batch.board = shared;
  unsigned jobs = workload_jobs(options->jobs, JOBS_MAX);
  enum vinci_status status = VINCI_OK;
  if (jobs == 1)
    work(&batch);
  else
    status = work_in_processes(&batch, jobs, diag);
  if (status == VINCI_OK)
    take_answers(&batch);
  munmap(shared, batch.board_bytes);
  return status;
}
