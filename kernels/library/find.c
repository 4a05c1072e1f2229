/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators of a library: each has a folder with op_host and op_kernel, and a file in op_host
 * says OP_ADD(Name). Folders of tests, examples and documentation are left out.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/digest.h"
#include "core/base/file.h"
#include "kernels/library/library.h"

enum { SOURCE_BYTES_MAX = 1 << 24, DEPTH_MAX = 12 };

/* As definitions spell them; the first where no chip is named. */
static const char *const library_families[LIBRARY_FAMILIES] = {"ascend910b", "ascend950"};

struct search {
  const struct library *library;
  struct library_operator *found;
  size_t count, capacity;
  size_t first; /* of the folder that is searched: folders before it come first */
  bool no_memory;
};

static bool is_left_out(const char *name) {
  static const char *const names[] = {"tests",     "test",     "docs",    "doc",       "examples",
                                      "example",   "build",    "scripts", "op_api",    "arch35",
                                      "framework", "op_graph", "stub",    "op_kernel", "cmake"};
  bool out = *name == '.';
  for (size_t i = 0; i < sizeof names / sizeof *names && !out; i++)
    out = strcmp(name, names[i]) == 0;
  return out;
}

/* Of two operators of a name in a folder: the one whose definition names the chip, then the one
 * with the shorter path. The order of a folder's entries is that of its host. */
static void keep_better(struct library_place *kept, const struct library_place *other) {
  size_t m = strlen(other->folder), n = strlen(kept->folder);
  bool shorter = m != n ? m < n : strcmp(other->folder, kept->folder) < 0;
  if (other->suits != kept->suits ? other->suits : shorter)
    *kept = *other;
}

static void note(struct search *search, const struct library_operator *which) {
  size_t at = 0;
  while (at < search->count && strcmp(search->found[at].name, which->name) != 0)
    at++;
  if (at < search->count) {
    for (size_t i = 0; at >= search->first && i < LIBRARY_FAMILIES; i++)
      keep_better(&search->found[at].place[i], &which->place[i]);
    return;
  }
  if (search->count == search->capacity) {
    size_t capacity = search->capacity ? 2 * search->capacity : 64;
    struct library_operator *found = realloc(search->found, capacity * sizeof *found);
    search->no_memory |= !found;
    if (!found)
      return;
    search->found = found;
    search->capacity = capacity;
  }
  search->found[search->count++] = *which;
}

void library_choose(struct library_operator *which, const char *family) {
  bool other = family && strcmp(family, library_families[1]) == 0;
  snprintf(which->folder, sizeof which->folder, "%s", which->place[other].folder);
}

/* OP_ADD(Name) in a file of op_host below `folder`. */
static void look_into(struct search *search, const char *folder, const char *path) {
  static const char mark[] = "OP_ADD(";
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  struct vinci_diag ignored = {0};
  struct library_operator which;
  size_t length;
  char *text = file_read(path, SOURCE_BYTES_MAX, &length, &ignored);
  for (size_t i = 0; i < LIBRARY_FAMILIES; i++) {
    char chip[32];
    snprintf(chip, sizeof chip, "\"%s", library_families[i]);
    which.place[i].suits = text && strstr(text, chip);
    snprintf(which.place[i].folder, sizeof which.place[i].folder, "%s", folder);
  }
  for (const char *at = text; at && (at = strstr(at, mark));) {
    at += strlen(mark);
    at += strspn(at, " \t\n");
    snprintf(which.name, sizeof which.name, "%.*s", (int)strspn(at, letters), at);
    note(search, &which);
  }
  free(text);
}

