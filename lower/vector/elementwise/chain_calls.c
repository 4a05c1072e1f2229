/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of the vendor that are a chain of elementwise operators: updates of parameters,
 * gradients, and fusions of the graph, whose names say what they are made of
 * ("FusionOp_RealDiv_Neg").
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lower/vector/elementwise/chain.h"

enum { STEPS_BYTES = 400 };

/* Which inputs of the call are x, x1 ...: one digit each, a letter from the tenth on. Numbers that
 * the call passes as tensors of one element beyond that are constants: those of the framework's
 * defaults, since the time does not depend on them. */
static const struct chain_call {
  const char *type, *inputs, *steps;
} chain_calls[] = {
    {"FusedMulAddN", "012", "mul:x:x2,add:x1"},
    /* Variable, accumulator, rate, gradient, momentum, factor of the gradient. */
    {"FusedMulApplyMomentum", "012345", "g=mul:x3:x5,m=mul:x1:x4,y1=add:m:g,u=mul:y1:x2,y=sub:x:u"},
    /* Variable, two moments, powers of both decays, rate, decays, epsilon, gradient. */
    {"Adam", "012935",
     "a=muls:x1:0.9,b=muls:x3:0.1,y1=add:a:b,p=muls:x2:0.999,s=square:x3,q=muls:s:0.001,"
     "y2=add:p:q,r=sqrt:y2,e=adds:r:1e-8,d=div:y1:e,o=mul:d:x5,o1=div:o:x4,y=sub:x:o1"},
    /* Gradient, second and first moment, variable; decays. The public operator of the vendor
     * computes the powers of both decays for each element. */
    {"LambApplyOptimizerAssign", "012346",
     "p=mul:x1:x5,s=square:x,q=muls:s:0.001,y1=add:p:q,a=mul:x2:x4,b=muls:x:0.1,y2=add:a:b,"
     "ln:x4,muls:1,exp,muls:-1,f=adds:1,ln:x5,muls:1,exp,muls:-1,g=adds:1,"
     "n=div:y2:f,div:y1:g,sqrt,e=adds:1e-6,d=div:n:e,muls:x3:0.01,muls:1,y=add:d"},
    /* Norms of weights and of the update, rate, update, variable. */
    {"LambApplyWeightAssign", "01234", "r=div:x:x1,t=mul:r:x2,u=mul:x3:t,y=sub:x4:u"},
    {"SigmoidCrossEntropyWithLogits", "01",
     "m=maxs:x:0,p=mul:x:x1,d=sub:m:p,a=abs:x,n=neg:a,e=exp:n,o=adds:e:1,l=ln:o,y=add:d:l"},
    {"SigmoidCrossEntropyWithLogitsGrad", "012", "s=sigmoid:x,d=sub:s:x1,y=mul:d:x2"},
    {"ClipByNormNoDivSum", "0123",
     "g=greater:x:x1,s=where:g:x:x2,r=sqrt:s,t=where:g:r:x,y=max:t:x3"},
};

static bool add_input(struct lower_call *call, unsigned number, unsigned index) {
  char name[16];
  if (index >= call->input_count)
    return lower_cannot(call, "%u inputs are needed", index + 1);
  if (number == VFUNC_INPUTS)
    return lower_cannot(call, "more than %d inputs", VFUNC_INPUTS);
  const struct lower_tensor *input = &call->input[index];
  snprintf(name, sizeof name, number ? "shape%u" : "shape", number);
  lower_arg_shape(call, name, input->shape, input->rank);
  snprintf(name, sizeof name, number ? "dtype%u" : "dtype", number);
  lower_arg_dtype(call, name, input);
  return true;
}

static unsigned index_of(char letter) {
  return letter <= '9' ? (unsigned)(letter - '0') : (unsigned)(letter - 'a') + 10;
}

static bool call_known(struct lower_call *call, const struct chain_call *known) {
  lower_arg(call, "steps=%s", known->steps);
  for (unsigned i = 0; known->inputs[i]; i++)
    if (!add_input(call, i, index_of(known->inputs[i])))
      return false;
  return true;
}

