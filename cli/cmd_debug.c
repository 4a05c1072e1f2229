/* SPDX-License-Identifier: Apache-2.0 */
/* vinci debug: executes a trace step by step and shows what happens in pipes and memories. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/debug/input.h"
#include "cli/support/cli.h"
#include "cli/support/kernel.h"
#include "cli/support/monitor.h"
#include "cli/support/operator.h"
#include "cli/support/values.h"
#include "core/base/file.h"
#include "networks/workload/workload.h"

struct debug_settings {
  const char *soc;
  const char *data;
  struct text_list sets;
  struct workload_models models;
  struct values_settings values;
  struct kernel_settings kernel;
  struct text_list files;
  struct text_list evals;
};

enum { SOURCE_BYTES_MAX = 64 << 20 };

static const struct option_row debug_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct debug_settings, soc, "NAME",
                    "the chip, such as Ascend910B4; 'vinci soc list' shows them all"),
    OPTION_LIST_ROW("set", 0, struct debug_settings, sets, "KEY=VALUE",
                    "change a number of the chip, such as l2.size=96MiB; may be repeated"),
    OPTION_TEXT_ROW("data", 0, struct debug_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
    OPTION_FLAG_ROW("values", 0, struct debug_settings, values.keep,
                    "compute with real bytes; tensors come from the .npy files of the trace"),
    OPTION_LIST_ROW("input", 0, struct debug_settings, values.inputs, "NAME=FILE",
                    "values of a tensor, a .npy file; may be repeated"),
    OPTION_TEXT_ROW("fill", 0, struct debug_settings, values.fill, "HOW",
                    "values of inputs without a file: zero, or random:SEED"),
    OPTION_LIST_ROW("eval", 'e', struct debug_settings, evals, "COMMANDS",
                    "execute commands, divided by ';'; may be repeated"),
    OPTION_LIST_ROW("command", 'x', struct debug_settings, files, "FILE",
                    "execute the commands of a file, before those of --eval; may be repeated"),
    OPTION_TEXT_ROW("memory", 0, struct debug_settings, models.memory, "MODEL",
                    "cycle (default) or flat, as for 'vinci run'"),
    OPTION_TEXT_ROW("network", 0, struct debug_settings, models.network, "LEVEL",
                    "packet (default) or flit, as for 'vinci run'"),
    OPTION_TEXT_ROW("l2", 0, struct debug_settings, models.l2, "STATE",
                    "L2 at the start, as for 'vinci run'"),
    OPTION_TEXT_ROW("code", 0, struct debug_settings, models.code, "STATE",
                    "code at the start, as for 'vinci run'"),
    OPTION_TEXT_ROW("blocks", 0, struct debug_settings, kernel.blocks, "N",
                    "with LIBRARY:KERNEL: the number of blocks (default 1)"),
    KERNEL_ARG_ROW(struct debug_settings, kernel),
};

/* A compiled kernel, with the text of its source where the file is still there. */
static enum vinci_status load_kernel(const struct debug_settings *settings, const char *name,
                                     const vinci_soc *soc, char **text, vinci_trace **trace,
                                     struct vinci_diag *diag) {
  struct monitor monitor = {0};
  struct vinci_diag none = {0};
  size_t length;
  monitor_start(&monitor, name, 0, true);
  enum vinci_status status =
      kernel_load(name, &settings->kernel, &settings->values, soc, &monitor, trace, diag);
  if (status == VINCI_OK && strcmp((*trace)->path, name) != 0)
    *text = file_read((*trace)->path, SOURCE_BYTES_MAX, &length, &none);
  return status;
}

/* What the words name: a trace, an operator with its arguments, or a kernel; with its text. */
static enum vinci_status load(const struct debug_settings *settings, const struct text_list *words,
                              const vinci_soc *soc, char **text, vinci_trace **trace,
                              struct vinci_diag *diag) {
  enum { TRACE_BYTES_MAX = INT32_MAX };
  size_t length = 0;
  const char *name = words->items[0];
  if (operator_exists(name)) {
    enum vinci_status status =
        vinci_compile_text(soc, name, words->items + 1, words->count - 1, text, diag);
    if (status != VINCI_OK)
      return status;
    length = strlen(*text);
  } else {
    if (words->count > 1)
      return diag_error(diag, VINCI_E_USAGE, "'vinci debug' takes one trace, not also '%s'",
                        words->items[1]);
    if (kernel_is_named(name))
      return load_kernel(settings, name, soc, text, trace, diag);
    *text = file_read(name, TRACE_BYTES_MAX, &length, diag);
    if (!*text)
      return diag->status;
  }
  return vinci_trace_parse(name, *text, length, soc, trace, diag);
}

static enum vinci_status execute(const struct debug_settings *settings, struct session *session,
                                 struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  if (debug_follows_data(session->debug))
    printf("the trace follows the values: times are those of these data\n");
  for (size_t i = 0; status == VINCI_OK && !session->quit && i < settings->files.count; i++)
    status = input_file(session, settings->files.items[i], diag);
  for (size_t i = 0; status == VINCI_OK && !session->quit && i < settings->evals.count; i++)
    status = input_text(session, settings->evals.items[i], diag);
  if (status != VINCI_OK || session->quit)
    return status;
  if (isatty(STDIN_FILENO))
    input_terminal(session);
  else if (settings->files.count + settings->evals.count == 0)
    status = input_file(session, "-", diag);
  return status;
}

