/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host programs of all operators have in common, compiled once: host.h, where the compiler
 * is g++, main.cpp, and the numbers of the chip.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "kernels/library/library.h"

enum { SHOWN_LINES = 40 };

static bool is_program(const char *name) {
  const char *folders = getenv("PATH");
  char path[PATH_MAX];
  for (size_t length; folders && *folders; folders += length + (folders[length] == ':')) {
    length = strcspn(folders, ":");
    snprintf(path, sizeof path, "%.*s/%s", (int)length, folders, name);
    if (access(path, X_OK) == 0)
      return true;
  }
  return false;
}

/* Libraries are written for g++, which takes some code that clang++ refuses. */
const char *library_compiler(void) {
  const char *asked = getenv("VINCI_HOST_CXX");
  if (asked && *asked)
    return asked;
  return is_program("g++") ? "g++" : "clang++";
}

static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void add_folder(struct command *words, const char *option, const char *folder,
                       const char *part) {
  char path[2 * PATH_MAX];
  snprintf(path, sizeof path, "%s%s%s", folder, *part ? "/" : "", part);
  if (!is_folder(path))
    return;
  if (*option)
    command_add(words, "%s", option);
  command_add(words, "%s%s", *option ? "" : "-I", path);
}

void library_add_folders(const struct library *library, const struct library_operator *which,
                         struct command *words) {
  static const char *const parts[] = {"",
                                      "include",
                                      "pkg_inc",
                                      "include/op_common",
                                      "pkg_inc/op_common",
                                      "common",
                                      "common/inc",
                                      "common/include",
                                      "common/inc/op_host",
                                      "common/include/op_host",
                                      "common/inc/op_kernel",
                                      "common/include/op_kernel"};
  add_folder(words, "", which->folder, "op_host");
  add_folder(words, "", which->folder, "op_host/op_tiling");
  add_folder(words, "", which->folder, "op_kernel");
  add_folder(words, "", which->folder, "");
  add_folder(words, "", which->folder, "..");
  add_folder(words, "", which->folder, "../common");
  for (size_t i = 0; i < library->folder_count; i++)
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
      add_folder(words, "", library->folders[i], parts[p]);
}

void library_add_words(const struct library *library, struct command *words) {
  static const char *const always[] = {"-std=c++17", "-O0", "-fPIC", "-w"};
  command_add(words, "%s", library_compiler());
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    command_add(words, "%s", always[i]);
  if (library_has_registers(library))
    command_add(words, "-DVINCI_LIBRARY_REGISTERS=1");
}

void library_add_includes(const struct library *library, struct command *words) {
  command_add(words, "-I%s", library->include);
  command_add(words, "-I%s/vinci/cce/library", library->include);
}

void library_add_headers(const struct library *library, struct command *words) {
  static const char *const headers[] = {
      "", "include", "include/utils", "include/adv_api", "impl", "include/basic_api"};
  for (size_t i = 0; library->headers && i < sizeof headers / sizeof *headers; i++)
    add_folder(words, "-isystem", library->headers, headers[i]);
}

struct product {
  const char *source, *name; /* below the folder of our headers; in the cache */
  bool header;
};

/* Compiles a product if it is not there or its sources are others. */
static enum vinci_status make(const struct library *library, const char *folder,
                              const struct product *product, const char *header,
                              struct command *files) {
  struct library_job job = {.ended = 0};
  char path[PATH_MAX], manifest[PATH_MAX], depends[PATH_MAX];
  struct command made = {0};
  snprintf(path, sizeof path, "%s/%s", folder, product->name);
  snprintf(manifest, sizeof manifest, "%s/%s.manifest", folder, product->name);
  snprintf(depends, sizeof depends, "%s/%s.d", folder, product->name);
  snprintf(job.errors, sizeof job.errors, "%s/%s.log", folder, product->name);
  enum vinci_status status = VINCI_OK;
  if (!library_is_new(manifest, path)) {
    const char *const words[] = {"-MD", "-MF", depends, "-c", "-o", path};
    library_add_words(library, &job.command);
    library_add_includes(library, &job.command);
    library_add_headers(library, &job.command);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      command_add(&job.command, "%s", words[i]);
    if (product->header) {
      command_add(&job.command, "-x");
      command_add(&job.command, "c++-header");
    } else {
      command_add(&job.command, "-include");
      command_add(&job.command, "%s", header);
    }
    command_add(&job.command, "%s/%s", library->include, product->source);
    status = library_run_all(library, &job, 1);
    command_free(&job.command);
    if (status == VINCI_OK && job.ended != 0) {
      library_show(library, job.errors, SHOWN_LINES);
      status = diag_error(library->diag, VINCI_E_INPUT, "%s/%s was not compiled", library->include,
                          product->source);
    }
    if (status == VINCI_OK)
      status = library_read_depends(library, depends, &made);
    if (status == VINCI_OK)
      status = library_write_manifest(library, manifest, &made);
    command_free(&made);
  }
  return status == VINCI_OK ? library_read_depends(library, depends, files) : status;
}

/* A text beside the compiled header: a compiler that lists the files of a source looks for the text
 * alone, and a product with a file that is not there would be made in each run. */
static enum vinci_status write_header(const struct library *library, const char *path) {
  static const char text[] = "/* host.h.gch beside is this header, compiled. */\n";
  return access(path, R_OK) == 0 ? VINCI_OK : file_replace_text(path, text, library->diag);
}

enum vinci_status library_share(const struct library *library, struct library_shared *shared,
                                struct command *files) {
  static const struct product header = {"vinci/library/host.h", "host.h.gch", true};
  static const struct product objects[LIBRARY_SHARED_OBJECTS] = {
      {"vinci/library/main.cpp", "main.o", false},
      {"vinci/library/template.cpp", "template.o", false},
      {"vinci/library/trials.cpp", "trials.o", false},
      {"vinci/cce/library/platform.cpp", "platform.o", false}};
  const struct library_operator none = {.name = "host"};
  struct library place = *library;
  char folder[PATH_MAX - 256];
  place.folder_count = 0; /* the same for all libraries */
  const char *compiler = library_compiler();
  bool compiled = strstr(compiler, "g++") && !strstr(compiler, "clang");
  enum vinci_status status = library_cache_folder(&place, &none, folder, sizeof folder);
  if (status != VINCI_OK)
    return status;
  int lock;
  status = library_lock(library, folder, &lock);
  if (status != VINCI_OK)
    return status;
  if (compiled) {
    snprintf(shared->header, sizeof shared->header, "%s/host.h", folder);
    status = write_header(library, shared->header);
    if (status == VINCI_OK)
      status = make(library, folder, &header, NULL, files);
  } else
    snprintf(shared->header, sizeof shared->header, "%.4000s/%s", library->include, header.source);
  for (size_t i = 0; i < LIBRARY_SHARED_OBJECTS && status == VINCI_OK; i++) {
    status = make(library, folder, &objects[i], shared->header, files);
    snprintf(shared->object[i], sizeof shared->object[i], "%s/%s", folder, objects[i].name);
  }
  if (lock >= 0)
    close(lock);
  return status;
}
