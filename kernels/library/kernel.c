/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel of a call: a source of a few lines that has the types, the key and the tiling
 * structures that the host program told, and includes the operator's own kernel. `vinci cc` makes a
 * library of that source, once for all calls that agree in these lines.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/digest.h"
#include "core/base/file.h"
#include "kernels/library/library.h"

enum { SOURCE_BYTES_MAX = 1 << 24, SHOWN_LINES = 60, PARTS_BYTES = 256 };

struct kernel {
  const struct library *library;
  const struct library_operator *which;
  char source[PATH_MAX];         /* of the operator */
  char name[LIBRARY_NAME_BYTES]; /* of the function */
  char structure[PARTS_BYTES];   /* that the kernel itself names for its tiling data */
  unsigned arguments;
  bool wrapped;   /* a template */
  char *text;     /* of the source, for free() */
  size_t name_at; /* of the function in the text */
  const char *core;
};

static const char renamed[] = "_kernel"; /* behind the name of a function that C has, too */

static const char *const letters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

static void name_source(struct kernel *kernel, const char *part, const char *stem) {
  snprintf(kernel->source, sizeof kernel->source, "%.3700s/op_kernel/%s%.200s.cpp",
           kernel->which->folder, part, stem);
}

static bool is_source(struct kernel *kernel, const char *part, const char *stem) {
  name_source(kernel, part, stem);
  return access(kernel->source, R_OK) == 0;
}

/* "rms_norm" of the folder, or the file that the definition names for this chip; those of the 950
 * may lie in a folder of their own, without the mark of the file's name. */
static enum vinci_status find_source(struct kernel *kernel, const struct answer *answer) {
  const char *folder = kernel->which->folder, *file = answer_text(answer, "file");
  const char *own = strrchr(folder, '/'), *stem;
  own = own ? own + 1 : folder;
  stem = file ? file : own;
  bool registers = library_has_registers(kernel->library);
  if ((registers && is_source(kernel, "arch35/", stem)) || is_source(kernel, "", stem) ||
      (registers && is_source(kernel, "arch35/", own)))
    return VINCI_OK;
  name_source(kernel, "", stem); /* the message tells the usual place */
  return diag_error(kernel->library->diag, VINCI_E_INPUT, "the kernel of %s is not there: no %s%s",
                    kernel->which->name, kernel->source,
                    registers ? ", nor one in arch35 beside it" : "");
}

/* The name in front of a parenthesis, and the words between that and the next. */
static bool read_head(struct kernel *kernel, const char *text, const char *at) {
  const char *open = strchr(at, '('), *begin = open, *close = open ? strchr(open, ')') : NULL;
  if (!close)
    return false;
  while (begin > at && (isspace((unsigned char)begin[-1])))
    begin--;
  const char *end = begin;
  while (begin > at && strchr(letters, begin[-1]))
    begin--;
  snprintf(kernel->name, sizeof kernel->name, "%.*s", (int)(end - begin), begin);
  kernel->name_at = (size_t)(begin - text);
  kernel->arguments = 1;
  for (const char *c = open; c < close; c++)
    kernel->arguments += *c == ',';
  return end > begin;
}

/* A template stands in front of the words of a function: "template <int A>\n__global__". */
static bool is_template(const char *text, const char *at) {
  while (at > text && (isspace((unsigned char)at[-1])))
    at--;
  return at > text && at[-1] == '>';
}

/* "KERNEL_TASK_TYPE(KEY, KERNEL_TYPE_MIX_AIC_1_2)", or that of all keys. */
static const char *find_core(const char *text, const char *key) {
  static const struct {
    const char *word, *core;
  } kinds[] = {{"KERNEL_TYPE_AIV_ONLY", "aiv"},         {"KERNEL_TYPE_AIC_ONLY", "aic"},
               {"KERNEL_TYPE_MIX_AIV_1_0", "aiv"},      {"KERNEL_TYPE_MIX_AIC_1_0", "aic"},
               {"KERNEL_TYPE_MIX_AIC_1_1", "mix 1, 1"}, {"KERNEL_TYPE_MIX_AIC_1_2", "mix 1, 2"}};
  char mark[PARTS_BYTES];
  for (unsigned pass = 0; pass < 2; pass++) {
    snprintf(mark, sizeof mark, pass == 0 ? "KERNEL_TASK_TYPE(%s," : "KERNEL_TASK_TYPE_DEFAULT(",
             key);
    const char *at = strstr(text, mark);
    at = at ? at + strlen(mark) : NULL;
    while (at && isspace((unsigned char)*at))
      at++;
    for (size_t i = 0; at && i < sizeof kinds / sizeof *kinds; i++)
      if (strncmp(at, kinds[i].word, strlen(kinds[i].word)) == 0)
        return kinds[i].core;
  }
  return NULL;
}

/* The mark of the function with the name of the operator's folder, else the first; NULL. Of two of
 * that name the preprocessor takes one: a template where arguments of one were chosen. */
