/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of hardware descriptions: values with units, the shipped SoCs, overrides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/diag.h"
#include "core/chip/mem.h"
#include "core/chip/soc.h"
#include "scripts/host/soc_host.h"

enum { PATH_SIZE = 4096, RANDOM_VALUES = 20000 };

static char data_dir[PATH_SIZE];

static int set_up(void **state) {
  (void)state;
  const char *source = getenv("TESTS_SRCDIR");
  snprintf(data_dir, sizeof data_dir, "%s/scripts", source && *source ? source : ".");
  return 0;
}

static vinci_soc *load(const char *name) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (vinci_soc_load(name, data_dir, &soc, &diag) != VINCI_OK)
    fail_msg("%s:%lu: %s", diag.path, diag.line, diag.text);
  return soc;
}

/* ---- values --------------------------------------------------------------------- */

static void values_parse_with_their_units(void **state) {
  (void)state;
  static const struct {
    const char *text;
    enum soc_kind kind;
    int64_t value;
  } rows[] = {
      {"24", SOC_KIND_COUNT, 24},
      {"96MiB", SOC_KIND_BYTES, INT64_C(96) << 20},
      {"1.5KiB", SOC_KIND_BYTES, 1536},
      {"7", SOC_KIND_BYTES, 7},
      {"1.65GHz", SOC_KIND_HZ, 1650000000},
      {"1650 MHz", SOC_KIND_HZ, 1650000000},
      {"1.8TB/s", SOC_KIND_BYTES_PER_SECOND, INT64_C(1800000000000)},
      {"236.287626117GB/s", SOC_KIND_BYTES_PER_SECOND, INT64_C(236287626117)},
      {"1.8e12", SOC_KIND_BYTES_PER_SECOND, INT64_C(1800000000000)},
      {"0.46us", SOC_KIND_TIME, 460000},
      {"46e-8s", SOC_KIND_TIME, 460000},
      {"0", SOC_KIND_TIME, 0},
      {"17", SOC_KIND_CYCLES, 17},
      {"17.7", SOC_KIND_MCYCLES, 17700},
      {"2.1 cycle", SOC_KIND_MCYCLES, 2100},
      {"127.9B/cycle", SOC_KIND_MBYTES_PER_CYCLE, 127900},
      {"0.77", SOC_KIND_RATIO, 770000},
      {"71%", SOC_KIND_RATIO, 710000},
      {"9223372036854775807", SOC_KIND_COUNT, INT64_MAX},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct vinci_diag diag = {0};
    int64_t value = -1;
    if (soc_parse_value(rows[i].text, rows[i].kind, &value, &diag) != VINCI_OK)
      fail_msg("%s: %s", rows[i].text, diag.text);
    assert_true(value == rows[i].value);
  }
}

static void bad_values_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    enum soc_kind kind;
    const char *message;
    const char *hint;
  } rows[] = {
      {"", SOC_KIND_COUNT, "'' is not a number", "whole number"},
      {"many", SOC_KIND_COUNT, "'many' is not a number", "whole number"},
      {"-1", SOC_KIND_COUNT, "'-1' is not a number", "whole number"},
      {".", SOC_KIND_COUNT, "'.' is not a number", "whole number"},
      {"0.5", SOC_KIND_COUNT, "'0.5' is finer than can be held", "whole number"},
      {"2.0001", SOC_KIND_MCYCLES, "'2.0001' is finer than can be held",
       "core clock cycles, to a thousandth"},
      {"96KB", SOC_KIND_BYTES, "unknown unit 'KB' in '96KB'",
       "sizes are in KiB (1024 bytes), MiB, GiB"},
      {"96 miles", SOC_KIND_BYTES, "unknown unit 'miles' in '96 miles'",
       "bytes, suffixes KiB MiB GiB"},
      {"0.46", SOC_KIND_TIME, "'0.46' needs a unit", "time, suffixes ps ns us ms"},
      {"1GiB/s", SOC_KIND_BYTES_PER_SECOND, "unknown unit 'GiB/s' in '1GiB/s'",
       "bandwidth, suffixes MB/s GB/s TB/s (powers of ten)"},
      {"9223372036854775808", SOC_KIND_COUNT,
       "'9223372036854775808' is too large or has too many digits", ""},
      {"1e60", SOC_KIND_COUNT, "'1e60' is too large or has too many digits", ""},
      {"99999999999TiB", SOC_KIND_BYTES, "'99999999999TiB' is too large or has too many digits",
       ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct vinci_diag diag = {0};
    int64_t value = 42;
    assert_int_equal(soc_parse_value(rows[i].text, rows[i].kind, &value, &diag), VINCI_E_USAGE);
    assert_string_equal(diag.text, rows[i].message);
    assert_string_equal(diag.hint, rows[i].hint);
    assert_true(value == 42);
  }
}

