/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: their text, the errors of that text, memory plans with known answers and on random lives,
 * and the queue against times computed by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/arith.h"
#include "core/base/number.h"
#include "networks/graph/queue.h"
#include "networks/graph/text.h"
#include "tests/support/fixture.h"

enum { TEXT_BYTES = 1 << 16, RANDOM_GRAPHS = 200, US = 1000000 };

static enum vinci_status read_text(const char *text, struct graph *graph, struct vinci_diag *diag) {
  *diag = (struct vinci_diag){0};
  return graph_text_read("g.csv", text, strlen(text), graph, diag);
}

/* ---- text ---------------------------------------------------------------------------------- */

static const char all_kinds[] =
    "graph,version=1,name=all\n"
    "tensor,name=host,dtype=fp16,shape=32x16,io=in\n"
    "tensor,name=x,dtype=fp16,shape=32x16\n"
    "tensor,name=flat,dtype=fp16,shape=512,memory=x\n"
    "tensor,name=w,dtype=fp32,shape=,io=weight\n"
    "tensor,name=y,dtype=fp16,shape=1x1x32x16x16,format=NC1HWC0,offset=1024\n"
    "tensor,name=y2,dtype=fp16,shape=1x1x32x16x16,format=NC1HWC0\n"
    "tensor,name=z,dtype=int4,shape=3,io=out\n"
    "copy,name=up,way=h2d,in=host,out=x\n"
    "view,name=v,in=x,out=flat\n"
    "kernel,name=k,op=add,in=flat - w,out=y,args=shape=512 dtype=fp16,stream=2,origin=/a/Add\n"
    "copy,name=c,way=d2d,in=y,out=y2,host_us=2.0,tiling_us=3.5\n"
    "task,name=t,unit=AI_CPU,duration_us=1.25,in=y,out=z,after=up k\n";

static void what_is_written_is_what_was_read(void **state) {
  (void)state;
  char text[TEXT_BYTES] = {0};
  struct graph graph;
  struct vinci_diag diag;
  assert_int_equal(read_text(all_kinds, &graph, &diag), VINCI_OK);
  FILE *out = fmemopen(text, sizeof text, "w");
  assert_non_null(out);
  graph_text_write(&graph, out);
  fclose(out);
  assert_string_equal(text, all_kinds);
  assert_int_equal(graph.nodes[2].inputs[1], GRAPH_NONE);
  assert_int_equal(graph.nodes[3].tiling_ps, 3500000);
  assert_int_equal(graph.nodes[4].duration_ps, 1250000);
  assert_int_equal(graph_bytes(&graph.tensors[6]), 2); /* three times 4 bits */
  assert_int_equal(graph_memory(&graph, 2), 1);
  graph_free(&graph);
}

/* Comments, blank lines, quotes and line ends of other systems. */
static void text_of_other_tools_is_read(void **state) {
  (void)state;
  struct graph graph;
  struct vinci_diag diag;
  assert_int_equal(read_text("# made by hand\r\n\r\ngraph,version=1\r\n"
                             "tensor,\"name=a\",dtype=fp16,shape=8,io=in\n\n"
                             "tensor,name=b,dtype=fp16,shape=8,io=out\n"
                             "kernel,name=r,op=relu,in=a,out=b,\"args=shape=8\"",
                             &graph, &diag),
                   VINCI_OK);
  assert_int_equal(graph.node_count, 1);
  assert_string_equal(graph_arg(&graph.nodes[0], "shape"), "8");
  graph_free(&graph);
}

#define HEAD "graph,version=1\n"
#define A "tensor,name=a,dtype=fp16,shape=8,io=in\n"
#define W "tensor,name=w,dtype=fp16,shape=8,io=weight\n"
#define B "tensor,name=b,dtype=fp16,shape=8\n"

