/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci cc: compiles kernels in CCE intrinsics or Ascend C, with their host code, with clang into a
 * program or a library.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cc/build.h"
#include "cli/support/cli.h"
#include "core/base/file.h"
#include "scripts/host/soc_host.h"

enum { SOURCE_BYTES_MAX = 1 << 26 };

struct cc_settings {
  const char *output;
  const char *arch;
  const char *core;
  const char *data;
  const char *headers;
  bool kernel_only, shared, compile_only, parts;
  bool dry, cmake, tiling;
  bool sync, no_sync, cce; /* words of the vendor's compiler */
  bool sanitizer; /* of the vendor's compiler: VINCI_CHECK asks for checks when a program runs */
};

static const struct option_row cc_options[] = {
    OPTION_TEXT_ROW("output", 'o', struct cc_settings, output, "FILE",
                    "the program or library to write (default: a.out, or the source with .so)"),
    OPTION_FLAG_ROW("kernel-only", 0, struct cc_settings, kernel_only,
                    "a library of kernels for 'vinci run LIBRARY:KERNEL', without host code"),
    OPTION_FLAG_ROW("shared", 0, struct cc_settings, shared,
                    "a shared library with kernels and host code (also -shared)"),
    OPTION_FLAG_ROW("compile", 'c', struct cc_settings, compile_only,
                    "an object, for a later `vinci cc OBJECT...`"),
    OPTION_FLAG_ROW("dc", 0, struct cc_settings, parts,
                    "-dc: an object whose kernels call device functions of other such objects"),
    OPTION_TEXT_ROW(
        "npu-arch", 0, struct cc_settings, arch, "NAME",
        "dav-2201 (default): cores of the 910B family; dav-3510: those of the 950, with "
        "vector functions (__simd_vf__, __VEC_SCOPE__)"),
    OPTION_TEXT_ROW("core", 0, struct cc_settings, core, "KIND",
                    "aiv, aic, or mix: the kinds of cores to compile for (default: those that "
                    "__vector__, __cube__ and __mix__ in the sources ask for; without these, "
                    "those whose instructions the kernels have)"),
    OPTION_FLAG_ROW("cce-auto-sync", 0, struct cc_settings, sync,
                    "with --kernel-only: the barriers that the chip's compiler puts between vector "
                    "instructions that depend on each other (=off: without)"),
    OPTION_TEXT_ROW("data", 0, struct cc_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
    OPTION_TEXT_ROW("headers", 0, struct cc_settings, headers, "DIR",
                    "the open Ascend C headers, a checkout or a package (default: $VINCI_HEADERS)"),
    OPTION_FLAG_ROW("tiling", 0, struct cc_settings, tiling,
                    "the library of the headers' own host functions (tiling_api), once; "
                    "$VINCI_TILING then names it for programs"),
    OPTION_FLAG_ROW("cmake", 0, struct cc_settings, cmake,
                    "print the folder that -DASC_DIR= of CMake takes"),
    OPTION_FLAG_ROW("###", 0, struct cc_settings, dry, "print the commands, run none of them"),
};

/* ---- arguments ---------------------------------------------------------------------------- */

static bool ends_in(const char *word, const char *const *endings, size_t count) {
  size_t length = strlen(word);
  for (size_t i = 0; i < count; i++)
    if (length > strlen(endings[i]) && strcmp(word + length - strlen(endings[i]), endings[i]) == 0)
      return true;
  return false;
}

static bool is_source(const char *word) {
  static const char *const endings[] = {".cpp", ".cc", ".cxx", ".asc", ".cce"};
  return *word != '-' && ends_in(word, endings, sizeof endings / sizeof *endings);
}

/* A word for the linker alone. */
static bool is_for_link(const char *word) {
  static const char *const endings[] = {".o", ".a", ".so"};
  return *word == '-' ? strncmp(word, "-l", 2) == 0 || strncmp(word, "-L", 2) == 0 ||
                            strncmp(word, "-Wl,", 4) == 0
                      : ends_in(word, endings, sizeof endings / sizeof *endings);
}

/* A word of the compiler that stands before a word of its own: "-I folder". */
static bool takes_next(const char *word) {
  static const char *const words[] = {"-I",        "-D",      "-U",         "-L",        "-l",
                                      "-isystem",  "-iquote", "-include",   "--include", "-imacros",
                                      "--imacros", "-Xclang", "-idirafter", "-Xlinker",  "-MF",
                                      "-MT",       "-MQ"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(word, words[i]) == 0)
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

static bool take_flag(const char *name, const char *word, bool *out) {
  *out |= strcmp(word, name) == 0;
  return strcmp(word, name) == 0;
}

static bool take_option(struct cc_settings *settings, int argc, char **argv, int *at) {
  return take_text("-o", argc, argv, at, &settings->output) ||
         take_text("--output", argc, argv, at, &settings->output) ||
         take_text("--npu-arch", argc, argv, at, &settings->arch) ||
         take_text("--core", argc, argv, at, &settings->core) ||
         take_text("--data", argc, argv, at, &settings->data) ||
         take_text("--headers", argc, argv, at, &settings->headers) ||
         take_flag("--kernel-only", argv[*at], &settings->kernel_only) ||
         take_flag("--shared", argv[*at], &settings->shared) ||
         take_flag("-shared", argv[*at], &settings->shared) ||
         take_flag("-c", argv[*at], &settings->compile_only) ||
         take_flag("-dc", argv[*at], &settings->parts) ||
         take_flag("--compile", argv[*at], &settings->compile_only) ||
         take_flag("--sanitizer", argv[*at], &settings->sanitizer) ||
         take_flag("--cce-auto-sync", argv[*at], &settings->sync) ||
         take_flag("--cce-auto-sync=on", argv[*at], &settings->sync) ||
         take_flag("--cce-auto-sync=off", argv[*at], &settings->no_sync) ||
         take_flag("-xcce", argv[*at], &settings->cce) ||
         take_flag("--tiling", argv[*at], &settings->tiling) ||
         take_flag("-###", argv[*at], &settings->dry);
}

/* Own options are taken, all other words go to the compiler in their order. */
static enum vinci_status take_arguments(struct cc_build *build, struct cc_settings *settings,
                                        int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (take_option(settings, argc, argv, &i))
      continue;
    if (is_source(argv[i])) {
      if (build->source_count == CC_SOURCES_MAX)
        return diag_error(build->diag, VINCI_E_USAGE, "more than %d sources", CC_SOURCES_MAX);
      build->source[build->source_count++] = argv[i];
      continue;
    }
    bool linking = is_for_link(argv[i]) || strcmp(argv[i], "-Xlinker") == 0;
    struct cc_words *words = linking ? &build->link : &build->compile;
    if (words->count + 2 + build->source_count > CC_WORDS_MAX - CC_OWN_WORDS_MAX)
      return diag_error(build->diag, VINCI_E_USAGE, "more than %d options for the compiler",
                        CC_WORDS_MAX - CC_OWN_WORDS_MAX);
    cc_add(words, argv[i]);
    if (takes_next(argv[i]) && i + 1 < argc)
      cc_add(words, argv[++i]);
  }
  settings->compile_only |= settings->parts;
  if (settings->compile_only && build->source_count > 1)
    return diag_error(build->diag, VINCI_E_USAGE, "-c compiles one source, not %zu",
                      build->source_count);
  bool objects = build->link.count > 0 && !settings->compile_only && !settings->kernel_only;
  if (build->source_count > 0 || objects || settings->tiling)
    return VINCI_OK;
  enum vinci_status status = diag_error(build->diag, VINCI_E_USAGE, "no source is given");
  diag_hint(build->diag, "sources end in .cpp, .cc, .cxx, .asc or .cce");
  return status;
}

static bool has_word(const char *text, size_t length, const char *word) {
  return memmem(text, length, word, strlen(word)) != NULL;
}

/* "__attribute__((aiv))", blanks wherever they may be. */
static bool has_attribute(const char *text, size_t length, const char *name) {
  static const char word[] = "__attribute__";
  const char *end = text + length, *at = text;
  while ((at = memmem(at, (size_t)(end - at), word, strlen(word)))) {
    at += strlen(word);
    while (at < end && strchr(" \t\r\n(", *at))
      at++;
    const char *behind = at + strlen(name);
    if (behind < end && memcmp(at, name, strlen(name)) == 0 && strchr(" \t\r\n)", *behind))
      return true;
  }
  return false;
}

/* The kinds of cores that the marks of kernels in a source ask for. */
static enum vinci_status find_marks(struct cc_build *build, const char *path) {
  size_t length;
  char *text = file_read(path, SOURCE_BYTES_MAX, &length, build->diag);
  if (!text)
    return build->diag->status;
  bool mix = has_word(text, length, "__mix__") || has_attribute(text, length, "mix");
  build->wanted[CORE_AIV] |=
      mix || has_word(text, length, "__vector__") || has_attribute(text, length, "aiv");
  build->wanted[CORE_AIC] |=
      mix || has_word(text, length, "__cube__") || has_attribute(text, length, "aic");
  free(text);
  return VINCI_OK;
}

/* Under the names of the compiler of the chip, and of this project. */
static enum vinci_status choose_arch(struct cc_build *build, const char *name) {
  static const struct {
    const char *name;
    enum arch arch;
  } names[] = {{"dav-2201", ARCH_C220},
               {"dav-c220", ARCH_C220},
               {"dav-3510", ARCH_C310},
               {"dav-c310", ARCH_C310}};
  build->arch = ARCH_C220;
  if (!name)
    return VINCI_OK;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i].name) == 0) {
      build->arch = names[i].arch;
      return VINCI_OK;
    }
  return diag_error(build->diag, VINCI_E_USAGE, "--npu-arch is dav-2201 or dav-3510, not '%s'",
                    name);
}

