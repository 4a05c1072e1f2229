/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host program of an operator: its own code of op_host, and what that code includes beside a
 * header of the same name. Headers that are not there become empty files: what they would bring is
 * in include/vinci/library/host.h. A source that is not compiled is left out, as many are for other
 * chips.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "kernels/library/library.h"

enum { SOURCES_MAX = 256, TESTS_MAX = 4, DEPTH_MAX = 4, SHOWN_LINES = 40 };

struct host {
  const struct library *library;
  const struct library_operator *which;
  char folder[PATH_MAX - 256]; /* in the cache */
  struct library_shared shared;
  struct command sources, files;
  struct command parts; /* words for folders of other parts */
  const char *prefix;   /* of names of products */
};

/* The words of a compilation up to its source. */
static void add_words(const struct host *host, struct command *words) {
  library_add_words(host->library, words);
  command_add(words, "-I%s/stubs", host->folder);
  library_add_includes(host->library, words);
  library_add_folders(host->library, host->which, words);
  for (size_t i = 0; i < host->parts.count; i++)
    command_add(words, "%s", host->parts.items[i]);
  library_add_headers(host->library, words);
  command_add(words, "-include");
  command_add(words, "%s", host->shared.header);
  if (*host->prefix) {
    command_add(words, "-include");
    command_add(words, "vinci/library/trials.h");
  }
}

/* ---- sources ----------------------------------------------------------------------------------
 */

static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void walk(struct host *host, const char *folder, unsigned depth) {
  DIR *entries = depth < DEPTH_MAX ? opendir(folder) : NULL;
  struct dirent *entry;
  while (entries && (entry = readdir(entries))) {
    char path[PATH_MAX];
    size_t length = strlen(entry->d_name);
    if (*entry->d_name == '.' ||
        (strcmp(entry->d_name, "arch35") == 0 && !library_has_registers(host->library)) ||
        strcmp(entry->d_name, "op_api") == 0 || strcmp(entry->d_name, "config") == 0 ||
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path)
      continue;
    if (is_folder(path))
      walk(host, path, depth + 1);
    else if (length > 4 && strcmp(entry->d_name + length - 4, ".cpp") == 0)
      command_add(&host->sources, "%s", path);
  }
  if (entries)
    closedir(entries);
}

static bool is_of_library(const struct host *host, const char *path) {
  bool of = false;
  for (size_t i = 0; i < host->library->folder_count && !of; i++) {
    size_t length = strlen(host->library->folders[i]);
    of = strncmp(path, host->library->folders[i], length) == 0 && path[length] == '/';
  }
  return of;
}

/* The source of a header: beside, or in src/ where the header is in inc/, include/ or pkg_inc/. */
static bool find_source(const char *header, char *real) {
  static const char *const folders[] = {"/inc/", "/include/", "/pkg_inc/"};
  char path[2 * PATH_MAX];
  int length = (int)strlen(header) - 2;
  snprintf(path, sizeof path, "%.*s.cpp", length, header);
  if (realpath(path, real))
    return true;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    const char *at = strstr(header, folders[i]);
    if (!at)
      continue;
    int skipped = (int)(at - header), rest = length - skipped - (int)strlen(folders[i]);
    snprintf(path, sizeof path, "%.*s/src/%.*s.cpp", skipped, header, rest,
             at + strlen(folders[i]));
    if (realpath(path, real))
      return true;
  }
  return false;
}

/* A header of the library's own host code brings its source. */
static void add_source_of(struct host *host, const char *header) {
  char real[PATH_MAX];
  size_t length = strlen(header);
  if (length < 3 || length + 3 > PATH_MAX || strcmp(header + length - 2, ".h") != 0 ||
      !is_of_library(host, header) || host->sources.count >= SOURCES_MAX ||
      !find_source(header, real))
    return;
  for (size_t i = 0; i < host->sources.count; i++) {
    char other[PATH_MAX];
    if (realpath(host->sources.items[i], other) && strcmp(other, real) == 0)
      return;
  }
  command_add(&host->sources, "%s", real);
}

