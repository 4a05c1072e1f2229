/* SPDX-License-Identifier: Apache-2.0 */
/* Results in files. */
#include "core/base/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/digest.h"
#include "core/base/file.h"

enum { FILE_BYTES_MAX = 4096, PATH_BYTES = 4096 };
#define CHECKSUM_FORMAT "%016" PRIx64 "\n"

struct writing {
  const struct store_kind *kind;
  uint64_t digest;
  const uint64_t *numbers;
};

static void path_of(const struct store_kind *kind, const char *folder, uint64_t digest,
                    char *path) {
  snprintf(path, PATH_BYTES, "%s/%016" PRIx64 ".%s", folder, digest, kind->suffix);
}

/* All but the checksum; returns its length. */
static int format(const struct writing *writing, char *text, size_t size) {
  size_t count = writing->kind->count;
  int used = snprintf(text, size, "%s %016" PRIx64 "\n", writing->kind->head, writing->digest);
  for (size_t i = 0; i < count; i++)
    used += snprintf(text + used, size - (size_t)used, "%" PRIu64 "%c", writing->numbers[i],
                     i + 1 < count ? ' ' : '\n');
  return used;
}

/* A text is a result when its numbers, written again, are that text. */
static bool parse(const struct store_kind *kind, const char *text, uint64_t digest,
                  uint64_t *numbers) {
  char again[FILE_BYTES_MAX], checksum[32];
  const char *at = strchr(text, '\n');
  for (size_t i = 0; at && i < kind->count; i++) {
    char *end;
    numbers[i] = strtoull(at, &end, 10);
    at = end == at ? NULL : end;
  }
  if (!at)
    return false;
  int used = format(&(struct writing){kind, digest, numbers}, again, sizeof again);
  snprintf(checksum, sizeof checksum, CHECKSUM_FORMAT,
           digest_bytes(DIGEST_SEED, again, (size_t)used));
  return strncmp(text, again, (size_t)used) == 0 && strcmp(text + used, checksum) == 0;
}

bool store_find(const struct store_kind *kind, const char *folder, uint64_t digest,
                uint64_t *numbers) {
  char path[PATH_BYTES];
  struct vinci_diag diag = {0};
  size_t length;
  path_of(kind, folder, digest, path);
  if (access(path, R_OK) != 0)
    return false;
  char *text = file_read(path, FILE_BYTES_MAX - 1, &length, &diag);
  bool found = text && parse(kind, text, digest, numbers);
  free(text);
  return found;
}

static void write_result(void *context, FILE *out) {
  char text[FILE_BYTES_MAX];
  int used = format(context, text, sizeof text);
  fputs(text, out);
  fprintf(out, CHECKSUM_FORMAT, digest_bytes(DIGEST_SEED, text, (size_t)used));
}

enum vinci_status store_keep(const struct store_kind *kind, const char *folder, uint64_t digest,
                             const uint64_t *numbers, struct vinci_diag *diag) {
  char path[PATH_BYTES];
  struct writing writing = {kind, digest, numbers};
  path_of(kind, folder, digest, path);
  return file_replace(path, write_result, &writing, diag);
}
