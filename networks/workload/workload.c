/* SPDX-License-Identifier: Apache-2.0 */
/* What studies, suites and lists of operators run. */
#include "networks/workload/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/chip/soc.h"
#include "core/chip/soc_numbers.h"

/* ---- chips --------------------------------------------------------------------------- */

void chip_cache_free(struct chip_cache *cache) {
  for (size_t i = 0; i < cache->count; i++) {
    vinci_soc_free(cache->soc[i]);
    free(cache->name[i]);
  }
  cache->count = 0;
}

enum vinci_status chip_cache_get(struct chip_cache *cache, const char *name, const vinci_soc **out,
                                 struct vinci_diag *diag) {
  *out = NULL;
  for (size_t i = 0; i < cache->count; i++)
    if (strcmp(cache->name[i], name) == 0)
      *out = cache->soc[i];
  if (*out)
    return VINCI_OK;
  if (cache->count == CHIPS_MAX)
    return diag_error(diag, VINCI_E_LIMIT, "more than %d chips in one study", CHIPS_MAX);
  char *kept = strdup(name);
  if (!kept)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = vinci_soc_load(name, cache->data, &cache->soc[cache->count], diag);
  if (status != VINCI_OK) {
    free(kept);
    return status;
  }
  cache->name[cache->count] = kept;
  *out = cache->soc[cache->count++];
  return VINCI_OK;
}

enum vinci_status chip_cache_copy(struct chip_cache *cache, const char *name,
                                  const struct run_spec *spec, vinci_soc **out,
                                  struct vinci_diag *diag) {
  const vinci_soc *base;
  *out = NULL;
  enum vinci_status status = chip_cache_get(cache, name, &base, diag);
  vinci_soc *soc = status == VINCI_OK ? soc_copy(base) : NULL;
  if (status == VINCI_OK && !soc)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  for (size_t i = 0; status == VINCI_OK && i < spec->set_count; i++)
    status = vinci_soc_set(soc, spec->sets[i], diag);
  if (status == VINCI_OK)
    *out = soc;
  else
    vinci_soc_free(soc);
  return status;
}

/* ---- runs ---------------------------------------------------------------------------- */

/* An absent text stays absent. */
static bool keep_text(struct arena *arena, const char *text, const char **out) {
  *out = text ? arena_strdup(arena, text) : NULL;
  return !text || *out;
}

bool overrides_keep(const struct vinci_overrides *overrides, struct arena *arena,
                    struct run_spec *out) {
  *out = (struct run_spec){.sets = ARENA_ARRAY(arena, const char *, overrides->set_count + 1)};
  bool kept = out->sets && keep_text(arena, overrides->soc, &out->soc) &&
              keep_text(arena, overrides->memory, &out->models.memory) &&
              keep_text(arena, overrides->network, &out->models.network) &&
              keep_text(arena, overrides->l2, &out->models.l2) &&
              keep_text(arena, overrides->code, &out->models.code);
  for (size_t i = 0; kept && i < overrides->set_count; i++)
    kept = keep_text(arena, overrides->sets[i], &out->sets[out->set_count++]);
  return kept;
}

bool spec_override(struct run_spec *spec, const struct run_spec *overrides, struct arena *arena) {
  if (overrides->soc)
    spec->soc = overrides->soc;
  if (overrides->models.memory)
    spec->models.memory = overrides->models.memory;
  if (overrides->models.network)
    spec->models.network = overrides->models.network;
  if (overrides->models.l2)
    spec->models.l2 = overrides->models.l2;
  if (overrides->models.code)
    spec->models.code = overrides->models.code;
  if (overrides->max_cycles > 0)
    spec->max_cycles = overrides->max_cycles;
  if (overrides->set_count == 0)
    return true;
  const char **sets = ARENA_ARRAY(arena, const char *, spec->set_count + overrides->set_count);
  if (!sets)
    return false;
  if (spec->set_count > 0)
    memcpy(sets, spec->sets, spec->set_count * sizeof *sets);
  memcpy(sets + spec->set_count, overrides->sets, overrides->set_count * sizeof *sets);
  spec->sets = sets;
  spec->set_count += overrides->set_count;
  return true;
}