/* ---- compilation ----------------------------------------------------------------------------- */

static struct library_job job_of(const struct host *host, size_t source, bool depends) {
  struct library_job job = {.ended = 0};
  char product[PATH_MAX];
  add_words(host, &job.command);
  if (depends) {
    command_add(&job.command, "-M");
    command_add(&job.command, "-MG");
    command_add(&job.command, "-MF");
    command_add(&job.command, "%s/%s%zu.d", host->folder, host->prefix, source);
  } else
    command_add(&job.command, "-c");
  command_add(&job.command, "%s", host->sources.items[source]);
  if (!depends) {
    command_add(&job.command, "-o");
    command_add(&job.command, "%s/%s%zu.o", host->folder, host->prefix, source);
  }
  snprintf(job.errors, sizeof job.errors, "%s/%s%zu.log", host->folder, host->prefix, source);
  snprintf(product, sizeof product, "%s/%s%zu.%c", host->folder, host->prefix, source,
           depends ? 'd' : 'o');
  (void)unlink(product); /* of another compilation */
  return job;
}

static enum vinci_status run_jobs(const struct host *host, size_t first, bool depends) {
  size_t count = host->sources.count - first;
  struct library_job *jobs = calloc(count + 1, sizeof *jobs);
  if (!jobs)
    return diag_error(host->library->diag, VINCI_E_NOMEM, "out of memory for sources");
  for (size_t i = 0; i < count; i++)
    jobs[i] = job_of(host, first + i, depends);
  enum vinci_status status = library_run_all(host->library, jobs, count);
  for (size_t i = 0; i < count; i++)
    command_free(&jobs[i].command);
  free(jobs);
  return status;
}

/* An empty file for a header that is not there. */
static enum vinci_status make_stub(const struct host *host, const char *name) {
  char path[2 * PATH_MAX];
  if (strstr(name, "..")) /* a header beside another architecture's: its source is left out */
    return VINCI_OK;
  snprintf(path, sizeof path, "%s/stubs/%s", host->folder, name);
  char *slash = strrchr(path, '/');
  *slash = '\0';
  enum vinci_status status = folder_make(path, host->library->diag);
  *slash = '/';
  FILE *out = status == VINCI_OK ? fopen(path, "a") : NULL;
  if (out)
    fclose(out);
  return status != VINCI_OK || out ? status : file_error(host->library->diag, path, "write");
}

static enum vinci_status take_depends(struct host *host, size_t source) {
  char path[PATH_MAX];
  struct command files = {0};
  snprintf(path, sizeof path, "%s/%s%zu.d", host->folder, host->prefix, source);
  if (access(path, R_OK) != 0)
    return VINCI_OK; /* its compilation says what is wrong */
  enum vinci_status status = library_read_depends(host->library, path, &files);
  for (size_t i = 0; i < files.count && status == VINCI_OK; i++) {
    const char *file = files.items[i];
    if (access(file, R_OK) != 0 && *file != '/')
      status = make_stub(host, file);
    else if (!command_has(&host->files, file)) {
      command_add(&host->files, "%s", file);
      if (!*host->prefix) /* those of tests are in the host program already */
        add_source_of(host, file);
    }
  }
  command_free(&files);
  return status;
}

