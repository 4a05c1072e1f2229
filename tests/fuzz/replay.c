/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target as a plain program: runs the files and folders that are named, or its corpus. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
  snprintf(fallback, sizeof fallback, "%s/tests/fuzz/" FUZZ_CORPUS, top ? top : ".");
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
  return failed != 0;
}
