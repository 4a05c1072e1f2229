/* SPDX-License-Identifier: Apache-2.0 */
/* Memory descriptions: those shipped are sound, broken ones are refused with their position. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memhier/dram/hbm_map.h"
#include "scripts/host/mem_host.h"
#include "tests/support/hbm_specs.h"

static const char *data_dir(void) {
  static char path[4096];
  const char *folder = getenv("TESTS_SRCDIR");
  snprintf(path, sizeof path, "%s/scripts", folder ? folder : ".");
  return path;
}

static struct mem_spec *load(const char *name) {
  struct vinci_diag diag = {0};
  struct mem_spec *mem;
  if (mem_host_load(name, data_dir(), &mem, &diag) != VINCI_OK)
    fail_msg("%s: %s", name, diag.text);
  return mem;
}

static void every_shipped_description_loads(void **state) {
  (void)state;
  struct soc_names names;
  struct vinci_diag diag = {0};
  assert_int_equal(mem_host_list(data_dir(), &names, &diag), VINCI_OK);
  assert_true(names.count >= 6);
  for (size_t i = 0; i < names.count; i++) {
    struct mem_spec *mem = load(names.items[i]);
    assert_true(mem->map_count > 0);
    for (size_t m = 0; m < mem->map_count; m++) {
      struct hbm_map map;
      unsigned channels = strstr(mem->maps[m].name, "x16") ? 16 : 1;
      assert_int_equal(hbm_map_parse(&map, mem->maps[m].text, mem, channels, &diag), VINCI_OK);
    }
    for (size_t p = 0; p < mem_param_count(); p++)
      assert_true(mem->provenance[p].given && mem->provenance[p].source[0]);
    mem_host_free(mem);
  }
  soc_names_free(&names);
}

/* The numbers the tests use are those of the data. */
static void set_a20_is_as_the_tests_have_it(void **state) {
  (void)state;
  struct mem_spec *mem = load("hbm2_2000");
  struct mem_spec expected = hbm2_spec();
  for (size_t i = 0; i < mem_param_count(); i++)
    if (mem_get(mem, i) != mem_get(&expected, i))
      fail_msg("%s: %lld instead of %lld", mem_param(i)->key, (long long)mem_get(mem, i),
               (long long)mem_get(&expected, i));
  assert_string_equal(mem_map_text(mem, "M3"), HBM2_M3);
  assert_null(mem_map_text(mem, "M9"));
  assert_true(mem_channel_bytes(mem) == UINT64_C(512) << 20);
  mem_host_free(mem);
}

static void peaks_are_those_of_the_parts(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double stacks;
    double terabytes_per_s;
  } parts[] = {{"hbm2e_3200", 4, 1.6384}, {"hbm2e_3200", 2, 0.8192}, {"lpddr4x_4266", 1, 0.2048}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    struct mem_spec *mem = load(parts[i].name);
    double peak = parts[i].stacks * (double)mem->stack_channels * (double)mem->burst_bytes /
                  ((double)mem->burst_cycles * (double)mem->tck_ps);
    assert_true(peak > 0.995 * parts[i].terabytes_per_s && peak < 1.005 * parts[i].terabytes_per_s);
    mem_host_free(mem);
  }
}

static void overrides_are_checked(void **state) {
  (void)state;
  struct mem_spec *mem = load("hbm2_2000");
  struct vinci_diag diag = {0};
  assert_int_equal(mem_set(mem, "timing.RP=20", &diag), VINCI_OK);
  assert_int_equal(mem->rp_cycles, 20);
  assert_int_equal(mem_set(mem, "clock.tck=0.5ns", &diag), VINCI_OK);
  assert_int_equal(mem->tck_ps, 500);
  assert_int_equal(mem_set(mem, "timing.RQ=20", &diag), VINCI_E_USAGE);
  assert_non_null(strstr(diag.hint, "timing.R"));
  diag = (struct vinci_diag){0};
  assert_int_equal(mem_set(mem, "controller.drain_high=1.5", &diag), VINCI_E_USAGE);
  assert_int_equal(mem_set(mem, "timing.RP", NULL), VINCI_E_USAGE);
  assert_int_equal(mem_set(mem, "geometry.bank_groups=3", NULL), VINCI_OK);
  assert_int_equal(mem_validate(mem, NULL), VINCI_E_USAGE);
  assert_int_equal(mem_set(mem, "geometry.bank_groups=4", NULL), VINCI_OK);
  assert_int_equal(mem_validate(mem, NULL), VINCI_OK);
  assert_int_equal(mem_set(mem, "timing.REFI=500", NULL), VINCI_OK);
  assert_int_equal(mem_validate(mem, NULL), VINCI_E_USAGE);
  mem_host_free(mem);
}

