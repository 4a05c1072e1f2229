/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain: elementwise operators as one kernel (chain.h). Each step is the table of its operator, on
 * registers of its own. One type is computed in: fp16, int32 or int16 where all inputs have that
 * type and all steps compute in it, else fp32, in which intermediate values stay as they are. Casts
 * between floating-point types are therefore free, and round where a result goes out.
 */
#include <string.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "lower/vector/elementwise/chain.h"

#define TYPES "fp16|bf16|fp32|int32|int16|int8|uint8"
#define OTHER_SHAPE(k_) LOWER_KEY("shape" #k_, SHAPE, "", NULL, "extents of x" #k_ "; those of x")
#define OTHER_TYPE(k_) LOWER_KEY("dtype" #k_, DTYPE, "", TYPES, "type of x" #k_ "; that of x")

static const struct lower_key keys[] = {
    LOWER_KEY("steps", TEXT, NULL, NULL,
              "[name=]operator[:operand..][:number..] for each step, with commas between them; an "
              "operand that is left out is the result before; results are y, y1, y2, or the last"),
    SHAPE_KEY("extents of x"),
    OTHER_SHAPE(1),
    OTHER_SHAPE(2),
    OTHER_SHAPE(3),
    OTHER_SHAPE(4),
    OTHER_SHAPE(5),
    DTYPE_KEY("fp16", TYPES, "type of x"),
    OTHER_TYPE(1),
    OTHER_TYPE(2),
    OTHER_TYPE(3),
    OTHER_TYPE(4),
    OTHER_TYPE(5),
    VTILE_KEYS_TABLE};

static bool is_byte(enum dtype type) { return type == DTYPE_INT8 || type == DTYPE_UINT8; }
static bool is_float(enum dtype type) {
  return type == DTYPE_FP16 || type == DTYPE_BF16 || type == DTYPE_FP32;
}

/* ---- types, as the operators one by one have them -------------------------------------------- */

/* The operator of a step as a request of its own, of tensors of the given types. */
static enum vinci_status request(struct lower_job *job, const struct chain_step *step,
                                 const enum dtype *types, struct lower_job *own) {
  const struct vfunc *func = step->op->spec;
  unsigned first = func->boolean & 1;
  const char *args[CHAIN_ARGS + 3] = {"shape=1"};
  char type[2][32];
  size_t count = 1;
  *own =
      (struct lower_job){.soc = job->soc, .op = step->op, .arena = job->arena, .diag = job->diag};
  for (unsigned k = first; k < first + 2 && k < step->operands; k++) {
    unsigned number = k - first;
    bool has = false;
    snprintf(type[number], sizeof type[number], number ? "dtype1=%s" : "dtype=%s",
             dtype_name(types[k]));
    for (size_t i = 0; i < step->op->key_count; i++)
      has |= strncmp(step->op->keys[i].name, type[number], strcspn(type[number], "=")) == 0 &&
             strlen(step->op->keys[i].name) == strcspn(type[number], "=");
    if (has)
      args[count++] = type[number];
  }
  for (unsigned i = 0; i < step->arg_count; i++)
    args[count++] = step->args[i];
  return lower_parse_args(own, args, count);
}

static enum vinci_status operand_types(struct lower_job *job, const struct chain *chain, unsigned i,
                                       enum dtype *types) {
  const struct chain_step *step = &chain->text.step[i];
  const struct vfunc *func = step->op ? step->op->spec : NULL;
  unsigned first = func ? func->boolean & 1u : 0;
  for (unsigned k = 0; k < step->operands; k++) {
    types[k] = chain->type[step->operand[k]];
    if (k < first && !is_byte(types[k]))
      return chain_error(job, &chain->text, i, "the condition is %s and not a byte of 0 or 1",
                         dtype_name(types[k]));
    if (k > first + 1 && types[k] != types[first])
      return chain_error(job, &chain->text, i, "operands of two types, %s and %s",
                         dtype_name(types[first]), dtype_name(types[k]));
  }
  return VINCI_OK;
}

