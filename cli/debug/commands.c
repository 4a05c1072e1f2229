/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of `vinci debug`: one table for execution, help and suggestions. */
#include "cli/debug/session.h"

#include <string.h>

#include "core/base/sheet.h"

static enum vinci_status command_help(struct session *session, const struct words *words,
                                      struct vinci_diag *diag);

static enum vinci_status command_quit(struct session *session, const struct words *words,
                                      struct vinci_diag *diag) {
  (void)words;
  (void)diag;
  session->quit = true;
  return VINCI_OK;
}

struct command {
  const char *name;
  const char *alias; /* or NULL */
  const char *arguments;
  size_t least, most; /* words after the name */
  const char *text;   /* one line for the list */
  const char *details;
  enum vinci_status (*run)(struct session *session, const struct words *words,
                           struct vinci_diag *diag);
};

static const struct command commands[] = {
    {"break", "b", "[FILE:]LINE | INSTRUCTION | cycle N | flag SRC>DST[:ID] [CORE]", 1, 3,
     "stop where an instruction starts, at a cycle, or when a flag is set or taken",
     "  break 24                 an instruction of line 24 starts\n"
     "  break add.cpp:31         the same, of the source of a compiled kernel\n"
     "  break vadd               any vadd starts\n"
     "  break cycle 1000         cycle 1000 of the core that is looked at\n"
     "  break flag MTE2>V:0      the flag is set, or a wait for the flag ends\n"
     "  break 24 core1.veccore0  on this core alone; otherwise on any\n",
     command_break},
    {"watch", NULL, "ADDRESS BYTES [CORE]", 2, 3,
     "stop when an instruction has written one of these bytes",
     "Needs no values. ADDRESS as for 'x': UB+0x200, or the name of a buffer or tensor.\n",
     command_watch},
    {"delete", "d", "[NUMBER]", 0, 1, "delete a breakpoint, or all of them", "", command_delete},
    {"step", "s", "[PIPE] [N]", 0, 2,
     "go on to the next event of this core, or of one of its pipes",
     "Events are: a block begins, an instruction starts or ends, a pipe begins to wait.\n"
     "  step         the next event\n"
     "  step 10      the tenth\n"
     "  step MTE2    the next event of MTE2\n",
     command_step},
    {"continue", "c", "", 0, 0, "go on to the next breakpoint, or to the end", "",
     command_continue},
    {"stall", NULL, "[PIPE | all]", 0, 1, "go on until a pipe of this core, or of any, waits",
     "Says why the pipe waits, and for what.\n", command_stall},
    {"until", "u", "CYCLE", 1, 1, "go on to a cycle of this core", "", command_until},
    {"where", "w", "", 0, 0, "the cycle, and what this core executes, line by line", "",
     command_where},
    {"pipes", NULL, "", 0, 0, "what each pipe executes, since when and until when, or waits for",
     "", command_pipes},
    {"queues", NULL, "[PIPE]", 0, 1, "instructions that were issued and have not started", "",
     command_queues},
    {"flags", NULL, "", 0, 0, "the flags that are set, and signals of other cores not yet taken",
     "", command_flags},
    {"x", NULL, "/[N][FORMAT] ADDRESS", 1, 2, "print values in a memory, a buffer or a tensor",
     "  x/16f UB+0x200   16 numbers fp32 in UB of this core\n"
     "  x/8h a           8 numbers fp16 from the start of buffer a\n"
     "  x/4x y+64        4 words of tensor y in GM, from byte 64 on\n"
     "FORMAT: f fp32, h fp16, g bf16, d int32, x words of 32 bits, b bytes; without, what a\n"
     "tensor holds, else f. Needs --values, --fill or --input.\n",
     command_x},
    {"core", NULL, "[CORE]", 0, 1, "look at another core, or list them",
     "CORE is a name such as core0.veccore1, or a number of the list.\n", command_core},
    {"list", "l", "[LINE]", 0, 1, "the trace around a line, or around where this core is", "",
     command_list},
    {"info", "i", "[breakpoints | buffers]", 0, 1, "the state of the session", "", command_info},
    {"help", "h", "[COMMAND]", 0, 1, "explain a command", "", command_help},
    {"quit", "q", "", 0, 0, "end the session", "", command_quit},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

const char *session_command_name(size_t index) {
  return index < COMMAND_COUNT ? commands[index].name : NULL;
}

static const char *name_at(const void *context, size_t index) {
  (void)context;
  return commands[index].name;
}

/* A name, an alias, or the beginning of one name alone. */
static const struct command *find(const char *word, size_t length) {
  const struct command *found = NULL;
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    const struct command *command = &commands[i];
    if ((strlen(command->name) == length && memcmp(command->name, word, length) == 0) ||
        (command->alias && strlen(command->alias) == length &&
         memcmp(command->alias, word, length) == 0))
      return command;
  }
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (strncmp(commands[i].name, word, length) == 0) {
      if (found)
        return NULL;
      found = &commands[i];
    }
  return found;
}