static void walk(struct search *search, const char *folder, const char *owner, unsigned depth) {
  DIR *entries = depth < DEPTH_MAX ? opendir(folder) : NULL;
  struct dirent *entry;
  while (entries && (entry = readdir(entries))) {
    char path[PATH_MAX];
    size_t length = strlen(entry->d_name);
    if (is_left_out(entry->d_name) ||
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path)
      continue;
    struct stat info;
    if (entry->d_type == DT_DIR ||
        (entry->d_type != DT_REG && stat(path, &info) == 0 && S_ISDIR(info.st_mode)))
      walk(search, path, strcmp(entry->d_name, "op_host") == 0 ? folder : owner, depth + 1);
    else if (owner && length > 4 && strcmp(entry->d_name + length - 4, ".cpp") == 0)
      look_into(search, owner, path);
  }
  if (entries)
    closedir(entries);
}

static int by_name(const void *a, const void *b) {
  const struct library_operator *x = a, *y = b;
  return strcmp(x->name, y->name);
}

enum vinci_status library_operators(const struct library *library, struct library_operator **out,
                                    size_t *count) {
  struct search search = {.library = library};
  for (size_t i = 0; i < library->folder_count; i++) {
    search.first = search.count;
    walk(&search, library->folders[i], NULL, 0);
  }
  *out = search.found;
  *count = search.count;
  if (search.no_memory) {
    free(search.found);
    *out = NULL;
    return diag_error(library->diag, VINCI_E_NOMEM, "out of memory for a list of operators");
  }
  for (size_t i = 0; i < search.count; i++)
    library_choose(&search.found[i], NULL);
  if (search.count > 0)
    qsort(search.found, search.count, sizeof *search.found, by_name);
  return VINCI_OK;
}

struct names {
  const struct library_operator *found;
};

static const char *name_at(const void *context, size_t index) {
  const struct names *names = context;
  return names->found[index].name;
}

/* "aclnnRmsNorm" and "rms_norm" are "RmsNorm". */
static bool is_spelled(const char *name, const char *given) {
  static const char prefix[] = "aclnn";
  if (strncmp(given, prefix, strlen(prefix)) == 0)
    given += strlen(prefix);
  for (; *name && *given; given++) {
    if (*given == '_')
      continue;
    if (tolower((unsigned char)*name) != tolower((unsigned char)*given))
      return false;
    name++;
  }
  return !*name && !*given;
}

const struct library_operator *library_match(const struct library_operator *operators, size_t count,
                                             const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(operators[i].name, name) == 0)
      return &operators[i];
  for (size_t i = 0; i < count; i++)
    if (is_spelled(operators[i].name, name))
      return &operators[i];
  return NULL;
}

enum vinci_status library_find(const struct library *library, const char *name,
                               struct library_operator *out) {
  struct library_operator *found;
  size_t count;
  enum vinci_status status = library_operators(library, &found, &count);
  if (status != VINCI_OK)
    return status;
  const struct library_operator *match = library_match(found, count, name);
  if (match)
    *out = *match;
  else {
    status = VINCI_E_USAGE;
    struct names names = {found};
    const char *nearest = diag_nearest(name, count, name_at, &names);
    (void)diag_error(library->diag, status, "the library %s has no operator '%s'",
                     library->folders[0], name);
    if (nearest)
      diag_hint(library->diag, "did you mean '%s'?", nearest);
    else
      diag_hint(library->diag, "'vinci library list' shows the names");
  }
  free(found);
  return status;
}

/* ---- where things are ------------------------------------------------------------------------ */