/* Large numbers are written with a plus in the exponent, and read again. */
static void values_are_read_as_they_are_written(void **state) {
  static const char text[] =
      HEAD "tensor,name=w,dtype=fp32,shape=6,io=weight,values=1e+20 -2.5e-3 3 1.5e2 -inf nan\n";
  static const double wanted[] = {1e20, -2.5e-3, 3, 150, -INFINITY};
  struct graph graph, again;
  char *written = NULL;
  size_t length;
  (void)state;
  assert_int_equal(graph_text_read("g", text, strlen(text), &graph, NULL), VINCI_OK);
  FILE *out = open_memstream(&written, &length);
  graph_text_write(&graph, out);
  fclose(out);
  assert_int_equal(graph_text_read("again", written, length, &again, NULL), VINCI_OK);
  double number;
  assert_true(graph_number(&again.tensors[0], 5, &number) && isnan(number));
  for (uint64_t i = 0; i < 5; i++) {
    assert_true(graph_number(&again.tensors[0], i, &number));
    assert_true(number == (double)(float)wanted[i]);
  }
  free(written);
  graph_free(&graph);
  graph_free(&again);
}

/* As in files: the least significant byte first on every host. */
static void values_lie_as_in_files(void **state) {
  static const struct {
    enum dtype dtype;
    double number;
    uint8_t bytes[8];
  } cases[] = {
      {DTYPE_FP32, -2.5, {0, 0, 0x20, 0xc0}},
      {DTYPE_FP16, 1.5, {0, 0x3e}},
      {DTYPE_BF16, 1.5, {0xc0, 0x3f}},
      {DTYPE_INT64, 0x102030405, {5, 4, 3, 2, 1}},
      {DTYPE_INT32, -2, {0xfe, 0xff, 0xff, 0xff}},
      {DTYPE_UINT32, 4000000000, {0, 0x28, 0x6b, 0xee}},
      {DTYPE_INT16, -300, {0xd4, 0xfe}},
      {DTYPE_UINT16, 40000, {0x40, 0x9c}},
      {DTYPE_INT8, -3, {0xfd}},
      {DTYPE_UINT8, 200, {200}},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t bytes[16] = {0};
    size_t size = dtype_bits(cases[i].dtype) / 8;
    struct graph_tensor tensor = {.dtype = cases[i].dtype, .data = bytes};
    double number;
    assert_true(graph_put_number(cases[i].dtype, bytes, 1, cases[i].number));
    assert_memory_equal(bytes + size, cases[i].bytes, size);
    assert_true(graph_number(&tensor, 1, &number) && number == cases[i].number);
  }
}

/* C leaves open what these become: hosts differ. 2^63 is the least double beyond int64. */
static void numbers_beyond_int64_become_its_ends(void **state) {
  static const struct {
    double number;
    int64_t expected;
  } cases[] = {
      {0x1p63, INT64_MAX},
      {0x1p63 - 1024, INT64_MAX - 1023},
      {1e300, INT64_MAX},
      {INFINITY, INT64_MAX},
      {-0x1p63, INT64_MIN},
      {-0x1p64, INT64_MIN},
      {-INFINITY, INT64_MIN},
      {NAN, 0},
      {-2.75, -2},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t bytes[8];
    assert_true(graph_put_number(DTYPE_INT64, bytes, 0, cases[i].number));
    assert_int_equal(load_i64(bytes), cases[i].expected);
  }
}

