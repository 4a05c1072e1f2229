/* SPDX-License-Identifier: Apache-2.0 */
/* `make accuracy`, banks of UB: an Add with its operands at various places, as a table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/isa/inst.h"
#include "core/vinci.h"
#include "tests/support/bank_cases.h"

static const double limit = 0.03;

static void set_operand(struct inst *inst, const char *name, int64_t value) {
  int index = isa_arg_find(isa_row((enum isa_op)inst->op), name, strlen(name));
  if (index >= 0)
    inst->arg[index] = value;
}

static struct inst_cost cost_of(const vinci_soc *soc, const struct bank_case *row) {
  struct inst inst = {.op = OP_VADD, .mask = {.low = UINT64_MAX, .high = UINT64_MAX}};
  const struct isa_row *add = isa_row(OP_VADD);
  for (unsigned i = 0; i < add->arg_count; i++)
    if (add->arg[i].has_default)
      inst.arg[i] = add->arg[i].default_value;
  inst.arg[add->type_arg] = DTYPE_FP32;
  set_operand(&inst, "repeat", BANK_CASE_REPEATS);
  set_operand(&inst, "src0", row->src0);
  set_operand(&inst, "src1", row->src1);
  set_operand(&inst, "dst", row->dst);
  set_operand(&inst, "src0_block", row->src0_block);
  set_operand(&inst, "src0_repeat", row->src0_repeat);
  struct inst_cost cost;
  registry_cost(OP_VADD)(soc, &inst, &cost);
  return cost;
}

int main(void) {
  const char *root = getenv("TESTS_SRCDIR");
  char data[4096];
  snprintf(data, sizeof data, "%s/scripts", root ? root : ".");
  vinci_soc *soc = NULL;
  struct vinci_diag diag = {0};
  if (vinci_soc_load("Ascend910B3", data, &soc, &diag) != VINCI_OK) {
    vinci_diag_print(&diag, stderr);
    return EXIT_FAILURE;
  }
  int missed = 0;
  printf("Add of 64 repeats, isolated, Ascend910B3, operands in UB (vendor's sample "
         "bank_conflict_ub)\n%-38s %9s %9s %6s %6s\n",
         "case", "measured", "simulated", "group", "bank");
  for (unsigned i = 0; i < BANK_CASE_COUNT; i++) {
    struct inst_cost cost = cost_of(soc, &bank_cases[i]);
    double error = (double)cost.latency_cycles / bank_case_cycles(&bank_cases[i]) - 1;
    int beyond = fabs(error) > limit;
    missed += beyond;
    printf("%-38s %9.1f %9llu %6llu %6llu  %+5.1f %%  within %.0f %%: %s\n", bank_cases[i].what,
           bank_case_cycles(&bank_cases[i]), (unsigned long long)cost.latency_cycles,
           (unsigned long long)cost.conflict_bankgroup_cycles,
           (unsigned long long)cost.conflict_bank_cycles, 100 * error, 100 * limit,
           beyond ? "NO" : "yes");
  }
  vinci_soc_free(soc);
  return missed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