/* Headers whose names are in host.h: those of a copy would bring them again. */
static enum vinci_status make_stubs(const struct host *host) {
  static const char *const names[] = {"exe_graph/runtime/compute_node_info.h",
                                      "exe_graph/runtime/continuous_vector.h",
                                      "exe_graph/runtime/extended_kernel_context.h",
                                      "exe_graph/runtime/infer_datatype_context.h",
                                      "exe_graph/runtime/infer_shape_context.h",
                                      "exe_graph/runtime/infer_shape_range_context.h",
                                      "exe_graph/runtime/runtime_attrs.h",
                                      "exe_graph/runtime/shape.h",
                                      "exe_graph/runtime/storage_format.h",
                                      "exe_graph/runtime/storage_shape.h",
                                      "exe_graph/runtime/tensor.h",
                                      "exe_graph/runtime/tiling_context.h",
                                      "exe_graph/runtime/tiling_data.h",
                                      "exe_graph/runtime/tiling_parse_context.h",
                                      "gmock/gmock.h",
                                      "graph/ascend_string.h",
                                      "graph/utils/type_utils.h",
                                      "gtest/gtest.h",
                                      "kernel_run_context_facker.h",
                                      "infershape_elewise_util.h",
                                      "log/log.h",
                                      "op_common/log/log.h",
                                      "op_common/op_host/infershape_elewise_util.h",
                                      "op_common/op_host/tiling_base_util.h",
                                      "op_common/op_host/util/const_util.h",
                                      "op_common/op_host/util/math_util.h",
                                      "op_common/op_host/util/opbase_export.h",
                                      "op_common/op_host/util/platform_util.h",
                                      "op_common/op_host/util/shape_util.h",
                                      "op_host/infershape_elewise_util.h",
                                      "op_host/tiling_base_util.h",
                                      "op_host/util/const_util.h",
                                      "op_host/util/math_util.h",
                                      "op_host/util/opbase_export.h",
                                      "op_host/util/platform_util.h",
                                      "op_host/util/shape_util.h",
                                      "platform/platform_info.h",
                                      "platform/platform_infos_def.h",
                                      "register/op_def_registry.h",
                                      "register/op_impl_registry.h",
                                      "tiling/template_argument.h",
                                      "tiling_case_executor.h",
                                      "tiling_context_faker.h",
                                      "util/const_util.h",
                                      "util/math_util.h",
                                      "util/platform_util.h",
                                      "util/shape_util.h"};
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; i < sizeof names / sizeof *names && status == VINCI_OK; i++)
    status = make_stub(host, names[i]);
  return status;
}

/* Other parts of the library that the operator's own build names. */
static enum vinci_status add_dependencies(struct host *host) {
  char layout[PATH_MAX - 256];
  struct command folders = {0};
  enum vinci_status status = library_layout(host->library, layout, sizeof layout);
  if (status == VINCI_OK)
    status = library_depends(host->library, host->which, layout, &folders);
  command_add(&host->parts, "-idirafter"); /* the headers' own folders by other names */
  command_add(&host->parts, "%s/package", layout);
  for (size_t i = 0; i < folders.count && status == VINCI_OK; i++) {
    command_add(&host->parts, "-I%s", folders.items[i]);
    walk(host, folders.items[i], 0);
  }
  command_free(&folders);
  return status;
}

/* Makes what the sources include, and finds further sources by that. */
static enum vinci_status take_all_depends(struct host *host) {
  enum vinci_status status = VINCI_OK;
  for (size_t done = 0; done < host->sources.count && status == VINCI_OK;) {
    size_t first = done;
    status = run_jobs(host, first, true);
    for (done = host->sources.count; first < done && status == VINCI_OK; first++)
      status = take_depends(host, first);
  }
  return status;
}

static enum vinci_status find_sources(struct host *host) {
  char path[2 * PATH_MAX];
  enum vinci_status status = make_stubs(host);
  snprintf(path, sizeof path, "%s/op_host", host->which->folder);
  walk(host, path, 0);
  if (status == VINCI_OK)
    status = add_dependencies(host);
  return status == VINCI_OK ? take_all_depends(host) : status;
}

/* Objects that were made, with a prefix; their numbers need not follow each other. */
static void add_objects(const struct host *host, const char *prefix, struct command *command) {
  for (size_t i = 0; i < SOURCES_MAX; i++) {
    char object[PATH_MAX];
    snprintf(object, sizeof object, "%s/%s%zu.o", host->folder, prefix, i);
    if (access(object, R_OK) == 0)
      command_add(command, "%s", object);
  }
}

