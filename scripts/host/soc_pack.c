/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of the build: reads all chips of a data folder and prints them as constants of C
 * (soc_packed.h).
 *
 *   soc_pack FOLDER
 *
 * The files of a chip are found by their names: a word in quotation marks in one of the files, if a
 * file is called so. That may be one too many, which then has to be the same as well.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "scripts/host/soc_files.h"
#include "scripts/host/soc_host.h"
#include "scripts/host/soc_packed.h"

/* This program reads them; the library has those that it prints. */
const struct soc_packed_table soc_packed_table = {.text = ""};

enum { FILES_MAX = 64, CHIPS_MAX = 256, TEXTS_MAX = 1 << 14 };

struct text {
  const char *at;
  size_t length;
  size_t place;
};

struct file {
  char path[SOC_NAME_BYTES * 2]; /* below the data folder */
  char *text;
  size_t length;
};

struct chip {
  struct vinci_soc *soc;
  struct file *files[FILES_MAX];
  size_t file_count;
};

static struct {
  const char *folder;
  struct text texts[TEXTS_MAX];
  size_t text_count;
  size_t text_bytes;
  struct file files[FILES_MAX];
  size_t file_count;
  struct chip chips[CHIPS_MAX];
  size_t chip_count;
} pack;

static _Noreturn void fail(const char *what, const char *which) {
  fprintf(stderr, "soc_pack: %s: %s\n", which, what);
  exit(EXIT_FAILURE);
}

/* ---- texts -------------------------------------------------------------------------- */

/* Where a text stands among all texts; equal ones are kept once. */
static size_t place_of(const char *text, size_t length) {
  for (size_t i = 0; i < pack.text_count; i++)
    if (pack.texts[i].length == length && memcmp(pack.texts[i].at, text, length) == 0)
      return pack.texts[i].place;
  if (pack.text_count == TEXTS_MAX)
    fail("too many texts", text);
  pack.texts[pack.text_count++] = (struct text){text, length, pack.text_bytes};
  pack.text_bytes += length + 1;
  return pack.texts[pack.text_count - 1].place;
}

static size_t place(const char *text) { return place_of(text, strlen(text)); }

/* As numbers: a compiler need not take a long string. */
static void print_texts(void) {
  puts("static const char text[] = {");
  for (size_t i = 0; i < pack.text_count; i++) {
    for (size_t c = 0; c < pack.texts[i].length; c++) {
      signed char byte = (signed char)pack.texts[i].at[c];
      if (byte < 0)
        fail("a character that is not ASCII", pack.texts[i].at);
      printf("%d,", byte);
    }
    puts("0,");
  }
  puts("};");
}

/* ---- files -------------------------------------------------------------------------- */

/* The file of a path below the folder, NULL when there is none. */
static struct file *file_of(const char *path) {
  for (size_t i = 0; i < pack.file_count; i++)
    if (strcmp(pack.files[i].path, path) == 0)
      return &pack.files[i];
  char whole[SOC_PATH_MAX];
  int length = snprintf(whole, sizeof whole, "%s/%s", pack.folder, path);
  FILE *in = length < (int)sizeof whole ? fopen(whole, "rb") : NULL;
  if (!in)
    return NULL;
  if (pack.file_count == FILES_MAX || strlen(path) >= sizeof pack.files->path)
    fail("too many files, or a long name", path);
  struct file *file = &pack.files[pack.file_count++];
  strcpy(file->path, path);
  file->text = calloc(SOC_PATH_MAX, 256);
  if (!file->text)
    fail("out of memory", path);
  file->length = fread(file->text, 1, (size_t)SOC_PATH_MAX * 256 - 1, in);
  if (ferror(in) || !feof(in))
    fail("cannot be read, or is too long", path);
  fclose(in);
  return file;
}

static bool has(const struct chip *chip, const char *kind, const char *name) {
  char path[SOC_PATH_MAX];
  snprintf(path, sizeof path, "%s/%s.lua", kind, name);
  for (size_t i = 0; i < chip->file_count; i++)
    if (strcmp(chip->files[i]->path, path) == 0)
      return true;
  return false;
}