static const struct {
  const char *text;
  unsigned long line, column;
  const char *message;
} mistakes[] = {
    {"", 0, 0, "the graph is empty; the first row is \"graph,version=1\""},
    {"tensor,name=a\n", 1, 1, "the first row is \"graph,version=1\""},
    {"graph,version=2\n", 1, 7, "this program reads graph,version=1"},
    {HEAD HEAD, 2, 1, "second graph row; a file has one, the first"},
    {HEAD "kernal,name=x\n", 2, 1, "unknown row \"kernal\""},
    {HEAD "tensor,dtype=fp16\n", 2, 1, "a tensor row needs name=..."},
    {HEAD "tensor,name=a,dtype=fp61\n", 2, 15, "unknown dtype \"fp61\""},
    {HEAD "tensor,name=a,dtype=fp16,shape=8x\n", 2, 26,
     "shape is extents such as 8x128, not \"8x\""},
    {HEAD "tensor,name=a,dtype=fp16,shape=0\n", 2, 26, "shape 0 has no elements"},
    {HEAD "tensor,name=a,dtype=fp16,shape=9999999999x99999\n", 2, 26,
     "shape 9999999999x99999 has too many elements"},
    {HEAD "tensor,name=a,dtype=fp16,shape=1x1x1x1x1x1x1x1x1\n", 2, 26,
     "a shape of more than 8 dimensions"},
    {HEAD A A, 3, 8, "second tensor \"a\""},
    {HEAD "tensor,name=a,dtype=fp16,offset=100\n", 2, 26,
     "offset is a multiple of 512 bytes, not 100"},
    {HEAD "tensor,name=a,dtype=fp16,memory=b\n", 2, 26, "no tensor \"b\" stands before this row"},
    {HEAD "tensor,name=a,dtype=fp16,colour=red\n", 2, 26, "a tensor row has no key colour"},
    {HEAD "tensor,name=a,name=b,dtype=fp16\n", 2, 15, "second name="},
    {HEAD "tensor,name=a,dtype=fp16,red\n", 2, 26, "\"red\" is not a key=value field"},
    {HEAD "tensor,\"name=a\n", 2, 1, "not CSV: error parsing data while strict checking enabled"},
    {HEAD A B "kernel,name=k,op=relu,in=c,out=b\n", 4, 23,
     "no tensor \"c\" stands before this row"},
    {HEAD A B "kernel,name=k,in=a,out=b\n", 4, 1, "a kernel row needs op=..."},
    {HEAD A B "kernel,name=k,op=relu,in=a,out=b,args=8\n", 4, 34,
     "arguments are key=value with blanks between, not \"8\""},
    {HEAD A B "kernel,name=k,op=relu,in=a,out=b,after=j\n", 4, 34,
     "no node \"j\" stands before this row"},
    {HEAD A B "kernel,name=k,op=relu,in=a,out=-\n", 4, 28, "an output cannot be left out"},
    {HEAD A B "task,name=t,duration_us=long,in=a,out=b\n", 4, 13,
     "duration_us is a number up to 1e12, not \"long\""},
    {HEAD A B "copy,name=c,way=up,in=a,out=b\n", 4, 13, "unknown way \"up\""},
    {HEAD A "tensor,name=c,dtype=fp32,shape=8\nview,name=v,in=a,out=c\n", 4, 18,
     "a view keeps its bytes: 16 in, 32 out"},
    {HEAD A B "kernel,name=k,op=relu,in=b,out=b\n", 0, 0,
     "node \"k\" (relu) reads, before any node has written, tensor \"b\""},
    {HEAD A B "kernel,name=k,op=relu,in=a,out=b\nkernel,name=l,op=relu,in=a,out=b\n", 0, 0,
     "node \"l\" (relu) writes again tensor \"b\""},
    {HEAD A "tensor,name=o,dtype=fp16,shape=8,io=out\n", 0, 0,
     "no node writes tensor \"o\", which has io=out"},
    {HEAD W "tensor,name=v,dtype=fp16,shape=8,io=weight\n" B
            "kernel,name=k,op=relu,in=v,out=b\nkernel,name=l,op=relu,in=w,out=v,offline=1\n",
     0, 0, "node \"l\" (relu) writes, after another node has read, tensor \"v\""},
    {HEAD A "tensor,name=b,dtype=fp16\nkernel,name=k,op=relu,in=a,out=b\n", 0, 0,
     "node \"k\" (relu) writes, without a shape, tensor \"b\""},
};

static void mistakes_are_named_with_their_place(void **state) {
  (void)state;
  struct graph graph;
  struct vinci_diag diag;
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    assert_int_equal(read_text(mistakes[i].text, &graph, &diag), VINCI_E_INPUT);
    assert_string_equal(diag.text, mistakes[i].message);
    assert_int_equal(diag.line, mistakes[i].line);
    assert_int_equal(diag.column, mistakes[i].column);
  }
}

/* ---- memory plans -------------------------------------------------------------------------- */

static uint32_t add_tensor(struct graph *graph, uint64_t bytes, enum graph_io io) {
  uint32_t index = graph_add_tensor(graph, graph_new_name(graph, "t"));
  assert_int_not_equal(index, GRAPH_NONE);
  graph->tensors[index].dtype = DTYPE_INT8;
  graph->tensors[index].io = io;
  graph_set_shape(&graph->tensors[index], &bytes, 1);
  return index;
}

