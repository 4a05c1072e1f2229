/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the values of a chain lie. The nodes are walked from the last to the first, so that a
 * result's register is known before its operands': an operand that dies in a node takes the place
 * of the result, if the node's table lets them share, or else a register in which nothing lives.
 * The registers of results hold other values before their own, those of inputs after their last
 * use.
 */
#include <string.h>

#include "core/base/diag.h"
#include "lower/vector/elementwise/chain.h"

enum { TEMPORARIES = VREGS - T0, TABLE_TEMPORARIES = T3 - T0 + 1 };

struct placing {
  struct lower_job *job;
  struct chain *chain;
  uint32_t scratch; /* registers that may hold intermediate values */
  uint32_t busy;    /* those that hold a value between the node and the one behind */
  uint8_t temporary[CHAIN_STORED][TABLE_TEMPORARIES]; /* of each node */
};

static void find_lives(struct chain *chain) {
  for (unsigned n = 0; n < chain->nodes; n++) {
    const struct chain_node *node = &chain->node[n];
    for (unsigned k = 0; k < node->operands; k++)
      chain->value[node->operand[k]].last = n;
    chain->value[node->result].first = n;
  }
  for (unsigned k = 0; k < VFUNC_INPUTS; k++) {
    chain->value[k].reg = (uint8_t)(X0 + k);
    chain->value[k].placed = k < chain->text.inputs;
  }
  for (unsigned k = 0; k < chain->text.outputs; k++) {
    struct chain_stored *value = &chain->value[chain->output[k]];
    value->last = chain->nodes;
    value->reg = (uint8_t)(Y0 + k);
    value->placed = true;
  }
}

static uint32_t scratch_of(const struct chain *chain) {
  uint32_t scratch = V_ALL & ~(V(T0) - 1u);
  for (unsigned k = 0; k < chain->text.inputs; k++)
    scratch |= chain->reusable[k] ? V(X0 + k) : 0;
  for (unsigned k = 0; k < chain->text.outputs; k++)
    if (vtile_bytes(chain->value[chain->output[k]].held) == vtile_bytes(chain->computed))
      scratch |= V(Y0 + k);
  return scratch;
}

/* Whether a node's result may lie where an operand did: nothing reads that behind the first step
 * that writes the result, and both have elements of one size. */
static bool may_share(const struct chain *chain, unsigned n, unsigned operand) {
  const struct chain_node *node = &chain->node[n];
  uint32_t operands = 0;
  bool written = false;
  if (chain->value[node->result].held != chain->value[operand].held)
    return false;
  for (unsigned k = 0; k < node->operands; k++)
    operands |= node->operand[k] == operand ? V(X0 + k) : 0;
  for (const struct vstep *step = node->steps; step->form != VFORM_END; step++) {
    if (written && (vstep_reads(step) & operands))
      return false;
    written |= step->dst == Y0;
  }
  return true;
}

/* Whether a register is free for what is written in a node: of an input, once that has been used
 * for the last time. */
static bool is_free(const struct placing *p, unsigned reg, unsigned first, bool as_result) {
  if ((p->busy & V(reg)) || !(p->scratch & V(reg)))
    return false;
  if (reg > X5)
    return true;
  unsigned last = p->chain->value[reg - X0].last;
  return last < first || (as_result && last == first && may_share(p->chain, first, reg - X0));
}

/* Registers that exist anyway come before temporaries. */
static unsigned find_free(const struct placing *p, unsigned first, bool as_result, uint32_t taken) {
  for (unsigned i = 0; i < VREGS; i++) {
    unsigned reg = i <= Y2 - Y0 ? Y0 + i : i <= Y2 ? i - (Y2 - Y0 + 1) : i;
    if (!(taken & V(reg)) && is_free(p, reg, first, as_result))
      return reg;
  }
  return VREGS;
}

static enum vinci_status none_free(const struct placing *p) {
  return lower_error(p->job, "more than %d values are needed at once: make this two chains",
                     TEMPORARIES);
}

