/* SPDX-License-Identifier: Apache-2.0 */
/* The chips in the library are those of the files, as long as the files are those of the build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/diag.h"
#include "scripts/host/soc_files.h"
#include "scripts/host/soc_host.h"
#include "scripts/host/soc_packed.h"

enum { PATH_SIZE = 4096, FILE_SIZE = 1 << 18, KINDS = 3 };

static const char *const kinds[KINDS] = {"soc", "mem", "noc"};
static char shipped[PATH_SIZE];
static char scratch[PATH_SIZE];
/* Two copies below the scratch folder: one with the same files, one with a comment more, which is
 * read by Lua. */
static char same[PATH_SIZE + 8], other[PATH_SIZE + 8];

/* ---- folders ------------------------------------------------------------------------ */

static void copy_file(const char *kind, const char *name, const char *to, const char *more) {
  static char text[FILE_SIZE];
  char path[2 * PATH_SIZE];
  snprintf(path, sizeof path, "%s/%s/%s.lua", shipped, kind, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t length = fread(text, 1, sizeof text, file);
  assert_true(length < sizeof text);
  fclose(file);
  snprintf(path, sizeof path, "%s/%s/%s.lua", to, kind, name);
  file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, length, file), length);
  assert_true(fputs(more, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static const char *comment_of(const char *name) {
  return strcmp(name, "sources") == 0 ? "-- read\n" : "";
}

/* Calls a function for each file of the shipped folder. */
static void each_file(void (*visit)(const char *kind, const char *name)) {
  for (unsigned kind = 0; kind < KINDS; kind++) {
    struct soc_names names = {0};
    assert_int_equal(soc_files_list(shipped, kinds[kind], &names, NULL), VINCI_OK);
    for (size_t i = 0; i < names.count; i++)
      visit(kinds[kind], names.items[i]);
    soc_names_free(&names);
    if (strcmp(kinds[kind], "noc") != 0)
      visit(kinds[kind], "sources");
  }
}

static void copy(const char *kind, const char *name) {
  copy_file(kind, name, same, "");
  copy_file(kind, name, other, comment_of(name));
}

static void remove_both(const char *kind, const char *name) {
  char path[2 * PATH_SIZE];
  snprintf(path, sizeof path, "%s/%s/%s.lua", same, kind, name);
  unlink(path);
  snprintf(path, sizeof path, "%s/%s/%s.lua", other, kind, name);
  unlink(path);
}

static void for_folders(int (*call)(const char *path)) {
  for (unsigned kind = 0; kind < KINDS; kind++) {
    char path[2 * PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", same, kinds[kind]);
    assert_int_equal(call(path), 0);
    snprintf(path, sizeof path, "%s/%s", other, kinds[kind]);
    assert_int_equal(call(path), 0);
  }
}

static int make(const char *path) { return mkdir(path, 0777); }

static int set_up(void **state) {
  (void)state;
  const char *source = getenv("TESTS_SRCDIR"), *temporary = getenv("TMPDIR");
  snprintf(shipped, sizeof shipped, "%s/scripts", source && *source ? source : ".");
  snprintf(scratch, sizeof scratch, "%s/test_packed.XXXXXX",
           temporary && *temporary ? temporary : ".");
  if (!mkdtemp(scratch))
    return -1;
  snprintf(same, sizeof same, "%s/same", scratch);
  snprintf(other, sizeof other, "%s/other", scratch);
  if (make(same) != 0 || make(other) != 0)
    return -1;
  for_folders(make);
  each_file(copy);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  each_file(remove_both);
  for_folders(rmdir);
  return rmdir(same) || rmdir(other) || rmdir(scratch);
}

/* ---- comparisons -------------------------------------------------------------------- */

static void same_provenance(const struct soc_provenance *a, const struct soc_provenance *b) {
  assert_string_equal(a->source, b->source);
  assert_string_equal(a->note, b->note);
  assert_int_equal(a->confidence, b->confidence);
  assert_int_equal(a->given, b->given);
  assert_int_equal(a->overridden, b->overridden);
}

static void same_sources(const struct soc_source *a, size_t a_count, const struct soc_source *b,
                         size_t b_count) {
  assert_int_equal(a_count, b_count);
  for (size_t i = 0; i < a_count; i++) {
    assert_string_equal(a[i].id, b[i].id);
    assert_string_equal(a[i].text, b[i].text);
  }
}

static void same_memory(const struct mem_spec *a, const struct mem_spec *b) {
  assert_string_equal(a->name, b->name);
  assert_string_equal(a->description, b->description);
  assert_int_equal(a->map_count, b->map_count);
  for (size_t i = 0; i < a->map_count; i++) {
    assert_string_equal(a->maps[i].name, b->maps[i].name);
    assert_string_equal(a->maps[i].text, b->maps[i].text);
  }
  for (size_t i = 0; i < mem_param_count(); i++) {
    assert_int_equal(mem_get(a, i), mem_get(b, i));
    same_provenance(&a->provenance[i], &b->provenance[i]);
  }
  same_sources(a->sources, a->source_count, b->sources, b->source_count);
}

static void same_topology(const struct noc_graph *a, const struct noc_graph *b) {
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->routing, b->routing);
  assert_int_equal(a->router_count, b->router_count);
  for (uint32_t i = 0; i < a->router_count; i++) {
    assert_int_equal(a->routers[i].column, b->routers[i].column);
    assert_int_equal(a->routers[i].row, b->routers[i].row);
  }
  assert_int_equal(a->link_count, b->link_count);
  for (uint32_t i = 0; i < a->link_count; i++) {
    assert_int_equal(a->links[i].from, b->links[i].from);
    assert_int_equal(a->links[i].to, b->links[i].to);
    assert_int_equal(a->links[i].dateline, b->links[i].dateline);
  }
  assert_int_equal(a->terminal_count, b->terminal_count);
  assert_memory_equal(a->terminals, b->terminals, a->terminal_count * sizeof *a->terminals);
}

static void same_chip(const struct vinci_soc *a, const struct vinci_soc *b) {
  assert_string_equal(a->name, b->name);
  assert_string_equal(a->base, b->base);
  assert_string_equal(a->description, b->description);
  assert_int_equal(a->arch, b->arch);
  for (size_t i = 0; i < soc_param_count(); i++) {
    assert_int_equal(soc_get(a, i), soc_get(b, i));
    same_provenance(&a->provenance[i], &b->provenance[i]);
  }
  same_sources(a->sources, a->source_count, b->sources, b->source_count);
  for (unsigned i = 0; i < SOC_NAME_COUNT; i++) {
    assert_string_equal(a->choices[i].name, b->choices[i].name);
    assert_int_equal(a->choices[i].overridden, b->choices[i].overridden);
  }
  same_memory(a->memory, b->memory);
  same_topology(a->topology, b->topology);
  assert_int_equal(soc_digest(a), soc_digest(b));
}

/* ---- tests -------------------------------------------------------------------------- */

/* An override that loads anew does so for both, or for none, as a mapping may be missing. */
static void set_both(struct vinci_soc *packed, struct vinci_soc *read, const char *assignment) {
  assert_int_equal(vinci_soc_set(packed, assignment, NULL), vinci_soc_set(read, assignment, NULL));
  same_chip(packed, read);
}

static void a_chip_is_the_same_from_its_files(void **state) {
  (void)state;
  struct soc_names names = {0};
  assert_int_equal(soc_files_list(shipped, "soc", &names, NULL), VINCI_OK);
  for (size_t i = 0; i < names.count; i++) {
    struct vinci_soc *packed, *read;
    if (soc_file_is_abstract(shipped, names.items[i]))
      continue;
    assert_non_null(soc_packed_find(same, names.items[i]));
    assert_null(soc_packed_find(other, names.items[i]));
    assert_int_equal(vinci_soc_load(names.items[i], same, &packed, NULL), VINCI_OK);
    assert_int_equal(vinci_soc_load(names.items[i], other, &read, NULL), VINCI_OK);
    same_chip(packed, read);
    set_both(packed, read, "memory.name=hbm2e_3200");
    set_both(packed, read, "noc.columns=3");
    set_both(packed, read, "l2.size=32MiB");
    vinci_soc_free(packed);
    vinci_soc_free(read);
  }
  soc_names_free(&names);
}

static void loads_alike(const char *name) {
  struct vinci_soc *one, *two;
  struct vinci_diag first = {0}, second = {0};
  enum vinci_status status = vinci_soc_load(name, same, &one, &first);
  assert_int_equal(vinci_soc_load(name, other, &two, &second), status);
  assert_string_equal(first.text, second.text);
  assert_int_equal(first.line, second.line);
  vinci_soc_free(one);
  vinci_soc_free(two);
}

static unsigned refused; /* chips, by the file that is broken */

static void break_file(const char *kind, const char *name) {
  copy_file(kind, name, same, "= broken\n");
  copy_file(kind, name, other, "= broken\n");
  for (size_t i = 0; i < soc_packed_table.count; i++) {
    const char *chip = soc_packed_table.text + soc_packed_table.chips[i].name;
    struct vinci_soc *soc;
    loads_alike(chip);
    refused += vinci_soc_load(chip, same, &soc, NULL) != VINCI_OK;
    vinci_soc_free(soc);
  }
  copy(kind, name);
}

/* Each file in turn: a chip that needs the file is refused for what stands there. */
static void no_edit_of_a_file_is_overlooked(void **state) {
  (void)state;
  each_file(break_file);
  assert_true(refused >= 5 * soc_packed_table.count); /* chip, two sources, memory, network */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chip_is_the_same_from_its_files),
      cmocka_unit_test(no_edit_of_a_file_is_overlooked),
  };
  if (soc_packed_table.count == 0)
    return 77; /* built on another machine than the one it runs on: nothing is packed */
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