static enum vinci_status choose_cores(struct cc_build *build, const struct cc_settings *settings) {
  const char *core = settings->core;
  enum vinci_status status = VINCI_OK;
  if (core) {
    bool mix = strcmp(core, "mix") == 0;
    build->wanted[CORE_AIV] = mix || strcmp(core, "aiv") == 0;
    build->wanted[CORE_AIC] = mix || strcmp(core, "aic") == 0;
    if (!build->wanted[CORE_AIV] && !build->wanted[CORE_AIC])
      return diag_error(build->diag, VINCI_E_USAGE, "--core is aiv, aic or mix, not '%s'", core);
  }
  for (size_t i = 0; !core && i < build->source_count && status == VINCI_OK; i++)
    status = find_marks(build, build->source[i]);
  build->deduced = !build->wanted[CORE_AIC] && !build->wanted[CORE_AIV];
  build->wanted[CORE_AIC] |= build->deduced;
  build->wanted[CORE_AIV] |= build->deduced;
  return status;
}

/* ---- folders ------------------------------------------------------------------------------ */

/* The folder with vinci/cce/: beside the data when installed, beside scripts/ in the sources. */
static enum vinci_status find_headers(struct cc_build *build, const char *asked) {
  char data[PATH_MAX - 16], path[PATH_MAX + 32];
  struct stat info;
  enum vinci_status status = soc_host_data_dir(asked, data, sizeof data, build->diag);
  for (unsigned i = 0; status == VINCI_OK && i < 2; i++) {
    snprintf(build->include, sizeof build->include, i == 0 ? "%s/include" : "%s/../include", data);
    snprintf(path, sizeof path, "%s/vinci/cce/kernel.h", build->include);
    if (stat(path, &info) != 0)
      continue;
    snprintf(build->stand_ins, sizeof build->stand_ins, "%s/vinci/cce/library", build->include);
    return VINCI_OK;
  }
  if (status != VINCI_OK)
    return status;
  return diag_error(build->diag, VINCI_E_IO, "the headers for kernels are missing: no %s", path);
}

