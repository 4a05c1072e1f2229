/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of `vinci debug` from files, texts and the terminal. */
#include "cli/debug/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBEDIT
#include <dlfcn.h>
#include <editline/readline.h>
#endif

static const char prompt[] = "(vinci) ";
enum { LINE_MAX_BYTES = 512 };

bool input_edits(void) {
#ifdef HAVE_LIBEDIT
  return true;
#else
  return false;
#endif
}

/* An empty line of a script does nothing; what was typed is shown, as on a terminal. */
static enum vinci_status execute_shown(struct session *session, const char *line,
                                       struct vinci_diag *diag) {
  line += strspn(line, " \t");
  size_t length = strcspn(line, "\r\n");
  if (length == 0 || *line == '#')
    return VINCI_OK;
  char command[LINE_MAX_BYTES];
  snprintf(command, sizeof command, "%.*s", (int)length, line);
  printf("%s%s\n", prompt, command);
  enum vinci_status status =
      session_execute(session, length < sizeof command ? command : line, diag);
  fflush(stdout);
  return status;
}

/* The error of a command, with the place of the command in front. */
static enum vinci_status at_line(const struct vinci_diag *problem, const char *path,
                                 unsigned long line, struct vinci_diag *diag) {
  enum vinci_status status =
      diag_error_at(diag, problem->status, (struct diag_position){.path = path, .line = line}, "%s",
                    problem->text);
  if (*problem->hint)
    diag_hint(diag, "%s", problem->hint);
  return status;
}

enum vinci_status input_file(struct session *session, const char *path, struct vinci_diag *diag) {
  bool standard = strcmp(path, "-") == 0;
  FILE *in = standard ? stdin : fopen(path, "r");
  struct diag_position position = {.path = standard ? "standard input" : path};
  if (!in)
    return diag_error_at(diag, diag_status_of(errno), position, "cannot read the commands: %s",
                         strerror(errno));
  enum vinci_status status = VINCI_OK;
  char *line = NULL;
  size_t size = 0;
  for (unsigned long i = 1; status == VINCI_OK && !session->quit && getline(&line, &size, in) >= 0;
       i++) {
    struct vinci_diag problem = {0};
    status = execute_shown(session, line, &problem);
    if (status != VINCI_OK)
      status = at_line(&problem, position.path, i, diag);
  }
  if (status == VINCI_OK && ferror(in))
    status = diag_error_at(diag, VINCI_E_IO, position, "cannot read the commands: read error");
  free(line);
  if (!standard)
    fclose(in);
  return status;
}

enum vinci_status input_text(struct session *session, const char *text, struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  while (status == VINCI_OK && !session->quit && *text) {
    size_t length = strcspn(text, ";");
    char *command = strndup(text, length);
    if (!command)
      return diag_error(diag, VINCI_E_NOMEM, "out of memory for a command");
    status = execute_shown(session, command, diag);
    free(command);
    text += length + (text[length] == ';');
  }
  return status;
}

/* ---- the terminal ---- */

#ifdef HAVE_LIBEDIT
/* Two functions of libedit. All other commands are spared this library and those that it needs,
 * nearly half a million instructions at every start. The name with the version of the interface is
 * Debian's. */
struct editor {
  __typeof__(&readline) read;
  __typeof__(&add_history) keep;
};

static bool editor_open(struct editor *editor) {
  void *library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL); /* stays until the process ends */
  void *read = library ? dlsym(library, "readline") : NULL;
  void *keep = library ? dlsym(library, "add_history") : NULL;
  /* POSIX lets a function be taken from a pointer to data, ISO C has no cast for that. */
  memcpy(&editor->read, &read, sizeof read);
  memcpy(&editor->keep, &keep, sizeof keep);
  return read && keep;
}
#endif

/* A line without its end, to be freed; NULL at the end of the input. */
static char *read_terminal(void) {
#ifdef HAVE_LIBEDIT
  struct editor editor;
  if (editor_open(&editor)) {
    char *edited = editor.read(prompt);
    if (edited && *edited)
      editor.keep(edited);
    return edited;
  }
#endif
  char *line = NULL;
  size_t size = 0;
  fputs(prompt, stdout);
  fflush(stdout);
  if (getline(&line, &size, stdin) < 0) {
    free(line);
    return NULL;
  }
  line[strcspn(line, "\r\n")] = '\0';
  return line;
}

/* An empty line does the last command again. */
void input_terminal(struct session *session) {
  char *last = NULL, *line;
  while (!session->quit && (line = read_terminal())) {
    struct vinci_diag problem = {0};
    if (*line) {
      free(last);
      last = line;
    } else {
      free(line);
    }
    if (last && session_execute(session, last, &problem) != VINCI_OK)
      (void)cli_fail(&problem);
  }
  if (!session->quit)
    putchar('\n');
  free(last);
}