static enum vinci_status result_type(struct lower_job *job, struct chain *chain, unsigned i) {
  const struct chain_step *step = &chain->text.step[i];
  enum dtype types[VFUNC_INPUTS], *result = &chain->type[VFUNC_INPUTS + i];
  enum vinci_status status = operand_types(job, chain, i, types);
  struct lower_job own;
  if (status != VINCI_OK)
    return status;
  *result = step->to;
  if (!step->op)
    return arch_has_dtype(job->soc->arch, step->to) &&
                   (is_float(step->to) || is_byte(step->to) || step->to == DTYPE_INT32 ||
                    step->to == DTYPE_INT16)
               ? VINCI_OK
               : chain_error(job, &chain->text, i, "a chain on %s has no type %s", job->soc->name,
                             dtype_name(step->to));
  const struct vfunc *func = step->op->spec;
  unsigned first = func->boolean & 1u;
  status = request(job, step, types, &own);
  if (status != VINCI_OK)
    return status;
  bool two = step->operands > first + 1 && types[first] != types[first + 1];
  if (two && !lower_get(&own, "dtype1"))
    return chain_error(job, &chain->text, i, "operands of two types, %s and %s",
                       dtype_name(types[first]), dtype_name(types[first + 1]));
  const struct lower_value *out = lower_get(&own, "out");
  *result = func->truth      ? DTYPE_UINT8
            : func->bytes    ? DTYPE_INT8
            : out            ? out->dtype
            : func->as_first ? types[0]
            : two            ? DTYPE_FP32
                             : types[first];
  return VINCI_OK;
}

/* ---- the type that is computed in ------------------------------------------------------------ */

/* The function of a step where values are held in a type. */
static enum vinci_status function_in(struct lower_job *job, const struct chain *chain, unsigned i,
                                     enum dtype held, struct vfunc *func,
                                     double parameter[VPARAM_MAX]) {
  const struct chain_step *step = &chain->text.step[i];
  enum dtype types[VFUNC_INPUTS];
  struct lower_job own;
  for (unsigned k = 0; k < step->operands; k++)
    types[k] = chain->type[step->operand[k]];
  enum vinci_status status = request(job, step, types, &own);
  if (status != VINCI_OK)
    return status;
  for (size_t k = 0; k < own.op->key_count; k++) {
    const char *name = own.op->keys[k].name;
    if (strcmp(name, "dtype") == 0 && !is_byte(own.value[k].dtype))
      own.value[k].dtype = held;
    if (strcmp(name, "dtype1") == 0)
      own.value[k].present = false;
  }
  *func = *(const struct vfunc *)step->op->spec;
  status = func->choose ? func->choose(&own, func) : VINCI_OK;
  if (status != VINCI_OK)
    return status;
  if (func->chained)
    func->steps = func->chained;
  for (unsigned k = 0; func->parameters && func->parameters[k] && status == VINCI_OK; k++) {
    parameter[k] = lower_get(&own, func->parameters[k])->number;
    status = lower_fits(&own, func->parameters[k], held, parameter[k]);
  }
  if (func->numbers)
    func->numbers(&own, parameter);
  return status;
}

/* Logic on bytes is in fp16 whatever the chain computes in. */
static bool on_bytes(const struct vfunc *func) { return func->types == VTYPES_BYTES; }

/* Whether a step computes in a type that is not fp32. */
static bool step_in(struct lower_job *job, const struct chain *chain, unsigned i, enum dtype type) {
  const struct chain_step *step = &chain->text.step[i];
  struct vinci_diag none = {0};
  struct lower_job quiet = *job;
  struct vfunc func;
  double parameter[VPARAM_MAX] = {0};
  quiet.diag = &none;
  if (!step->op)
    return step->to == type;
  return function_in(&quiet, chain, i, type, &func, parameter) == VINCI_OK &&
         (on_bytes(&func) || vew_computes_in(func.types, type));
}

static enum dtype choose_computed(struct lower_job *job, const struct chain *chain) {
  static const enum dtype narrow[] = {DTYPE_FP16, DTYPE_INT32, DTYPE_INT16};
  for (size_t n = 0; n < sizeof narrow / sizeof *narrow; n++) {
    bool all = true;
    for (unsigned k = 0; k < chain->text.inputs; k++)
      all &= is_byte(chain->type[k]) || chain->type[k] == narrow[n];
    for (unsigned i = 0; i < chain->text.steps && all; i++)
      all = step_in(job, chain, i, narrow[n]);
    if (all)
      return narrow[n];
  }
  return DTYPE_FP32;
}

/* Sums of int32 are no sums of fp32. */
static enum vinci_status check_integers(struct lower_job *job, const struct chain *chain,
                                        unsigned i, const struct vfunc *func) {
  const struct chain_step *step = &chain->text.step[i];
  for (unsigned k = 0; k < step->operands; k++) {
    enum dtype type = chain->type[step->operand[k]];
    if ((type == DTYPE_INT32 || type == DTYPE_INT16) && type != chain->computed &&
        vew_computes_in(func->types, type))
      return chain_error(
          job, &chain->text, i,
          "%s is computed in %s, which a chain cannot mix with others: end the chain "
          "there, or cast before",
          dtype_name(type), dtype_name(type));
  }
  return VINCI_OK;
}

