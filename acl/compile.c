/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels from text (aclrtc): `vinci cc -shared` compiles the text, behind which stands a function
 * for each kernel that launches it with the addresses of its arguments (acl/binary.c).
 */
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/runtime.h"
#include "core/base/file.h"
#include "include/acl/acl_rt_compile.h"

extern char **environ;

enum { KERNELS_MAX = 64, OPTIONS_MAX = 64, OWN_WORDS = 8, NAME_BYTES = 512, PATH_BYTES = 1024 };
enum { FILE_BYTES_MAX = 1 << 30 };

struct prog {
  char folder[PATH_BYTES]; /* for files, deleted with the program */
  char *text, *binary, *log, *include;
  size_t binary_bytes;
  unsigned kernels;
  char kernel[KERNELS_MAX][NAME_BYTES]; /* expressions */
  char *lowered[KERNELS_MAX];
};

/* ---- the text ----------------------------------------------------------------------------- */

static bool is_word(char byte) { return byte == '_' || isalnum((unsigned char)byte); }

static void add_kernel(struct prog *prog, const char *name, size_t length) {
  for (unsigned i = 0; i < prog->kernels; i++)
    if (strlen(prog->kernel[i]) == length && memcmp(prog->kernel[i], name, length) == 0)
      return;
  if (prog->kernels < KERNELS_MAX && length < NAME_BYTES)
    memcpy(prog->kernel[prog->kernels++], name, length);
}

/* Whether the declaration before `at` is a template's. */
static bool is_template(const char *text, const char *at) {
  static const char word[] = "template";
  while (at > text && !strchr(";}{", at[-1]))
    at--;
  const char *found = strstr(at, word);
  return found && strcspn(at, ";{") > (size_t)(found - at);
}

/* How many braces are open, but those of extern "C". */
static int depth_at(const char *text, const char *at) {
  int depth = 0, linkage = 0;
  for (const char *byte = text; byte < at; byte++) {
    const char *before = byte;
    while (before > text && isspace((unsigned char)before[-1]))
      before--;
    bool extern_c = *byte == '{' && before - text >= 3 && memcmp(before - 3, "\"C\"", 3) == 0;
    linkage += extern_c;
    depth += *byte == '{' && !extern_c;
    if (*byte == '}' && depth > 0)
      depth--;
    else if (*byte == '}' && linkage > 0)
      linkage--;
  }
  return depth;
}

/* Kernels of the outermost scope that are no templates: "void NAME(" behind __global__. */
static void find_kernels(struct prog *prog) {
  static const char mark[] = "__global__", result[] = "void";
  for (const char *at = prog->text; (at = strstr(at, mark)); at += strlen(mark)) {
    const char *name = strstr(at, result);
    if (!name || is_template(prog->text, at) || depth_at(prog->text, at) > 0)
      continue;
    for (name += strlen(result); isspace((unsigned char)*name);)
      name++;
    size_t length = 0;
    while (is_word(name[length]))
      length++;
    if (length > 0 && name[length + strspn(name + length, " \n\t")] == '(')
      add_kernel(prog, name, length);
  }
}

static void write_text(void *context, FILE *out) {
  const struct prog *prog = context;
  fputs(prog->text, out);
  fputc('\n', out);
  for (unsigned i = 0; i < prog->kernels; i++)
    fprintf(out,
            "extern \"C\" const void *vinci_rtc_kernel_%u() { return (const void *)&%s; }\n"
            "extern \"C\" int vinci_rtc_launch_%u(uint32_t blocks, void *stream, void **values) {\n"
            "  return vinci_cce::launch_array(&%s, blocks, stream, values);\n}\n",
            i, prog->kernel[i], i, prog->kernel[i]);
}

/* ---- the command -------------------------------------------------------------------------- */

/* The program vinci: what the environment names, what lies beside this library, or what the shell
 * finds. */
static void find_program(char *out, size_t size) {
  static const char *const places[] = {"../bin/vinci", "../vinci"};
  const char *asked = getenv("VINCI");
  Dl_info info;
  snprintf(out, size, "%s", asked && *asked ? asked : "vinci");
  if ((asked && *asked) || !dladdr((void *)(uintptr_t)&find_program, &info))
    return;
  const char *slash = strrchr(info.dli_fname, '/');
  for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%.*s/%s", (int)(slash - info.dli_fname), info.dli_fname,
             places[i]);
    if (access(path, X_OK) == 0) {
      snprintf(out, size, "%s", path);
      return;
    }
  }
}

