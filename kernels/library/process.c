/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that a library is compiled with, and lists of words. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/library/library.h"

extern char **environ;

void command_add(struct command *words, const char *form, ...) {
  va_list arguments;
  char *text = NULL;
  if (words->count + 1 >= words->capacity) {
    size_t capacity = words->capacity ? 2 * words->capacity : 32;
    char **items = realloc(words->items, capacity * sizeof *items);
    words->no_memory |= !items;
    if (!items)
      return;
    words->items = items;
    words->capacity = capacity;
  }
  va_start(arguments, form);
  if (vasprintf(&text, form, arguments) < 0)
    text = NULL;
  va_end(arguments);
  words->no_memory |= !text;
  if (text)
    words->items[words->count++] = text;
  words->items[words->count] = NULL;
}

void command_free(struct command *words) {
  for (size_t i = 0; i < words->count; i++)
    free(words->items[i]);
  free(words->items);
  *words = (struct command){0};
}

bool command_has(const struct command *words, const char *word) {
  for (size_t i = 0; i < words->count; i++)
    if (strcmp(words->items[i], word) == 0)
      return true;
  return false;
}

static enum vinci_status start(const struct library *library, const struct command *command,
                               const char *output, const char *errors, pid_t *child) {
  if (command->no_memory)
    return diag_error(library->diag, VINCI_E_NOMEM, "out of memory for a command");
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error == 0 && output)
    error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output,
                                             O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (error == 0)
    error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors,
                                             O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (error == 0)
    error = posix_spawnp(child, command->items[0], &actions, NULL, command->items, environ);
  (void)posix_spawn_file_actions_destroy(&actions);
  if (error == 0)
    return VINCI_OK;
  *child = 0;
  enum vinci_status status = diag_error(library->diag, VINCI_E_USAGE, "cannot run %s: %s",
                                        command->items[0], strerror(error));
  diag_hint(library->diag, "libraries are compiled with clang; VINCI_CXX names another program");
  return status;
}

static int exit_code(int ended) {
  return WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
}

enum vinci_status library_run(const struct library *library, const struct command *command,
                              const char *output, const char *errors, int *ended) {
  pid_t child;
  int state = 0;
  enum vinci_status status = start(library, command, output, errors, &child);
  if (status != VINCI_OK)
    return status;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR)
    ;
  *ended = exit_code(state);
  return VINCI_OK;
}

enum vinci_status library_run_all(const struct library *library, struct library_job *jobs,
                                  size_t count) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  size_t most = cores < 1 ? 1 : (size_t)cores, begun = 0, running = 0;
  enum vinci_status status = VINCI_OK;
  pid_t *children = calloc(count + 1, sizeof *children);
  if (!children)
    return diag_error(library->diag, VINCI_E_NOMEM, "out of memory for commands");
  while (running > 0 || (begun < count && status == VINCI_OK)) {
    if (begun < count && status == VINCI_OK && running < most) {
      status = start(library, &jobs[begun].command, NULL, jobs[begun].errors, &children[begun]);
      running += status == VINCI_OK;
      begun++;
      continue;
    }
    /* The eldest is waited for: no other child of the caller is taken. */
    size_t eldest = 0;
    int state = 0;
    while (children[eldest] == 0)
      eldest++;
    if (waitpid(children[eldest], &state, 0) < 0 && errno == EINTR)
      continue;
    jobs[eldest].ended = exit_code(state);
    children[eldest] = 0;
    running--;
  }
  free(children);
  return status;
}

/* "file.h:3:5: error: text" and a tiling's "file.cpp:12: text": without folders. */
static void keep_why(char *why, const char *line) {
  const char *colon = strchr(line, ':'), *slash = NULL;
  for (const char *at = line; colon && at < colon; at++)
    slash = *at == '/' ? at : slash;
  line = slash ? slash + 1 : line;
  size_t length = strcspn(line, "\n");
  while (length > 0 && line[length - 1] == ' ')
    length--;
  snprintf(why, LIBRARY_WHY_BYTES, "%.*s", (int)length, line);
}

/* Of lines without the word, a tiling's, the first. */
void library_show(const struct library *library, const char *path, unsigned lines) {
  FILE *in = fopen(path, "r");
  char *line = NULL, first[LIBRARY_WHY_BYTES] = "";
  size_t size = 0;
  bool open = library->why && !*library->why;
  for (unsigned i = 0; in && (library->why || i < lines) && getline(&line, &size, in) > 0; i++)
    if (!library->why)
      fputs(line, stderr);
    else if (open && strstr(line, "error:")) {
      keep_why(library->why, line);
      open = false;
    } else if (i == 0)
      keep_why(first, line);
  if (open && *first)
    snprintf(library->why, LIBRARY_WHY_BYTES, "%s", first);
  free(line);
  if (in)
    fclose(in);
}
