/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci cc: compiles kernels in CCE intrinsics or Ascend C with clang into a kernel library. The
 * device code is compiled once for each kind of core, into a shared library of its own, because one
 * source means different things on them; the kernel library holds these as sections.
 */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/base/diag.h"
#include "core/chip/arch.h"
#include "scripts/host/soc_host.h"

extern char **environ;

/* Of a command of the compiler. OWN_WORDS_MAX: those that the verb adds itself. */
enum { WORDS_MAX = 512, OWN_WORDS_MAX = 64 };

struct cc_settings {
  const char *output;
  const char *arch;
  const char *core;
  const char *data;
  bool dry;
};

static const struct option_row cc_options[] = {
    OPTION_TEXT_ROW("output", 'o', struct cc_settings, output, "LIBRARY",
                    "the kernel library to write (default: the source with .so)"),
    OPTION_TEXT_ROW("npu-arch", 0, struct cc_settings, arch, "NAME",
                    "dav-2201 (default): cores of the 910B family"),
    OPTION_TEXT_ROW("core", 0, struct cc_settings, core, "KIND",
                    "aiv (default), aic, or mix: the kinds of cores that the kernels run on"),
    OPTION_TEXT_ROW("data", 0, struct cc_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
    OPTION_FLAG_ROW("###", 0, struct cc_settings, dry, "print the commands, run none of them"),
};

struct words {
  const char *item[WORDS_MAX];
  size_t count;
};

/* One run of the verb. */
struct build {
  struct cc_settings settings;
  struct words passed; /* to the compiler, all but the source */
  const char *source;
  char include[PATH_MAX], library[PATH_MAX + 32];
  char folder[64]; /* for temporary files; empty: none is made yet */
  struct vinci_diag *diag;
};

static void add(struct words *words, const char *word) {
  if (words->count < WORDS_MAX - 1)
    words->item[words->count++] = word;
}

/* ---- arguments ---------------------------------------------------------------------------- */

static bool is_source(const char *word) {
  static const char *const endings[] = {".cpp", ".cc", ".cxx", ".asc", ".cce"};
  size_t length = strlen(word);
  for (size_t i = 0; *word != '-' && i < sizeof endings / sizeof *endings; i++)
    if (length > strlen(endings[i]) && strcmp(word + length - strlen(endings[i]), endings[i]) == 0)
      return true;
  return false;
}

/* "--name=value" or "--name value" of an own option; false for any other word. */
static bool take_text(const char *name, int argc, char **argv, int *at, const char **out) {
  size_t length = strlen(name);
  if (strncmp(argv[*at], name, length) != 0)
    return false;
  if (argv[*at][length] == '=') {
    *out = argv[*at] + length + 1;
    return true;
  }
  if (argv[*at][length] != '\0' || *at + 1 == argc)
    return false;
  *out = argv[++*at];
  return true;
}

/* Own options are taken, all other words go to the compiler in their order. */
static enum vinci_status take_arguments(struct build *build, int argc, char **argv) {
  struct cc_settings *settings = &build->settings;
  for (int i = 1; i < argc; i++) {
    if (take_text("-o", argc, argv, &i, &settings->output) ||
        take_text("--output", argc, argv, &i, &settings->output) ||
        take_text("--npu-arch", argc, argv, &i, &settings->arch) ||
        take_text("--core", argc, argv, &i, &settings->core) ||
        take_text("--data", argc, argv, &i, &settings->data))
      continue;
    if (strcmp(argv[i], "-###") == 0) {
      settings->dry = true;
      continue;
    }
    if (is_source(argv[i])) {
      if (build->source)
        return diag_error(build->diag, VINCI_E_USAGE, "one source at a time: '%s' and '%s'",
                          build->source, argv[i]);
      build->source = argv[i];
      continue;
    }
    if (build->passed.count == WORDS_MAX - OWN_WORDS_MAX)
      return diag_error(build->diag, VINCI_E_USAGE, "more than %d options for the compiler",
                        WORDS_MAX - OWN_WORDS_MAX);
    add(&build->passed, argv[i]);
  }
  if (build->source)
    return VINCI_OK;
  enum vinci_status status = diag_error(build->diag, VINCI_E_USAGE, "no source is given");
  diag_hint(build->diag, "sources end in .cpp, .cc, .cxx, .asc or .cce");
  return status;
}

static enum vinci_status choose_cores(const struct build *build, bool wanted[CORE_KIND_COUNT]) {
  const char *core = build->settings.core ? build->settings.core : "aiv";
  bool mix = strcmp(core, "mix") == 0;
  wanted[CORE_AIV] = mix || strcmp(core, "aiv") == 0;
  wanted[CORE_AIC] = mix || strcmp(core, "aic") == 0;
  if (!wanted[CORE_AIV] && !wanted[CORE_AIC])
    return diag_error(build->diag, VINCI_E_USAGE, "--core is aiv, aic or mix, not '%s'", core);
  const char *arch = build->settings.arch;
  if (arch && strcmp(arch, "dav-2201") != 0 && strcmp(arch, "dav-c220") != 0)
    return diag_error(build->diag, VINCI_E_USAGE, "--npu-arch is dav-2201, not '%s'", arch);
  return VINCI_OK;
}

/* The folder with vinci/cce/: beside the data when installed, beside scripts/ in the sources. */
static enum vinci_status find_headers(struct build *build) {
  char data[PATH_MAX - 16], path[PATH_MAX + 32];
  struct stat info;
  enum vinci_status status =
      soc_host_data_dir(build->settings.data, data, sizeof data, build->diag);
  for (unsigned i = 0; status == VINCI_OK && i < 2; i++) {
    snprintf(build->include, sizeof build->include, i == 0 ? "%s/include" : "%s/../include", data);
    snprintf(path, sizeof path, "%s/vinci/cce/kernel.h", build->include);
    if (stat(path, &info) != 0)
      continue;
    snprintf(build->library, sizeof build->library, "%s/vinci/cce/library", build->include);
    return VINCI_OK;
  }
  if (status != VINCI_OK)
    return status;
  return diag_error(build->diag, VINCI_E_IO, "the headers for kernels are missing: no %s", path);
}

/* ---- commands ----------------------------------------------------------------------------- */

static void print_command(const struct words *words) {
  for (size_t i = 0; i < words->count; i++)
    fprintf(stderr, "%s\"%s\"", i > 0 ? " " : "", words->item[i]);
  fputc('\n', stderr);
}

/* Runs a command; its messages go where ours go. */
static enum vinci_status run(const struct build *build, const struct words *words) {
  if (build->settings.dry) {
    print_command(words);
    return VINCI_OK;
  }
  pid_t child;
  int ended = 0;
  int error = posix_spawnp(&child, words->item[0], NULL, NULL,
                           (char *const *)(uintptr_t)words->item, environ);
  if (error != 0) {
    enum vinci_status status = diag_error(build->diag, VINCI_E_USAGE, "cannot run %s: %s",
                                          words->item[0], strerror(error));
    diag_hint(build->diag, "kernels are compiled with clang; VINCI_CXX names another program");
    return status;
  }
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
    ;
  if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
    return VINCI_OK;
  return diag_error(build->diag, VINCI_E_INPUT, "%s was not compiled", build->source);
}

static const char *compiler(void) {
  const char *asked = getenv("VINCI_CXX");
  return asked && *asked ? asked : "clang++";
}

/* What a source can ask for the kind of core. */
static void add_macros(struct words *words, enum core_kind kind) {
  bool vector = kind == CORE_AIV;
  add(words, "-D__CCE_AICORE__=220");
  add(words, "-D__NPU_ARCH__=2201");
  add(words, "-D__CCE__");
  add(words, vector ? "-D__DAV_C220_VEC__" : "-D__DAV_C220_CUBE__");
  add(words, vector ? "-D__DAV_VEC__" : "-D__DAV_CUBE__");
}

/* Room in front of "FOLDER/KIND.so" for the names of two cores. */
struct image_path {
  char text[96];
};

static struct image_path path_of_image(const struct build *build, enum core_kind kind) {
  struct image_path path;
  snprintf(path.text, sizeof path.text, "%s/%s.so", build->folder, core_kind_name(kind));
  return path;
}

static enum vinci_status compile_for(const struct build *build, enum core_kind kind) {
  struct image_path image = path_of_image(build, kind);
  struct words words = {.count = 0};
  add(&words, compiler());
  add(&words, "-std=c++17");
  add(&words, "-O2");
  add(&words, "-g");
  add(&words, "-fPIC");
  add(&words, "-shared");
  add(&words, "-fvisibility=hidden");
  add(&words, "-Xclang"); /* fp16 as an argument */
  add(&words, "-fallow-half-arguments-and-returns");
  add(&words, "-I");
  add(&words, build->include);
  add(&words, "-idirafter"); /* what a library's build would generate, unless the user has that */
  add(&words, build->library);
  add(&words, "-include");
  add(&words, "vinci/cce/kernel.h");
  add_macros(&words, kind);
  for (size_t i = 0; i < build->passed.count; i++)
    add(&words, build->passed.item[i]);
  add(&words, "-x");
  add(&words, "c++");
  add(&words, build->source);
  add(&words, "-o");
  add(&words, image.text);
  return run(build, &words);
}

/* An assembler file that takes the images in. */
static enum vinci_status write_frame(const struct build *build, const bool wanted[CORE_KIND_COUNT],
                                     char *path, size_t size) {
  char full[PATH_MAX];
  snprintf(path, size, "%s/library.s", build->folder);
  FILE *out = build->settings.dry ? NULL : fopen(path, "w");
  if (!out)
    return build->settings.dry
               ? VINCI_OK
               : diag_error(build->diag, VINCI_E_IO, "cannot write %s: %s", path, strerror(errno));
  const char *source = realpath(build->source, full) ? full : build->source;
  fprintf(out, ".section .vinci.source,\"a\"\n.ascii \"%s\"\n", source);
  fprintf(out, ".section .vinci.arch,\"a\"\n.ascii \"%s\"\n", arch_name(ARCH_C220));
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    if (wanted[kind])
      fprintf(out, ".section .vinci.%s,\"a\"\n.balign 64\n.incbin \"%s\"\n",
              kind == CORE_AIC ? "aic" : "aiv", path_of_image(build, (enum core_kind)kind).text);
  fputs(".section .note.GNU-stack,\"\"\n", out);
  return fclose(out) == 0 ? VINCI_OK : diag_error(build->diag, VINCI_E_IO, "cannot write %s", path);
}

static enum vinci_status link_library(const struct build *build,
                                      const bool wanted[CORE_KIND_COUNT]) {
  char frame[96], usual[PATH_MAX];
  enum vinci_status status = write_frame(build, wanted, frame, sizeof frame);
  if (status != VINCI_OK)
    return status;
  const char *dot = strrchr(build->source, '.');
  snprintf(usual, sizeof usual, "%.*s.so", (int)(dot - build->source), build->source);
  struct words words = {.count = 0};
  add(&words, compiler());
  add(&words, "-shared");
  add(&words, "-nostdlib");
  add(&words, "-x");
  add(&words, "assembler");
  add(&words, frame);
  add(&words, "-o");
  add(&words, build->settings.output ? build->settings.output : usual);
  return run(build, &words);
}

static void remove_temporary(const struct build *build) {
  if (!*build->folder || build->settings.dry)
    return;
  char frame[96];
  snprintf(frame, sizeof frame, "%s/library.s", build->folder);
  (void)unlink(frame);
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    (void)unlink(path_of_image(build, (enum core_kind)kind).text);
  (void)rmdir(build->folder);
}

static enum vinci_status compile_all(struct build *build) {
  bool wanted[CORE_KIND_COUNT] = {false};
  enum vinci_status status = choose_cores(build, wanted);
  if (status == VINCI_OK)
    status = find_headers(build);
  if (status != VINCI_OK)
    return status;
  strcpy(build->folder, "/tmp/vinci-cc-XXXXXX");
  if (!build->settings.dry && !mkdtemp(build->folder))
    return diag_error(build->diag, VINCI_E_IO, "cannot make a temporary folder: %s",
                      strerror(errno));
  for (unsigned kind = 0; kind < CORE_KIND_COUNT && status == VINCI_OK; kind++)
    if (wanted[kind])
      status = compile_for(build, (enum core_kind)kind);
  if (status == VINCI_OK)
    status = link_library(build, wanted);
  remove_temporary(build);
  return status;
}

static int cc(const struct cli_verb *verb, int argc, char **argv) {
  struct vinci_diag diag = {0};
  struct build build = {.diag = &diag};
  if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    cli_print_help(verb, argc < 2 ? stderr : stdout);
    return argc < 2 ? vinci_status_exit_code(VINCI_E_USAGE) : 0;
  }
  enum vinci_status status = take_arguments(&build, argc, argv);
  if (status == VINCI_OK)
    status = compile_all(&build);
  return status == VINCI_OK ? 0 : cli_fail(&diag);
}

const struct cli_verb cli_verb_cc = {
    .name = "cc",
    .arguments = "FILE.cpp",
    .summary = "Compile kernels with clang into a library for 'vinci run LIBRARY:KERNEL'",
    .details = "All other words go to the compiler: -I, -D, -O0, -W... The environment variable "
               "VINCI_CXX\n"
               "names a compiler other than clang++. An example:\n"
               "  vinci cc add.cpp -o add.so\n"
               "  vinci run add.so:add --blocks=8 -s Ascend910B4 --arg "
               "name=x,dtype=fp16,shape=65536,io=in \\\n"
               "    --arg name=y,dtype=fp16,shape=65536,io=out --arg value=65536\n",
    .options = {cc_options, sizeof cc_options / sizeof *cc_options},
    .run = cc,
};
