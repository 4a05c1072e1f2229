/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a chain: steps, their operands and numbers (chain.h). */
#include <ctype.h>
#include <string.h>

#include "core/base/diag.h"
#include "lower/vector/elementwise/chain.h"

static const char cast_name[] = "cast";

bool chain_takes(const struct lower_op *op) {
  const struct vfunc *func = op->spec;
  if (op->template != &vew_template || func->inputs == 0 || func->outputs != 1)
    return false;
  bool special = func->in_place || func->casts || func->serial || func->bits || func->indexed ||
                 func->words || func->operands || (func->types & VTYPES_ANY);
  return !special && (!func->start || func->chained);
}

enum vinci_status chain_error(struct lower_job *job, const struct chain_text *text, unsigned step,
                              const char *format, ...) {
  char reason[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  return lower_error(job, "step %u, %s: %s", step + 1, text->step[step].text, reason);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Names of steps for diag_nearest(): operators that can be one, then the cast. */
static const char *step_name(const void *context, size_t index) {
  (void)context;
  if (index == lower_op_count())
    return cast_name;
  return chain_takes(lower_op(index)) ? lower_op(index)->name : NULL;
}

static enum vinci_status find_op(struct lower_job *job, const struct chain_text *text,
                                 struct chain_step *step, const char *name) {
  if (strcmp(name, cast_name) == 0)
    return VINCI_OK;
  step->op = lower_find(name);
  if (step->op && chain_takes(step->op))
    return VINCI_OK;
  const char *near = diag_nearest(name, lower_op_count() + 1, step_name, NULL);
  const char *reason = step->op ? "the operator '%s' is not elementwise with one result%s%s%s"
                                : "unknown operator '%s'%s%s%s";
  return chain_error(job, text, text->steps, reason, name, near ? ", did you mean '" : "",
                     near ? near : "", near ? "'?" : "");
}

/* The number of "x", "x0" .. "x5"; -1: no input. */
static int input_of(const char *word) {
  if (*word != 'x')
    return -1;
  if (word[1] == '\0')
    return 0;
  bool digit = word[1] >= '0' && word[1] < '0' + VFUNC_INPUTS && word[2] == '\0';
  return digit ? word[1] - '0' : -1;
}

/* The value of a name, or -1. */
static int value_of(const struct chain_text *text, const char *word) {
  int input = input_of(word);
  for (unsigned i = 0; input < 0 && i < text->steps; i++)
    if (text->step[i].name && strcmp(text->step[i].name, word) == 0)
      return (int)(VFUNC_INPUTS + i);
  return input;
}

static bool is_name(const char *word) {
  if (!isalpha((unsigned char)*word) && *word != '_')
    return false;
  for (; *word; word++)
    if (!isalnum((unsigned char)*word) && *word != '_')
      return false;
  return true;
}

static bool is_number(const char *word) {
  word += *word == '-' || *word == '+';
  word += *word == '.';
  return *word >= '0' && *word <= '9';
}

/* ---- parts of a step ------------------------------------------------------------------------- */

/* A key of an operator that a step may set. */
static bool is_setting(const struct lower_key *key) {
  return !key->tiling && (key->kind == LOWER_NUMBER || key->kind == LOWER_WORD);
}

static enum vinci_status add_arg(struct lower_job *job, struct chain_step *step, const char *key,
                                 const char *value) {
  char arg[256];
  snprintf(arg, sizeof arg, "%s=%s", key, value);
  step->args[step->arg_count] = arena_strdup(job->arena, arg);
  return step->args[step->arg_count++] ? VINCI_OK
                                       : diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
}

/* A number belongs to the next key of the operator that is a number. */
static enum vinci_status read_number(struct lower_job *job, const struct chain_text *text,
                                     struct chain_step *step, const char *word) {
  unsigned before = step->arg_count;
  for (size_t i = 0; i < step->op->key_count; i++) {
    const struct lower_key *key = &step->op->keys[i];
    if (key->tiling || key->kind != LOWER_NUMBER || before-- > 0)
      continue;
    return add_arg(job, step, key->name, word);
  }
  return chain_error(job, text, text->steps, "'%s' is one more number than %s takes", word,
                     step->op->name);
}

static enum vinci_status read_setting(struct lower_job *job, const struct chain_text *text,
                                      struct chain_step *step, char *word) {
  char *equals = strchr(word, '=');
  *equals = '\0';
  for (size_t i = 0; i < step->op->key_count; i++)
    if (is_setting(&step->op->keys[i]) && strcmp(step->op->keys[i].name, word) == 0)
      return add_arg(job, step, word, equals + 1);
  return chain_error(job, text, text->steps, "%s has no number or word '%s'", step->op->name, word);
}

static enum vinci_status read_operand(struct lower_job *job, struct chain_text *text,
                                      struct chain_step *step, const char *word) {
  int value = value_of(text, word);
  if (value < 0)
    return chain_error(job, text, text->steps,
                       "there is no '%s': operands are x, x1 to x%d, and names of earlier results",
                       word, VFUNC_INPUTS - 1);
  if (step->operands == VFUNC_INPUTS)
    return chain_error(job, text, text->steps, "more than %d operands", VFUNC_INPUTS);
  step->operand[step->operands++] = (unsigned)value;
  return VINCI_OK;
}

static enum vinci_status read_word(struct lower_job *job, struct chain_text *text,
                                   struct chain_step *step, char *word) {
  if (!step->op && step->to == DTYPE_COUNT && value_of(text, word) < 0) {
    step->to = dtype_by_name(word);
    return step->to < DTYPE_COUNT ? VINCI_OK
                                  : chain_error(job, text, text->steps, "no data type '%s'", word);
  }
  if (!step->op || (!strchr(word, '=') && !is_number(word)))
    return read_operand(job, text, step, word);
  if (step->arg_count == CHAIN_ARGS)
    return chain_error(job, text, text->steps, "more than %d numbers", CHAIN_ARGS);
  return strchr(word, '=') ? read_setting(job, text, step, word)
                           : read_number(job, text, step, word);
}

/* Where one operand is missing, the first is what the step before has made; at the start, x. */
static enum vinci_status complete(struct lower_job *job, const struct chain_text *text,
                                  struct chain_step *step) {
  const struct vfunc *func = step->op ? step->op->spec : NULL;
  unsigned wanted = func ? func->inputs : 1;
  if (!func && step->to == DTYPE_COUNT)
    return chain_error(job, text, text->steps, "a type is missing, as in cast:fp32");
  if (step->operands + 1 == wanted) {
    memmove(step->operand + 1, step->operand, step->operands++ * sizeof *step->operand);
    step->operand[0] = text->steps ? VFUNC_INPUTS + text->steps - 1 : 0;
  }
  if (step->operands != wanted)
    return chain_error(job, text, text->steps,
                       "%u operands, not %u; the first may be left out: that is the result before",
                       wanted, step->operands);
  return VINCI_OK;
}

static enum vinci_status read_name(struct lower_job *job, const struct chain_text *text,
                                   struct chain_step *step, const char *name) {
  if (!is_name(name) || input_of(name) >= 0)
    return chain_error(job, text, text->steps, "'%s' is not a name for a result", name);
  if (value_of(text, name) >= 0)
    return chain_error(job, text, text->steps, "the name '%s' is given twice", name);
  step->name = name;
  return VINCI_OK;
}

/* The end of a word, which becomes a zero; the start of the next, or NULL. */
static char *cut(char *word, char at) {
  char *end = strchr(word, at);
  if (end)
    *end++ = '\0';
  return end;
}

static enum vinci_status read_step(struct lower_job *job, struct chain_text *text, char *words) {
  struct chain_step *step = &text->step[text->steps];
  *step = (struct chain_step){.to = DTYPE_COUNT};
  step->text = arena_strdup(job->arena, words);
  if (!step->text)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  char *next = cut(words, ':'), *equals = cut(words, '=');
  enum vinci_status status = equals ? read_name(job, text, step, words) : VINCI_OK;
  if (status == VINCI_OK)
    status = find_op(job, text, step, equals ? equals : words);
  while (status == VINCI_OK && next) {
    char *word = next;
    next = cut(word, ':');
    status = read_word(job, text, step, word);
  }
  if (status == VINCI_OK)
    status = complete(job, text, step);
  text->steps++;
  return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* y, y1 and y2; without a y, the last result. */
static enum vinci_status find_outputs(struct lower_job *job, struct chain_text *text) {
  static const char *const names[VFUNC_OUTPUTS] = {"y", "y1", "y2"};
  int last = (int)(VFUNC_INPUTS + text->steps) - 1;
  for (unsigned k = 0; k < VFUNC_OUTPUTS; k++) {
    int value = value_of(text, names[k]);
    if (k == 0 && value < 0)
      value = last;
    if (value >= 0 && text->outputs < k)
      return lower_error(job, "there is a result %s, but no %s", names[k], names[k - 1]);
    if (value < 0)
      continue;
    for (unsigned i = 0; i < k; i++)
      if ((int)text->output[i] == value)
        return lower_error(job, "a result is missing: the last step is %s", names[k]);
    text->output[text->outputs++] = (unsigned)value;
  }
  return VINCI_OK;
}

static enum vinci_status all_used(struct lower_job *job, struct chain_text *text) {
  bool used[CHAIN_VALUES] = {false};
  for (unsigned i = 0; i < text->steps; i++)
    for (unsigned k = 0; k < text->step[i].operands; k++)
      used[text->step[i].operand[k]] = true;
  for (unsigned k = 0; k < text->outputs; k++)
    used[text->output[k]] = true;
  for (unsigned i = 0; i < text->steps; i++)
    if (!used[VFUNC_INPUTS + i])
      return chain_error(job, text, i, "nothing uses the result");
  for (unsigned k = 0; k < VFUNC_INPUTS; k++)
    text->inputs = used[k] ? k + 1 : text->inputs;
  for (unsigned k = 0; k < text->inputs; k++)
    if (!used[k])
      return lower_error(job, "no step uses the input x%u, but x%u is used", k, text->inputs - 1);
  return VINCI_OK;
}

enum vinci_status chain_read(struct lower_job *job, const char *text, struct chain_text *out) {
  char *next = arena_strdup(job->arena, text);
  enum vinci_status status = VINCI_OK;
  if (!next)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  *out = (struct chain_text){.steps = 0};
  while (status == VINCI_OK && next) {
    char *words = next;
    next = cut(words, ',');
    if (out->steps == CHAIN_STEPS)
      return lower_error(job, "a chain has at most %d steps", CHAIN_STEPS);
    status = read_step(job, out, words);
  }
  if (status == VINCI_OK)
    status = find_outputs(job, out);
  return status == VINCI_OK ? all_used(job, out) : status;
}