static enum vinci_status split_folders(struct library *library, const char *folders) {
  struct stat info;
  size_t used = 0;
  for (; *folders; folders += strcspn(folders, ":"), folders += *folders == ':') {
    char given[PATH_MAX], folder[PATH_MAX];
    size_t length = strcspn(folders, ":");
    if (length == 0)
      continue;
    if (length >= sizeof given)
      return diag_error(library->diag, VINCI_E_USAGE, "the folder of a library is too long");
    snprintf(given, sizeof given, "%.*s", (int)length, folders);
    if (!realpath(given, folder) || stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
      return diag_error(library->diag, VINCI_E_USAGE, "the library is not a folder: %s", given);
    if (library->folder_count == LIBRARY_FOLDERS_MAX)
      return diag_error(library->diag, VINCI_E_USAGE, "more than %d folders of a library",
                        LIBRARY_FOLDERS_MAX);
    if (used + strlen(folder) >= sizeof library->room)
      return diag_error(library->diag, VINCI_E_USAGE, "the folders of a library are too long");
    library->folders[library->folder_count++] = strcpy(library->room + used, folder);
    used += strlen(folder) + 1;
  }
  return VINCI_OK;
}

/* Beside the data when installed, beside scripts/ in the sources. */
static enum vinci_status find_include(struct library *library, const char *data) {
  for (unsigned i = 0; i < 2; i++) {
    char path[PATH_MAX + 64];
    snprintf(library->include, sizeof library->include,
             i == 0 ? "%.4000s/include" : "%.4000s/../include", data);
    snprintf(path, sizeof path, "%s/vinci/library/main.cpp", library->include);
    if (access(path, R_OK) == 0)
      return VINCI_OK;
  }
  return diag_error(library->diag, VINCI_E_IO, "the headers for libraries are missing in %s", data);
}

static enum vinci_status find_cache(struct library *library) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (cache && *cache == '/')
    snprintf(library->cache, sizeof library->cache, "%s/vinci/library", cache);
  else if (home && *home)
    snprintf(library->cache, sizeof library->cache, "%s/.cache/vinci/library", home);
  else
    return diag_error(library->diag, VINCI_E_USAGE,
                      "no folder for compiled operators: XDG_CACHE_HOME and HOME are not set");
  return VINCI_OK;
}

enum vinci_status library_open(struct library *library, const char *folders, const char *data,
                               struct vinci_diag *diag) {
  const char *program = getenv("VINCI"), *sync = getenv("VINCI_AUTO_SYNC");
  *library = (struct library){.headers = getenv("VINCI_HEADERS"), .diag = diag};
  if (library->headers && !*library->headers)
    library->headers = NULL;
  library->no_sync = sync && strcmp(sync, "off") == 0;
  folders = folders ? folders : getenv("VINCI_LIBRARY");
  if (!folders || !*folders) {
    (void)diag_error(diag, VINCI_E_USAGE, "no library is given");
    diag_hint(diag, "--library=DIR, or VINCI_LIBRARY, names a copy of an operator library");
    return VINCI_E_USAGE;
  }
  ssize_t length = readlink("/proc/self/exe", library->program, sizeof library->program - 1);
  library->program[length > 0 ? length : 0] = '\0';
  if (program && *program)
    snprintf(library->program, sizeof library->program, "%s", program);
  enum vinci_status status = split_folders(library, folders);
  if (status == VINCI_OK)
    status = find_include(library, data);
  return status == VINCI_OK ? find_cache(library) : status;
}

enum vinci_status library_cache_folder(const struct library *library,
                                       const struct library_operator *which, char *out,
                                       size_t size) {
  const char *compiler = getenv("VINCI_CXX");
  uint64_t digest = digest_string(DIGEST_SEED, which->folder);
  digest = digest_string(digest, library->headers ? library->headers : "");
  digest = digest_string(digest, library->include);
  digest = digest_string(digest, compiler ? compiler : "");
  digest = digest_string(digest, library_compiler());
  digest = digest_string(digest, library_has_registers(library) ? "registers" : "");
  for (size_t i = 0; i < library->folder_count; i++)
    digest = digest_string(digest, library->folders[i]);
  if (snprintf(out, size, "%s/%s-%016llx", library->cache, which->name,
               (unsigned long long)digest) >= (int)size)
    return diag_error(library->diag, VINCI_E_USAGE, "the path of the cache is too long: %s",
                      library->cache);
  return folder_make(out, library->diag);
}

enum vinci_status library_lock(const struct library *library, const char *folder, int *lock) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%.4000s/lock", folder);
  return file_lock(path, "another run", lock, library->diag);
}
