/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of `vinci cc`. Each source is compiled once for each kind of core, because one
 * source means different things on them. The objects of a kind make an image: a shared library with
 * the kernels and without host code, which nothing in an image refers to. The result holds the
 * images as sections; the host code of a program is that of the first kind of core.
 */
#include "cli/cc/build.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/isa/isa.h"
#include "kernels/compile/text.h"
#include "kernels/source/source.h"

extern char **environ;

enum { TEXT_BYTES_MAX = 1 << 30, NAME_BYTES = CC_NAME_BYTES };

static struct cc_path path_of(const struct cc_build *build, enum core_kind kind, size_t source,
                              const char *ending) {
  struct cc_path path;
  snprintf(path.text, sizeof path.text, "%s/%s-%zu.%s", build->folder, core_kind_name(kind), source,
           ending);
  return path;
}

struct cc_path cc_object_path(const struct cc_build *build, enum core_kind kind, size_t index) {
  return path_of(build, kind, index, "o");
}

static struct cc_path image_path(const struct cc_build *build, enum core_kind kind) {
  struct cc_path path;
  snprintf(path.text, sizeof path.text, "%s/%s.so", build->folder, core_kind_name(kind));
  return path;
}

static struct cc_path file_path(const struct cc_build *build, const char *name) {
  struct cc_path path;
  snprintf(path.text, sizeof path.text, "%s/%s", build->folder, name);
  return path;
}

static bool has_device_code(const struct cc_build *build) {
  return build->source_count > 0 || build->part_count[CORE_AIV] > 0 ||
         build->part_count[CORE_AIC] > 0;
}

/* What an image says of itself, and what takes the images in. */
static const char about_file[] = "about.s", frame_file[] = "frame.s";

/* ---- commands ----------------------------------------------------------------------------- */

static void print_command(const struct cc_words *words) {
  for (size_t i = 0; i < words->count; i++)
    fprintf(stderr, "%s\"%s\"", i > 0 ? " " : "", words->item[i]);
  fputc('\n', stderr);
}

enum vinci_status cc_spawn(const struct cc_build *build, const struct cc_words *words,
                           pid_t *child) {
  int error = posix_spawnp(child, words->item[0], NULL, NULL, (char *const *)(uintptr_t)words->item,
                           environ);
  if (error == 0)
    return VINCI_OK;
  *child = 0;
  enum vinci_status status =
      diag_error(build->diag, VINCI_E_USAGE, "cannot run %s: %s", words->item[0], strerror(error));
  diag_hint(build->diag, "kernels are compiled with clang; VINCI_CXX names another program");
  return status;
}

enum vinci_status cc_run(const struct cc_build *build, const struct cc_words *words,
                         const char *failed) {
  if (build->dry) {
    print_command(words);
    return VINCI_OK;
  }
  pid_t child;
  int ended = 0;
  enum vinci_status status = cc_spawn(build, words, &child);
  if (status != VINCI_OK)
    return status;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
    ;
  if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
    return VINCI_OK;
  return diag_error(build->diag, VINCI_E_INPUT, "%s", failed);
}

const char *cc_compiler(void) {
  const char *asked = getenv("VINCI_CXX");
  return asked && *asked ? asked : "clang++";
}

static void add_all(struct cc_words *words, const struct cc_words *more) {
  for (size_t i = 0; i < more->count; i++)
    cc_add(words, more->item[i]);
}

void cc_add_structures(const struct cc_build *build, struct cc_words *words) {
  if (build->library_count == 0)
    return;
  cc_add(words, "-include");
  cc_add(words, "register/tilingdata_base.h");
}

/* ---- compilation -------------------------------------------------------------------------- */