static void add_files(struct chip *chip, const char *kind, const char *name);

/* Adds all files that are named in a text. */
static void add_named(struct chip *chip, const char *text) {
  static const char *const kinds[] = {"soc", "mem", "noc"};
  for (const char *at = strchr(text, '"'); at; at = strchr(at + 1, '"')) {
    char name[SOC_NAME_BYTES];
    size_t length = strcspn(at + 1, "\"/ \n");
    if (length == 0 || length >= sizeof name || at[1 + length] != '"')
      continue;
    memcpy(name, at + 1, length);
    name[length] = '\0';
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
      add_files(chip, kinds[kind], name);
  }
}

static void add_files(struct chip *chip, const char *kind, const char *name) {
  char path[SOC_PATH_MAX];
  snprintf(path, sizeof path, "%s/%s.lua", kind, name);
  struct file *file = has(chip, kind, name) ? NULL : file_of(path);
  if (!file)
    return;
  if (chip->file_count == FILES_MAX)
    fail("too many files", name);
  chip->files[chip->file_count++] = file;
  add_files(chip, kind, "sources");
  add_named(chip, file->text);
}

static void find_files(struct chip *chip) {
  const struct vinci_soc *soc = chip->soc;
  add_files(chip, "soc", soc->name);
  if ((*soc->base && !has(chip, "soc", soc->base)) ||
      !has(chip, "mem", soc->choices[SOC_MEMORY].name) ||
      !has(chip, "noc", soc->choices[SOC_TOPOLOGY].name))
    fail("a file that is not named in the files of the chip", soc->name);
}

/* ---- numbers ------------------------------------------------------------------------ */

static void print_provenance(const struct soc_provenance *provenance) {
  printf("{%zu,%zu,%u,%d},\n", place(provenance->source), place(provenance->note),
         provenance->confidence, provenance->given);
}

static void print_sources(const char *prefix, size_t chip, const struct soc_source *sources,
                          size_t count) {
  printf("static const struct packed_source %s_sources_%zu[] = {\n", prefix, chip);
  for (size_t i = 0; i < count; i++)
    printf("{%zu,%zu},\n", place(sources[i].id), place(sources[i].text));
  puts("};");
}

static void print_numbers(size_t chip, const struct vinci_soc *soc) {
  printf("static const int64_t soc_values_%zu[] = {\n", chip);
  for (size_t i = 0; i < soc_param_count(); i++)
    printf("%lld,\n", (long long)soc_get(soc, i));
  printf("};\nstatic const struct packed_provenance soc_provenance_%zu[] = {\n", chip);
  for (size_t i = 0; i < soc_param_count(); i++)
    print_provenance(&soc->provenance[i]);
  puts("};");
  print_sources("soc", chip, soc->sources, soc->source_count);
}

static void print_memory(size_t chip, const struct mem_spec *mem) {
  printf("static const int64_t mem_values_%zu[] = {\n", chip);
  for (size_t i = 0; i < mem_param_count(); i++)
    printf("%lld,\n", (long long)mem_get(mem, i));
  printf("};\nstatic const struct packed_provenance mem_provenance_%zu[] = {\n", chip);
  for (size_t i = 0; i < mem_param_count(); i++)
    print_provenance(&mem->provenance[i]);
  puts("};");
  print_sources("mem", chip, mem->sources, mem->source_count);
  printf("static const struct packed_map maps_%zu[] = {\n", chip);
  for (size_t i = 0; i < mem->map_count; i++)
    printf("{%zu,%zu},\n", place(mem->maps[i].name), place(mem->maps[i].text));
  puts("};");
}

static void print_topology(size_t chip, const struct noc_graph *graph) {
  printf("static const struct noc_router routers_%zu[] = {\n", chip);
  for (uint32_t i = 0; i < graph->router_count; i++)
    printf("{%u,%u},\n", graph->routers[i].column, graph->routers[i].row);
  printf("};\nstatic const struct noc_link links_%zu[] = {\n{0,0,0},\n", chip);
  for (uint32_t i = 0; i < graph->link_count; i++)
    printf("{%u,%u,%d},\n", graph->links[i].from, graph->links[i].to, graph->links[i].dateline);
  printf("};\nstatic const uint32_t terminals_%zu[] = {\n", chip);
  for (uint32_t i = 0; i < graph->terminal_count; i++)
    printf("%u,\n", graph->terminals[i]);
  puts("};");
}

