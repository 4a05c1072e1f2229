/* SPDX-License-Identifier: Apache-2.0 */
/* command.json of a result folder: the command, and the digests of the files that it names. */
#include "cli/support/command.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/support/cli.h"
#include "cli/support/operator.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/shell.h"
#include "traces/export/report/report.h"

/* Whether an option changes no result. All shards of a sweep have the command of the whole. */
static bool is_silent(const struct option_row *row) {
  static const char *const names[] = {"quiet", "exact",   "unfolded", "output",
                                      "jobs",  "results", "shard",    NULL};
  for (size_t i = 0; row && names[i]; i++)
    if (strcmp(row->name, names[i]) == 0)
      return true;
  return false;
}

struct line {
  FILE *out;
  bool ended; /* "--" is there */
};

static void put_use(void *context, const struct option_row *row, const char *value) {
  struct line *line = context;
  if (is_silent(row))
    return;
  if (row) {
    fprintf(line->out, " --%s%s", row->name, value ? "=" : "");
  } else {
    bool ends = value[0] == '-' && value[1] != '\0' && !line->ended;
    fputs(ends ? " -- " : " ", line->out);
    line->ended |= ends;
  }
  if (value)
    shell_put_word(line->out, value);
}

/* For free(); NULL when memory is short. */
static char *command_line(const struct cli_command *command) {
  char *text = NULL;
  size_t length;
  struct line line = {.out = open_memstream(&text, &length)};
  if (!line.out)
    return NULL;
  fprintf(line.out, "vinci %s", command->verb->name);
  options_visit(&command->verb->options, command->argc, command->argv, put_use, &line);
  return file_close_text(line.out, &text) ? text : NULL;
}

struct inputs {
  FILE *out;
  const char *comma;
};

static void put_input(void *context, const struct option_row *row, const char *path) {
  struct inputs *inputs = context;
  struct stat about;
  struct file_view view;
  struct vinci_diag none = {0};
  bool named = !row && path && operator_exists(path);
  if (is_silent(row) || !path || named || stat(path, &about) != 0 || !S_ISREG(about.st_mode) ||
      file_view_open(path, SIZE_MAX / 2, &view, &none) != VINCI_OK)
    return;
  fprintf(inputs->out, "%s\n    {\"file\": ", inputs->comma);
  json_write_plain(inputs->out, path);
  fprintf(inputs->out, ", \"digest\": \"%016" PRIx64 "\"}",
          digest_bytes(DIGEST_SEED, view.bytes, view.length));
  file_view_close(&view);
  inputs->comma = ",";
}

struct writing {
  const struct cli_command *command;
  const char *line;
};

static void write_command(void *context, FILE *out) {
  const struct writing *writing = context;
  const struct cli_command *command = writing->command;
  struct inputs inputs = {.out = out, .comma = ""};
  fprintf(out, "{\n  \"schema\": %d,\n  \"version\": \"%s\",\n  \"command\": ", REPORT_SCHEMA,
          vinci_version());
  json_write_plain(out, writing->line);
  fputs(",\n  \"inputs\": [", out);
  options_visit(&command->verb->options, command->argc, command->argv, put_input, &inputs);
  fputs(*inputs.comma ? "\n  ]\n}\n" : "]\n}\n", out);
}

void cli_keep_command(const struct cli_command *command, const char *folder) {
  char path[PATH_MAX];
  struct vinci_diag ignored = {0};
  struct writing writing = {command, command_line(command)};
  if (writing.line && snprintf(path, sizeof path, "%s/command.json", folder) < (int)sizeof path)
    (void)!file_replace(path, write_command, &writing, &ignored);
  free((char *)(uintptr_t)writing.line);
}