/* What a source can ask for the kind of core. A source is compiled for host and device at once. */
static void add_macros(struct cc_words *words, enum arch arch, enum core_kind kind) {
  bool vector = kind == CORE_AIV, c310 = arch == ARCH_C310;
  cc_add(words, c310 ? "-D__CCE_AICORE__=310" : "-D__CCE_AICORE__=220");
  cc_add(words, c310 ? "-D__NPU_ARCH__=3510" : "-D__NPU_ARCH__=2201");
  cc_add(words, "-D__CCE__");
  cc_add(words, "-D__NPU_DEVICE__");
  if (!c310) /* hints of L2: the published samples need this name, which the vendor's driver defines */
    cc_add(words, "-DL2_CACHE_HINT");
  if (c310) {
    cc_add(words, "-D__DAV_C310__");
    cc_add(words, vector ? "-D__DAV_C310_VEC__" : "-D__DAV_C310_CUBE__");
  } else {
    cc_add(words, vector ? "-D__DAV_C220_VEC__" : "-D__DAV_C220_CUBE__");
  }
  cc_add(words, vector ? "-D__DAV_VEC__" : "-D__DAV_CUBE__");
}

/* Whether a word of the compiler is about the files of a source alone: one to read before the
 * source, or which there are (-MD); *own: it has the next word. */
static bool is_of_files(const char *word, bool *own) {
  static const char *const names[] = {"-include", "--include", "-imacros", "--imacros",
                                      "-MF",      "-MT",       "-MQ"};
  static const char *const alone[] = {"-MD", "-MMD", "-MP"};
  for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
    if (strcmp(word, alone[i]) == 0) {
      *own = false;
      return true;
    }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(word, names[i], strlen(names[i])) == 0 && strncmp(word, "-include-", 9) != 0) {
      *own = word[strlen(names[i])] == '\0';
      return true;
    }
  return false;
}

/* The user's words. When the text of a source is translated, files that are read before are in
 * there. */
static void add_users(const struct cc_build *build, bool translates, struct cc_words *words) {
  for (size_t i = 0; i < build->compile.count; i++) {
    bool own = false;
    if (translates && is_of_files(build->compile.item[i], &own))
      i += own;
    else
      cc_add(words, build->compile.item[i]);
  }
}

/* The words up to those of the user, whose own files to read first come behind ours. */
static struct cc_words compile_words(const struct cc_build *build, enum core_kind kind) {
  static const char *const always[] = {
      /* DWARF 4: the table of files of DWARF 5 wants a checksum of each file or of none, and the
       * text that is compiled has that of its main file alone. */
      "-std=c++17", "-O2", "-gdwarf-4", "-fPIC", "-ffunction-sections", "-fdata-sections",
      "-Xclang",
      /* fp16 as an argument */
      "-fallow-half-arguments-and-returns",
      /* A loop over UB is no call: the compiler has no such
       * function for a memory behind a segment register. */
      "-fno-builtin-memset", "-fno-builtin-memcpy", "-fno-builtin-memmove",
      /* A header for threads gives exp2f() by powf(), which the compiler would turn round. */
      "-fno-builtin-powf"};
  struct cc_words words = {.count = 0};
  cc_add(&words, cc_compiler());
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    cc_add(&words, always[i]);
  cc_add(&words, "-I");
  cc_add(&words, build->include);
  cc_add(&words,
         "-idirafter"); /* what a library's build would generate, unless the user has that */
  cc_add(&words, build->stand_ins);
  for (size_t i = 0; i < build->library_count; i++) {
    cc_add(&words, "-isystem");
    cc_add(&words, build->library[i]);
  }
  add_macros(&words, build->arch, kind);
  return words;
}

struct text {
  const char *bytes;
  size_t length;
};

static void write_text(void *context, FILE *out) {
  const struct text *text = context;
  fwrite(text->bytes, 1, text->length, out);
}

typedef char *(*rewriter)(const char *text, size_t length, size_t *out_length);