static enum vinci_status place_operands(struct placing *p, unsigned n) {
  struct chain *chain = p->chain;
  const struct chain_node *node = &chain->node[n];
  unsigned result = chain->value[node->result].reg;
  p->busy &= ~V(result);
  for (unsigned k = 0; k < node->operands; k++)
    if (node->operand[k] < VFUNC_INPUTS)
      p->busy |= V(X0 + node->operand[k]);
  for (unsigned k = 0; k < node->operands; k++) {
    struct chain_stored *value = &chain->value[node->operand[k]];
    if (value->placed)
      continue;
    bool shares = may_share(chain, n, node->operand[k]) && is_free(p, result, value->first, true);
    unsigned reg = shares ? result : find_free(p, value->first, true, V(result));
    if (reg == VREGS)
      return none_free(p);
    value->reg = (uint8_t)reg;
    value->placed = true;
    p->busy |= V(reg);
  }
  return VINCI_OK;
}

static enum vinci_status place_temporaries(struct placing *p, unsigned n) {
  const struct chain_node *node = &p->chain->node[n];
  uint32_t used = 0, taken = V(p->chain->value[node->result].reg);
  for (const struct vstep *step = node->steps; step->form != VFORM_END; step++)
    used |= V(step->dst);
  for (unsigned t = 0; t < TABLE_TEMPORARIES; t++) {
    if (!(used & V(T0 + t)))
      continue;
    unsigned reg = find_free(p, n, false, taken);
    if (reg == VREGS)
      return none_free(p);
    p->temporary[n][t] = (uint8_t)reg;
    taken |= V(reg);
  }
  return VINCI_OK;
}

/* ---- the tables, on these registers ---------------------------------------------------------- */

static uint8_t renamed(const struct placing *p, unsigned n, uint8_t reg) {
  const struct chain_node *node = &p->chain->node[n];
  if (reg >= T0)
    return p->temporary[n][reg - T0];
  return reg <= X5 ? p->chain->value[node->operand[reg - X0]].reg
                   : p->chain->value[node->result].reg;
}

static void put_step(const struct placing *p, unsigned n, const struct vstep *from,
                     struct vstep *to) {
  const struct chain_node *node = &p->chain->node[n];
  uint32_t reads = vstep_reads(from);
  *to = *from;
  to->dst = renamed(p, n, from->dst);
  if (reads & V(from->a))
    to->a = renamed(p, n, from->a);
  if (reads & V(from->b))
    to->b = renamed(p, n, from->b);
  if (reads & V(from->c))
    to->c = renamed(p, n, from->c);
  if (from->parameter)
    to->scalar = from->scalar * node->parameter[from->parameter - 1];
  to->parameter = 0;
  if (!from->type)
    to->type = (uint8_t)(1 + node->type);
}

static enum vinci_status put_steps(const struct placing *p, const struct vstep **steps,
                                   unsigned *count) {
  const struct chain *chain = p->chain;
  unsigned total = 0;
  for (unsigned n = 0; n < chain->nodes; n++)
    for (const struct vstep *step = chain->node[n].steps; step->form != VFORM_END; step++)
      total++;
  struct vstep *all = ARENA_ARRAY(p->job->arena, struct vstep, total + 1);
  if (!all)
    return diag_error(p->job->diag, VINCI_E_NOMEM, "out of memory");
  *steps = all;
  *count = total;
  for (unsigned n = 0; n < chain->nodes; n++)
    for (const struct vstep *step = chain->node[n].steps; step->form != VFORM_END; step++)
      put_step(p, n, step, all++);
  *all = (struct vstep)END;
  return VINCI_OK;
}

enum vinci_status chain_place(struct lower_job *job, struct chain *chain,
                              const struct vstep **steps, unsigned *count) {
  struct placing *p = ARENA_NEW(job->arena, struct placing);
  enum vinci_status status = VINCI_OK;
  if (!p)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  *p = (struct placing){.job = job, .chain = chain, .scratch = scratch_of(chain)};
  find_lives(chain);
  for (unsigned k = 0; k < chain->text.outputs; k++)
    p->busy |= V(Y0 + k);
  for (unsigned n = chain->nodes; n-- > 0 && status == VINCI_OK;) {
    status = place_operands(p, n);
    if (status == VINCI_OK)
      status = place_temporaries(p, n);
  }
  return status == VINCI_OK ? put_steps(p, steps, count) : status;
}
