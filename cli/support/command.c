/* SPDX-License-Identifier: Apache-2.0 */
/* command.json of a result folder: the command, and of which date its inputs are. */
#include "cli/support/command.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/vinci.h"
#include "traces/export/report/report.h"

enum { LINE_BYTES = 4096 };

struct words {
  int argc;
  char **argv;
};

/* The value of --output, or NULL; and how many words the option at `i` takes that changes no
 * result. */
static int silent_words(const struct words *words, int i, const char **output) {
  static const char *const flags[] = {"-q", "--quiet", "--exact", "--unfolded", NULL};
  static const char *const values[] = {"-o", "--output", "-j", "--jobs", "--results", NULL};
  const char *word = words->argv[i];
  for (size_t f = 0; flags[f]; f++)
    if (strcmp(word, flags[f]) == 0)
      return 1;
  for (size_t v = 0; values[v]; v++) {
    size_t length = strlen(values[v]);
    bool is_output = v < 2;
    if (strcmp(word, values[v]) == 0 && i + 1 < words->argc) {
      *output = is_output ? words->argv[i + 1] : *output;
      return 2;
    }
    if (strncmp(word, values[v], length) == 0 && word[length] == '=') {
      *output = is_output ? word + length + 1 : *output;
      return 1;
    }
  }
  return 0;
}

/* As a shell takes a word. */
static size_t add_word(char *line, size_t used, const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,+@%";
  bool quoted = word[strspn(word, plain)] != '\0' || !*word;
  if (used < LINE_BYTES)
    used += (size_t)snprintf(line + used, LINE_BYTES - used, "%s%s%s%s", used ? " " : "",
                             quoted ? "'" : "", word, quoted ? "'" : "");
  return used;
}

static void put_inputs(const struct words *words, FILE *out) {
  const char *none = NULL, *comma = "";
  for (int i = 1; i < words->argc; i++) {
    int skipped = silent_words(words, i, &none);
    const char *word = words->argv[i], *value = strchr(word, '=');
    const char *path = *word == '-' && value ? value + 1 : word;
    struct stat about;
    struct tm day;
    char date[32];
    if (skipped > 0) {
      i += skipped - 1;
      continue;
    }
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || !gmtime_r(&about.st_mtime, &day))
      continue;
    strftime(date, sizeof date, "%Y-%m-%d", &day);
    fprintf(out, "%s\n    {\"file\": ", comma);
    json_write_plain(out, path);
    fprintf(out, ", \"date\": \"%s\"}", date);
    comma = ",";
  }
  fputs(*comma ? "\n  ]" : "]", out);
}

static void write_command(void *context, FILE *out) {
  const struct words *words = context;
  const char *none = NULL;
  char line[LINE_BYTES] = "";
  size_t used = add_word(line, 0, "vinci");
  for (int i = 1; i < words->argc; i++) {
    int skipped = silent_words(words, i, &none);
    if (skipped > 0)
      i += skipped - 1;
    else
      used = add_word(line, used, words->argv[i]);
  }
  fprintf(out, "{\n  \"schema\": %d,\n  \"version\": \"%s\",\n  \"command\": ", REPORT_SCHEMA,
          vinci_version());
  json_write_plain(out, line);
  fputs(",\n  \"inputs\": [", out);
  put_inputs(words, out);
  fputs("\n}\n", out);
}

/* Results are there: complete, or as far as they go. */
static bool has_results(int exit_code) {
  return exit_code == vinci_status_exit_code(VINCI_OK) ||
         exit_code == vinci_status_exit_code(VINCI_E_MISMATCH) ||
         exit_code == vinci_status_exit_code(VINCI_E_LIMIT) ||
         exit_code == vinci_status_exit_code(VINCI_E_DEADLOCK);
}

void cli_keep_command(int argc, char **argv, int exit_code) {
  struct words words = {argc, argv};
  const char *output = NULL;
  struct stat about;
  char path[PATH_MAX];
  struct vinci_diag ignored = {0};
  for (int i = 1; i < argc; i++) {
    int skipped = silent_words(&words, i, &output);
    i += skipped > 0 ? skipped - 1 : 0;
  }
  if (!output || stat(output, &about) != 0 || !S_ISDIR(about.st_mode) ||
      snprintf(path, sizeof path, "%s/command.json", output) >= (int)sizeof path)
    return;
  if (!has_results(exit_code) || file_replace(path, write_command, &words, &ignored) != VINCI_OK)
    (void)unlink(path); /* of results that were there before */
}