static void values_print_in_the_handiest_unit(void **state) {
  (void)state;
  static const struct {
    int64_t value;
    enum soc_kind kind;
    const char *text;
  } rows[] = {
      {201326592, SOC_KIND_BYTES, "192MiB"},
      {1025, SOC_KIND_BYTES, "1025B"},
      {1650000000, SOC_KIND_HZ, "1.65GHz"},
      {460000, SOC_KIND_TIME, "460ns"},
      {0, SOC_KIND_TIME, "0ps"},
      {2100, SOC_KIND_MCYCLES, "2.1"},
      {1, SOC_KIND_MBYTES_PER_CYCLE, "0.001"},
      {770000, SOC_KIND_RATIO, "0.77"},
      {800000000000, SOC_KIND_BYTES_PER_SECOND, "800GB/s"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[64];
    soc_format_value(rows[i].value, rows[i].kind, text, sizeof text);
    assert_string_equal(text, rows[i].text);
  }
}

/* xorshift64* of Vigna. */
static uint64_t next_random(uint64_t *seed) {
  *seed ^= *seed >> 12;
  *seed ^= *seed << 25;
  *seed ^= *seed >> 27;
  return *seed * UINT64_C(0x2545f4914f6cdd1d);
}

static void printed_values_parse_back(void **state) {
  (void)state;
  const char *given = getenv("VINCI_TEST_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 0) | 1 : UINT64_C(20240117);
  print_message("# VINCI_TEST_SEED=%llu\n", (unsigned long long)seed);
  for (unsigned i = 0; i < RANDOM_VALUES; i++) {
    enum soc_kind kind = (enum soc_kind)(next_random(&seed) % SOC_KINDS);
    uint64_t bits = next_random(&seed) >> (1 + next_random(&seed) % 63);
    int64_t value = (int64_t)(bits - (next_random(&seed) % 2 ? bits % 1000 : 0));
    char text[64];
    struct vinci_diag diag = {0};
    int64_t back = -1;
    soc_format_value(value, kind, text, sizeof text);
    if (soc_parse_value(text, kind, &back, &diag) != VINCI_OK || back != value)
      fail_msg("kind %d: %lld prints as %s: %s", (int)kind, (long long)value, text, diag.text);
  }
}

/* ---- the shipped descriptions --------------------------------------------------- */

static const struct known {
  const char *name;
  unsigned aic, aiv, aicore;
  uint64_t hz, vector_hz;
  uint64_t l1_kib, l0c_kib, ub_kib, bt_kib, l2_mib;
  const char *hbm_bandwidth;
  int64_t flag_ids;
} known_socs[] = {
    {"Ascend310P1", 0, 8, 10, 1060000000, 1000000000, 1024, 256, 256, 0, 16, "207.16GB/s", 8},
    {"Ascend310P3", 0, 7, 8, 1060000000, 1000000000, 1024, 256, 256, 0, 16, "207.16GB/s", 8},
    {"Ascend310P5", 0, 7, 8, 800000000, 1000000000, 1024, 256, 256, 0, 16, "207.16GB/s", 8},
    {"Ascend310P7", 0, 7, 8, 550000000, 1000000000, 1024, 256, 256, 0, 16, "207.16GB/s", 8},
    {"Ascend910A", 0, 0, 32, 1000000000, 1000000000, 1024, 256, 256, 0, 64, "1.2TB/s", 4},
    {"Ascend910B", 0, 0, 30, 900000000, 900000000, 1024, 256, 256, 0, 64, "1.2TB/s", 4},
    {"Ascend910B1", 24, 48, 0, 1850000000, 1850000000, 512, 128, 192, 1, 192, "1.8TB/s", 8},
    {"Ascend910B2", 24, 48, 0, 1800000000, 1800000000, 512, 128, 192, 1, 192, "1.75TB/s", 8},
    {"Ascend910B2C", 24, 48, 0, 1800000000, 1800000000, 512, 128, 192, 1, 192, "1.75TB/s", 8},
    {"Ascend910B3", 20, 40, 0, 1800000000, 1800000000, 512, 128, 192, 1, 192, "1.75TB/s", 8},
    {"Ascend910B4", 20, 40, 0, 1650000000, 1650000000, 512, 128, 192, 1, 96, "800GB/s", 8},
    {"Ascend910B4-1", 20, 40, 0, 1650000000, 1650000000, 512, 128, 192, 1, 168, "1.25TB/s", 8},
    {"Ascend910PremiumA", 0, 0, 32, 1220000000, 1220000000, 1024, 256, 256, 0, 64, "1.2TB/s", 4},
    {"Ascend910ProA", 0, 0, 32, 1100000000, 1100000000, 1024, 256, 256, 0, 64, "1.2TB/s", 4},
    {"Ascend910ProB", 0, 0, 30, 1150000000, 1150000000, 1024, 256, 256, 0, 64, "1.2TB/s", 4},
    {"Ascend910_9362", 20, 40, 0, 1650000000, 1650000000, 512, 128, 192, 1, 168, "1.6TB/s", 8},
    {"Ascend910_9363", 20, 40, 0, 1650000000, 1650000000, 512, 128, 192, 1, 168, "800GB/s", 8},
    {"Ascend910_9372", 20, 40, 0, 1800000000, 1800000000, 512, 128, 192, 1, 192, "1.6TB/s", 8},
    {"Ascend910_9381", 24, 48, 0, 1800000000, 1800000000, 512, 128, 192, 1, 192, "1.6TB/s", 8},
    {"Ascend910_9382", 24, 48, 0, 1800000000, 1800000000, 512, 128, 192, 1, 192, "1.6TB/s", 8},
    {"Ascend910_9391", 24, 48, 0, 1850000000, 1850000000, 512, 128, 192, 1, 192, "1.6TB/s", 8},
    {"Ascend910_9392", 24, 48, 0, 1850000000, 1850000000, 512, 128, 192, 1, 192, "1.6TB/s", 8},
    {"Ascend950PR_9579", 28, 56, 0, 1650000000, 1650000000, 512, 256, 248, 4, 128, "1.6TB/s", 8},
    {"Ascend950PR_9589", 32, 64, 0, 1650000000, 1650000000, 512, 256, 248, 4, 128, "1.6TB/s", 8},
    {"Ascend950PR_9599", 36, 72, 0, 1800000000, 1800000000, 512, 256, 248, 4, 128, "1.6TB/s", 8},
};
enum { KNOWN_COUNT = sizeof known_socs / sizeof *known_socs };

static void the_list_names_the_socs_and_no_bases(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  struct soc_names names;
  assert_int_equal(soc_host_list(data_dir, &names, &diag), VINCI_OK);
  assert_int_equal(names.count, KNOWN_COUNT);
  for (size_t i = 0; i < KNOWN_COUNT; i++)
    assert_string_equal(names.items[i], known_socs[i].name);
  soc_names_free(&names);
}

static void shipped_numbers_are_the_published_ones(void **state) {
  (void)state;
  for (size_t i = 0; i < KNOWN_COUNT; i++) {
    const struct known *row = &known_socs[i];
    vinci_soc *soc = load(row->name);
    assert_string_equal(vinci_soc_name(soc), row->name);
    assert_int_equal(soc_core_count(soc, CORE_AIC), row->aic);
    assert_int_equal(soc_core_count(soc, CORE_AIV), row->aiv);
    assert_int_equal(soc_core_count(soc, CORE_AICORE), row->aicore);
    assert_int_equal(soc_core_hz(soc, row->aicore ? CORE_AICORE : CORE_AIC), row->hz);
    assert_int_equal(soc_core_hz(soc, CORE_AIV), row->vector_hz);
    assert_int_equal(soc_space_bytes(soc, SPACE_L1), row->l1_kib << 10);
    assert_int_equal(soc_space_bytes(soc, SPACE_L0A), 64 << 10);
    assert_int_equal(soc_space_bytes(soc, SPACE_L0B), 64 << 10);
    assert_int_equal(soc_space_bytes(soc, SPACE_IDX), soc->arch == ARCH_C220 ? 16 << 10 : 0);
    assert_int_equal(soc_space_bytes(soc, SPACE_L0A_MX), soc->arch == ARCH_C310 ? 4 << 10 : 0);
    assert_int_equal(soc_space_bytes(soc, SPACE_L0B_MX), soc->arch == ARCH_C310 ? 4 << 10 : 0);
    assert_int_equal(soc_space_bytes(soc, SPACE_L0C), row->l0c_kib << 10);
    /* The platform files leave out what vector functions keep for themselves. */
    int64_t kept = soc->vf_physical > 0 ? soc->ub_reserved_bytes : 0;
    assert_int_equal(soc_space_bytes(soc, SPACE_UB) - (uint64_t)kept, row->ub_kib << 10);
    assert_int_equal(soc_space_bytes(soc, SPACE_BT), row->bt_kib << 10);
    assert_int_equal(soc->l2_bytes, row->l2_mib << 20);
    assert_int_equal(soc->flag_ids, row->flag_ids);
    assert_int_equal(soc_queue_depth(soc, PIPE_M), 32);
    char text[64];
    soc_format_value(soc->hbm_bytes_per_second, SOC_KIND_BYTES_PER_SECOND, text, sizeof text);
    assert_string_equal(text, row->hbm_bandwidth);
    vinci_soc_free(soc);
  }
}

static bool has_source(const vinci_soc *soc, const char *id) {
  for (size_t i = 0; i < soc->source_count; i++)
    if (strcmp(soc->sources[i].id, id) == 0)
      return *soc->sources[i].text != '\0';
  return false;
}

static void every_number_has_source_and_reason(void **state) {
  (void)state;
  for (size_t i = 0; i < KNOWN_COUNT; i++) {
    vinci_soc *soc = load(known_socs[i].name);
    for (size_t p = 0; p < soc_param_count(); p++) {
      const struct soc_provenance *provenance = &soc->provenance[p];
      if (!provenance->given) {
        assert_true(soc_param(p)->optional && soc_get(soc, p) == 0);
        continue;
      }
      assert_true(has_source(soc, provenance->source));
      if (provenance->confidence >= CONFIDENCE_DERIVED && !*provenance->note)
        fail_msg("%s: %s has no reason", soc->name, soc_param(p)->key);
    }
    vinci_soc_free(soc);
  }
}

static void parameters_have_distinct_keys(void **state) {
  (void)state;
  for (size_t i = 0; i < soc_param_count(); i++)
    assert_int_equal(soc_param_find(soc_param(i)->key), i);
  assert_int_equal(soc_param_find("l2"), soc_param_count());
  assert_int_equal(soc_param_find("vector.NONE.startup_cycles"), soc_param_count());
}

static void digest_changes_with_every_value(void **state) {
  (void)state;
  vinci_soc *soc = load("Ascend910B4");
  vinci_soc *same = load("Ascend910B4");
  uint64_t digest = soc_digest(soc);
  assert_true(digest == soc_digest(same));
  for (size_t i = 0; i < soc_param_count(); i++) {
    int64_t *value = (int64_t *)(void *)((char *)soc + soc_param(i)->offset);
    ++*value;
    if (soc_digest(soc) == digest)
      fail_msg("%s is not part of the digest", soc_param(i)->key);
    --*value;
  }
  assert_true(digest == soc_digest(soc));
  vinci_soc_free(soc);
  vinci_soc_free(same);
}

/* It is computed once; what changes the chip afterwards changes it all the same. */
static void a_digest_is_that_of_the_present_numbers(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *soc = load("Ascend910B4");
  uint64_t digest = soc_digest(soc);
  vinci_soc *copy = soc_copy(soc);
  assert_non_null(copy);
  assert_true(soc_digest(copy) == digest);
  assert_int_equal(vinci_soc_set(copy, "memory.timing.RP=15", &diag), VINCI_OK);
  uint64_t changed = soc_digest(copy);
  assert_true(changed != digest && soc_digest(copy) == changed);
  assert_int_equal(vinci_soc_set(soc, "memory.timing.RP=15", &diag), VINCI_OK);
  assert_true(soc_digest(soc) == changed);
  strcpy(soc->name, "another");
  assert_true(soc_digest(soc) != changed);
  vinci_soc_free(copy);
  vinci_soc_free(soc);
}

/* Texts that numbers share are copied once, and stay when the original goes. */
static void a_copy_has_all_sources_and_notes(void **state) {
  (void)state;
  vinci_soc *soc = load("Ascend910B4"), *same = load("Ascend910B4");
  vinci_soc *copy = soc_copy(soc);
  assert_non_null(copy);
  vinci_soc_free(soc);
  for (size_t i = 0; i < soc_param_count(); i++) {
    assert_string_equal(copy->provenance[i].source, same->provenance[i].source);
    assert_string_equal(copy->provenance[i].note, same->provenance[i].note);
  }
  vinci_soc_free(copy);
  vinci_soc_free(same);
}

/* ---- overrides ------------------------------------------------------------------- */

static void an_override_is_marked(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *soc = load("Ascend910B4");
  assert_int_equal(vinci_soc_set(soc, "l2.size=48MiB", &diag), VINCI_OK);
  assert_int_equal(vinci_soc_set(soc, "l2.size=24MiB", &diag), VINCI_OK);
  size_t index = soc_param_find("l2.size");
  assert_int_equal(soc->l2_bytes, 24 << 20);
  assert_true(soc->provenance[index].overridden);
  assert_string_equal(soc->provenance[index].source, "override");
  assert_string_equal(soc->provenance[index].note, "instead of 96MiB (documented, INI)");
  vinci_soc_free(soc);
}

static void bad_overrides_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    const char *message;
    const char *hint;
  } rows[] = {
      {"l2.size", "override 'l2.size' has no value", "write key=value, for example l2.size=96MiB"},
      {"l2.sise=1MiB", "unknown parameter 'l2.sise'", "did you mean 'l2.size'?"},
      {"path.GM_UP.peak=1", "unknown parameter 'path.GM_UP.peak'",
       "did you mean 'path.GM_UB.peak'?"},
      {"nonsense=1", "unknown parameter 'nonsense'",
       "`vinci soc show Ascend910B4` lists all parameters"},
      {"l2.size=", "l2.size: '' is not a number", "bytes, suffixes KiB MiB GiB"},
      {"l2.size=96KB", "l2.size: unknown unit 'KB' in '96KB'",
       "sizes are in KiB (1024 bytes), MiB, GiB"},
      {"memory.timing.RP=few", "memory.timing.RP: 'few' is not a number", "core clock cycles"},
      {"flag.ids=33", "flag.ids: 33 is outside 1 to 32", ""},
      {"hbm.size=9TiB", "hbm.size: 9TiB is outside 1MiB to 8TiB", ""},
      {"clock.core=1kHz", "clock.core: 1kHz is outside 1MHz to 100GHz", ""},
      {"noc.topolgy=ring", "unknown parameter 'noc.topolgy'", "did you mean 'noc.topology'?"},
      {"noc.topology=torus", "unknown topology 'torus'", "there are crossbar, mesh, ring"},
      {"noc.topology=mesh_of_a_name_that_is_longer_than_any_description_of_hardware_has",
       "noc.topology: the name is too long", ""},
      {"memory.name=hbm2e_3201", "unknown memory 'hbm2e_3201'", "did you mean 'hbm2e_3200'?"},
      {"memory.name=lpddr4x_4266", "Ascend910B4: memory 'lpddr4x_4266' has no mapping 'pair'",
       "it has bank, row"},
      {"memory.map=row", "Ascend910B4: memory 'hbm2e_3200' has no mapping 'row'",
       "it has M1, M1x16, M2, M2x16, M3, M3x16, pair"},
      {"l2.policy=mru", "Ascend910B4: unknown policy of L2 'mru'", "there are fifo, lru"},
  };
  vinci_soc *soc = load("Ascend910B4");
  uint64_t digest = soc_digest(soc);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct vinci_diag diag = {0};
    assert_int_equal(vinci_soc_set(soc, rows[i].text, &diag), VINCI_E_USAGE);
    assert_string_equal(diag.text, rows[i].message);
    assert_string_equal(diag.hint, rows[i].hint);
  }
  assert_true(digest == soc_digest(soc));
  vinci_soc_free(soc);
}