/* One text becomes another: launches C++, assembler text assembler text that counts. */
static enum vinci_status rewrite(const struct cc_build *build, rewriter rewritten, const char *from,
                                 const char *to) {
  size_t length;
  struct text text = {0};
  if (build->dry)
    return VINCI_OK;
  char *included = file_read(from, TEXT_BYTES_MAX, &length, build->diag);
  if (!included)
    return build->diag->status;
  char *bytes = rewritten(included, length, &text.length);
  free(included);
  text.bytes = bytes;
  enum vinci_status status =
      bytes ? file_replace(to, write_text, &text, build->diag)
            : diag_error(build->diag, VINCI_E_NOMEM, "out of memory for the text of a program");
  free(bytes);
  return status;
}

static enum vinci_status assemble(const struct cc_build *build, const char *text,
                                  const char *object, const char *failed) {
  struct cc_words words = {.count = 0};
  const char *const command[] = {cc_compiler(), "-c", text, "-o", object};
  for (size_t i = 0; i < sizeof command / sizeof *command; i++)
    cc_add(&words, command[i]);
  return cc_run(build, &words, failed);
}

/* Assembler text of intermediate text, which has been optimised. */
static enum vinci_status generate(const struct cc_build *build, enum core_kind kind,
                                  const char *from, const char *to, const char *failed) {
  struct cc_words words = compile_words(build, kind);
  const char *const command[] = {"-Wno-unused-command-line-argument",
                                 "-Xclang",
                                 "-disable-llvm-passes",
                                 "-S",
                                 "-x",
                                 "ir",
                                 from,
                                 "-o",
                                 to};
  add_users(build, true, &words);
  for (size_t i = 0; i < sizeof command / sizeof *command; i++)
    cc_add(&words, command[i]);
  return cc_run(build, &words, failed);
}

static enum vinci_status compile(const struct cc_build *build, enum core_kind kind, size_t source) {
  struct cc_path included = path_of(build, kind, source, "ii");
  struct cc_path text = path_of(build, kind, source, "cpp");
  struct cc_path plain = path_of(build, kind, source, "ll");
  struct cc_path marked = path_of(build, kind, source, "mark.ll");
  struct cc_path assembler = path_of(build, kind, source, "s");
  struct cc_path counted = path_of(build, kind, source, "count.s");
  struct cc_path object = path_of(build, kind, source, "o");
  char failed[PATH_MAX + NAME_BYTES];
  snprintf(failed, sizeof failed, "%s was not compiled", build->source[source]);
  struct cc_words words = compile_words(build, kind);
  cc_add(&words, "-include");
  cc_add(&words, "vinci/cce/kernel.h");
  cc_add_structures(build, &words);
  add_users(build, false, &words);
  const char *const include[] = {"-E", "-frewrite-includes", "-x", "c++", build->source[source],
                                 "-o", included.text};
  for (size_t i = 0; i < sizeof include / sizeof *include; i++)
    cc_add(&words, include[i]);
  enum vinci_status status = cc_run(build, &words, failed);
  if (status == VINCI_OK)
    status = rewrite(build, source_rewrite_launches, included.text, text.text);
  if (status != VINCI_OK)
    return status;
  words = compile_words(build, kind);
  add_users(build, true, &words);
  const char *const translate[] = {"-S", "-emit-llvm", "-x", "c++", text.text, "-o", plain.text};
  for (size_t i = 0; i < sizeof translate / sizeof *translate; i++)
    cc_add(&words, translate[i]);
  status = cc_run(build, &words, failed);
  if (status == VINCI_OK)
    status = rewrite(build, source_mark_alignment, plain.text, marked.text);
  if (status == VINCI_OK)
    status = generate(build, kind, marked.text, assembler.text, failed);
  if (status == VINCI_OK)
    status = rewrite(build, source_count_instructions, assembler.text, counted.text);
  if (status != VINCI_OK)
    return status;
  return assemble(build, counted.text, object.text, failed);
}

/* ---- links -------------------------------------------------------------------------------- */