static void add_node(struct graph *graph, enum graph_kind kind, const char *op, uint32_t input,
                     uint32_t output, uint32_t stream) {
  struct graph_node node = {.name = graph_new_name(graph, "n"),
                            .kind = kind,
                            .op = op,
                            .inputs = &input,
                            .outputs = &output,
                            .input_count = 1,
                            .output_count = 1,
                            .stream = stream};
  assert_int_not_equal(graph_add_node(graph, &node), GRAPH_NONE);
}

/*
 * A chain x -> 1024 -> 512 -> 2048 -> 1024 -> y of bytes. Alive at once at most: while the third is
 * made, 512 + 2048; while the fourth is, 2048 + 1024; x and y, 512 each, have memory of their own.
 */
static void plans_of_a_chain_are_known(void **state) {
  (void)state;
  static const uint64_t bytes[] = {1024, 512, 2048, 1024};
  static const uint64_t expected[GRAPH_PLAN_COUNT] = {
      [GRAPH_PLAN_NONE] = 5632,
      [GRAPH_PLAN_FIRST] = 4608, /* 2048 do not fit where the first 1024 were; the second 1024 do */
      [GRAPH_PLAN_BEST] = 4608,
      [GRAPH_PLAN_PACK] = 4096,
  };
  struct graph graph = {0};
  struct graph_plan plan;
  uint32_t last = add_tensor(&graph, 512, GRAPH_IN);
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
    uint32_t next = add_tensor(&graph, bytes[i], GRAPH_LOCAL);
    add_node(&graph, GRAPH_KERNEL, "relu", last, next, 0);
    last = next;
  }
  add_node(&graph, GRAPH_KERNEL, "relu", last, add_tensor(&graph, 512, GRAPH_OUT), 0);
  for (unsigned i = 0; i < GRAPH_PLAN_COUNT; i++) {
    assert_int_equal(graph_plan(&graph, (enum graph_plan_policy)i, &plan, NULL), VINCI_OK);
    assert_int_equal(plan.bytes, expected[i]);
    assert_int_equal(plan.fixed_bytes, 1024);
    assert_int_equal(plan.live_bytes, 4096);
  }
  graph_free(&graph);
}

/* Of a random graph no two tensors that are alive together share a byte, no plan is smaller than
 * what is alive, and none larger than no sharing at all. */
static void check_random_graph(uint64_t *seed) {
  struct graph graph = {0};
  struct graph_plan plan;
  uint32_t count = 3 + (uint32_t)(splitmix64_next(seed) % 30);
  add_tensor(&graph, 300, GRAPH_IN);
  for (uint32_t i = 1; i < count; i++) {
    add_tensor(&graph, 1 + splitmix64_next(seed) % 5000, i + 1 < count ? GRAPH_LOCAL : GRAPH_OUT);
    add_node(&graph, GRAPH_KERNEL, "relu", (uint32_t)(splitmix64_next(seed) % i), i, 0);
  }
  struct graph_life lives[40];
  uint64_t apart = 0;
  graph_lives(&graph, lives);
  for (unsigned policy = 0; policy < GRAPH_PLAN_COUNT; policy++) {
    assert_int_equal(graph_plan(&graph, (enum graph_plan_policy)policy, &plan, NULL), VINCI_OK);
    apart = policy == GRAPH_PLAN_NONE ? plan.bytes : apart;
    assert_in_range(plan.bytes, plan.live_bytes, apart);
    for (uint32_t i = 0; i < count; i++)
      for (uint32_t j = 0; j < i; j++) {
        bool together = lives[i].used && lives[j].used && lives[i].first <= lives[j].last &&
                        lives[j].first <= lives[i].last;
        bool overlap = plan.offsets[i] < plan.offsets[j] + graph_bytes(&graph.tensors[j]) &&
                       plan.offsets[j] < plan.offsets[i] + graph_bytes(&graph.tensors[i]);
        assert_false(together && overlap);
      }
  }
  graph_free(&graph);
}