static void other_descriptions_can_be_chosen(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *soc = load("Ascend910B4");
  uint64_t digest = soc_digest(soc);
  int64_t tck_ps = soc->memory->tck_ps;
  assert_int_equal(vinci_soc_set(soc, "memory.name=hbm2_2000", &diag), VINCI_OK);
  assert_int_not_equal(soc->memory->tck_ps, tck_ps);
  assert_true(soc->choices[SOC_MEMORY].overridden && !soc->choices[SOC_TOPOLOGY].overridden);
  assert_int_equal(vinci_soc_set(soc, "memory.timing.RP=15", &diag), VINCI_OK);
  assert_int_equal(vinci_soc_set(soc, "memory.name=hbm2e_3200", &diag), VINCI_E_USAGE);
  assert_string_equal(diag.text, "another memory would undo the numbers memory.* set before");
  assert_string_equal(diag.hint, "set memory.name=hbm2e_3200 first");
  vinci_soc_free(soc);
  soc = load("Ascend910B4");
  assert_int_equal(vinci_soc_set(soc, "memory.map=M1", &diag), VINCI_OK);
  assert_true(digest != soc_digest(soc));
  assert_int_equal(vinci_soc_set(soc, "memory.map=pair", &diag), VINCI_OK);
  assert_true(digest == soc_digest(soc));
  assert_int_equal(vinci_soc_set(soc, "l2.policy=lru", &diag), VINCI_OK);
  assert_true(digest != soc_digest(soc));
  assert_int_equal(vinci_soc_set(soc, "l2.policy=fifo", &diag), VINCI_OK);
  assert_true(digest == soc_digest(soc));
  vinci_soc_free(soc);
}