static void add_assembler(struct cc_words *words, const char *path) {
  cc_add(words, "-x");
  cc_add(words, "assembler");
  cc_add(words, path);
  cc_add(words, "-x");
  cc_add(words, "none");
}

/* Adds the first objects of a kind; paths: room for all of them. */
static void add_objects(const struct cc_build *build, enum core_kind kind, size_t count,
                        struct cc_path *paths, struct cc_words *words) {
  for (size_t i = 0; i < count; i++) {
    paths[i] = path_of(build, kind, i, "o");
    cc_add(words, paths[i].text);
  }
}

/* The host code of the sources, which counts nothing; paths: room for all objects. */
static enum vinci_status add_host(const struct cc_build *build, enum core_kind kind,
                                  struct cc_path *paths, struct cc_words *words) {
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; i < build->source_count && status == VINCI_OK; i++) {
    paths[i] = path_of(build, kind, i, "host.o");
    cc_add(words, paths[i].text);
    status = assemble(build, path_of(build, kind, i, "s").text, paths[i].text,
                      "the host code was not assembled");
  }
  return status;
}

static FILE *open_assembler(const struct cc_build *build, const char *name) {
  struct cc_path path = file_path(build, name);
  FILE *out = build->dry ? fopen("/dev/null", "w") : fopen(path.text, "w");
  if (!out)
    (void)diag_error(build->diag, diag_status_of(errno), "cannot write %s: %s", path.text,
                     strerror(errno));
  return out;
}

static enum vinci_status close_assembler(const struct cc_build *build, FILE *out) {
  fputs(".section .note.GNU-stack,\"\"\n", out);
  return fclose(out) == 0
             ? VINCI_OK
             : diag_error(build->diag, VINCI_E_IO, "cannot write in %s", build->folder);
}

static enum vinci_status write_about(const struct cc_build *build) {
  char full[PATH_MAX];
  FILE *out = open_assembler(build, about_file);
  if (!out)
    return build->diag->status;
  const char *source = full;
  if (build->source_count == 0)
    source = build->part_source;
  else if (!realpath(build->source[0], full))
    source = build->source[0];
  fprintf(out, ".section %s,\"aR\"\n.ascii \"%s\"\n", source_section_path, source);
  fprintf(out, ".section %s,\"aR\"\n.ascii \"%s\"\n", source_section_arch, arch_name(build->arch));
  if (build->sync)
    fprintf(out, ".section %s,\"aR\"\n.ascii \"on\"\n", source_section_sync);
  return close_assembler(build, out);
}

static enum vinci_status write_frame(const struct cc_build *build) {
  char full[PATH_MAX];
  FILE *out = open_assembler(build, frame_file);
  if (!out)
    return build->diag->status;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    if (!build->wanted[kind])
      continue;
    fprintf(out, ".section %s,\"aR\"\n.balign %d\n.incbin \"%s\"\n.balign %d\n",
            source_section_image[kind], SOURCE_IMAGE_ALIGNMENT,
            image_path(build, (enum core_kind)kind).text, SOURCE_IMAGE_ALIGNMENT);
    if (build->parts)
      fprintf(out, ".section %s,\"\"\n.incbin \"%s\"\n", cc_section_part[kind],
              cc_object_path(build, (enum core_kind)kind, 0).text);
  }
  if (build->parts && realpath(build->source[0], full))
    fprintf(out, ".section %s,\"\"\n.ascii \"%s\"\n", cc_section_part_source, full);
  return close_assembler(build, out);
}

/* Functions of the C library that would leave the process in which a kernel is executed, and the
 * end of an assertion: they end the run (include/vinci/cce/leave.h and debug.h). */