/* ---- steps on registers ---------------------------------------------------------------------- */

static unsigned new_stored(struct chain *chain, enum dtype held) {
  unsigned id = chain->stored_count++;
  if (id == CHAIN_STORED)
    vinci_bug("a chain has too many values");
  chain->value[id] = (struct chain_stored){.held = held, .first = chain->nodes};
  return id;
}

/* A node of one operand; its result. */
static unsigned put_single(struct chain *chain, struct vstep step, unsigned of, enum dtype held) {
  struct vstep *steps = chain->single[chain->nodes];
  unsigned id = new_stored(chain, held);
  steps[0] = step;
  steps[1] = (struct vstep)END;
  chain->node[chain->nodes++] = (struct chain_node){
      .steps = steps, .operands = 1, .operand = {of}, .result = id, .type = held};
  return id;
}

/* The value, held in another type. */
static unsigned held_as(struct lower_job *job, struct chain *chain, unsigned id, enum dtype held) {
  enum dtype from = chain->value[id].held;
  if (from == held)
    return id;
  if (chain->converted[id] == 0) {
    const struct vconversion *way = vconversion(job->soc, from, held);
    if (!way)
      return CHAIN_STORED;
    chain->converted[id] =
        put_single(chain, (struct vstep)C(way->inst, way->round, Y0, X0), id, held);
  }
  return chain->converted[id];
}

static enum vinci_status no_way(struct lower_job *job, const struct chain *chain, unsigned i,
                                enum dtype from, enum dtype to) {
  return chain_error(job, &chain->text, i, "there is no conversion from %s to %s on %s",
                     dtype_name(from), dtype_name(to), job->soc->name);
}

/* Only what becomes a whole number changes; bytes of a chain in fp32 move there. */
static enum vinci_status put_cast(struct lower_job *job, struct chain *chain, unsigned i) {
  const struct chain_step *step = &chain->text.step[i];
  enum dtype from = chain->type[step->operand[0]];
  unsigned id = chain->stored[step->operand[0]];
  if (!is_byte(from) || !is_byte(step->to))
    id = held_as(job, chain, id, chain->computed);
  if (id == CHAIN_STORED)
    return no_way(job, chain, i, from, step->to);
  if (is_float(from) && !is_float(step->to))
    id = put_single(chain, (struct vstep)C("vconv_f322f32", "z", Y0, X0), id, DTYPE_FP32);
  chain->stored[VFUNC_INPUTS + i] = id;
  return VINCI_OK;
}

static enum vinci_status put_operator(struct lower_job *job, struct chain *chain, unsigned i) {
  const struct chain_step *step = &chain->text.step[i];
  struct chain_node node = {.operands = step->operands};
  struct vfunc func;
  enum vinci_status status = function_in(job, chain, i, chain->computed, &func, node.parameter);
  if (status == VINCI_OK)
    status = check_integers(job, chain, i, &func);
  if (status != VINCI_OK)
    return status;
  node.steps = func.steps;
  node.type = on_bytes(&func) ? DTYPE_FP16 : chain->computed;
  for (unsigned k = 0; k < step->operands; k++) {
    bool condition = func.boolean & 1u << k;
    node.operand[k] =
        held_as(job, chain, chain->stored[step->operand[k]], condition ? DTYPE_FP16 : node.type);
    if (node.operand[k] == CHAIN_STORED)
      return no_way(job, chain, i, chain->type[step->operand[k]], node.type);
  }
  node.result = new_stored(chain, func.truth || func.bytes ? DTYPE_FP16 : node.type);
  chain->stored[VFUNC_INPUTS + i] = node.result;
  chain->node[chain->nodes++] = node;
  return VINCI_OK;
}

/* A result is in a register of its own, from which one conversion leads to its type. */
static enum vinci_status put_output(struct lower_job *job, struct chain *chain, unsigned k) {
  unsigned value = chain->text.output[k], step = value - VFUNC_INPUTS;
  enum dtype type = chain->type[value];
  unsigned id = chain->stored[value];
  if (is_byte(type))
    id = held_as(job, chain, id, DTYPE_FP16);
  enum dtype held = id == CHAIN_STORED ? type : chain->value[id].held;
  if (id == CHAIN_STORED || (held != type && !vconversion(job->soc, held, type)))
    return no_way(job, chain, step, held, type);
  if (id < VFUNC_INPUTS || chain->value[id].output)
    id = put_single(chain, (struct vstep)S("vmuls", Y0, X0, 1), id, held);
  chain->value[id].output = true;
  chain->output[k] = id;
  return VINCI_OK;
}

