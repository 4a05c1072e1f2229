/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a library by their names, as its own build lays them out: beside each other, the
 * files of op_kernel without a folder between, so that a kernel says "../other_part/header.h". In
 * the cache stands a folder with a link for each part, kernel/NAME and host/NAME.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "kernels/library/library.h"

enum { DEPTH_MAX = 8, BUILD_BYTES_MAX = 1 << 20 };

static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void find_parts(const char *folder, struct command *found, unsigned depth) {
  static const char *const left_out[] = {"tests",    "test",      "docs",
                                         "examples", "op_kernel", "op_host"};
  DIR *entries = depth < DEPTH_MAX ? opendir(folder) : NULL;
  struct dirent *entry;
  while (entries && (entry = readdir(entries))) {
    char path[PATH_MAX];
    bool out = *entry->d_name == '.';
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out && !out; i++)
      out = strcmp(entry->d_name, left_out[i]) == 0;
    bool is_part = strcmp(entry->d_name, "op_kernel") == 0 || strcmp(entry->d_name, "op_host") == 0;
    if (is_part)
      command_add(found, "%s/%s", folder, entry->d_name);
    if (!out && snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path &&
        is_folder(path))
      find_parts(path, found, depth + 1);
  }
  if (entries)
    closedir(entries);
}

/* Of two parts of a name the one with the shorter path counts. */
static int by_length(const void *a, const void *b) {
  const char *x = *(char *const *)a, *y = *(char *const *)b;
  size_t m = strlen(x), n = strlen(y);
  return m != n ? (m > n) - (m < n) : strcmp(x, y);
}

static enum vinci_status link_to(const struct library *library, const char *target,
                                 const char *place) {
  char now[PATH_MAX];
  ssize_t length = readlink(place, now, sizeof now - 1);
  if (length >= 0) {
    now[length] = '\0';
    if (strcmp(now, target) == 0 || unlink(place) != 0)
      return VINCI_OK;
  }
  if (symlink(target, place) == 0 || errno == EEXIST)
    return VINCI_OK;
  return file_error(library->diag, place, "write");
}

/* "FOLDER/rms_norm/op_kernel" becomes kernel/rms_norm, and that of "common/inc" kernel/inc. */
static enum vinci_status link_part(const struct library *library, const char *layout,
                                   const char *part, struct command *linked) {
  char place[2 * PATH_MAX];
  const char *kind = strrchr(part, '/'), *name = kind - 1;
  while (name > part && name[-1] != '/')
    name--;
  bool hosts = strcmp(kind, "/op_host") == 0;
  snprintf(place, sizeof place, "%s/%s/%.*s", layout, hosts ? "host" : "kernel", (int)(kind - name),
           name);
  if (command_has(linked, place))
    return VINCI_OK;
  command_add(linked, "%s", place);
  return link_to(library, part, place);
}

static enum vinci_status link_parts(const struct library *library, const char *layout) {
  struct command found = {0}, linked = {0};
  char place[PATH_MAX + 64];
  snprintf(place, sizeof place, "%s/host", layout);
  enum vinci_status status = folder_make(place, library->diag);
  snprintf(place, sizeof place, "%s/kernel/.from/deeper", layout);
  if (status == VINCI_OK)
    status = folder_make(place, library->diag);
  for (size_t i = 0; i < library->folder_count; i++) {
    size_t first = found.count;
    find_parts(library->folders[i], &found, 0);
    if (found.count > first)
      qsort(found.items + first, found.count - first, sizeof *found.items, by_length);
  }
  for (size_t i = 0; i < found.count && status == VINCI_OK; i++)
    status = link_part(library, layout, found.items[i], &linked);
  if (found.no_memory || linked.no_memory)
    status = diag_error(library->diag, VINCI_E_NOMEM, "out of memory for the parts of a library");
  command_free(&found);
  command_free(&linked);
  return status;
}

/* Kernels include "impl/dav_c220/NAME" and "lib/math/NAME", host code "tiling/math/NAME", as
 * packages of the headers have them; a checkout has other folders between, and some of lib/ had
 * other names.
 */