static const char wrapped[] =
    "-Wl,--wrap=__assert_fail,--wrap=exit,--wrap=_exit,--wrap=_Exit,--wrap=quick_exit,"
    "--wrap=raise,--wrap=abort,--wrap=longjmp,--wrap=_longjmp,--wrap=siglongjmp,"
    "--wrap=__longjmp_chk,--wrap=kill,--wrap=fork,--wrap=vfork,--wrap=system,--wrap=execv,"
    "--wrap=execve,--wrap=execvp,--wrap=execl,--wrap=execlp,--wrap=execle,--wrap=syscall,--wrap="
    "pthread_exit,--wrap=__cxa_throw";

/* The host code is left out, as no kernel calls it; what is missing of the host is never called. */
static enum vinci_status link_image(const struct cc_build *build, enum core_kind kind,
                                    struct cc_path *paths) {
  struct cc_path image = image_path(build, kind), about = file_path(build, about_file);
  struct cc_words words = {.count = 0};
  cc_add(&words, cc_compiler());
  cc_add(&words, "-shared");
  cc_add(&words, "-Wl,-Bsymbolic,--gc-sections");
  cc_add(&words, wrapped);
  add_objects(build, kind, build->source_count + build->part_count[kind], paths, &words);
  add_assembler(&words, about.text);
  cc_add(&words, "-o");
  cc_add(&words, image.text);
  return cc_run(build, &words, "the device code was not linked");
}

static void add_runtime(const struct cc_build *build, struct cc_words *words,
                        struct cc_path folders[3]) {
  const char *tiling = getenv("VINCI_TILING"), *slash = tiling ? strrchr(tiling, '/') : NULL;
  snprintf(folders[2].text, sizeof folders[2].text, "-Wl,-rpath,%.*s",
           slash ? (int)(slash - tiling) : 1, slash ? tiling : ".");
  snprintf(folders[0].text, sizeof folders[0].text, "-L%s", build->runtime);
  snprintf(folders[1].text, sizeof folders[1].text, "-Wl,-rpath,%s", build->runtime);
  cc_add(words, "-rdynamic"); /* launches name kernels by their symbols */
  add_all(words, &build->link);
  if (tiling && *tiling) {
    cc_add(words, tiling);
    cc_add(words, folders[2].text);
  }
  cc_add(words, folders[0].text);
  cc_add(words, folders[1].text);
  cc_add(words, "-lvinci_acl");
}

static enum vinci_status link_result(const struct cc_build *build, struct cc_path *paths) {
  struct cc_path frame = file_path(build, frame_file), folders[3];
  enum core_kind host = build->wanted[CORE_AIV] ? CORE_AIV : CORE_AIC;
  struct cc_words words = {.count = 0};
  cc_add(&words, cc_compiler());
  if (build->result == CC_OBJECT)
    cc_add(&words, "-r");
  else if (build->result != CC_PROGRAM)
    cc_add(&words, "-shared");
  if (build->result == CC_KERNELS || build->result == CC_OBJECT)
    cc_add(&words, "-nostdlib");
  enum vinci_status status =
      build->result != CC_KERNELS ? add_host(build, host, paths, &words) : VINCI_OK;
  if (status != VINCI_OK)
    return status;
  if (has_device_code(build)) /* before other objects: images of parts are whole */
    add_assembler(&words, frame.text);
  if (build->result == CC_PROGRAM || build->result == CC_SHARED)
    add_runtime(build, &words, folders);
  cc_add(&words, "-o");
  cc_add(&words, build->output);
  status = cc_run(build, &words, "the program was not linked");
  if (status != VINCI_OK && build->result == CC_PROGRAM)
    diag_hint(build->diag, "kernels without main() are compiled with --kernel-only");
  return status;
}

/* ---- as a whole --------------------------------------------------------------------------- */