const char *library_tiling(void) {
  const char *path = getenv("VINCI_TILING");
  return path && *path ? path : NULL;
}

static enum vinci_status link_host(const struct host *host, const char *product) {
  struct command command = {0};
  char log[PATH_MAX];
  int ended = 0;
  command_add(&command, "%s", library_compiler());
  for (size_t i = 0; i < LIBRARY_SHARED_OBJECTS; i++)
    command_add(&command, "%s", host->shared.object[i]);
  add_objects(host, "", &command);
  if (*host->prefix)
    add_objects(host, host->prefix, &command);
  const char *tiling = library_tiling();
  if (tiling)
    command_add(&command, "%s", tiling);
  /* What code for other chips would define is never called. Position-independent programs would
   * have a relocation without a kind for such a function, which loaders refuse. */
  command_add(&command, "-no-pie");
  command_add(&command, "-Wl,--unresolved-symbols=ignore-all,--allow-multiple-definition");
  command_add(&command, "-o");
  command_add(&command, "%s/%s", host->folder, product);
  snprintf(log, sizeof log, "%s/link.log", host->folder);
  enum vinci_status status = library_run(host->library, &command, NULL, log, &ended);
  command_free(&command);
  if (status != VINCI_OK || ended == 0)
    return status;
  library_show(host->library, log, SHOWN_LINES);
  return diag_error(host->library->diag, VINCI_E_INPUT, "the host code of %s was not linked",
                    host->which->name);
}

/* The messages of sources of the operator that were not compiled. */
static void show_failures(const struct host *host) {
  char path[PATH_MAX];
  for (size_t i = 0; i < host->sources.count; i++) {
    snprintf(path, sizeof path, "%s/%zu.o", host->folder, i);
    if (access(path, R_OK) == 0)
      continue;
    snprintf(path, sizeof path, "%s/%zu.log", host->folder, i);
    library_show(host->library, path, SHOWN_LINES);
  }
}

/* The program must know the operator and its tiling. */
static enum vinci_status check_host(const struct host *host) {
  struct command command = {0};
  char log[PATH_MAX], errors[PATH_MAX], line[LIBRARY_NAME_BYTES + 32];
  int ended = 0;
  size_t length;
  command_add(&command, "%s/host", host->folder);
  command_add(&command, "list");
  snprintf(log, sizeof log, "%s/list", host->folder);
  snprintf(errors, sizeof errors, "%s/list.log", host->folder);
  enum vinci_status status = library_run(host->library, &command, log, errors, &ended);
  command_free(&command);
  if (status != VINCI_OK)
    return status;
  char *text = file_read(log, 1 << 20, &length, host->library->diag);
  if (!text)
    return host->library->diag->status;
  snprintf(line, sizeof line, "operator %s tiling=", host->which->name);
  const char *found = strstr(text, line);
  bool tiled = found && found[strlen(line)] == '1';
  free(text);
  if (tiled)
    return VINCI_OK;
  show_failures(host);
  return diag_error(host->library->diag, VINCI_E_INPUT, "the host code of %s %s", host->which->name,
                    found ? "has no tiling function that was compiled" : "was not compiled");
}

static enum vinci_status build(struct host *host) {
  char path[PATH_MAX];
  enum vinci_status status = library_share(host->library, &host->shared, &host->files);
  snprintf(path, sizeof path, "%s/stubs", host->folder);
  folder_remove(path); /* headers that were not there may be there now */
  if (status == VINCI_OK)
    status = find_sources(host);
  if (status == VINCI_OK)
    status = run_jobs(host, 0, false);
  if (status == VINCI_OK)
    status = link_host(host, "host");
  if (status == VINCI_OK)
    status = check_host(host);
  snprintf(path, sizeof path, "%s/host.manifest", host->folder);
  return status == VINCI_OK ? library_write_manifest(host->library, path, &host->files) : status;
}