static void tensors_alive_together_share_no_byte(void **state) {
  (void)state;
  uint64_t seed = 20261124;
  for (unsigned i = 0; i < RANDOM_GRAPHS; i++)
    check_random_graph(&seed);
}

static void plans_of_others_are_checked(void **state) {
  (void)state;
  struct graph graph;
  struct graph_plan plan;
  struct vinci_diag diag;
  static const char text[] = HEAD A "tensor,name=b,dtype=fp16,shape=512,offset=512\n"
                                    "tensor,name=c,dtype=fp16,shape=256,offset=1024\n"
                                    "kernel,name=k,op=relu,in=a,out=b\n"
                                    "kernel,name=l,op=relu,in=b,out=c\n";
  assert_int_equal(read_text(text, &graph, &diag), VINCI_OK);
  assert_int_equal(graph_plan(&graph, GRAPH_PLAN_PACK, &plan, &diag), VINCI_E_INPUT);
  assert_string_equal(diag.text,
                      "tensors \"b\" (offset 512, 1024 bytes) and \"c\" (offset 1024, 512 "
                      "bytes) overlap while both are alive, at node \"l\"");
  graph_free(&graph);
}

/* ---- the queue ----------------------------------------------------------------------------- */

/* Two kernels, one of them mixed, behind a copy; all times by hand. */
static void gaps_and_hosts_are_as_computed_by_hand(void **state) {
  (void)state;
  struct graph graph = {0};
  struct queue_result result;
  const struct vinci_soc *soc = fixture_shared;
  uint32_t x = add_tensor(&graph, 512, GRAPH_IN), a = add_tensor(&graph, 512, GRAPH_LOCAL);
  uint32_t b = add_tensor(&graph, 512, GRAPH_LOCAL), c = add_tensor(&graph, 512, GRAPH_LOCAL);
  uint32_t d = add_tensor(&graph, 512, GRAPH_OUT);
  add_node(&graph, GRAPH_COPY, "h2d", x, a, 0);
  add_node(&graph, GRAPH_KERNEL, "relu", a, b, 0);
  add_node(&graph, GRAPH_KERNEL, "relu", b, c, 0);
  add_node(&graph, GRAPH_TASK, "AI_CPU", c, d, 1);
  struct queue_task tasks[4] = {{.duration_ps = 7 * US},
                                {.duration_ps = 11 * US, .mixed = true},
                                {.duration_ps = 5 * US},
                                {.duration_ps = 3 * US}};
  uint64_t call = (uint64_t)soc->host_launch_call_ps, gap = (uint64_t)soc->launch_mixed_gap_ps;
  struct queue_options options = {.host = QUEUE_SINK};
  assert_int_equal(queue_run(&graph, soc, &options, tasks, &result, NULL), VINCI_OK);
  assert_int_equal(tasks[0].start_ps, call);
  assert_int_equal(tasks[1].start_ps, call + 7 * US);
  assert_int_equal(tasks[2].start_ps, call + 18 * US + gap);
  assert_int_equal(tasks[3].start_ps, call + 23 * US + gap);
  assert_int_equal(result.end_ps, call + 26 * US + gap);
  assert_int_equal(result.core_ps, 16 * US);
  assert_int_equal(result.gap_ps, gap);
  assert_int_equal(result.wait_ps, 7 * US + call);

  uint64_t own = (uint64_t)soc->host_operator_ps; /* longer than all of the kernels */
  assert_true(own > 20 * (uint64_t)US);
  options.host = QUEUE_EAGER;
  assert_int_equal(queue_run(&graph, soc, &options, tasks, &result, NULL), VINCI_OK);
  assert_int_equal(tasks[2].start_ps, 3 * own);
  assert_int_equal(tasks[2].host_wait_ps + tasks[2].gap_ps, own - 11 * US);
  assert_int_equal(result.end_ps, 4 * own + 3 * US);
  assert_int_equal(result.host_ps, 4 * own);
  graph_free(&graph);
}