/* From the types of the inputs on. */
static enum vinci_status set_types(struct lower_job *job, struct chain *chain) {
  enum vinci_status status = VINCI_OK;
  for (unsigned i = 0; i < chain->text.steps && status == VINCI_OK; i++)
    status = result_type(job, chain, i);
  if (status != VINCI_OK)
    return status;
  chain->computed = choose_computed(job, chain);
  chain->stored_count = VFUNC_INPUTS;
  for (unsigned k = 0; k < chain->text.inputs; k++) {
    enum dtype held = is_byte(chain->type[k]) ? DTYPE_FP16 : chain->computed;
    chain->stored[k] = k;
    chain->value[k].held = held;
    if (chain->type[k] != held && !vconversion(job->soc, chain->type[k], held))
      return lower_error(job, "there is no conversion from %s to %s on %s",
                         dtype_name(chain->type[k]), dtype_name(held), job->soc->name);
  }
  return VINCI_OK;
}

static enum vinci_status put_nodes(struct lower_job *job, struct chain *chain) {
  enum vinci_status status = VINCI_OK;
  for (unsigned i = 0; i < chain->text.steps && status == VINCI_OK; i++)
    status = chain->text.step[i].op ? put_operator(job, chain, i) : put_cast(job, chain, i);
  for (unsigned k = 0; k < chain->text.outputs && status == VINCI_OK; k++)
    status = put_output(job, chain, k);
  return status;
}

enum vinci_status chain_on_registers(struct lower_job *job, struct chain *chain,
                                     const struct vstep **steps, unsigned *count) {
  enum vinci_status status = set_types(job, chain);
  if (status == VINCI_OK)
    status = put_nodes(job, chain);
  for (unsigned k = 0; k < chain->text.inputs; k++)
    chain->reusable[k] &= vtile_bytes(chain->value[k].held) == vtile_bytes(chain->computed);
  return status == VINCI_OK ? chain_place(job, chain, steps, count) : status;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static enum vinci_status unused_keys(struct lower_job *job, const struct chain *chain) {
  for (size_t i = 0; i < job->op->key_count; i++) {
    const char *name = job->op->keys[i].name;
    size_t digit = strcspn(name, "12345");
    if (job->value[i].given && name[digit] && (unsigned)(name[digit] - '0') >= chain->text.inputs)
      return lower_error(job, "%s is given, but no step uses the input x%s", name, name + digit);
  }
  return VINCI_OK;
}

static enum vinci_status set_kernel(struct lower_job *job, struct chain *chain, struct vew *ew) {
  ew->type = chain->computed;
  for (unsigned k = 0; k < ew->func.inputs; k++) {
    ew->in[k].computed = chain->value[k].held;
    chain->reusable[k] =
        ew->in[k].kind == VKIND_FULL && vtile_bytes(ew->in[k].computed) == vtile_bytes(ew->type);
  }
  for (unsigned k = 0; k < ew->func.outputs; k++) {
    ew->out[k].computed = chain->value[chain->output[k]].held;
    ew->out[k].type = chain->type[chain->text.output[k]];
    ew->out[k].tile.dtype = ew->out[k].type;
  }
  return chain_place(job, chain, &ew->steps, &ew->step_count);
}

static enum vinci_status setup(struct lower_job *job) {
  struct vew *ew = vew_new(job);
  struct chain *chain = ARENA_NEW(job->arena, struct chain);
  if (!ew || !chain)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = chain_read(job, lower_get(job, "steps")->text, &chain->text);
  if (status == VINCI_OK)
    status = unused_keys(job, chain);
  if (status != VINCI_OK)
    return status;
  ew->func = (struct vfunc){.inputs = chain->text.inputs, .outputs = chain->text.outputs};
  vew_name_operands(ew);
  status = vew_read_operands(job, ew);
  for (unsigned k = 0; k < chain->text.inputs; k++)
    chain->type[k] = ew->in[k].type;
  if (status == VINCI_OK)
    status = set_types(job, chain);
  if (status == VINCI_OK)
    status = put_nodes(job, chain);
  if (status == VINCI_OK)
    status = vew_set_space(job, ew);
  return status == VINCI_OK ? set_kernel(job, chain, ew) : status;
}

static const struct lower_template template = VKERNEL_TEMPLATE(setup);

LOWER_OPERATOR(chain,
               "AddN|AccumulateNV2|FusedMulAddN|FusedMulApplyMomentum|Adam|"
               "LambApplyOptimizerAssign|LambApplyWeightAssign|SigmoidCrossEntropyWithLogits|"
               "SigmoidCrossEntropyWithLogitsGrad|ClipByNormNoDivSum",
               "y = elementwise operators one after the other, whose values stay in UB", keys,
               &template, NULL, chain_from_call)