/* Runs a command whose messages go to a file; whether it did what it should. */
static bool run(char **words, const char *log) {
  posix_spawn_file_actions_t actions;
  pid_t child;
  int ended = -1;
  if (posix_spawn_file_actions_init(&actions) != 0)
    return false;
  (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC,
                                         0600);
  int error = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return false;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

static void take_names(struct prog *prog, const char *path) {
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  for (unsigned i = 0; library && i < prog->kernels; i++) {
    free(prog->lowered[i]);
    prog->lowered[i] = acl_binary_symbol(library, i);
  }
  if (library)
    dlclose(library);
}

static aclError compile(struct prog *prog, int count, const char **options) {
  char program[PATH_BYTES], source[PATH_BYTES + 16], result[PATH_BYTES + 16], log[PATH_BYTES + 16];
  const char *words[OPTIONS_MAX + OWN_WORDS] = {program, "cc", "-shared", source, "-o", result};
  struct vinci_diag diag = {0};
  size_t length, used = 6;
  find_program(program, sizeof program);
  snprintf(source, sizeof source, "%s/kernels.asc", prog->folder);
  snprintf(result, sizeof result, "%s/kernels.so", prog->folder);
  snprintf(log, sizeof log, "%s/log", prog->folder);
  words[used++] = prog->include;
  for (int i = 0; i < count; i++)
    words[used++] = options[i];
  find_kernels(prog);
  if (file_replace(source, write_text, prog, &diag) != VINCI_OK)
    return acl_fail(ACL_ERROR_RTC_COMPILATION, "%s", diag.text);
  bool good = run((char **)(uintptr_t)words, log);
  free(prog->log);
  free(prog->binary);
  prog->log = file_read(log, FILE_BYTES_MAX, &length, &diag);
  prog->binary = good ? file_read(result, FILE_BYTES_MAX, &prog->binary_bytes, &diag) : NULL;
  if (prog->binary)
    take_names(prog, result);
  return prog->binary ? ACL_SUCCESS
                      : acl_fail(ACL_ERROR_RTC_COMPILATION,
                                 "the kernels were not compiled by %s: aclrtcGetCompileLog tells "
                                 "why",
                                 program);
}

/* ---- the calls ---------------------------------------------------------------------------- */

/* NULL when it is not a program, or one that was destroyed. */
static struct prog *prog_of(aclrtcProg handle) {
  acl_enter(false);
  bool good = acl_handle_is(ACL_HANDLE_PROGRAM, handle);
  (void)acl_leave(good ? ACL_SUCCESS : ACL_ERROR_RTC_INVALID_PROG);
  return good ? handle : NULL;
}

static aclError make_files(struct prog *prog, int count, const char **headers, const char **names) {
  struct vinci_diag diag = {0};
  const char *asked = getenv("TMPDIR");
  snprintf(prog->folder, sizeof prog->folder, "%s/vinci-rtc-XXXXXX",
           asked && *asked ? asked : "/tmp");
  if (!mkdtemp(prog->folder))
    return acl_fail(ACL_ERROR_RTC_INVALID_INPUT, "cannot make a temporary folder");
  for (int i = 0; i < count; i++) {
    char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", prog->folder, names[i]);
    if (strchr(names[i], '/') || file_replace_text(path, headers[i], &diag) != VINCI_OK)
      return acl_fail(ACL_ERROR_RTC_INVALID_INPUT, "cannot write header \"%s\"", names[i]);
  }
  return ACL_SUCCESS;
}

/* The folder has files and no folders. */
static void remove_folder(const char *folder) {
  DIR *open = opendir(folder);
  for (struct dirent *entry; open && (entry = readdir(open));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      (void)unlinkat(dirfd(open), entry->d_name, 0);
  if (open)
    closedir(open);
  (void)rmdir(folder);
}

static void destroy(struct prog *prog) {
  acl_handle_remove(ACL_HANDLE_PROGRAM, prog);
  remove_folder(prog->folder);
  for (unsigned i = 0; i < prog->kernels; i++)
    free(prog->lowered[i]);
  free(prog->text);
  free(prog->binary);
  free(prog->log);
  free(prog->include);
  free(prog);
}

ACL_API aclError aclrtcCreateProg(aclrtcProg *prog, const char *src, const char *name,
                                  int numHeaders, const char **headers, const char **includeNames) {
  (void)name;
  acl_enter(false);
  if (!prog || !src || numHeaders < 0 || (numHeaders > 0 && (!headers || !includeNames)))
    return acl_leave(ACL_ERROR_RTC_INVALID_INPUT);
  struct prog *made = calloc(1, sizeof *made);
  if (!made)
    return acl_leave(ACL_ERROR_BAD_ALLOC);
  aclError error = make_files(made, numHeaders, headers, includeNames);
  made->text = strdup(src);
  if (asprintf(&made->include, "-I%s", made->folder) < 0)
    made->include = NULL;
  if (error == ACL_SUCCESS &&
      (!made->text || !made->include || !acl_handle_add(ACL_HANDLE_PROGRAM, made)))
    error = ACL_ERROR_BAD_ALLOC;
  if (error != ACL_SUCCESS)
    destroy(made);
  else
    *prog = made;
  return acl_leave(error);
}

ACL_API aclError aclrtcDestroyProg(aclrtcProg *prog) {
  struct prog *found = prog ? prog_of(*prog) : NULL;
  if (!found)
    return ACL_ERROR_RTC_INVALID_PROG;
  acl_enter(false);
  destroy(found);
  *prog = NULL;
  return acl_leave(ACL_SUCCESS);
}

ACL_API aclError aclrtcAddNameExpr(aclrtcProg prog, const char *nameExpression) {
  struct prog *found = prog_of(prog);
  if (!found)
    return ACL_ERROR_RTC_INVALID_PROG;
  if (!nameExpression || strlen(nameExpression) >= NAME_BYTES)
    return ACL_ERROR_RTC_INVALID_INPUT;
  add_kernel(found, nameExpression, strlen(nameExpression));
  return ACL_SUCCESS;
}

ACL_API aclError aclrtcCompileProg(aclrtcProg prog, int numOptions, const char **options) {
  struct prog *found = prog_of(prog);
  if (!found)
    return ACL_ERROR_RTC_INVALID_PROG;
  acl_enter(false);
  if (numOptions < 0 || numOptions > OPTIONS_MAX || (numOptions > 0 && !options))
    return acl_leave(ACL_ERROR_RTC_INVALID_OPTION);
  return acl_leave(compile(found, numOptions, options));
}

ACL_API aclError aclrtcGetLoweredName(aclrtcProg prog, const char *nameExpression,
                                      const char **loweredName) {
  const struct prog *found = prog_of(prog);
  if (!found)
    return ACL_ERROR_RTC_INVALID_PROG;
  for (unsigned i = 0; nameExpression && loweredName && i < found->kernels; i++)
    if (strcmp(found->kernel[i], nameExpression) == 0 && found->lowered[i]) {
      *loweredName = found->lowered[i];
      return ACL_SUCCESS;
    }
  return ACL_ERROR_RTC_INVALID_INPUT;
}

ACL_API aclError aclrtcGetBinDataSize(aclrtcProg prog, size_t *binDataSizeRet) {
  const struct prog *found = prog_of(prog);
  if (!found || !found->binary || !binDataSizeRet)
    return found && found->binary ? ACL_ERROR_RTC_INVALID_INPUT : ACL_ERROR_RTC_INVALID_PROG;
  *binDataSizeRet = found->binary_bytes;
  return ACL_SUCCESS;
}

ACL_API aclError aclrtcGetBinData(aclrtcProg prog, char *binData) {
  const struct prog *found = prog_of(prog);
  if (!found || !found->binary || !binData)
    return found && found->binary ? ACL_ERROR_RTC_INVALID_INPUT : ACL_ERROR_RTC_INVALID_PROG;
  memcpy(binData, found->binary, found->binary_bytes);
  return ACL_SUCCESS;
}

ACL_API aclError aclrtcGetCompileLogSize(aclrtcProg prog, size_t *logSizeRet) {
  const struct prog *found = prog_of(prog);
  if (!found || !logSizeRet)
    return found ? ACL_ERROR_RTC_INVALID_INPUT : ACL_ERROR_RTC_INVALID_PROG;
  *logSizeRet = (found->log ? strlen(found->log) : 0) + 1;
  return ACL_SUCCESS;
}

ACL_API aclError aclrtcGetCompileLog(aclrtcProg prog, char *log) {
  const struct prog *found = prog_of(prog);
  if (!found || !log)
    return found ? ACL_ERROR_RTC_INVALID_INPUT : ACL_ERROR_RTC_INVALID_PROG;
  strcpy(log, found->log ? found->log : "");
  return ACL_SUCCESS;
}