static bool name_cores(struct session *session) {
  const struct placement *placement = &debug_device(session->debug)->placement;
  session->core_names = calloc((size_t)placement->core_count + 1, sizeof *session->core_names);
  for (uint32_t i = 0; session->core_names && i < placement->core_count; i++)
    placement_core_name(placement, i, session->core_names[i], CORE_NAME_MAX);
  return session->core_names != NULL;
}

static enum vinci_status hold_session(const struct debug_settings *settings, const vinci_soc *soc,
                                      const vinci_trace *trace, const char *text, int *exit_code,
                                      struct vinci_diag *diag) {
  struct vinci_run_options options = {.struct_size = sizeof options};
  struct session session = {.soc = soc, .trace = trace, .out = stdout, .text = text};
  struct vinci_result *result = NULL;
  enum vinci_status status = workload_choose(&settings->models, &options, diag);
  if (status == VINCI_OK)
    status = values_prepare(&settings->values, soc, trace, &session.values, diag);
  if (status == VINCI_OK)
    status = debug_open(soc, trace, session.values, &options, &session.debug, &session.run_diag);
  if (status == VINCI_OK && !name_cores(&session)) {
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the names of the cores");
    if (debug_close(session.debug, &result) != VINCI_OK)
      status = VINCI_E_NOMEM;
  }
  if (status != VINCI_OK) {
    if (session.run_diag.status != VINCI_OK)
      *diag = session.run_diag;
    vinci_values_free(session.values);
    return status;
  }
  status = execute(settings, &session, diag);
  /* Of a run that did not end well the reason has been printed. */
  enum vinci_status end = debug_close(session.debug, &result);
  if (status == VINCI_OK && end != VINCI_OK && session.exit_code == 0) {
    *diag = session.run_diag;
    status = end;
  }
  *exit_code = session.exit_code;
  free(session.core_names);
  vinci_result_free(result);
  vinci_values_free(session.values);
  return status;
}

static enum vinci_status debug_words(struct debug_settings *settings, const struct text_list *words,
                                     int *exit_code, struct vinci_diag *diag) {
  vinci_soc *soc = NULL;
  vinci_trace *trace = NULL;
  char *text = NULL;
  enum vinci_status status = VINCI_OK;
  if (words->count == 0)
    status = diag_error(diag, VINCI_E_USAGE, "no trace given");
  else if (strcmp(words->items[0], "-") == 0)
    status = diag_error(diag, VINCI_E_USAGE,
                        "standard input holds the commands: the trace has to be a file");
  if (status == VINCI_OK)
    status = values_check(&settings->values, 1, diag);
  if (status == VINCI_OK)
    status = kernel_check(&settings->kernel, words, false, diag);
  if (status == VINCI_OK)
    status = cli_load_soc(settings->soc, settings->data, &settings->sets, &soc, diag);
  if (status == VINCI_OK)
    status = load(settings, words, soc, &text, &trace, diag);
  monitor_catch_interrupt();
  if (status == VINCI_OK)
    status = hold_session(settings, soc, trace, text, exit_code, diag);
  vinci_trace_free(trace);
  vinci_text_free(text);
  vinci_soc_free(soc);
  return status;
}

static int debug(const struct cli_verb *verb, int argc, char **argv) {
  struct debug_settings settings = {0};
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    exit_code = 0;
    if (debug_words(&settings, &words, &exit_code, &diag) != VINCI_OK)
      exit_code = cli_fail(&diag);
  }
  values_settings_free(&settings.values);
  text_list_free(&settings.kernel.args);
  text_list_free(&settings.sets);
  text_list_free(&settings.files);
  text_list_free(&settings.evals);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_verb_debug = {
    .name = "debug",
    .arguments = "TRACE | OP KEY=VALUE... | LIBRARY:KERNEL",
    .summary = "Execute a trace step by step: breakpoints, pipes, queues, flags, values",
    .details =
        "Commands come from -x and --eval, then from the terminal; without these from standard\n"
        "input. A script ends at its first wrong command, with exit code 2. A run has the\n"
        "same cycles as with 'vinci run'. 'help' lists the commands:\n"
        "  break 24; break add.cpp:31; break vadd; break flag MTE2>V:0; watch UB+0x200 64\n"
        "  step; step MTE2; continue; stall; until 1000\n"
        "  where; pipes; queues; flags; x/16f UB+0x200; core 1; list; info; help break\n\n"
        "Examples:\n"
        "  vinci debug add.csv -s Ascend910B4 --fill=random:1\n"
        "  vinci debug add.csv -s Ascend910B4 -e 'break vadd; continue; pipes; queues'\n"
        "  vinci debug matmul m=256 k=256 n=256 -s Ascend910B4 -e 'stall M; where'\n"
        "  vinci debug add.csv -s Ascend910B4 --values < commands.txt\n"
        "  vinci debug add.so:add --blocks=8 -s Ascend910B4 --arg "
        "name=x,dtype=fp16,shape=4096,io=in\n",
    .options = {debug_options, sizeof debug_options / sizeof *debug_options},
    .run = debug,
};
