/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the table of launches in the folder of a profile. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/diag.h"
#include "traces/format/known_files.h"

enum { DEPTH_MAX = 5, ENTRIES_MAX = 100000, FORMS = 4 };

/* Tables of launches, the best known first. */
static const struct form {
  const char *name, *tail;
} forms[FORMS] = {{"kernel_details", ".csv"},
                  {"op_summary", ".csv"},
                  {"ascend_pytorch_profiler", ".db"},
                  {"msprof_", ".db"}};

/* For each form how many there are, and the first of them in the order of bytes. */
struct search {
  unsigned count[FORMS], entries;
  char first[FORMS][KNOWN_PATH_MAX];
  char timeline[KNOWN_PATH_MAX]; /* of a profile, "" without */
  bool raw;                      /* what the profiler has recorded, and nobody has analysed */
};

bool known_is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_table(const char *name, const struct form *form) {
  size_t length = strlen(name), tail = strlen(form->tail);
  return strncmp(name, form->name, strlen(form->name)) == 0 && length > tail &&
         strcmp(name + length - tail, form->tail) == 0;
}

static void look(struct search *search, const char *folder, unsigned depth) {
  char path[KNOWN_PATH_MAX];
  DIR *dir = opendir(folder);
  const struct dirent *entry;
  while (dir && (entry = readdir(dir)) && search->entries++ < ENTRIES_MAX) {
    const char *name = entry->d_name;
    struct stat status;
    if (*name == '.' || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
        lstat(path, &status) != 0)
      continue;
    search->raw |= strcmp(name, "FRAMEWORK") == 0 || strncmp(name, "PROF_", 5) == 0;
    if (S_ISDIR(status.st_mode) && depth < DEPTH_MAX)
      look(search, path, depth + 1);
    for (unsigned i = 0; S_ISREG(status.st_mode) && i < FORMS; i++)
      if (is_table(name, &forms[i]) &&
          (search->count[i]++ == 0 || strcmp(path, search->first[i]) < 0))
        memcpy(search->first[i], path, strlen(path) + 1);
    if (S_ISREG(status.st_mode) &&
        (is_table(name, &(struct form){"trace_view", ".json"}) ||
         is_table(name, &(struct form){"msprof_", ".json"})) &&
        (!*search->timeline || strcmp(path, search->timeline) < 0))
      memcpy(search->timeline, path, strlen(path) + 1);
  }
  if (dir)
    closedir(dir);
}

static enum vinci_status nothing_found(const char *folder, const struct search *search,
                                       struct vinci_diag *diag) {
  bool raw = search->raw;
  if (*search->timeline) {
    (void)diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = folder},
                        "the folder holds the timeline of a profile, without shapes, and neither "
                        "kernel_details*.csv nor op_summary*.csv");
    diag_hint(diag, "'vinci import %.180s' reads times of tasks by name", search->timeline);
    return VINCI_E_INPUT;
  }
  (void)diag_error_at(
      diag, VINCI_E_INPUT, (struct diag_position){.path = folder},
      raw ? "the folder holds a profile that is not analysed: neither kernel_details*.csv nor "
            "op_summary*.csv"
          : "is a folder without a profile: neither kernel_details*.csv nor op_summary*.csv");
  diag_hint(diag, "%s",
            raw ? "torch_npu.profiler.profiler.analyse(FOLDER) or 'msprof --export=on "
                  "--output=FOLDER' writes the tables"
                : "give the file itself");
  return VINCI_E_INPUT;
}

/* The best known form that was found; FORMS: none was. */
static unsigned best_form(const struct search *search) {
  unsigned form = 0;
  while (form < FORMS && search->count[form] == 0)
    form++;
  return form;
}

bool known_profile_beside(const char *file, char path[KNOWN_PATH_MAX]) {
  struct search search = {.entries = 0};
  const char *slash = strrchr(file, '/');
  char folder[KNOWN_PATH_MAX];
  snprintf(folder, sizeof folder, "%.*s", slash && slash > file ? (int)(slash - file) : 1,
           slash ? file : ".");
  look(&search, folder, DEPTH_MAX);
  unsigned form = best_form(&search);
  if (form == FORMS || search.count[form] > 1)
    return false;
  memcpy(path, search.first[form], strlen(search.first[form]) + 1);
  return true;
}

enum vinci_status known_profile_in(const char *folder, char path[KNOWN_PATH_MAX],
                                   struct vinci_diag *diag) {
  struct search search = {.entries = 0};
  char trimmed[KNOWN_PATH_MAX];
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/')
    length--;
  snprintf(trimmed, sizeof trimmed, "%.*s", (int)length, folder);
  look(&search, trimmed, 0);
  unsigned form = best_form(&search);
  if (form == FORMS)
    return nothing_found(folder, &search, diag);
  if (search.count[form] > 1) {
    (void)diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = folder},
                        "the folder holds %u tables %s*%s, of which one is wanted",
                        search.count[form], forms[form].name, forms[form].tail);
    diag_hint(diag, "give one of them, such as %.180s", search.first[form]);
    return VINCI_E_INPUT;
  }
  memcpy(path, search.first[form], strlen(search.first[form]) + 1);
  return VINCI_OK;
}