/* The folders of the user's copy of the Ascend C headers, as far as they are there. */
static enum vinci_status find_library(struct cc_build *build, const char *asked) {
  static const char *const parts[] = {"",
                                      "include",
                                      "include/utils",
                                      "impl",
                                      "include/basic_api",
                                      "impl/basic_api",
                                      "include/adv_api",
                                      "impl/adv_api"};
  const char *folder = asked ? asked : getenv("VINCI_HEADERS");
  struct stat info;
  if (!folder || !*folder)
    return VINCI_OK;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    char *path = build->library[build->library_count];
    snprintf(path, sizeof build->library[0], "%s/%s", folder, parts[i]);
    build->library_count += stat(path, &info) == 0 && S_ISDIR(info.st_mode);
  }
  if (build->library_count > 0)
    return VINCI_OK;
  return diag_error(build->diag, VINCI_E_USAGE, "the folder of the headers is not there: %s",
                    folder);
}

/* The folder with libvinci_acl: where it was built or installed, seen from this program. */
static enum vinci_status find_runtime(struct cc_build *build) {
  static const char *const places[] = {".libs", "../lib", "../lib64", ".", VINCI_LIBDIR};
  char program[PATH_MAX - 32], path[2 * PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(program, '/');
  if (slash)
    *slash = '\0';
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    bool whole = *places[i] == '/';
    snprintf(build->runtime, sizeof build->runtime, "%s%s%s", whole ? "" : program,
             whole ? "" : "/", places[i]);
    snprintf(path, sizeof path, "%s/libvinci_acl.so", build->runtime);
    if (access(path, R_OK) == 0)
      return VINCI_OK;
  }
  return diag_error(build->diag, VINCI_E_IO, "the runtime of programs is missing: no %s", path);
}