static void validation_says_which_rate_to_lower(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *soc = load("Ascend910B4");
  assert_int_equal(vinci_soc_set(soc, "path.GM_L1.bytes_per_cycle=1", &diag), VINCI_OK);
  assert_int_equal(soc_validate(soc, &diag), VINCI_E_USAGE);
  assert_string_equal(diag.hint,
                      "device memory is not faster than L2: lower path.GM_L1.hbm_bytes_per_cycle");
  vinci_soc_free(soc);
}

static void validation_sees_what_no_range_can(void **state) {
  (void)state;
  static const struct {
    const char *sets[2];
    const char *message; /* NULL: legal */
  } rows[] = {
      {{"l0a.size=1000", NULL}, "Ascend910B4: L0A: the size is not a multiple of the alignment"},
      {{"bt.size=0", NULL}, "Ascend910B4: L1->BT: exists, but the buffer at one end has no size"},
      {{"path.GM_UB.bytes_per_cycle=0", NULL},
       "Ascend910B4: GM->UB: has numbers but no bytes_per_cycle"},
      {{"path.GM_UB.hbm_bytes_per_cycle=500", NULL},
       "Ascend910B4: path.GM_UB.hbm_bytes_per_cycle is 500, above the 125.6 of "
       "path.GM_UB.bytes_per_cycle"},
      {{"device.cube_cores=0", "device.vector_cores=0"},
       "Ascend910B4: device: there is neither a cube core nor a vector core"},
      {{"cube.fp16_cycles=0", NULL}, "Ascend910B4: cube: fp16 must be supported"},
      {{"l2.size=65535B", NULL},
       "Ascend910B4: l2.size: is neither 0 for no cache nor at least 64KiB"},
      {{"l2.size=64KiB", NULL}, NULL},
      {{"l2.size=0", NULL}, NULL},
      {{"path.L1_UB.bytes_per_cycle=128", NULL}, NULL},
      {{"path.L1_UB.request_bytes=128", NULL},
       "Ascend910B4: L1->UB: has numbers but no bytes_per_cycle"},
      {{"path.GM_L1.request_bytes=0", NULL},
       "Ascend910B4: GM->L1: has a spread of requests of unknown size"},
      {{"ub.banks_per_group=0", NULL}, "Ascend910B4: ub: has a port rule but no map of banks"},
      {{"ub.banks_per_group=0", "ub.reads_per_group=0"}, NULL},
      {{"ub.row_bytes=64", NULL},
       "Ascend910B4: ub.row_bytes: rows of banks must be the blocks of 32 bytes"},
      {{"l1.bank_groups=4", NULL}, "Ascend910B4: L1->L0A: is faster than the banks of L1"},
      {{"path.L1_L0A.bytes_per_cycle=512", NULL}, NULL},
      {{"l0c.banks=8", NULL},
       "Ascend910B4: cube: writes tiles faster than the banks of L0C take them"},
      {{"cube.fp16_cycles=0.5", NULL}, NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct vinci_diag diag = {0};
    vinci_soc *soc = load("Ascend910B4");
    for (size_t s = 0; s < 2 && rows[i].sets[s]; s++)
      assert_int_equal(vinci_soc_set(soc, rows[i].sets[s], &diag), VINCI_OK);
    enum vinci_status status = soc_validate(soc, &diag);
    assert_int_equal(status, rows[i].message ? VINCI_E_USAGE : VINCI_OK);
    if (rows[i].message)
      assert_string_equal(diag.text, rows[i].message);
    vinci_soc_free(soc);
  }
}

static void lines_that_are_reordered_are_no_longer_than_those_of_l2(void **state) {
  (void)state;
  struct vinci_soc soc = {.nd2nz_line_bytes = 256, .l2_line_bytes = 512};
  assert_int_equal(soc_reorder_line_bytes(&soc), 256);
  soc.l2_line_bytes = 128;
  assert_int_equal(soc_reorder_line_bytes(&soc), 128);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_parse_with_their_units),
      cmocka_unit_test(bad_values_are_refused),
      cmocka_unit_test(values_print_in_the_handiest_unit),
      cmocka_unit_test(printed_values_parse_back),
      cmocka_unit_test(the_list_names_the_socs_and_no_bases),
      cmocka_unit_test(shipped_numbers_are_the_published_ones),
      cmocka_unit_test(every_number_has_source_and_reason),
      cmocka_unit_test(parameters_have_distinct_keys),
      cmocka_unit_test(digest_changes_with_every_value),
      cmocka_unit_test(a_digest_is_that_of_the_present_numbers),
      cmocka_unit_test(a_copy_has_all_sources_and_notes),
      cmocka_unit_test(an_override_is_marked),
      cmocka_unit_test(bad_overrides_are_refused),
      cmocka_unit_test(other_descriptions_can_be_chosen),
      cmocka_unit_test(validation_says_which_rate_to_lower),
      cmocka_unit_test(validation_sees_what_no_range_can),
      cmocka_unit_test(lines_that_are_reordered_are_no_longer_than_those_of_l2),
  };
  return cmocka_run_group_tests_name("soc", tests, set_up, NULL);
}