static enum vinci_status unknown(const char *word, struct vinci_diag *diag) {
  enum vinci_status status = diag_error(diag, VINCI_E_USAGE, "unknown command '%s'", word);
  const char *nearest = diag_nearest(word, COMMAND_COUNT, name_at, NULL);
  if (nearest)
    diag_hint(diag, "did you mean '%s'?", nearest);
  else
    diag_hint(diag, "'help' lists the commands");
  return status;
}

enum { COMMAND_COLUMN = 31 };

void session_print_commands(FILE *out) {
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    char names[32], left[96];
    const struct command *command = &commands[i];
    snprintf(names, sizeof names, "%s%s%s", command->name, command->alias ? ", " : "",
             command->alias ? command->alias : "");
    snprintf(left, sizeof left, "%s%s%s", names, *command->arguments ? " " : "",
             command->arguments);
    if (strlen(left) < COMMAND_COLUMN - 3)
      fprintf(out, "  %-28s ", left);
    else
      fprintf(out, "  %s\n  %-28s ", left, "");
    sheet_words(out, command->text, COMMAND_COLUMN, COMMAND_COLUMN);
    fputc('\n', out);
  }
}

static enum vinci_status command_help(struct session *session, const struct words *words,
                                      struct vinci_diag *diag) {
  (void)session;
  if (words->count < 2) {
    session_print_commands(stdout);
    sheet_line(stdout,
               "The beginning of a name is enough; an empty line does the last command again.\n");
    return VINCI_OK;
  }
  const struct command *command = find(words->item[1], strlen(words->item[1]));
  if (!command)
    return unknown(words->item[1], diag);
  sheet_line(stdout, "%s %s: %s\n%s", command->name, command->arguments, command->text,
             command->details);
  return VINCI_OK;
}

/* Words of a line, in a copy of the line. False when there are too many. */
static bool split(char *line, struct words *words) {
  words->count = 0;
  for (char *word = strtok(line, " \t\r\n"); word; word = strtok(NULL, " \t\r\n")) {
    if (words->count == WORDS_MAX)
      return false;
    words->item[words->count++] = word;
  }
  return true;
}

enum vinci_status session_execute(struct session *session, const char *line,
                                  struct vinci_diag *diag) {
  char copy[512];
  struct words words;
  if (strlen(line) >= sizeof copy)
    return diag_error(diag, VINCI_E_USAGE, "a command of more than %zu characters",
                      sizeof copy - 1);
  snprintf(copy, sizeof copy, "%s", line);
  copy[strcspn(copy, "#")] = '\0';
  if (!split(copy, &words))
    return diag_error(diag, VINCI_E_USAGE, "a command of more than %d words", (int)WORDS_MAX);
  if (words.count == 0)
    return VINCI_OK;
  size_t length = strcspn(words.item[0], "/");
  const struct command *command = find(words.item[0], length);
  if (!command || (words.item[0][length] == '/' && command->run != command_x))
    return unknown(words.item[0], diag);
  size_t given = words.count - 1;
  if (given < command->least || given > command->most) {
    enum vinci_status status =
        diag_error(diag, VINCI_E_USAGE, "'%s' with %zu words", command->name, given);
    diag_hint(diag, "the command is '%s%s%s'", command->name, *command->arguments ? " " : "",
              command->arguments);
    return status;
  }
  struct sheet_lines lines;
  session->out = sheet_lines_begin(&lines, stdout);
  enum vinci_status status = command->run(session, &words, diag);
  sheet_lines_end(&lines);
  session->out = stdout;
  return status;
}