/* y = x + x1 + ... */
static bool call_sum(struct lower_call *call) {
  char steps[STEPS_BYTES] = "add:x:x1";
  size_t length = strlen(steps);
  if (call->input_count < 2 || call->input_count > VFUNC_INPUTS)
    return lower_cannot(call, "2 to %d inputs can be added", VFUNC_INPUTS);
  for (unsigned i = 2; i < call->input_count; i++)
    length += (size_t)snprintf(steps + length, sizeof steps - length, ",add:x%u", i);
  lower_arg(call, "steps=%s", steps);
  for (unsigned i = 0; i < call->input_count; i++)
    if (!add_input(call, i, i))
      return false;
  return true;
}

/* ---- fusions --------------------------------------------------------------------------------- */

/* Members that are several steps; ':' alone is the next input of the fusion. */
static const struct member {
  const char *name, *steps;
  bool rest; /* a step for each input that is left */
} members[] = {
    {"AddN", "add:", true}, {"FusedMulAdd", "mul:,add:", false}, {"ReLUV2", "relu", false}};

/* The elementwise operator with that name, in whatever letter case. */
static const struct lower_op *operator_of(const char *name, size_t length) {
  char word[WORD_BYTES_MAX];
  for (size_t i = 0; i < lower_op_count(); i++)
    for (unsigned j = 0; words_nth(lower_op(i)->vendor_types, j, word); j++)
      if (strlen(word) == length && strncasecmp(word, name, length) == 0)
        return chain_takes(lower_op(i)) ? lower_op(i) : NULL;
  return NULL;
}

static bool put_text(struct chain_members *out, const char *text, size_t length) {
  if (out->length + length >= sizeof out->steps)
    return false;
  memcpy(out->steps + out->length, text, length);
  out->length += length;
  out->steps[out->length] = '\0';
  return true;
}

/* Steps, with the numbers of inputs behind each ':'. */
static bool put_steps(struct chain_members *out, const char *steps) {
  bool fits = out->length == 0 || put_text(out, ",", 1);
  for (; *steps && fits; steps++) {
    char input[16];
    int length = *steps == ':' ? snprintf(input, sizeof input, ":x%u", ++out->inputs)
                               : snprintf(input, sizeof input, "%c", *steps);
    fits = put_text(out, input, (size_t)length);
  }
  return fits;
}

static bool put_member(struct chain_members *out, const char *name, size_t letters) {
  char steps[WORD_BYTES_MAX + VFUNC_INPUTS];
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    const struct member *known = &members[i];
    if (strlen(known->name) != letters || strncmp(known->name, name, letters) != 0)
      continue;
    bool fits = put_steps(out, known->steps);
    while (known->rest && fits && out->inputs < out->most)
      fits = put_steps(out, known->steps);
    return fits;
  }
  const struct lower_op *op = operator_of(name, letters);
  if (!op)
    return false;
  int length = snprintf(steps, sizeof steps, "%s", op->name);
  for (unsigned k = 1; k < ((const struct vfunc *)op->spec)->inputs; k++)
    length += snprintf(steps + length, sizeof steps - (size_t)length, ":");
  return put_steps(out, steps);
}

bool chain_read_members(struct lower_call *call, const char *names, unsigned most,
                        struct chain_members *out) {
  *out = (struct chain_members){.most = most};
  for (const char *name = names; *name;) {
    size_t letters = strcspn(name, "_");
    if (!put_member(out, name, letters))
      return lower_cannot(call, "the member '%.*s' of the fusion is not a step of a chain",
                          (int)letters, name);
    name += letters + (name[letters] == '_');
  }
  return true;
}

static bool call_fusion(struct lower_call *call) {
  struct chain_members members_of;
  if (call->input_count == 0)
    return lower_cannot(call, "no inputs");
  if (!chain_read_members(call, call->type + sizeof CHAIN_FUSION - 1, call->input_count - 1,
                          &members_of))
    return false;
  lower_arg(call, "steps=%s", members_of.steps);
  for (unsigned i = 0; i <= members_of.inputs; i++)
    if (!add_input(call, i, i))
      return false;
  return true;
}

bool chain_from_call(struct lower_call *call) {
  if (strncmp(call->type, CHAIN_FUSION, sizeof CHAIN_FUSION - 1) == 0)
    return call_fusion(call);
  if (strcmp(call->type, "AddN") == 0 || strcmp(call->type, "AccumulateNV2") == 0)
    return call_sum(call);
  for (size_t i = 0; i < sizeof chain_calls / sizeof *chain_calls; i++)
    if (strcmp(call->type, chain_calls[i].type) == 0)
      return call_known(call, &chain_calls[i]);
  return lower_cannot(call, "no chain stands for the type");
}
