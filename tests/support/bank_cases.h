/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cases of the vendor's sample bank_conflict_ub: Add of 4096 fp32 (64 repeats) with its
 * operands at various places of UB, on a core of 1.8 GHz. Source: mirror-cann/asc-devkit,
 * examples/01_simd_cpp_api/05_best_practices/04_memory_access/bank_conflict_ub, which gives
 * ticks of 20 ns for 1000 Adds.
 */
#ifndef VINCI_TESTS_SUPPORT_BANK_CASES_H
#define VINCI_TESTS_SUPPORT_BANK_CASES_H

struct bank_case {
  const char *what;
  int64_t src0, src1, dst; /* addresses in UB */
  int64_t src0_block, src0_repeat;
  double ticks; /* measured */
};

enum { BANK_CASE_COUNT = 8, BANK_CASE_REPEATS = 64 };

static const struct bank_case bank_cases[BANK_CASE_COUNT] = {
    {"different groups and banks", 0, 0x10100, 0x20000, 1, 8, 2390},
    {"both sources in one bank", 0, 0x4000, 0x10000, 1, 8, 4167},
    {"both sources in one group, two banks", 0, 0x10000, 0x14100, 1, 8, 4167},
    {"source and result in one bank, aligned", 0, 0x10100, 0x4000, 1, 8, 2389},
    {"the same, shifted by 32 bytes", 0, 0x10100, 0x4020, 1, 8, 3751},
    {"result in place of a source", 0, 0x10100, 0x10100, 1, 8, 2390},
    {"one block per repeat, stride 1", 0, 0x10100, 0x10100, 0, 1, 3584},
    {"one block per repeat, stride 8", 0, 0x10100, 0x10100, 0, 8, 2389},
};

/* 1.8 GHz x 20 ns / 1000 Adds. */
static inline double bank_case_cycles(const struct bank_case *row) { return row->ticks * 0.036; }

#endif