/* What does not depend on one another runs side by side, but for kernels. */
static void streams_overlap_but_for_the_cores(void **state) {
  (void)state;
  struct graph graph = {0};
  struct queue_result result;
  struct queue_options options = {.host = QUEUE_SINK};
  uint32_t x = add_tensor(&graph, 512, GRAPH_IN);
  add_node(&graph, GRAPH_KERNEL, "relu", x, add_tensor(&graph, 512, GRAPH_OUT), 0);
  add_node(&graph, GRAPH_KERNEL, "relu", x, add_tensor(&graph, 512, GRAPH_OUT), 1);
  add_node(&graph, GRAPH_COPY, "h2d", x, add_tensor(&graph, 512, GRAPH_OUT), 2);
  struct queue_task tasks[3] = {
      {.duration_ps = 10 * US}, {.duration_ps = 20 * US}, {.duration_ps = 25 * US}};
  uint64_t call = (uint64_t)fixture_shared->host_launch_call_ps;
  assert_int_equal(queue_run(&graph, fixture_shared, &options, tasks, &result, NULL), VINCI_OK);
  assert_int_equal(tasks[1].start_ps, call + 10 * US + (uint64_t)fixture_shared->launch_gap_ps);
  assert_int_equal(tasks[2].start_ps, call);
  /* A copy of another stream that comes after the second kernel, though they share no data. */
  static uint32_t second[] = {1};
  graph.nodes[2].after = second;
  graph.nodes[2].after_count = 1;
  assert_int_equal(queue_run(&graph, fixture_shared, &options, tasks, &result, NULL), VINCI_OK);
  assert_int_equal(tasks[2].start_ps, tasks[1].start_ps + tasks[1].duration_ps);
  graph_free(&graph);
}

/* A queue of depth 1: the host issues a node when the node before has started. */
static void a_full_queue_holds_the_host_back(void **state) {
  (void)state;
  struct graph graph = {0};
  struct queue_result result;
  struct queue_options options = {.host = QUEUE_GRAPH, .depth = 1};
  uint32_t last = add_tensor(&graph, 512, GRAPH_IN);
  for (unsigned i = 0; i < 3; i++) {
    uint32_t next = add_tensor(&graph, 512, i == 2 ? GRAPH_OUT : GRAPH_LOCAL);
    add_node(&graph, GRAPH_KERNEL, "relu", last, next, 0);
    last = next;
  }
  struct queue_task tasks[3] = {
      {.duration_ps = 900 * US}, {.duration_ps = 900 * US}, {.duration_ps = 900 * US}};
  uint64_t call = (uint64_t)fixture_shared->host_launch_call_ps;
  uint64_t gap = (uint64_t)fixture_shared->launch_gap_ps;
  assert_int_equal(queue_run(&graph, fixture_shared, &options, tasks, &result, NULL), VINCI_OK);
  assert_int_equal(tasks[1].issued_ps, 2 * call);
  assert_int_equal(tasks[2].issued_ps, call + 900 * US + gap + call);
  graph_free(&graph);
}

static uint64_t end_of(const struct queue_task *task) {
  return task->start_ps + task->duration_ps + task->slowed_ps;
}

/*
 * Kernels bound by memory beside copies, on a chip whose memory moves 10^12 bytes a second: in a
 * microsecond 10^6. A copy of 8 * 10^6 bytes in 20 us takes 0.4 of that. The first kernel does 4 us
 * of its work while the copy has not begun, and the other 6 us of work take 10 us. The second
 * kernel does 6 us of its work in the 10 us that are left of the copy, and is not slowed
 * afterwards.
 */