static const char *find_marked(struct kernel *kernel, const char *text, const char *global,
                               bool chosen) {
  const char *folder = strrchr(kernel->which->folder, '/'), *first = strstr(text, global);
  const char *found = NULL;
  folder = folder ? folder + 1 : kernel->which->folder;
  for (const char *at = first; at; at = strstr(at + strlen(global), global))
    if (read_head(kernel, text, at + strlen(global)) && strcmp(kernel->name, folder) == 0 &&
        (!found || is_template(text, at) == chosen))
      found = at;
  found = found ? found : first;
  return found && read_head(kernel, text, found + strlen(global)) ? found : NULL;
}

/* KERNEL_API is a word of libraries for 'extern "C" __global__ __aicore__'. */
static const char *find_global(struct kernel *kernel, const char *text, bool chosen) {
  const char *found = find_marked(kernel, text, "__global__", chosen);
  return found ? found : find_marked(kernel, text, "KERNEL_API", chosen);
}

static enum vinci_status read_source(struct kernel *kernel, const struct answer *answer) {
  static const char registered[] = "REGISTER_TILING_DEFAULT(";
  const char *key = answer_text(answer, "key");
  size_t length;
  char *text = file_read(kernel->source, SOURCE_BYTES_MAX, &length, kernel->library->diag);
  if (!text)
    return kernel->library->diag->status;
  const char *found = find_global(kernel, text, answer_text(answer, "template") != NULL);
  kernel->wrapped = found && is_template(text, found);
  kernel->core = find_core(text, key ? key : "0");
  const char *structure = strstr(text, registered);
  if (structure) {
    structure += strlen(registered);
    snprintf(kernel->structure, sizeof kernel->structure, "%.*s", (int)strcspn(structure, ")"),
             structure);
  }
  kernel->text = text;
  return found ? VINCI_OK
               : diag_error(kernel->library->diag, VINCI_E_INPUT, "%s has no __global__ function",
                            kernel->source);
}

/* Functions of C that operators are named after: a kernel cannot have their names here. */
static bool is_of_c(const char *name) {
  static const char names[] =
      " abs acos acosh asin asinh atan atan2 atanh ceil cos cosh div erf erfc exp exp2 expm1 floor "
      "fmod hypot index ldexp lgamma log log10 log1p log2 pow remainder rint round select signbit "
      "sin sinh sqrt tan tanh tgamma trunc ";
  char word[LIBRARY_NAME_BYTES + 2];
  snprintf(word, sizeof word, " %s ", name);
  return strstr(names, word) != NULL;
}

/* Behind the name of the function in the text that is compiled. */
static const char *suffix_of(const struct kernel *kernel) {
  return is_of_c(kernel->name) ? renamed : "";
}

/* A function that calls the template with the chosen arguments. */
static void write_wrapper(const struct kernel *kernel, const char *arguments, FILE *out) {
  fprintf(out, "extern \"C\" __global__ ");
  if (kernel->core && strncmp(kernel->core, "mix", 3) == 0)
    fprintf(out, "__mix__(%s) ", kernel->core + strlen("mix "));
  fprintf(out, "__aicore__ void %s_chosen(", kernel->name);
  for (unsigned i = 0; i < kernel->arguments; i++)
    fprintf(out, "%sGM_ADDR a%u", i > 0 ? ", " : "", i);
  fprintf(out, ") { %s%s", kernel->name, suffix_of(kernel));
  if (arguments)
    fprintf(out, "<%s>", arguments);
  fputc('(', out);
  for (unsigned i = 0; i < kernel->arguments; i++)
    fprintf(out, "%sa%u", i > 0 ? ", " : "", i);
  fprintf(out, "); }\n");
}

/* The operator's source; or its text, where the function gets another name. */
static void write_operator(const struct kernel *kernel, FILE *out) {
  if (!is_of_c(kernel->name)) {
    fprintf(out, "#include \"%s\"\n", kernel->source);
    return;
  }
  fprintf(out, "#line 1 \"%s\"\n", kernel->source);
  fwrite(kernel->text, 1, kernel->name_at, out);
  fprintf(out, "%s%s%s\n", kernel->name, renamed,
          kernel->text + kernel->name_at + strlen(kernel->name));
}

static void write_source(const struct kernel *kernel, const struct answer *answer, FILE *out) {
  const char *key = answer_text(answer, "key"), *line;
  fprintf(out, "// --cce-auto-sync=%s\n", kernel->library->no_sync ? "off" : "on");
  fprintf(out, "#define TILING_KEY_VAR %sull\n", key ? key : "0");
  fprintf(out, "#include \"vinci/library/kernel.h\"\n");
  for (size_t at = 0; (line = answer_next(answer, "code", &at));)
    fprintf(out, "%s\n", line);
  if (*kernel->structure)
    fprintf(out, "#define VINCI_TILING_STRUCTURE %s\n", kernel->structure);
  write_operator(kernel, out);
  if (kernel->wrapped)
    write_wrapper(kernel, answer_text(answer, "template"), out);
}

