/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random small programs: whatever raises nothing in the checks must compute the same in every
 * order, and the checks must find the same whoever is walked first. The seed of a program that does
 * not is printed with its text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/check/check.h"
#include "tests/support/orders.h"
#include "tests/support/runs.h"

enum {
  PROGRAMS = 1500,
  OTHERS = 500,
  ORDERS = 8,
  WALKS = 3,
  TEXT_MAX = 8192,
  BUFFERS = 4,
  SIGNALS = 8
};

static uint64_t next_random(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

static unsigned pick(uint64_t *state, unsigned count) {
  return (unsigned)(next_random(state) % count);
}

static const char *const pipes[] = {"MTE2", "V", "MTE3"};

/* A barrier, or a flag of an id that the same two pipes have not used for a while. */
static int write_sync(uint64_t *state, unsigned used[3][3], char *out) {
  unsigned from = pick(state, 3), to = pick(state, 3);
  if (pick(state, 8) == 0)
    return sprintf(out, "pipe_barrier,pipe=ALL\n");
  if (from == to)
    return sprintf(out, "pipe_barrier,pipe=%s\n", pipes[from]);
  unsigned id = used[from][to]++ % 8;
  return sprintf(out, "set_flag,src=%s,dst=%s,id=%u\nwait_flag,src=%s,dst=%s,id=%u\n", pipes[from],
                 pipes[to], id, pipes[from], pipes[to], id);
}

static int write_work(uint64_t *state, char *out) {
  unsigned a = pick(state, BUFFERS) * 256, b = pick(state, BUFFERS) * 256;
  unsigned tile = pick(state, 4) * 256;
  switch (pick(state, 5)) {
  case 0:
  case 1:
    return sprintf(out, "copy_gm_to_ubuf,dst=%u,src=x+blk*1024+%u,len_burst=8\n", a, tile);
  case 2:
    return sprintf(out, "vmuls,dst=%u,src=%u,scalar=0x4000,repeat=1,type=fp16\n", a, b);
  case 3:
    return sprintf(out, "vadd,dst=%u,src0=%u,src1=%u,repeat=1,type=fp16\n", a, a, b);
  default:
    return sprintf(out, "copy_ubuf_to_gm,dst=y+blk*1024+%u,src=%u,len_burst=8\n", tile, a);
  }
}

static const char head[] = HEAD(2) "tensor,name=x,dtype=fp16,shape=1024,io=in\n"
                                   "tensor,name=y,dtype=fp16,shape=1024,io=inout\n";

static int write_loads(char *out) {
  int used = 0;
  for (unsigned i = 0; i < BUFFERS; i++)
    used += sprintf(out + used, "copy_gm_to_ubuf,dst=%u,src=x+%u,len_burst=8\n", i * 256, i * 256);
  return used + sprintf(out + used, "pipe_barrier,pipe=ALL\n");
}

static void write_program(uint64_t seed, char *text) {
  uint64_t state = seed;
  text += sprintf(text, "%s" AIV, head);
  text += write_loads(text);
  unsigned used[3][3] = {{0}};
  unsigned work = 2 + pick(&state, 8), density = pick(&state, 5);
  for (unsigned i = 0; i < work; i++) {
    text += write_work(&state, text);
    for (unsigned s = 0; s < density; s++)
      text += write_sync(&state, used, text);
  }
}

/* Integers only: sums of others depend on who was first. */
static int write_atomic(uint64_t *state, char *out) {
  static const char *const kinds[] = {"add", "add", "add", "max", "none", "s32", "s32", "s16"};
  return sprintf(out, "set_atomic_%s\n", kinds[pick(state, 8)]);
}

/* Two blocks that share a tensor; tiles in loops, with rows that only the last turn has. */
static void write_atomics(uint64_t seed, char *text) {
  uint64_t state = seed;
  text += sprintf(text, "%stensor,name=z,dtype=int32,shape=128,io=%s\n" AIV "set_atomic_s32\n",
                  head, pick(&state, 4) ? "inout" : "out");
  text += write_loads(text);
  if (pick(&state, 3))
    text += sprintf(text, "set_atomic_add\n");
  unsigned used[3][3] = {{0}};
  unsigned work = 2 + pick(&state, 6), density = pick(&state, 3), shared = 1 + pick(&state, 3);
  bool loop = pick(&state, 2), tail = loop && pick(&state, 2);
  if (loop)
    text += sprintf(text, "loop,i,2\n");
  for (unsigned i = 0; i < work; i++) {
    if (tail && i + 1 == work)
      text += sprintf(text, "loop,last,i==1\n");
    if (pick(&state, 6) == 0)
      text += write_atomic(&state, text);
    if (pick(&state, 3) < shared - 1)
      text += sprintf(text, "copy_ubuf_to_gm,dst=z+%u,src=%u,len_burst=%u\n", pick(&state, 2) * 256,
                      pick(&state, BUFFERS) * 256, 4 + 4 * pick(&state, 2));
    else
      text += write_work(&state, text);
    for (unsigned s = 0; s < density; s++)
      text += write_sync(&state, used, text);
    if (tail && i + 1 == work)
      text += sprintf(text, "endloop\n");
  }
  if (loop)
    text += sprintf(text, "pipe_barrier,pipe=ALL\nendloop\n");
}

/* What a core of a mixed kernel does: the AIC moves through L1 what the AIV moves through UB. */
static int write_move(uint64_t *state, bool cube, char *out) {
  unsigned a = pick(state, BUFFERS) * 256, tile = pick(state, 4) * 256;
  const char *place = cube ? "" : pick(state, 2) ? "+sub*1024" : "";
  const char *chip = cube ? "cbuf" : "ubuf";
  switch (pick(state, 6)) {
  case 0:
    return sprintf(out, "set_flag,src=MTE2,dst=MTE3,id=%u\nwait_flag,src=MTE2,dst=MTE3,id=%u\n",
                   a / 256, a / 256);
  case 1:
    return sprintf(out, "pipe_barrier,pipe=ALL\n");
  case 2:
    return sprintf(out, "copy_gm_to_%s,dst=%u,src=x+%u,len_burst=8\n", chip, a, tile);
  case 3:
    return sprintf(out, "copy_gm_to_%s,dst=%u,src=work+blk*2048+%u%s,len_burst=8\n", chip, a, tile,
                   place);
  case 4:
    return sprintf(out, "copy_%s_to_gm,dst=work+blk*2048+%u%s,src=%u,len_burst=8\n", chip, tile,
                   place, a);
  default:
    return sprintf(out, "copy_%s_to_gm,dst=y+blk*4096+%u%s,src=%u,len_burst=8\n", chip,
                   tile + 2048 * cube, place, a);
  }
}

/* Mixed kernels: signals between AIC and AIV, in modes 2 and 1, in the same order on both sides. */
static void write_mixed(uint64_t seed, char *text) {
  uint64_t state = seed;
  char aic[TEXT_MAX / 2], aiv[TEXT_MAX / 2], *to[2] = {aic, aiv};
  unsigned steps = 4 + pick(&state, 14), density = 1 + pick(&state, 4), id = 0;
  bool atomic = pick(&state, 2);
  for (unsigned side = 0; side < 2; side++) {
    for (unsigned i = 0; i < BUFFERS; i++)
      to[side] += sprintf(to[side], "copy_gm_to_%s,dst=%u,src=x+%u,len_burst=8\n",
                          side ? "ubuf" : "cbuf", i * 256, i * 256);
    to[side] += sprintf(to[side], "pipe_barrier,pipe=ALL\n%s",
                        atomic ? "set_atomic_s16\nset_atomic_max\n" : "");
  }
  for (unsigned i = 0; i < steps; i++) {
    unsigned side = pick(&state, 2);
    if (pick(&state, 5) >= density || id == SIGNALS) {
      to[side] += write_move(&state, side == 0, to[side]);
      continue;
    }
    bool pair = side && pick(&state, 3) == 0;
    unsigned taker = pair ? 1 : !side;
    to[side] += sprintf(to[side], "ffts_cross_core_sync,pipe=%s,mode=%u,id=%u\n",
                        pick(&state, 3) ? "MTE3" : "MTE2", pair ? 1 : 2, id);
    to[taker] += sprintf(to[taker], "wait_flag_dev,id=%u\n", id++);
  }
  sprintf(text,
          HEAD(2) "tensor,name=x,dtype=fp16,shape=1024,io=in\n"
                  "tensor,name=work,dtype=int16,shape=2048,io=%s\n"
                  "tensor,name=y,dtype=fp16,shape=4096,io=inout\nstream,core=AIC\n%s" AIV "%s",
          pick(&state, 3) ? "inout" : "workspace", aic, aiv);
}

/* Mads and fixpipes on two accumulators, with unit flags or without. */
static void write_cube(uint64_t seed, char *text) {
  uint64_t state = seed;
  text +=
      sprintf(text, HEAD(2) "tensor,name=c,dtype=fp32,shape=2x8x16x160,io=inout\n"
                            "stream,core=AIC\ncreate_ca_matrix,dst=0,blocks=1,value=0x3c003c00\n"
                            "create_cb_matrix,dst=0,blocks=10,value=0x3c003c00\n"
                            "pipe_barrier,pipe=ALL\n");
  unsigned tiles = 1 + pick(&state, 3), flags = pick(&state, 3);
  for (unsigned tile = 0; tile < tiles; tile++) {
    unsigned at = pick(&state, 2) * 16384, mads = 1 + pick(&state, 3);
    for (unsigned i = 0; i < mads; i++)
      text += sprintf(text, "mad,c=%u,a=0,b=0,m=16,k=16,n=160,init=%u,unit_flag=%u,type=fp16\n", at,
                      i == 0, flags && pick(&state, 12) ? 2 + (i + 1 == mads) : 0);
    if (pick(&state, 4) == 0 || flags == 0)
      text += sprintf(text, "set_flag,src=M,dst=FIX,id=%u\nwait_flag,src=M,dst=FIX,id=%u\n", tile,
                      tile);
    text += sprintf(text,
                    "copy_matrix_cc_to_gm,dst=c+(blk*8+%u)*10240,src=%u,n=160,m=16,dst_stride=160,"
                    "src_stride=16,unit_flag=%u,nz2nd=1,type=fp32\n",
                    pick(&state, 6) ? tile : 0, at, flags && pick(&state, 12) ? 3 : 0);
    if (pick(&state, 4) == 0)
      text += sprintf(text, "set_flag,src=FIX,dst=M,id=%u\nwait_flag,src=FIX,dst=M,id=%u\n", tile,
                      tile);
  }
}

/* The findings as text without what depends on the walk: how often, where first. */
static void describe(const vinci_findings *findings, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < findings->count && used < size; i++) {
    const struct check_finding *finding = &findings->items[i];
    used += (size_t)snprintf(text + used, size - used, "%s %u %u %s\n",
                             finding_key((enum finding_kind)finding->kind), finding->event[0].line,
                             finding->event[1].line, space_name((enum space)finding->space));
  }
}