enum vinci_status library_host(const struct library *library, const struct library_operator *which,
                               char *program, size_t size) {
  struct host host = {.library = library, .which = which, .prefix = ""};
  char manifest[PATH_MAX];
  enum vinci_status status = library_cache_folder(library, which, host.folder, sizeof host.folder);
  if (status != VINCI_OK)
    return status;
  snprintf(manifest, sizeof manifest, "%s/host.manifest", host.folder);
  snprintf(program, size, "%s/host", host.folder);
  if (library_is_new(manifest, program))
    return VINCI_OK;
  int lock;
  status = library_lock(library, host.folder, &lock);
  if (status != VINCI_OK)
    return status;
  if (!library_is_new(manifest, program)) { /* another run may have made the program meanwhile */
    char trials[PATH_MAX];
    snprintf(trials, sizeof trials, "%s/trials", host.folder);
    (void)unlink(trials);
    (void)unlink(manifest);
    status = build(&host);
  }
  if (lock >= 0)
    close(lock);
  command_free(&host.sources);
  command_free(&host.files);
  command_free(&host.parts);
  return status;
}

/* The host program together with the tests of the operator's tiling, which tell calls. */
static enum vinci_status build_trials(struct host *host, const char *program) {
  char path[2 * PATH_MAX];
  enum vinci_status status = library_share(host->library, &host->shared, &host->files);
  snprintf(path, sizeof path, "%s/tests/ut/op_host", host->which->folder);
  walk(host, path, 0);
  size_t kept = 0;
  for (size_t i = 0; i < host->sources.count; i++)
    if (kept < TESTS_MAX && strstr(strrchr(host->sources.items[i], '/'), "tiling"))
      host->sources.items[kept++] = host->sources.items[i];
    else
      free(host->sources.items[i]);
  host->sources.count = kept;
  if (status == VINCI_OK)
    status = take_all_depends(host);
  if (status == VINCI_OK)
    status = run_jobs(host, 0, false);
  return status == VINCI_OK ? link_host(host, strrchr(program, '/') + 1) : status;
}

enum vinci_status library_trials(const struct library *library,
                                 const struct library_operator *which, char *program, size_t size) {
  struct host host = {.library = library, .which = which, .prefix = "test"};
  int lock;
  enum vinci_status status = library_host(library, which, program, size);
  if (status == VINCI_OK)
    status = library_cache_folder(library, which, host.folder, sizeof host.folder);
  if (status != VINCI_OK)
    return status;
  snprintf(program, size, "%s/trials", host.folder);
  if (access(program, R_OK) == 0)
    return VINCI_OK;
  status = library_lock(library, host.folder, &lock);
  if (status != VINCI_OK)
    return status;
  status = build_trials(&host, program);
  if (lock >= 0)
    close(lock);
  command_free(&host.sources);
  command_free(&host.files);
  return status;
}

enum vinci_status library_chips(const struct library *library, const struct library_operator *which,
                                char *chips, size_t size) {
  char program[PATH_MAX], path[PATH_MAX], line[LIBRARY_NAME_BYTES + 32];
  size_t length;
  enum vinci_status status = library_host(library, which, program, sizeof program);
  if (status != VINCI_OK)
    return status;
  snprintf(path, sizeof path, "%.*s/list", (int)(strrchr(program, '/') - program), program);
  char *text = file_read(path, 1 << 20, &length, library->diag);
  if (!text)
    return library->diag->status;
  snprintf(line, sizeof line, "operator %s tiling=1 chips=", which->name);
  const char *found = strstr(text, line);
  found = found ? found + strlen(line) : "";
  snprintf(chips, size, "%.*s", (int)strcspn(found, "\n"), found);
  free(text);
  return VINCI_OK;
}
