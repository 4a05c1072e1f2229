/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of unit functions: instructions built by operand name, and a SoC of
 * round numbers that belongs to no real part.
 */
#ifndef VINCI_TESTS_SUPPORT_UNITS_H
#define VINCI_TESTS_SUPPORT_UNITS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/chip/layout.h"
#include "core/isa/inst.h"

/* Numbers of the test SoC, in cycles or as named. */
enum {
  T_ISSUE_MCYCLES = 2100,
  T_CUBE_STARTUP = 23,
  T_VECTOR_STARTUP = 20,
  T_GM_STARTUP = 200,
  T_LOCAL_STARTUP = 2,
  T_RATE = 128, /* bytes per cycle of every path */
  T_ND2NZ_LINE = 7,
  T_L2_LINE = 512,
};

static inline struct vinci_soc *test_soc(void) {
  static struct vinci_soc soc;
  memset(&soc, 0, sizeof soc);
  soc.arch = ARCH_C220;
  soc.vector_bytes = 256;
  for (int i = 0; i < VECTOR_CLASS_COUNT; i++)
    soc.vector_class[i] = (struct vector_class_cost){.startup_mcycles = T_VECTOR_STARTUP * 1000,
                                                     .per_repeat_mcycles = (i + 1) * 500,
                                                     .minimum_mcycles = 3000};
  soc.vector_class[VECTOR_CLASS_ONE].per_repeat_mcycles = 1000;
  soc.vector_class[VECTOR_CLASS_TWO].per_repeat_mcycles = 2000;
  for (int i = 0; i < PATH_COUNT; i++) {
    bool gm = path_from((enum path)i) == SPACE_GM || path_to((enum path)i) == SPACE_GM;
    soc.path[i] =
        (struct path_cost){.mbytes_per_cycle = T_RATE * 1000,
                           .startup_mcycles = (gm ? T_GM_STARTUP : T_LOCAL_STARTUP) * 1000};
  }
  soc.scalar_issue_cycles = 1;
  soc.cube_m = 16;
  soc.cube_n = 16;
  soc.cube_k_bytes = 32;
  soc.cube_fp16_mcycles = soc.cube_int8_mcycles = soc.cube_int4_mcycles = 1000;
  soc.cube_fp32_mcycles = 2000;
  soc.cube_issue_mcycles = T_ISSUE_MCYCLES;
  soc.cube_startup_mcycles = T_CUBE_STARTUP * 1000;
  soc.nd2nz_line_mcycles = T_ND2NZ_LINE * 1000;
  soc.nd2nz_line_bytes = T_L2_LINE;
  soc.l2_line_bytes = T_L2_LINE;
  return &soc;
}

/* Sets an operand; a name the instruction lacks fails the test. */
static inline void test_set(struct inst *inst, const char *name, int64_t value) {
  int index = isa_arg_find(isa_row((enum isa_op)inst->op), name, strlen(name));
  assert_true(index >= 0);
  inst->arg[index] = value;
}

/* An instruction with default operands, all lanes active; with the type, if the instruction has
 * types. */
static inline struct inst test_inst(enum isa_op op, enum dtype type) {
  struct inst inst = {.op = (uint16_t)op, .arch = ARCH_C220};
  inst.mask = (struct vector_mask){.low = UINT64_MAX, .high = UINT64_MAX};
  const struct isa_row *row = isa_row(op);
  for (unsigned i = 0; i < row->arg_count; i++)
    if (row->arg[i].has_default)
      inst.arg[i] = row->arg[i].default_value;
  if (row->type_arg >= 0)
    inst.arg[row->type_arg] = type;
  return inst;
}

static inline struct inst_cost test_cost(const struct inst *inst) {
  struct inst_cost cost;
  memset(&cost, 0xa5, sizeof cost); /* what the function leaves out shows */
  registry_cost((enum isa_op)inst->op)(test_soc(), inst, &cost);
  return cost;
}

/* What an instruction touches through an operand; one of zero bytes if nothing. */
static inline struct inst_access test_access(const struct inst *inst, const char *name,
                                             bool write) {
  struct inst_access access[INST_ACCESS_MAX];
  int index = isa_arg_find(isa_row((enum isa_op)inst->op), name, strlen(name));
  assert_true(index >= 0);
  unsigned count = registry_access((enum isa_op)inst->op)(test_soc(), inst, access);
  assert_true(count <= INST_ACCESS_MAX);
  for (unsigned i = 0; i < count; i++)
    if (access[i].arg == index && access[i].write == write)
      return access[i];
  return (struct inst_access){.bytes = 0};
}

static inline uint64_t test_bytes(const struct inst *inst, const char *name, bool write) {
  return test_access(inst, name, write).bytes;
}

enum { READ, WRITE };

#endif