static enum vinci_status link_headers(const struct library *library, const char *layout) {
  static const char *const links[][2] = {{"impl", "impl/basic_api"},
                                         {"lib/activation", "include/adv_api/activation"},
                                         {"lib/filter", "include/adv_api/filter"},
                                         {"lib/hccl", "include/adv_api/hccl"},
                                         {"lib/index", "include/adv_api/index"},
                                         {"lib/math", "include/adv_api/math"},
                                         {"lib/matmul", "include/adv_api/matmul"},
                                         {"lib/matrix", "include/adv_api"},
                                         {"lib/normalization", "include/adv_api/normalization"},
                                         {"lib/pad", "include/adv_api/pad"},
                                         {"lib/quantization", "include/adv_api/quantization"},
                                         {"lib/reduce", "include/adv_api/reduce"},
                                         {"lib/select", "include/adv_api/select"},
                                         {"lib/sigmoid", "include/adv_api/activation"},
                                         {"lib/sort", "include/adv_api/sort"},
                                         {"lib/transpose", "include/adv_api/transpose"},
                                         {"tiling/activation", "include/adv_api/activation"},
                                         {"tiling/math", "include/adv_api/math"},
                                         {"tiling/normalization", "include/adv_api/normalization"},
                                         {"tiling/reduce", "include/adv_api/reduce"}};
  char place[PATH_MAX + 64], target[PATH_MAX], whole[PATH_MAX];
  snprintf(place, sizeof place, "%s/package/lib", layout);
  enum vinci_status status = folder_make(place, library->diag);
  snprintf(place, sizeof place, "%s/package/tiling", layout);
  if (status == VINCI_OK)
    status = folder_make(place, library->diag);
  for (size_t i = 0; i < sizeof links / sizeof *links && status == VINCI_OK; i++) {
    snprintf(target, sizeof target, "%.4000s/%s", library->headers, links[i][1]);
    snprintf(place, sizeof place, "%s/package/%s", layout, links[i][0]);
    if (realpath(target, whole))
      status = link_to(library, whole, place);
  }
  return status;
}

/* Host code includes "util/fp16.h", numbers of 16 bits, of the base of the library. What else lies
 * there has names that our headers have. */
static enum vinci_status name_numbers(const struct library *library, const char *layout) {
  static const char *const names[] = {"util/fp16.h", "util/bfloat16.h"};
  char place[PATH_MAX + 64], target[PATH_MAX], text[PATH_MAX + 64];
  snprintf(place, sizeof place, "%s/package/util", layout);
  enum vinci_status status = folder_make(place, library->diag);
  for (size_t i = 0; i < 2 * library->folder_count && status == VINCI_OK; i++) {
    snprintf(target, sizeof target, "%.4000s/include/op_common/op_host/%s", library->folders[i / 2],
             names[i % 2]);
    snprintf(place, sizeof place, "%s/package/%s", layout, names[i % 2]);
    snprintf(text, sizeof text, "#include \"%s\"\n", target);
    if (access(target, R_OK) == 0 && access(place, R_OK) != 0)
      status = file_replace_text(place, text, library->diag);
  }
  return status;
}

enum vinci_status library_layout(const struct library *library, char *out, size_t size) {
  const struct library_operator none = {.name = "parts"};
  int lock;
  enum vinci_status status = library_cache_folder(library, &none, out, size);
  if (status == VINCI_OK)
    status = library_lock(library, out, &lock);
  if (status != VINCI_OK)
    return status;
  status = link_parts(library, out);
  if (status == VINCI_OK && library->headers)
    status = link_headers(library, out);
  if (status == VINCI_OK)
    status = name_numbers(library, out);
  if (lock >= 0)
    close(lock);
  return status;
}

void library_add_layout(const char *layout, struct command *words) {
  static const char *const from[] = {".from", ".from/deeper", "common"};
  for (size_t i = 0; i < sizeof from / sizeof *from; i++)
    command_add(words, "-I%s/kernel/%s", layout, from[i]);
  command_add(words, "-idirafter");
  command_add(words, "%s/package", layout);
}

enum vinci_status library_depends(const struct library *library,
                                  const struct library_operator *which, const char *layout,
                                  struct command *folders) {
  static const char mark[] = "DEPENDENCIES", between[] = " \t\r\n";
  struct vinci_diag ignored = {0};
  char path[2 * PATH_MAX], real[PATH_MAX];
  size_t length;
  snprintf(path, sizeof path, "%s/op_host/CMakeLists.txt", which->folder);
  char *text = file_read(path, BUILD_BYTES_MAX, &length, &ignored);
  char *at = text ? strstr(text, mark) : NULL;
  /* Names in small letters; the next word in capitals is another argument. */
  for (at = at ? at + strlen(mark) : NULL; at;) {
    at += strspn(at, between);
    size_t word = strcspn(at, " \t\r\n)");
    if (word == 0 || (*at >= 'A' && *at <= 'Z') || *at == '$')
      break;
    snprintf(path, sizeof path, "%s/host/%.*s", layout, (int)word, at);
    if (realpath(path, real))
      command_add(folders, "%s", real);
    at += word;
  }
  free(text);
  return folders->no_memory ? diag_error(library->diag, VINCI_E_NOMEM, "out of memory") : VINCI_OK;
}
