/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of memhier/dram/hbm_rules.def in cycles, by hand; a row without such a number fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/chip/mem.h"

struct rule {
  const char *name; /* level, before, after */
  uint32_t cycles;
};

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Distinct numbers, so that none can stand for another. An ACT takes 3 cycles of the bus: LATE
 * is 2. */
static const struct mem_spec distinct = {
    .burst_cycles = 2,
    .cl_cycles = 19,
    .cwl_cycles = 7,
    .rcd_read_cycles = 23,
    .rcd_write_cycles = 17,
    .rp_cycles = 29,
    .ras_cycles = 61,
    .rc_cycles = 97,
    .ccd_s_cycles = 3,
    .ccd_l_cycles = 5,
    .rrd_s_cycles = 11,
    .rrd_l_cycles = 13,
    .faw_cycles = 53,
    .wtr_s_cycles = 31,
    .wtr_l_cycles = 37,
    .rtw_cycles = 41,
    .rtp_cycles = 43,
    .wr_cycles = 47,
    .rfc_cycles = 200,
    .act_bus_cycles = 3,
};

/* From the timing diagrams of JEDEC: a write's data end CWL + BL behind the command. */
static const struct rule by_hand[] = {
    {"pseudo read read", 3},
    {"pseudo read write", 41},
    {"pseudo write read", 7 + 2 + 31},
    {"pseudo write write", 3},
    {"group read read", 5},
    {"group read write", 41},
    {"group write read", 7 + 2 + 37},
    {"group write write", 5},
    {"bank read pre", 43},
    {"bank write pre", 7 + 2 + 47},
    {"pseudo read pre_all", 43},
    {"pseudo write pre_all", 7 + 2 + 47},
    {"group act act", 13},
    {"pseudo act act", 11},
    {"bank act act", 97},
    {"bank act pre", 61 + 2},
    {"bank act read", 23 + 2},
    {"bank act write", 17 + 2},
    {"pseudo act pre_all", 61 + 2},
    {"pseudo act refresh", 97 + 2},
    {"bank pre act", 29 - 2},
    {"pseudo pre refresh", 29},
    {"bank pre_all act", 29 - 2},
    {"pseudo pre_all refresh", 29},
    {"bank refresh act", 200 - 2},
    {"pseudo refresh pre_all", 200},
    {"pseudo refresh refresh", 200},
    {"pseudo act window of 4", 53},
};

static void every_rule_has_its_cycles(void **state) {
  (void)state;
  const struct mem_spec *mem = &distinct;
#define T(name) ((uint32_t)mem->name##_cycles)
#define LATE (T(act_bus) - 1)
  const struct rule rules[] = {
#define RULE(level, before, after, cycles) {#level " " #before " " #after, cycles},
#define WINDOW(level, command, count, cycles) {#level " " #command " window of " #count, cycles},
#include "memhier/dram/hbm_rules.def"
#undef RULE
#undef WINDOW
  };
  enum { RULES = sizeof rules / sizeof *rules, KNOWN = sizeof by_hand / sizeof *by_hand };
  for (size_t i = 0; i < RULES; i++) {
    size_t at = 0;
    while (at < KNOWN && strcmp(by_hand[at].name, rules[i].name) != 0)
      at++;
    if (at == KNOWN)
      fail_msg("rule '%s' has no number by hand here", rules[i].name);
    if (by_hand[at].cycles != rules[i].cycles)
      fail_msg("rule '%s' is %u cycles, not %u", rules[i].name, rules[i].cycles,
               by_hand[at].cycles);
  }
  assert_int_equal(RULES, KNOWN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_rule_has_its_cycles),
  };
  return cmocka_run_group_tests_name("hbm rules", tests, NULL, NULL);
}
