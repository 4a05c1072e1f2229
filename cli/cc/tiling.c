/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci cc --tiling: the host functions of the user's copy of the library (tiling_api), compiled
 * into a shared library. One compilation for each source, as many at a time as there are cores.
 */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cc/build.h"

enum { NAME_BYTES = 64, JOBS_MAX = 64 };

struct tiling {
  const struct cc_build *build;
  glob_t sources;
  pid_t child[JOBS_MAX]; /* 0: free */
  size_t source[JOBS_MAX];
  size_t jobs, done;
  bool *left_out;
};

static void object_path(const struct tiling *tiling, size_t source, char *out, size_t size) {
  snprintf(out, size, "%s/tiling-%zu.o", tiling->build->folder, source);
}

static enum vinci_status find_sources(struct tiling *tiling) {
  static const char *const places[] = {"impl/adv_api/tiling/*/*.cpp",
                                       "impl/adv_api/detail/host_log.cpp"};
  const struct cc_build *build = tiling->build;
  char pattern[PATH_MAX + NAME_BYTES];
  for (size_t i = 0; i < sizeof places / sizeof *places && build->library_count > 0; i++) {
    snprintf(pattern, sizeof pattern, "%s/%s", build->library[0], places[i]);
    (void)glob(pattern, i > 0 ? GLOB_APPEND : 0, NULL, &tiling->sources);
  }
  if (tiling->sources.gl_pathc > 1) {
    snprintf(pattern, sizeof pattern, "%s/platform.cpp", build->stand_ins);
    (void)glob(pattern, GLOB_APPEND, NULL, &tiling->sources);
    return VINCI_OK;
  }
  enum vinci_status status = diag_error(build->diag, VINCI_E_USAGE,
                                        "--headers (or $VINCI_HEADERS) has no impl/adv_api/tiling");
  diag_hint(build->diag, "the host functions are in a checkout of the library, not in a package");
  return status;
}

static void note_end(struct tiling *tiling, pid_t child, int ended) {
  for (size_t i = 0; i < tiling->jobs; i++) {
    if (tiling->child[i] != child)
      continue;
    tiling->child[i] = 0;
    tiling->done++;
    tiling->left_out[tiling->source[i]] = !WIFEXITED(ended) || WEXITSTATUS(ended) != 0;
  }
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r%zu of %zu sources", tiling->done, tiling->sources.gl_pathc);
}

/* A free place for a job; waits for an end when there is none. core/base/pool.h is for processes
 * that go on with what this one has loaded; these become compilers. */
static size_t free_job(struct tiling *tiling) {
  for (;;) {
    for (size_t i = 0; i < tiling->jobs; i++)
      if (tiling->child[i] == 0)
        return i;
    int ended;
    pid_t child = waitpid(-1, &ended, 0);
    if (child > 0)
      note_end(tiling, child, ended);
  }
}

static enum vinci_status compile(struct tiling *tiling, size_t source) {
  static const char *const always[] = {"-std=c++17", "-O1", "-fPIC", "-w"};
  const struct cc_build *build = tiling->build;
  struct cc_words words = {.count = 0};
  char object[PATH_MAX + NAME_BYTES];
  object_path(tiling, source, object, sizeof object);
  cc_add(&words, cc_compiler());
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    cc_add(&words, always[i]);
  cc_add(&words, "-I");
  cc_add(&words, build->stand_ins);
  for (size_t i = 0; i < build->library_count; i++) {
    cc_add(&words, "-I");
    cc_add(&words, build->library[i]);
  }
  cc_add_structures(build, &words);
  cc_add(&words, "-c");
  cc_add(&words, tiling->sources.gl_pathv[source]);
  cc_add(&words, "-o");
  cc_add(&words, object);
  if (build->dry)
    return cc_run(build, &words, "");
  size_t job = free_job(tiling);
  tiling->source[job] = source;
  return cc_spawn(build, &words, &tiling->child[job]);
}

static void wait_for_all(struct tiling *tiling) {
  int ended;
  for (size_t i = 0; i < tiling->jobs; i++)
    while (tiling->child[i] != 0) {
      pid_t child = waitpid(tiling->child[i], &ended, 0);
      if (child > 0)
        note_end(tiling, child, ended);
      else if (errno != EINTR)
        tiling->child[i] = 0;
    }
  if (!tiling->build->dry)
    fputc('\n', stderr);
}

/* By a list in a file, because there are a hundred objects. */
static enum vinci_status link_all(const struct tiling *tiling) {
  const struct cc_build *build = tiling->build;
  char list[PATH_MAX + NAME_BYTES], word[PATH_MAX + NAME_BYTES + 1], object[PATH_MAX + NAME_BYTES];
  snprintf(list, sizeof list, "%s/objects", build->folder);
  snprintf(word, sizeof word, "@%s", list);
  FILE *out = build->dry ? NULL : fopen(list, "w");
  if (!build->dry && !out)
    return diag_error(build->diag, diag_status_of(errno), "cannot write %s: %s", list,
                      strerror(errno));
  for (size_t i = 0; out && i < tiling->sources.gl_pathc; i++) {
    object_path(tiling, i, object, sizeof object);
    if (!tiling->left_out[i])
      fprintf(out, "%s\n", object);
  }
  if (out && fclose(out) != 0)
    return diag_error(build->diag, VINCI_E_IO, "cannot write %s", list);
  struct cc_words words = {.count = 0};
  cc_add(&words, cc_compiler());
  cc_add(&words, "-shared");
  cc_add(&words, word);
  cc_add(&words, "-o");
  cc_add(&words, build->output);
  return cc_run(build, &words, "the host functions were not linked");
}

static void remove_temporary(const struct tiling *tiling) {
  char path[PATH_MAX + NAME_BYTES];
  if (tiling->build->dry)
    return;
  for (size_t i = 0; i < tiling->sources.gl_pathc; i++) {
    object_path(tiling, i, path, sizeof path);
    (void)unlink(path);
  }
  snprintf(path, sizeof path, "%s/objects", tiling->build->folder);
  (void)unlink(path);
  (void)rmdir(tiling->build->folder);
}

static void tell_left_out(const struct tiling *tiling) {
  for (size_t i = 0; i < tiling->sources.gl_pathc; i++)
    if (tiling->left_out[i])
      fprintf(stderr, "warning: left out, as its compilation failed: %s\n",
              tiling->sources.gl_pathv[i]);
}

enum vinci_status cc_build_tiling(struct cc_build *build) {
  struct tiling tiling = {.build = build};
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  tiling.jobs = cores < 1 ? 1 : cores > JOBS_MAX ? JOBS_MAX : (size_t)cores;
  enum vinci_status status = find_sources(&tiling);
  if (status == VINCI_OK)
    status = cc_make_folder(build);
  tiling.left_out = calloc(tiling.sources.gl_pathc + 1, sizeof *tiling.left_out);
  if (status == VINCI_OK && !tiling.left_out)
    status = diag_error(build->diag, VINCI_E_NOMEM, "out of memory");
  for (size_t i = 0; i < tiling.sources.gl_pathc && status == VINCI_OK; i++)
    status = compile(&tiling, i);
  wait_for_all(&tiling);
  if (status == VINCI_OK)
    status = link_all(&tiling);
  if (*build->folder)
    remove_temporary(&tiling);
  if (tiling.left_out)
    tell_left_out(&tiling);
  globfree(&tiling.sources);
  free(tiling.left_out);
  return status;
}