static void copies_take_bandwidth_from_kernels_bound_by_memory(void **state) {
  (void)state;
  struct graph graph = {0};
  struct queue_result result;
  struct queue_options options = {.host = QUEUE_SINK};
  struct vinci_soc soc = *fixture_shared;
  soc.launch_gap_ps = soc.host_launch_call_ps = 0;
  assert_int_equal(soc_hbm_bytes_per_second(&soc), 1000000 * UINT64_C(1000000));
  uint32_t x = add_tensor(&graph, 512, GRAPH_IN), y = add_tensor(&graph, 512, GRAPH_LOCAL);
  add_node(&graph, GRAPH_KERNEL, "relu", x, y, 0);
  add_node(&graph, GRAPH_KERNEL, "relu", y, add_tensor(&graph, 512, GRAPH_OUT), 0);
  uint32_t z = add_tensor(&graph, 512, GRAPH_LOCAL);
  add_node(&graph, GRAPH_TASK, "AI_CPU", x, z, 1);
  add_node(&graph, GRAPH_COPY, "d2h", z, add_tensor(&graph, 512, GRAPH_OUT), 1);
  struct queue_task tasks[4] = {{.duration_ps = 10 * US, .memory_bound = true},
                                {.duration_ps = 16 * US, .memory_bound = true},
                                {.duration_ps = 4 * US},
                                {.duration_ps = 20 * US, .hbm_bytes = 8000000}};
  assert_int_equal(queue_run(&graph, &soc, &options, tasks, &result, NULL), VINCI_OK);
  assert_int_equal(tasks[0].slowed_ps, 4 * US);
  assert_int_equal(tasks[1].start_ps, 14 * US);
  assert_int_equal(tasks[1].slowed_ps, 4 * US);
  assert_int_equal(end_of(&tasks[1]), 34 * US);
  assert_int_equal(tasks[3].start_ps, 4 * US);
  assert_int_equal(end_of(&tasks[3]), 24 * US);
  assert_int_equal(result.slowed_ps, 8 * US); /* 8 * 10^6 bytes at 10^12 bytes a second */
  assert_int_equal(result.core_ps, 34 * US);

  tasks[0].memory_bound = false; /* a kernel that memory does not bind keeps its time */
  assert_int_equal(queue_run(&graph, &soc, &options, tasks, &result, NULL), VINCI_OK);
  assert_int_equal(tasks[0].slowed_ps, 0);
  assert_int_equal(tasks[1].start_ps, 10 * US);
  assert_in_range(tasks[1].slowed_ps, 14 * US * 4 / 10 - 1, 14 * US * 4 / 10 + 1);
  graph_free(&graph);
}

/* Of random graphs with copies before, behind and between kernels: a kernel's time grows by the
 * bytes that are copied while the kernel runs, over the bandwidth. */
static void time_grows_by_the_bytes_copied_meanwhile(void **state) {
  (void)state;
  enum { NODES = 24 };
  uint64_t seed = 4711;
  struct vinci_soc soc = *fixture_shared;
  struct queue_options options = {.host = QUEUE_SINK};
  for (unsigned round = 0; round < RANDOM_GRAPHS; round++) {
    static const char *const ways[] = {"h2d", "d2h", "d2d"};
    struct graph graph = {0};
    struct queue_result result;
    struct queue_task tasks[NODES] = {{0}};
    add_tensor(&graph, 512, GRAPH_IN);
    for (uint32_t i = 0; i < NODES; i++) {
      bool kernel = splitmix64_next(&seed) % 2;
      uint32_t from = (uint32_t)(splitmix64_next(&seed) % (i + 1));
      add_tensor(&graph, 512, GRAPH_OUT);
      add_node(&graph, kernel ? GRAPH_KERNEL : GRAPH_COPY, ways[splitmix64_next(&seed) % 3], from,
               i + 1, (uint32_t)(splitmix64_next(&seed) % 4));
      tasks[i] = (struct queue_task){.duration_ps = (1 + splitmix64_next(&seed) % 50) * US,
                                     .memory_bound = kernel && i % 3,
                                     .hbm_bytes = kernel ? 0 : splitmix64_next(&seed) % 1000000};
    }
    assert_int_equal(queue_run(&graph, &soc, &options, tasks, &result, NULL), VINCI_OK);
    for (uint32_t i = 0; i < NODES; i++) {
      double bytes = 0;
      for (uint32_t j = 0; j < NODES; j++) {
        uint64_t from = max_u64(tasks[i].start_ps, tasks[j].start_ps);
        uint64_t to = min_u64(end_of(&tasks[i]), end_of(&tasks[j]));
        if (to > from && graph.nodes[j].kind == GRAPH_COPY)
          bytes += (double)tasks[j].hbm_bytes * (double)(to - from) / (double)tasks[j].duration_ps;
      }
      double expected = tasks[i].memory_bound ? bytes : 0; /* a byte in a picosecond */
      assert_true((double)tasks[i].slowed_ps > expected - NODES - 1);
      assert_true((double)tasks[i].slowed_ps < expected + NODES + 1);
    }
    graph_free(&graph);
  }
}