/* The path of the source with these lines; its name is their digest. */
static enum vinci_status place_source(const struct kernel *kernel, const struct answer *answer,
                                      char *out, size_t size) {
  char folder[PATH_MAX - 256], *text = NULL;
  size_t length;
  struct vinci_diag *diag = kernel->library->diag;
  enum vinci_status status =
      library_cache_folder(kernel->library, kernel->which, folder, sizeof folder);
  if (status != VINCI_OK)
    return status;
  FILE *stream = open_memstream(&text, &length);
  if (stream)
    write_source(kernel, answer, stream);
  if (!stream || !file_close_text(stream, &text))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the source of a kernel");
  snprintf(out, size, "%s/%016llx.cpp", folder,
           (unsigned long long)digest_string(DIGEST_SEED, text));
  if (access(out, R_OK) != 0)
    status = file_replace_text(out, text, diag);
  free(text);
  return status;
}

static enum vinci_status compile(const struct kernel *kernel, const char *source,
                                 const char *result, const char *manifest) {
  const struct library *library = kernel->library;
  struct command command = {0}, files = {0};
  char log[PATH_MAX], depends[PATH_MAX], layout[PATH_MAX - 256];
  int ended = 0;
  enum vinci_status status = library_layout(library, layout, sizeof layout);
  if (status != VINCI_OK)
    return status;
  snprintf(log, sizeof log, "%.4000s.log", result);
  snprintf(depends, sizeof depends, "%.4000s.d", result);
  command_add(&command, "%s", library->program);
  command_add(&command, "cc");
  command_add(&command, "--kernel-only");
  command_add(&command, "--cce-auto-sync=%s", library->no_sync ? "off" : "on");
  if (library_has_registers(library))
    command_add(&command, "--npu-arch=dav-3510");
  if (library->headers)
    command_add(&command, "--headers=%s", library->headers);
  if (kernel->core)
    command_add(&command, "--core=%.3s", kernel->core);
  command_add(&command, "-w");
  command_add(&command, "-DASCENDC_TPL_KERNEL");
  command_add(&command, "-iquote"); /* of a source whose text was taken */
  command_add(&command, "%.*s", (int)(strrchr(kernel->source, '/') - kernel->source),
              kernel->source);
  library_add_folders(library, kernel->which, &command);
  library_add_layout(layout, &command);
  command_add(&command, "-MD");
  command_add(&command, "-MF");
  command_add(&command, "%s", depends);
  command_add(&command, "%s", source);
  command_add(&command, "-o");
  command_add(&command, "%s", result);
  status = library_run(library, &command, NULL, log, &ended);
  command_free(&command);
  if (status == VINCI_OK && ended != 0) {
    library_show(library, log, SHOWN_LINES);
    status = diag_error(library->diag, VINCI_E_INPUT, "the kernel of %s was not compiled%s%s",
                        kernel->which->name, library->why ? "" : ": ", library->why ? "" : source);
  }
  if (status == VINCI_OK)
    status = library_read_depends(library, depends, &files);
  if (status == VINCI_OK)
    status = library_write_manifest(library, manifest, &files);
  command_free(&files);
  return status;
}

/* Two runs that want a kernel at the same time compile the kernel once. */
static enum vinci_status compile_locked(const struct kernel *kernel, const char *source,
                                        const char *result, const char *manifest) {
  char folder[PATH_MAX];
  int lock;
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(result, '/') - result), result);
  enum vinci_status status = library_lock(kernel->library, folder, &lock);
  if (status != VINCI_OK)
    return status;
  if (!library_is_new(manifest, result))
    status = compile(kernel, source, result, manifest);
  if (lock >= 0)
    close(lock);
  return status;
}

enum vinci_status library_kernel(const struct library *library,
                                 const struct library_operator *which, const struct answer *answer,
                                 char *out, size_t size) {
  struct kernel kernel = {.library = library, .which = which};
  char source[PATH_MAX], result[PATH_MAX], manifest[PATH_MAX];
  enum vinci_status status = find_source(&kernel, answer);
  if (status == VINCI_OK)
    status = read_source(&kernel, answer);
  if (status == VINCI_OK)
    status = place_source(&kernel, answer, source, sizeof source);
  free(kernel.text);
  if (status != VINCI_OK)
    return status;
  snprintf(result, sizeof result, "%.*s.so", (int)(strlen(source) - strlen(".cpp")), source);
  snprintf(manifest, sizeof manifest, "%.4000s.manifest", result);
  if (!library_is_new(manifest, result))
    status = compile_locked(&kernel, source, result, manifest);
  snprintf(out, size, "%s:%s%s", result, kernel.name,
           kernel.wrapped ? "_chosen" : suffix_of(&kernel));
  return status;
}
