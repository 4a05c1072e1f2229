/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of files that are written in Lua: descriptions of chips, memories, networks on chip
 * and systems of devices, studies and suites. The first line of an input, a comment of Lua, says
 * which. Any bytes end in a description or an error, within the bounds of memory, instructions and
 * time.
 */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/chip/noc_config.h"
#include "scripts/host/mem_host.h"
#include "scripts/systems/group_host.h"
#include "studies/gate/suite.h"
#include "studies/sweep/sweep.h"

enum { FOLDER_BYTES = 512 };
#define OWN_FILE "fuzz.lua"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[FOLDER_BYTES];

static void remove_folder(void) { folder_remove(folder); }

static const char *write_file(const char *name, const void *bytes, size_t size) {
  static char path[2 * FOLDER_BYTES];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *out = fopen(path, "wb");
  if (!out || fwrite(bytes, 1, size, out) != size || fclose(out) != 0)
    vinci_bug("%s cannot be written", path);
  return path;
}

/* Links to the files of a folder of the data, so that those of the fuzzer may build on them. */
static void link_files(const char *data, const char *name) {
  char from[PATH_MAX], to[PATH_MAX];
  const struct dirent *entry;
  snprintf(from, sizeof from, "%s/%s", data, name);
  snprintf(to, sizeof to, "%s/%s", folder, name);
  DIR *dir = opendir(from);
  if (!dir || mkdir(to, 0777) != 0)
    vinci_bug("no folder %s, or not %s", from, to);
  while ((entry = readdir(dir))) {
    snprintf(from, sizeof from, "%s/%s/%s", data, name, entry->d_name);
    snprintf(to, sizeof to, "%s/%s/%s", folder, name, entry->d_name);
    if (entry->d_name[0] != '.' && symlink(from, to) != 0)
      vinci_bug("no link to %s", from);
  }
  closedir(dir);
}

static void make_folder(void) {
  static const char *const names[] = {"soc", "mem", "noc", "group", "energy"};
  char data[FOLDER_BYTES];
  if (soc_host_data_dir(NULL, data, sizeof data, NULL) != VINCI_OK ||
      folder_make_temporary("vinci-fuzz", folder, sizeof folder, NULL) != VINCI_OK)
    vinci_bug("no folder for files");
  atexit(remove_folder);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    link_files(data, names[i]);
}

/* ---- readers -----------------------------------------------------------------------------------
 */

static void read_chip(const void *bytes, size_t size) {
  vinci_soc *soc;
  if (vinci_soc_load(write_file(OWN_FILE, bytes, size), folder, &soc, NULL) == VINCI_OK)
    vinci_soc_free(soc);
}

static void read_memory(const void *bytes, size_t size) {
  struct mem_spec *mem;
  (void)write_file("mem/" OWN_FILE, bytes, size);
  if (mem_host_load("fuzz", folder, &mem, NULL) == VINCI_OK)
    mem_host_free(mem);
}

static void read_topology(const void *bytes, size_t size) {
  struct arena arena = {0};
  struct noc_graph graph;
  struct vinci_diag diag = {0};
  (void)write_file("noc/" OWN_FILE, bytes, size);
  if (noc_graph_load(folder, "fuzz", NULL, 0, &arena, &graph, &diag) == VINCI_OK)
    (void)noc_graph_check(&graph, &diag);
  arena_free(&arena);
}

static void read_system(const void *bytes, size_t size) {
  struct group_description *group;
  struct vinci_diag diag = {0};
  (void)write_file("group/" OWN_FILE, bytes, size);
  if (group_host_load("fuzz", folder, &group, &diag) != VINCI_OK)
    return;
  if (group_host_fit(group, folder, 4, &diag) == VINCI_OK &&
      group_system_check(&group->system, &diag) != VINCI_OK)
    vinci_bug("a system fits and is none: %s", diag.text);
  group_host_free(group);
}

static void read_study(const void *bytes, size_t size) {
  const struct vinci_sweep_options options = {
      .struct_size = sizeof options, .overrides = {.soc = "Ascend910B4", .data_dir = folder}};
  const char *path = write_file("study.lua", bytes, size);
  struct sweep_study study = {0};
  struct vinci_diag diag = {0};
  enum vinci_status status = sweep_study_open(&study, &path, 1, &options, &diag);
  if (status != diag.status)
    vinci_bug("status %d, diagnostic %d", (int)status, (int)diag.status);
  sweep_study_free(&study);
}

static void read_suite(const void *bytes, size_t size) {
  const struct vinci_overrides overrides = {.data_dir = folder};
  struct gate_suite suite;
  struct vinci_diag diag = {0};
  enum vinci_status status =
      gate_suite_open(&suite, write_file("suite.lua", bytes, size), &overrides, NULL, &diag);
  if (status != diag.status)
    vinci_bug("status %d, diagnostic %d", (int)status, (int)diag.status);
  gate_suite_free(&suite);
}

static const struct reader {
  const char *name;
  void (*read)(const void *bytes, size_t size);
} readers[] = {
    {"-- chip", read_chip},     {"-- memory", read_memory}, {"-- topology", read_topology},
    {"-- system", read_system}, {"-- study", read_study},   {"-- suite", read_suite},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *end = size > 0 ? memchr(data, '\n', size) : NULL;
  size_t length = end ? (size_t)(end - (const char *)data) : 0;
  if (end && !*folder)
    make_folder();
  for (size_t i = 0; end && i < sizeof readers / sizeof *readers; i++)
    if (strlen(readers[i].name) == length && memcmp(readers[i].name, data, length) == 0)
      readers[i].read(data, size);
  return 0;
}
