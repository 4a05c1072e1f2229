/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of values of vector instructions: a UB, its elements, and execution on that UB. */
#ifndef VINCI_TESTS_SUPPORT_VECTOR_VALUES_H
#define VINCI_TESTS_SUPPORT_VECTOR_VALUES_H

#include "core/base/number.h"
#include "core/machine/values.h"
#include "tests/support/units.h"

/* Where usual() puts operands. */
enum { SRC0 = 0, SRC1 = 0x1000, DST = 0x2000, UB_BYTES = 64 * 1024 };

static _Alignas(64) uint8_t ub[UB_BYTES];
static struct value_core core;

static inline int values_set_up(void **state) {
  (void)state;
  memset(ub, 0, sizeof ub);
  core = (struct value_core){.bytes[SPACE_UB] = ub};
  return 0;
}

static inline void execute(const struct inst *inst) {
  struct vinci_soc *soc = test_soc();
  soc->ub_bytes = UB_BYTES;
  registry_values((enum isa_op)inst->op)(soc, inst, &core);
}

static inline float fp32_at(unsigned address) { return load_fp32(ub + address); }
static inline unsigned u16_at(unsigned address) { return load_u16(ub + address); }
static inline uint32_t u32_at(unsigned address) { return load_u32(ub + address); }

static inline void put_fp32(unsigned address, const float *values, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    store_fp32(ub + address + 4 * i, values[i]);
}

static inline void put_u16(unsigned address, const uint16_t *values, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    store_u16(ub + address + 2 * i, values[i]);
}

static inline void put_fp16(unsigned address, const float *values, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    store_u16(ub + address + 2 * i, fp16_from_fp32(values[i]));
}

static inline void set_if(struct inst *inst, const char *name, int64_t value) {
  int index = isa_arg_find(isa_row((enum isa_op)inst->op), name, strlen(name));
  if (index >= 0)
    inst->arg[index] = value;
}

/* One repeat, at the usual places. */
static inline struct inst usual(enum isa_op op, enum dtype type) {
  struct inst inst = test_inst(op, type);
  set_if(&inst, "src", SRC0);
  set_if(&inst, "src0", SRC0);
  set_if(&inst, "src1", SRC1);
  set_if(&inst, "dst", DST);
  set_if(&inst, "repeat", 1);
  return inst;
}

static inline void execute_usual(enum isa_op op, enum dtype type) {
  struct inst inst = usual(op, type);
  execute(&inst);
}

static inline struct vector_mask first_lanes(uint64_t count) {
  return (struct vector_mask){.low = (UINT64_C(1) << count) - 1};
}

#endif