enum vinci_status spec_lacks_soc(struct vinci_diag *diag) {
  (void)diag_error(diag, VINCI_E_USAGE, "which chip? Its name is missing");
  diag_hint(diag, "soc names the chip; 'vinci soc list' shows the names");
  return VINCI_E_USAGE;
}

enum vinci_status spec_load_soc(const struct run_spec *spec, const char *data, vinci_soc **out,
                                struct vinci_diag *diag) {
  *out = NULL;
  if (!spec->soc)
    return spec_lacks_soc(diag);
  enum vinci_status status = vinci_soc_load(spec->soc, data, out, diag);
  for (size_t i = 0; status == VINCI_OK && i < spec->set_count; i++)
    status = vinci_soc_set(*out, spec->sets[i], diag);
  if (status != VINCI_OK) {
    vinci_soc_free(*out);
    *out = NULL;
  }
  return status;
}

unsigned workload_jobs(unsigned given, unsigned most) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned usual = processors > 0 ? (unsigned)processors : 1;
  return given ? given : usual < most ? usual : most;
}

/* ---- names of parameters ------------------------------------------------------------- */

enum vinci_status workload_check_key(const vinci_soc *soc, const char *key,
                                     struct vinci_diag *diag) {
  char present[SOC_KEY_MAX];
  if (soc_setting_text(soc, key, present, sizeof present))
    return VINCI_OK;
  const char *nearest = soc_param_nearest(key);
  (void)diag_error(diag, VINCI_E_USAGE, "unknown parameter '%s'", key);
  if (nearest)
    diag_hint(diag, "did you mean '%s'?", nearest);
  else
    diag_hint(diag, "`vinci soc show %s` lists all parameters; op.KEY is one of the operator",
              vinci_soc_name(soc));
  return VINCI_E_USAGE;
}

/* ---- operators and traces ------------------------------------------------------------ */

static const char *operator_at(const void *context, size_t index) {
  struct vinci_op op;
  (void)context;
  return vinci_op_info(index, &op) ? op.name : NULL;
}

enum vinci_status workload_check_operator(const struct workload *workload, const char *key,
                                          struct vinci_diag *diag) {
  struct vinci_op_key info;
  size_t index = 0;
  while (index < vinci_op_count() && strcmp(operator_at(NULL, index), workload->op) != 0)
    index++;
  if (index == vinci_op_count()) {
    const char *nearest = diag_nearest(workload->op, index, operator_at, NULL);
    (void)diag_error(diag, VINCI_E_USAGE, "unknown operator '%s'", workload->op);
    if (nearest)
      diag_hint(diag, "did you mean '%s'?", nearest);
    else
      diag_hint(diag, "'vinci compile --list' shows them all; a trace ends in .csv");
    return VINCI_E_USAGE;
  }
  for (size_t i = 0; key && vinci_op_key(index, i, &info); i++)
    if (strcmp(info.name, key) == 0)
      return VINCI_OK;
  if (!key)
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_USAGE, "%s has no argument '%s'", workload->op, key);
  diag_hint(diag, "'vinci compile --list %s' shows them all", workload->op);
  return VINCI_E_USAGE;
}

enum vinci_status workload_open(const struct workload *workload, const vinci_soc *soc,
                                vinci_trace **out, struct vinci_diag *diag) {
  return workload->op
             ? vinci_compile(soc, workload->op, workload->args, workload->arg_count, out, diag)
             : vinci_trace_load(workload->trace, soc, out, diag);
}