static void remove_temporary(const struct cc_build *build) {
  static const char *const endings[] = {"ii", "cpp",     "ll", "mark.ll",
                                        "s",  "count.s", "o",  "host.o"};
  if (!*build->folder || build->dry)
    return;
  (void)unlink(file_path(build, about_file).text);
  (void)unlink(file_path(build, frame_file).text);
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    (void)unlink(image_path(build, (enum core_kind)kind).text);
    for (size_t i = 0; i < build->source_count + build->part_count[kind]; i++)
      for (size_t e = 0; e < sizeof endings / sizeof *endings; e++)
        (void)unlink(path_of(build, (enum core_kind)kind, i, endings[e]).text);
  }
  (void)rmdir(build->folder);
}

enum vinci_status cc_make_folder(struct cc_build *build) {
  const char *asked = getenv("TMPDIR");
  int length = snprintf(build->folder, sizeof build->folder, "%s/vinci-cc-XXXXXX",
                        asked && *asked ? asked : "/tmp");
  if (length > 0 && (size_t)length < sizeof build->folder - NAME_BYTES &&
      (build->dry || mkdtemp(build->folder)))
    return VINCI_OK;
  *build->folder = '\0';
  return diag_error(build->diag, diag_status_of(errno), "cannot make a temporary folder: %s",
                    strerror(errno));
}

/* ---- which cores, when nobody says ------------------------------------------------------- */

/* An instruction that tells the kind of core: of the matrix unit; of the vector unit, or a copy
 * that has to do with its buffer. */
static bool is_telling(const struct isa_row *row, enum core_kind kind) {
  return kind == CORE_AIC ? row->pipe == PIPE_M
                          : row->class16 != VECTOR_CLASS_NONE || strstr(row->name, "ubuf") != NULL;
}

/* Whether an image has such instructions. It has the names of all that its code may issue. */
static enum vinci_status has_instructions(const struct cc_build *build, enum core_kind kind,
                                          bool *has) {
  size_t length;
  char *bytes = file_read(image_path(build, kind).text, TEXT_BYTES_MAX, &length, build->diag);
  *has = false;
  if (!bytes)
    return build->diag->status;
  for (unsigned op = 0; op < OP_COUNT && !*has; op++) {
    const struct isa_row *row = isa_row((enum isa_op)op);
    char name[NAME_BYTES] = ""; /* between two ends of texts */
    snprintf(name + 1, sizeof name - 1, "%s", row->name);
    *has = is_telling(row, kind) && memmem(bytes, length, name, strlen(row->name) + 2) != NULL;
  }
  free(bytes);
  return VINCI_OK;
}

static enum vinci_status deduce_cores(struct cc_build *build) {
  bool cube = false, vector = false;
  if (build->dry || !build->deduced)
    return VINCI_OK;
  enum vinci_status status = has_instructions(build, CORE_AIC, &cube);
  if (status == VINCI_OK)
    status = has_instructions(build, CORE_AIV, &vector);
  build->wanted[CORE_AIC] = cube;
  build->wanted[CORE_AIV] = vector || !cube;
  return status;
}

static enum vinci_status build_all(struct cc_build *build, struct cc_path *paths) {
  bool device = has_device_code(build);
  enum vinci_status status = device ? write_about(build) : VINCI_OK;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT && device; kind++) {
    if (!build->wanted[kind])
      continue;
    for (size_t i = 0; i < build->source_count && status == VINCI_OK; i++)
      status = compile(build, (enum core_kind)kind, i);
    if (status == VINCI_OK)
      status = link_image(build, (enum core_kind)kind, paths);
  }
  if (status == VINCI_OK && build->source_count > 0)
    status = deduce_cores(build);
  if (status == VINCI_OK)
    status = write_frame(build);
  return status == VINCI_OK ? link_result(build, paths) : status;
}

enum vinci_status cc_build(struct cc_build *build) {
  struct cc_path *paths = calloc(CC_WORDS_MAX, sizeof *paths);
  enum vinci_status status =
      paths ? cc_make_folder(build) : diag_error(build->diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    status = cc_take_parts(build);
  if (status == VINCI_OK)
    status = build_all(build, paths);
  remove_temporary(build);
  free(paths);
  return status;
}
