/* SPDX-License-Identifier: Apache-2.0 */
/* Levers of networks and jobs: their order, those whose run met a limit, a search that is ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/result/proven.h"
#include "core/vinci_net.h"
#include "tests/support/fixture.h"

static const char kernels[] = "graph,version=1,name=kernels\n"
                              "tensor,name=x,dtype=fp16,shape=512,io=in\n"
                              "tensor,name=h,dtype=fp16,shape=512\n"
                              "tensor,name=y,dtype=fp16,shape=512,io=out\n"
                              "kernel,name=one,op=relu,in=x,out=h,args=shape=512\n"
                              "kernel,name=two,op=relu,in=h,out=y,args=shape=512\n";
enum { KERNELS = 2, TEXT_BYTES = 4096 };

struct asked {
  size_t calls, calls_max; /* of progress; 0: any number */
  size_t all;              /* of the last call */
  size_t levers, limited;
  int64_t last_ps;
};

static bool watch(void *context, size_t done, size_t all) {
  struct asked *asked = context;
  assert_true(done <= all);
  asked->all = all;
  return asked->calls_max == 0 || ++asked->calls <= asked->calls_max;
}

static bool see(void *context, const struct vinci_proven *lever) {
  struct asked *asked = context;
  static const char limit[] = "not measured: limit: ";
  bool limited = strncmp(lever->origin, limit, sizeof limit - 1) == 0;
  if (limited)
    assert_int_equal(lever->saved_ps, 0);
  else
    assert_true(asked->limited == 0 && (asked->levers == 0 || lever->saved_ps <= asked->last_ps));
  asked->last_ps = lever->saved_ps;
  asked->levers++;
  asked->limited += limited;
  return true;
}

static enum vinci_status ask(struct asked *asked, struct vinci_diag *diag) {
  struct vinci_net_options options = {.struct_size = sizeof options,
                                      .memory = VINCI_MEMORY_FLAT,
                                      .host = "eager",
                                      .repeat = 1,
                                      .progress = watch,
                                      .progress_context = asked};
  return vinci_net_levers(fixture_shared, "kernels", kernels, sizeof kernels - 1, &options, see,
                          asked, diag);
}

static void a_search_goes_to_its_end(void **state) {
  (void)state;
  struct asked asked = {0};
  struct vinci_diag diag = {0};
  assert_int_equal(ask(&asked, &diag), VINCI_OK);
  assert_true(asked.levers > 0);
  assert_int_equal(asked.limited, 0);
  assert_true(asked.all > KERNELS); /* levers were counted, not kernels */
}

static void an_ended_search_tells_what_it_has(void **state) {
  (void)state;
  struct asked asked = {.calls_max = KERNELS}; /* the run as it is, and no lever */
  struct vinci_diag diag = {0};
  assert_int_equal(ask(&asked, &diag), VINCI_E_LIMIT);
  assert_string_equal(diag.text, "ended before all levers were measured");
  assert_int_equal(asked.levers, 1);
  assert_int_equal(asked.limited, 1);
}

static void levers_are_in_order_and_limits_behind(void **state) {
  (void)state;
  static const uint64_t us = 1000000, base = 100 * us;
  static const struct {
    uint64_t ps;
    const char *change;
  } runs[] = {{90 * us, "--a"}, {120 * us, "without --b"}, {60 * us, "--c"}, {base, "--d"}};
  struct proven_list list = {0};
  char text[TEXT_BYTES] = {0};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    struct proven lever = {.lever = "pass", .text = "with one", .origin = "measured"};
    snprintf(lever.change, sizeof lever.change, "%s", runs[i].change);
    proven_add(&list, &lever, base, runs[i].ps);
  }
  for (size_t i = 0; i <= UNPROVEN_MAX; i++)
    proven_limit(&list, &(struct proven){.lever = "pass", .text = "with another", .change = "--e"},
                 "the job takes longer than 80 hours");
  list.untried = "others";
  FILE *out = fmemopen(text, sizeof text, "w");
  assert_non_null(out);
  proven_print(&list, base, out);
  fclose(out);
  const char *wanted =
      "Levers    with one, the run takes 40.0 % less (measured: --c).\n"
      "          with one, the run takes 10.0 % less (measured: --a).\n"
      "Kept      with one, the run takes 20.0 % more (measured: without --b).\n"
      "          with another: not measured: limit: the job takes longer than 80 hours (--e).\n";
  assert_memory_equal(text, wanted, strlen(wanted));
  assert_non_null(strstr(text, "\n          and 1 more that are not measured\n"
                               "          not tried: others\n"));
  memset(text, 0, sizeof text);
  out = fmemopen(text, sizeof text, "w");
  assert_non_null(out);
  proven_put(&list, out);
  fclose(out);
  assert_non_null(strstr(text, "\"saved_us\": -20.0"));
  assert_non_null(strstr(text,
                         "\"levers_not_measured\": [\n    {\"lever\": \"pass\", \"text\": "
                         "\"with another\", \"measured\": false, \"origin\": \"not measured: "
                         "limit: the job takes longer than 80 hours\", \"change\": \"--e\"}"));
  assert_non_null(strstr(text, "\"levers_untried\": \"others\""));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_search_goes_to_its_end),
      cmocka_unit_test(an_ended_search_tells_what_it_has),
      cmocka_unit_test(levers_are_in_order_and_limits_behind),
  };
  return cmocka_run_group_tests_name("levers", tests, fixture_set_up, fixture_tear_down);
}