static int compare_texts(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The word of the operator with its arguments. */
static enum vinci_status digest_arguments(const struct workload *workload, uint64_t seed,
                                          uint64_t *out, struct vinci_diag *diag) {
  const char **sorted = calloc(workload->arg_count + 1, sizeof *sorted);
  if (!sorted)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (workload->arg_count > 0)
    memcpy(sorted, workload->args, workload->arg_count * sizeof *sorted);
  qsort(sorted, workload->arg_count, sizeof *sorted, compare_texts);
  *out = digest_string(seed, workload->op ? workload->op : workload->model ? "model" : "net");
  for (size_t i = 0; i < workload->arg_count; i++)
    *out = digest_string(*out, sorted[i]);
  free(sorted);
  return VINCI_OK;
}

static enum vinci_status digest_file(const char *path, uint64_t *out, struct vinci_diag *diag) {
  struct diag_position position = {.path = path};
  char block[8192];
  size_t count;
  FILE *in = fopen(path, "r");
  if (!in)
    return diag_error_at(diag, diag_status_of(errno), position, "cannot open: %s", strerror(errno));
  *out = DIGEST_SEED;
  while ((count = fread(block, 1, sizeof block, in)) > 0)
    *out = digest_bytes(*out, block, count);
  bool failed = ferror(in);
  fclose(in);
  return failed ? diag_error_at(diag, VINCI_E_IO, position, "cannot read") : VINCI_OK;
}

/* The file of what is no operator. */
static const char *file_of(const struct workload *workload) {
  return workload->net     ? workload->net
         : workload->job   ? workload->job
         : workload->model ? workload->model
                           : workload->trace;
}

enum vinci_status workload_digest(const struct workload *workload, uint64_t *out,
                                  struct vinci_diag *diag) {
  if (workload->op)
    return digest_arguments(workload, DIGEST_SEED, out, diag);
  enum vinci_status status = digest_file(file_of(workload), out, diag);
  return status == VINCI_OK && !workload->trace ? digest_arguments(workload, *out, out, diag)
                                                : status;
}

char *workload_text(const struct workload *workload, struct arena *arena) {
  const char *name = workload->op ? workload->op : file_of(workload);
  size_t length = strlen(name) + 1;
  for (size_t i = 0; i < workload->arg_count; i++)
    length += strlen(workload->args[i]) + 1;
  char *text = arena_alloc(arena, length, 1);
  if (!text)
    return NULL;
  char *end = stpcpy(text, name);
  for (size_t i = 0; i < workload->arg_count; i++)
    end = stpcpy(stpcpy(end, " "), workload->args[i]);
  return text;
}

/* ---- models ---------------------------------------------------------------------------- */

/* In the order of their enums. */
static const char *const memories[] = {
    [VINCI_MEMORY_CYCLE] = "cycle", [VINCI_MEMORY_FLAT] = "flat", [VINCI_MEMORY_AUTO] = "auto"};
static const char *const networks[] = {
    [VINCI_NETWORK_PACKET] = "packet", [VINCI_NETWORK_FLIT] = "flit"};
static const char *const l2_starts[] = {[VINCI_L2_EMPTY] = "empty",
                                        [VINCI_L2_WARM] = "warm",
                                        [VINCI_L2_STREAMING] = "streaming",
                                        [VINCI_L2_USED] = "used",
                                        [VINCI_L2_DIRTY] = "dirty"};

/* What instruction caches hold of the code of kernels: nothing, or all that has room. */
enum { CODE_COLD, CODE_WARM, CODE_DEVICE, CODE_STATES };
static const char *const code_starts[CODE_STATES] = {
    [CODE_COLD] = "cold", [CODE_WARM] = "warm", [CODE_DEVICE] = "device"};
static const uint32_t code_found[CODE_STATES] = {
    [CODE_WARM] = VINCI_CODE_WARM, [CODE_DEVICE] = VINCI_CODE_DEVICE};

static const char l2_prefix[] = " l2=", code_prefix[] = " code=";

const char **workload_model(struct workload_models *models, const char *word) {
  return strcmp(word, "memory") == 0    ? &models->memory
         : strcmp(word, "network") == 0 ? &models->network
         : strcmp(word, "l2") == 0      ? &models->l2
         : strcmp(word, "code") == 0    ? &models->code
                                        : NULL;
}

/* Index of a word, or the count. */
static size_t find_word(const char *const *words, size_t count, const char *word) {
  size_t i = 0;
  while (i < count && strcmp(words[i], word) != 0)
    i++;
  return i;
}

static enum vinci_status choose(const char *what, const char *given, const char *const *words,
                                size_t count, size_t *choice, struct vinci_diag *diag) {
  *choice = find_word(words, count, given);
  if (*choice < count)
    return VINCI_OK;
  char list[128] = "";
  size_t used = 0;
  for (size_t i = 0; i < count && used < sizeof list; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                             i == 0          ? ""
                             : i + 1 < count ? ", "
                                             : " or ",
                             words[i]);
  return diag_error(diag, VINCI_E_USAGE, "%s is %s, not '%s'", what, list, given);
}

enum vinci_status workload_choose(const struct workload_models *models,
                                  struct vinci_run_options *options, struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  size_t choice;
  if (models->memory) {
    status = choose("memory", models->memory, memories, sizeof memories / sizeof *memories, &choice,
                    diag);
    if (status == VINCI_OK)
      options->memory = (enum vinci_memory)choice;
  }
  if (status == VINCI_OK && models->network) {
    status = choose("network", models->network, networks, sizeof networks / sizeof *networks,
                    &choice, diag);
    if (status == VINCI_OK)
      options->network = (enum vinci_network)choice;
  }
  if (status == VINCI_OK && models->l2) {
    status =
        choose("l2", models->l2, l2_starts, sizeof l2_starts / sizeof *l2_starts, &choice, diag);
    if (status == VINCI_OK)
      options->l2_start = (enum vinci_l2)choice;
  }
  if (status == VINCI_OK && models->code) {
    status = choose("code", models->code, code_starts, CODE_STATES, &choice, diag);
    if (status == VINCI_OK)
      options->code_found_ppm = code_found[choice];
  }
  return status;
}

bool workload_l2_warning(const char *const *keys, size_t count, const char *assumed, char *text,
                         size_t size) {
  for (size_t i = 0; assumed && strcmp(assumed, "empty") != 0 && i < count; i++) {
    if (strncmp(keys[i], "l2.", strlen("l2.")) != 0)
      continue;
    snprintf(text, size,
             "%.*s is varied, and what lies in L2 at the start is assumed (%s): a larger L2 "
             "keeps more of the inputs, and what it has to write back stays the same; l2=empty "
             "assumes nothing",
             (int)strcspn(keys[i], "="), keys[i], assumed);
    return true;
  }
  return false;
}

/* An empty L2 and cold code are not mentioned: digests of before there was a choice stay what they
 * were. */
void workload_models_text(const struct vinci_run_options *options, char *buffer, size_t size) {
  bool empty = options->l2_start == VINCI_L2_EMPTY;
  bool cold = options->code_found_ppm == 0;
  snprintf(buffer, size, "%s %s %llu%s%s%s%s", memories[options->memory],
           networks[options->network], (unsigned long long)options->max_cycles,
           empty ? "" : l2_prefix, empty ? "" : l2_starts[options->l2_start],
           cold ? "" : code_prefix,
           cold                                           ? ""
           : options->code_found_ppm == VINCI_CODE_DEVICE ? code_starts[CODE_DEVICE]
                                                          : code_starts[CODE_WARM]);
}

/* The word behind a prefix, or NULL. */
static const char *word_behind(const char *text, const char *prefix, char *word, size_t size) {
  const char *found = strstr(text, prefix);
  if (!found)
    return NULL;
  found += strlen(prefix);
  snprintf(word, size, "%.*s", (int)strcspn(found, " "), found);
  return word;
}

bool workload_models_parse(const char *text, struct vinci_run_options *options) {
  char memory[16], network[16];
  unsigned long long max_cycles;
  int length = 0;
  if (sscanf(text, "%15s %15s %llu%n", memory, network, &max_cycles, &length) < 3)
    return false;
  options->max_cycles = max_cycles;
  struct workload_models models = {.memory = memory, .network = network};
  char l2[16], code[16];
  models.l2 = word_behind(text + length, l2_prefix, l2, sizeof l2);
  models.code = word_behind(text + length, code_prefix, code, sizeof code);
  return workload_choose(&models, options, NULL) == VINCI_OK;
}
