/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the trace reader: any bytes are read without harm, and what is
 * accepted survives writing and reading. Built with FUZZ_REPLAY, it is a plain
 * program that runs the files and folders named on its command line.
 */
#include <stdlib.h>
#include <string.h>

#include "core/diag.h"
#include "tests/fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static vinci_soc *soc;

/* The trace as canonical text; the caller frees it. */
static char *write_text(const vinci_trace *trace, size_t *size) {
  char *text = NULL;
  FILE *out = open_memstream(&text, size);
  if (!out || vinci_trace_write(trace, out, NULL) != VINCI_OK)
    vinci_bug("an accepted trace cannot be written");
  fclose(out);
  return text;
}

static void check_round_trip(const vinci_trace *trace) {
  struct vinci_diag diag = {0};
  vinci_trace *again;
  size_t once_size, twice_size;
  char *once = write_text(trace, &once_size);
  if (vinci_trace_parse("again", once, once_size, soc, &again, &diag) != VINCI_OK)
    vinci_bug("canonical text is rejected, line %lu: %s", diag.line, diag.text);
  char *twice = write_text(again, &twice_size);
  if (once_size != twice_size || memcmp(once, twice, once_size) != 0)
    vinci_bug("canonical text changes when it is read and written");
  free(once);
  free(twice);
  vinci_trace_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  if (!soc && !(soc = fixture_soc()))
    return 0;
  enum vinci_status status =
      vinci_trace_parse("fuzz", (const char *)data, size, soc, &trace, &diag);
  if (status != VINCI_OK && status != VINCI_E_INPUT)
    vinci_bug("status %d of an input", (int)status);
  if (status != diag.status || (status == VINCI_OK) != (trace != NULL))
    vinci_bug("status %d, diagnostic %d", (int)status, (int)diag.status);
  if (trace)
    check_round_trip(trace);
  vinci_trace_free(trace);
  return 0;
}

#ifdef FUZZ_REPLAY
#include <dirent.h>

static bool replay_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return false;
  char *text = NULL;
  size_t size = 0;
  char block[4096];
  FILE *copy = open_memstream(&text, &size);
  size_t got;
  while ((got = fread(block, 1, sizeof block, file)) > 0)
    fwrite(block, 1, got, copy);
  bool good = !ferror(file);
  fclose(copy);
  fclose(file);
  if (good)
    LLVMFuzzerTestOneInput((const uint8_t *)text, size);
  free(text);
  return good;
}

/* Runs the files of a folder; how many there were. */
static unsigned replay_folder(const char *path) {
  unsigned count = 0;
  DIR *folder = opendir(path);
  struct dirent *entry;
  while (folder && (entry = readdir(folder)) != NULL) {
    char name[4096];
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    if (entry->d_name[0] != '.' && replay_file(name))
      count++;
  }
  if (folder)
    closedir(folder);
  return count;
}

/* Speaks TAP: one line per folder or file. */
int main(int count, char **paths) {
  int failed = 0;
  char fallback[4096];
  const char *top = getenv("TESTS_SRCDIR");
  snprintf(fallback, sizeof fallback, "%s/tests/fuzz/corpus", top ? top : ".");
  char *defaults[] = {paths[0], fallback};
  if (count < 2) {
    paths = defaults;
    count = 2;
  }
  printf("1..%d\n", count - 1);
  for (int i = 1; i < count; i++) {
    unsigned files = replay_folder(paths[i]);
    bool good = files > 0 || replay_file(paths[i]);
    printf("%sok %d - %u files replayed\n", good ? "" : "not ", i, files ? files : good);
    failed += !good;
  }
  vinci_soc_free(soc);
  return failed != 0;
}
#endif