/* Shapes that are known at run time: the host works out a tiling before each launch. That is hidden
 * behind the kernel before when it takes less. */
static void tiling_is_hidden_behind_a_longer_kernel(void **state) {
  (void)state;
  for (uint64_t tiling = 20; tiling <= 60; tiling += 40) {
    struct graph graph = {0};
    struct queue_result result;
    struct queue_options options = {.host = QUEUE_GRAPH};
    uint64_t call = (uint64_t)fixture_shared->host_launch_call_ps;
    uint64_t kernel = 40 * US + (uint64_t)fixture_shared->launch_gap_ps;
    uint32_t last = add_tensor(&graph, 512, GRAPH_IN);
    struct queue_task tasks[4] = {{0}};
    for (uint32_t i = 0; i < 4; i++) {
      uint32_t next = add_tensor(&graph, 512, i == 3 ? GRAPH_OUT : GRAPH_LOCAL);
      add_node(&graph, GRAPH_KERNEL, "relu", last, next, 0);
      graph.nodes[i].tiling_ps = tiling * US;
      tasks[i].duration_ps = 40 * US;
      last = next;
    }
    assert_int_equal(queue_run(&graph, fixture_shared, &options, tasks, &result, NULL), VINCI_OK);
    uint64_t host = tiling * US + call;
    assert_int_equal(result.end_ps, host + 3 * max_u64(host, kernel) + 40 * US);
    graph_free(&graph);
  }
}

/* The host waits for what a copy brings, unless all nodes wait on the device. */
static void a_host_waits_for_copies_to_the_host(void **state) {
  (void)state;
  struct graph graph = {0};
  struct queue_result result;
  uint64_t call = (uint64_t)fixture_shared->host_launch_call_ps;
  uint32_t x = add_tensor(&graph, 512, GRAPH_IN);
  add_node(&graph, GRAPH_COPY, "d2h", x, add_tensor(&graph, 512, GRAPH_OUT), 1);
  add_node(&graph, GRAPH_KERNEL, "relu", x, add_tensor(&graph, 512, GRAPH_OUT), 0);
  struct queue_task tasks[2] = {{.duration_ps = 100 * US}, {.duration_ps = 10 * US}};
  struct queue_options options = {.host = QUEUE_GRAPH};
  assert_int_equal(queue_run(&graph, fixture_shared, &options, tasks, &result, NULL), VINCI_OK);
  assert_int_equal(tasks[1].start_ps, call + 100 * US + call);
  options.host = QUEUE_SINK;
  assert_int_equal(queue_run(&graph, fixture_shared, &options, tasks, &result, NULL), VINCI_OK);
  assert_int_equal(tasks[1].start_ps, call);
  graph_free(&graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_what_was_read),
      cmocka_unit_test(text_of_other_tools_is_read),
      cmocka_unit_test(mistakes_are_named_with_their_place),
      cmocka_unit_test(plans_of_a_chain_are_known),
      cmocka_unit_test(tensors_alive_together_share_no_byte),
      cmocka_unit_test(plans_of_others_are_checked),
      cmocka_unit_test(gaps_and_hosts_are_as_computed_by_hand),
      cmocka_unit_test(streams_overlap_but_for_the_cores),
      cmocka_unit_test(copies_take_bandwidth_from_kernels_bound_by_memory),
      cmocka_unit_test(time_grows_by_the_bytes_copied_meanwhile),
      cmocka_unit_test(values_are_read_as_they_are_written),
      cmocka_unit_test(values_lie_as_in_files),
      cmocka_unit_test(numbers_beyond_int64_become_its_ends),
      cmocka_unit_test(tiling_is_hidden_behind_a_longer_kernel),
      cmocka_unit_test(a_host_waits_for_copies_to_the_host),
      cmocka_unit_test(a_full_queue_holds_the_host_back),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