static void print_files(size_t index, const struct chip *chip) {
  printf("static const struct packed_file files_%zu[] = {\n", index);
  for (size_t i = 0; i < chip->file_count; i++)
    printf("{%zu,%zu,%zu},\n", place(chip->files[i]->path),
           place_of(chip->files[i]->text, chip->files[i]->length), chip->files[i]->length);
  puts("};");
}

/* ---- chips -------------------------------------------------------------------------- */

static void print_chip(size_t index, const struct chip *chip) {
  const struct vinci_soc *soc = chip->soc;
  const struct noc_graph *graph = soc->topology;
  printf("{.name=%zu,.base=%zu,.description=%zu,.arch=%d,.choices={", place(soc->name),
         place(soc->base), place(soc->description), (int)soc->arch);
  for (unsigned i = 0; i < SOC_NAME_COUNT; i++)
    printf("%zu,", place(soc->choices[i].name));
  printf("},.files=files_%zu,.file_count=%zu,\n", index, chip->file_count);
  printf(".numbers={soc_values_%zu,soc_provenance_%zu,soc_sources_%zu,%zu},\n", index, index, index,
         soc->source_count);
  printf(".memory={mem_values_%zu,mem_provenance_%zu,mem_sources_%zu,%zu},\n", index, index, index,
         soc->memory->source_count);
  printf(".memory_description=%zu,.maps=maps_%zu,.map_count=%zu,\n",
         place(soc->memory->description), index, soc->memory->map_count);
  printf(".topology={.routing=%d,.routers=routers_%zu,.router_count=%u,.links=links_%zu+1,"
         ".link_count=%u,.terminals=terminals_%zu,.terminal_count=%u}},\n",
         (int)graph->routing, index, graph->router_count, index, graph->link_count, index,
         graph->terminal_count);
}

static void load_chips(void) {
  struct vinci_diag diag = {0};
  struct soc_names names = {0};
  if (soc_files_list(pack.folder, "soc", &names, &diag) != VINCI_OK) /* and no chip of one's own */
    fail(diag.text, pack.folder);
  for (size_t i = 0; i < names.count; i++) {
    if (soc_file_is_abstract(pack.folder, names.items[i]))
      continue;
    if (pack.chip_count == CHIPS_MAX)
      fail("too many chips", pack.folder);
    struct chip *chip = &pack.chips[pack.chip_count++];
    if (vinci_soc_load(names.items[i], pack.folder, &chip->soc, &diag) != VINCI_OK)
      fail(diag.text, names.items[i]);
    find_files(chip);
  }
  soc_names_free(&names);
}

static void print_all(void) {
  puts("/* Made by scripts/host/soc_pack.c. */\n#include \"scripts/host/soc_packed.h\"");
  for (size_t i = 0; i < pack.chip_count; i++) {
    print_numbers(i, pack.chips[i].soc);
    print_memory(i, pack.chips[i].soc->memory);
    print_topology(i, pack.chips[i].soc->topology);
    print_files(i, &pack.chips[i]);
  }
  puts("static const struct soc_packed chips[] = {");
  for (size_t i = 0; i < pack.chip_count; i++)
    print_chip(i, &pack.chips[i]);
  puts("};");
  print_texts();
  printf("const struct soc_packed_table soc_packed_table = {text, chips, %zu};\n", pack.chip_count);
}

int main(int argc, char **argv) {
  if (argc != 2)
    fail("takes the data folder", "usage");
  pack.folder = argv[1];
  load_chips();
  print_all();
  for (size_t i = 0; i < pack.chip_count; i++)
    vinci_soc_free(pack.chips[i].soc);
  for (size_t i = 0; i < pack.file_count; i++)
    free(pack.files[i].text);
  return fflush(stdout) != 0 || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
