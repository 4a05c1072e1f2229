/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a product was made of. Its manifest has a digest of the version of this program, of all
 * files and of their names, then the names: a product is made anew when a file has changed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/digest.h"
#include "core/base/file.h"
#include "kernels/library/library.h"

enum { FILE_BYTES_MAX = 1 << 26 };

/* "out.o: a.cpp b.h \" lines; a blank in a name is "\ ". */
static void split_depends(char *text, struct command *files) {
  char *at = strchr(text, ':');
  char *out = text, *begin = text;
  for (at = at ? at + 1 : text; *at; at++) {
    bool escaped = *at == '\\' && at[1] == ' ';
    bool between = strchr(" \n\t\r", *at) || (*at == '\\' && at[1] == '\n');
    if (escaped)
      *out++ = *++at;
    else if (!between)
      *out++ = *at;
    if (between && out > begin) {
      *out = '\0';
      command_add(files, "%s", begin);
      out = begin = text;
    }
  }
  *out = '\0';
  if (out > begin)
    command_add(files, "%s", begin);
}

enum vinci_status library_read_depends(const struct library *library, const char *path,
                                       struct command *files) {
  size_t length;
  char *text = file_read(path, FILE_BYTES_MAX, &length, library->diag);
  if (!text)
    return library->diag->status;
  split_depends(text, files);
  free(text);
  return files->no_memory ? diag_error(library->diag, VINCI_E_NOMEM, "out of memory") : VINCI_OK;
}

/* 0: a file is not there. */
static uint64_t digest_files(char *const *files, size_t count) {
  uint64_t digest = digest_string(DIGEST_SEED, vinci_version());
  for (size_t i = 0; i < count; i++) {
    struct vinci_diag ignored = {0};
    size_t length;
    char *bytes = file_read(files[i], FILE_BYTES_MAX, &length, &ignored);
    if (!bytes)
      return 0;
    digest = digest_bytes(digest_string(digest, files[i]), bytes, length);
    free(bytes);
  }
  return digest;
}

bool library_is_new(const char *manifest, const char *product) {
  struct command files = {0};
  FILE *in = access(product, R_OK) == 0 ? fopen(manifest, "r") : NULL;
  char *line = NULL;
  size_t size = 0;
  ssize_t length;
  if (!in)
    return false;
  while ((length = getline(&line, &size, in)) > 0)
    command_add(&files, "%.*s", (int)(length - (line[length - 1] == '\n')), line);
  free(line);
  fclose(in);
  uint64_t digest =
      files.count > 1 && !files.no_memory ? digest_files(files.items + 1, files.count - 1) : 0;
  bool same = digest != 0 && strtoull(files.items[0], NULL, 16) == digest;
  command_free(&files);
  return same;
}

static void write_files(void *context, FILE *out) {
  const struct command *files = context;
  fprintf(out, "%016" PRIx64 "\n", digest_files(files->items, files->count));
  for (size_t i = 0; i < files->count; i++)
    fprintf(out, "%s\n", files->items[i]);
}

enum vinci_status library_write_manifest(const struct library *library, const char *manifest,
                                         const struct command *files) {
  struct command list = *files;
  return file_replace(manifest, write_files, &list, library->diag);
}