/* Whether nothing is found; fails when another walk finds something else. */
static bool is_clean(const vinci_trace *trace, uint64_t seed, const char *text) {
  static char found[2][16384];
  for (unsigned walk = 0; walk < WALKS; walk++) {
    struct vinci_diag diag = {0};
    struct vinci_check_options options = {.struct_size = sizeof options,
                                          .walk_order_seed = walk ? seed * WALKS + walk : 0};
    vinci_findings *findings;
    enum vinci_status status = vinci_check(fixture_shared, trace, &options, &findings, &diag);
    assert_true(status == VINCI_OK || status == VINCI_E_CHECK);
    describe(findings, found[walk > 0], sizeof found[0]);
    vinci_findings_free(findings);
    if (walk > 0 && strcmp(found[0], found[1]) != 0)
      fail_msg("seed %llu: in one order of blocks and cores the checks find\n%sin another\n%s%s",
               (unsigned long long)seed, found[0], found[1], text);
  }
  return found[0][0] == '\0';
}

static void run_programs(void (*write)(uint64_t seed, char *text), unsigned programs) {
  static char text[TEXT_MAX];
  unsigned clean = 0, reported = 0, harmless = 0;
  for (uint64_t seed = 1; seed <= programs; seed++) {
    write(seed, text);
    vinci_trace *trace = runs_parse(text, fixture_shared);
    bool good = is_clean(trace, seed, text);
    uint64_t bytes;
    uint8_t *expected = orders_run(trace, 0, &bytes);
    if (good && !expected)
      fail_msg("seed %llu raises nothing and cannot be executed:\n%s", (unsigned long long)seed,
               text);
    unsigned order = expected ? orders_first_change(trace, ORDERS, expected, bytes) : ORDERS + 1;
    free(expected);
    vinci_trace_free(trace);
    clean += good;
    reported += !good;
    harmless += !good && order == ORDERS;
    if (good && order < ORDERS)
      fail_msg("seed %llu changes in order %u:\n%s", (unsigned long long)seed, order, text);
  }
  print_message(
      "%u programs from seed 1 on: %u raise nothing and give the same in %u orders; %u are "
      "reported, %u of which never differed\n",
      programs, clean, ORDERS, reported, harmless);
  assert_true(clean > programs / 20 && reported > programs / 20);
}

static void test_vectors(void **state) {
  (void)state;
  run_programs(write_program, PROGRAMS);
}

static void test_atomics_and_tails(void **state) {
  (void)state;
  run_programs(write_atomics, OTHERS);
}

static void test_mixed(void **state) {
  (void)state;
  run_programs(write_mixed, OTHERS);
}

static void test_unit_flags(void **state) {
  (void)state;
  run_programs(write_cube, OTHERS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_atomics_and_tails),
      cmocka_unit_test(test_mixed),
      cmocka_unit_test(test_unit_flags),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