/* ---- the verb ----------------------------------------------------------------------------- */

/* The source with another ending, for an object or a library of kernels without a name. */
static void name_output(struct cc_build *build, const struct cc_settings *settings, char *room,
                        size_t size) {
  const char *ending = build->result == CC_OBJECT ? "o" : "so", *dot;
  build->output = settings->output ? settings->output : "a.out";
  if (settings->output || build->result == CC_PROGRAM || build->source_count == 0)
    return;
  dot = strrchr(build->source[0], '.');
  snprintf(room, size, "%.*s.%s", (int)(dot - build->source[0]), build->source[0], ending);
  build->output = room;
}

static enum vinci_status prepare(struct cc_build *build, int argc, char **argv, char *room,
                                 size_t size) {
  struct cc_settings settings = {0};
  enum vinci_status status = take_arguments(build, &settings, argc, argv);
  build->tiling = settings.tiling;
  build->result = settings.kernel_only    ? CC_KERNELS
                  : settings.compile_only ? CC_OBJECT
                  : settings.shared       ? CC_SHARED
                                          : CC_PROGRAM;
  build->dry = settings.dry;
  build->parts = settings.parts;
  build->sync = settings.sync && !settings.no_sync;
  if (status == VINCI_OK)
    status = choose_arch(build, settings.arch);
  if (status == VINCI_OK)
    status = choose_cores(build, &settings);
  if (status == VINCI_OK)
    status = find_headers(build, settings.data);
  if (status == VINCI_OK)
    status = find_library(build, settings.headers);
  if (status == VINCI_OK && (build->result == CC_PROGRAM || build->result == CC_SHARED))
    status = find_runtime(build);
  if (status == VINCI_OK)
    name_output(build, &settings, room, size);
  return status;
}

static int print_cmake_folder(struct vinci_diag *diag) {
  char data[PATH_MAX];
  if (soc_host_data_dir(NULL, data, sizeof data, diag) != VINCI_OK)
    return cli_fail(diag);
  printf("%s/cmake\n", data);
  return 0;
}

static int cc(const struct cli_verb *verb, int argc, char **argv) {
  struct vinci_diag diag = {0};
  struct cc_build build = {.diag = &diag};
  char output[PATH_MAX];
  if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    cli_print_help(verb, argc < 2 ? stderr : stdout);
    return argc < 2 ? vinci_status_exit_code(VINCI_E_USAGE) : 0;
  }
  if (strcmp(argv[1], "--cmake") == 0)
    return print_cmake_folder(&diag);
  enum vinci_status status = prepare(&build, argc, argv, output, sizeof output);
  if (status == VINCI_OK)
    status = build.tiling ? cc_build_tiling(&build) : cc_build(&build);
  return status == VINCI_OK ? 0 : cli_fail(&diag);
}

const struct cli_verb cli_verb_cc = {
    .name = "cc",
    .arguments = "FILE.asc|FILE.cpp...",
    .summary = "Compile programs with kernels, or kernels for 'vinci run LIBRARY:KERNEL'",
    .details = "All other words go to the compiler: -I, -D, -O0, -W... The environment variable "
               "VINCI_CXX\n"
               "names a compiler other than clang++.\n"
               "Examples:\n"
               "  vinci cc add.asc --headers=$ASC -o add, then VINCI_SOC=Ascend910B4 add\n"
               "  vinci cc --kernel-only add.cpp -o add.so\n"
               "  vinci run add.so:add --blocks=8 -s Ascend910B4 --arg "
               "name=x,dtype=fp16,shape=65536,io=in \\\n"
               "    --arg name=y,dtype=fp16,shape=65536,io=out --arg value=65536\n",
    .options = {cc_options, sizeof cc_options / sizeof *cc_options},
    .run = cc,
};