static void wrong_names_say_which_are_near(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  struct mem_spec *mem;
  assert_int_equal(mem_host_load("hbm2_200", data_dir(), &mem, &diag), VINCI_E_USAGE);
  assert_non_null(strstr(diag.hint, "hbm2_2000"));
  diag = (struct vinci_diag){0};
  assert_int_equal(mem_host_load("hbm2", data_dir(), &mem, &diag), VINCI_E_USAGE);
  assert_non_null(strstr(diag.text, "base"));
  assert_int_equal(mem_host_load("sources", data_dir(), &mem, NULL), VINCI_E_USAGE);
  assert_int_equal(mem_host_load("../mem/hbm2_2000", data_dir(), &mem, NULL), VINCI_E_USAGE);
  assert_int_equal(mem_host_load("", data_dir(), &mem, NULL), VINCI_E_USAGE);
}

/* ---- broken descriptions, in a folder of their own ------------------------------------- */

static void write_file(const char *folder, const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/mem/%s.lua", folder, name);
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fputs(text, out);
  assert_int_equal(fclose(out), 0);
}

static void remove_file(const char *folder, const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  remove(path);
}

static const struct {
  const char *text;
  unsigned long line;
  const char *message;
} broken[] = {
    {"return 1\n", 0, "table"},
    {"return {}\n", 0, "memory { ... }"},
    {"return memory {\n  name = \"other\" }\n", 2, "name must be"},
    {"return memory {\n  name = \"x\", timing = { RP = 14 } }\n", 2, "num(...)"},
    {"return memory {\n  name = \"x\",\n  timing = { RQ = num(1, \"cycle\", \"S\", \"assumed\") } "
     "}\n",
     3, "unknown parameter 'timing.RQ'"},
    {"return memory {\n  name = \"x\",\n  timing = { RP = num(1, \"B\", \"S\", \"assumed\") } }\n",
     3, "unit"},
    {"return memory {\n  name = \"x\",\n  timing = { RP = num(0, \"cycle\", \"S\", \"assumed\") } "
     "}\n",
     3, "outside"},
    {"return memory {\n  name = \"x\", maps = { M = 3 } }\n", 2, "maps.M"},
    {"return memory {\n  name = \"x\", colour = 3 }\n", 2, "unknown field 'colour'"},
    {"return memory {\n  name = \"x\", base = \"x\" }\n", 0, "bases in a row"},
    {"return memory {\n  name = \"x\", base = \"none\" }\n", 0, "cannot be read"},
    {"return memory { name = \"x\" }\n", 0, "is missing"},
    {"return memory { name = \n", 0, ""},
};

static void broken_descriptions_are_refused(void **state) {
  (void)state;
  char folder[] = "test_mem.XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/soc", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(path, sizeof path, "%s/mem", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  write_file(folder, "sources", "return { S = \"a source\" }\n");
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    struct vinci_diag diag = {0};
    struct mem_spec *mem;
    write_file(folder, "x", broken[i].text);
    assert_int_equal(mem_host_load("x", folder, &mem, &diag), VINCI_E_USAGE);
    assert_null(mem);
    if (!strstr(diag.text, broken[i].message))
      fail_msg("case %zu: %s", i, diag.text);
    if (broken[i].line)
      assert_int_equal(diag.line, broken[i].line);
  }
  remove_file(folder, "mem/x.lua");
  remove_file(folder, "mem/sources.lua");
  remove_file(folder, "mem");
  remove_file(folder, "soc");
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_shipped_description_loads),
      cmocka_unit_test(set_a20_is_as_the_tests_have_it),
      cmocka_unit_test(peaks_are_those_of_the_parts),
      cmocka_unit_test(overrides_are_checked),
      cmocka_unit_test(wrong_names_say_which_are_near),
      cmocka_unit_test(broken_descriptions_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
