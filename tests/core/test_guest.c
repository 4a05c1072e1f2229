/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as the guest of another simulator (core/vinci_guest.h), whose memory answers after a fixed
 * time: what is asked for, by engines or by L2, where and how often.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/arith.h"
#include "core/chip/soc.h"
#include "core/vinci_guest.h"
#include "core/vinci_tables.h"

enum { PENDING_MAX = 1 << 16, LATENCY_PS = 100000 };
#define MIB (UINT64_C(1) << 20)

/* Memory that answers in the order of the requests. */
struct memory {
  uint64_t id[PENDING_MAX], at_ps[PENDING_MAX];
  uint64_t first, end;
  uint64_t read_bytes, write_bytes, least, beyond, largest;
  bool cut; /* a request crosses a line, or L2 asks for a part of a granule */
  bool behind_l2;
};

static void take(void *context, const struct vinci_guest_request *request) {
  struct memory *memory = context;
  memory->id[memory->end % PENDING_MAX] = request->id;
  memory->at_ps[memory->end++ % PENDING_MAX] = request->at_ps + LATENCY_PS;
  assert_true(memory->end - memory->first < PENDING_MAX);
  *(request->write ? &memory->write_bytes : &memory->read_bytes) += request->bytes;
  memory->least = min_u64(memory->least, request->address);
  memory->beyond = max_u64(memory->beyond, request->address + request->bytes);
  memory->largest = max_u64(memory->largest, request->bytes);
  memory->cut |= request->address / 512 != (request->address + request->bytes - 1) / 512;
  memory->cut |= memory->behind_l2 && (request->address | request->bytes) % L2_GRANULE_BYTES != 0;
}

struct guest_case {
  const char *op;
  const char *text; /* a trace instead */
  const char *args[4];
  const char *sets[2];
  const uint64_t *addresses;
  bool behind_l2, own_memory;
  unsigned launches; /* before this one, on one chip that keeps what they leave */
  struct vinci_run_options options;
};

struct outcome {
  struct memory memory;
  enum vinci_status status;
  uint64_t cycles;
  struct vinci_diag diag;
};

static size_t count_of(const char *const *words, size_t room) {
  size_t count = 0;
  while (count < room && words[count])
    count++;
  return count;
}

static void drive(vinci_guest *guest, struct memory *memory) {
  uint64_t now_ps = 0;
  while (!vinci_guest_over(guest)) {
    uint64_t next_ps = vinci_guest_next_ps(guest);
    bool answers = memory->first < memory->end;
    uint64_t answer_ps = answers ? memory->at_ps[memory->first % PENDING_MAX] : UINT64_MAX;
    now_ps = min_u64(next_ps, answer_ps);
    if (answer_ps == now_ps)
      vinci_guest_answer(guest, memory->id[memory->first++ % PENDING_MAX], now_ps);
    vinci_guest_run(guest, now_ps);
  }
}

static struct outcome *run(const struct guest_case *want) {
  static struct outcome outcome;
  vinci_soc *soc = NULL;
  vinci_trace *trace = NULL;
  vinci_guest *guest = NULL;
  vinci_guest_state *state = NULL;
  vinci_result *result = NULL;
  struct vinci_diag *diag = &outcome.diag;
  memset(&outcome, 0, sizeof outcome);
  outcome.memory.least = UINT64_MAX;
  outcome.memory.behind_l2 = want->behind_l2;
  assert_int_equal(vinci_soc_load("Ascend910B4", NULL, &soc, diag), VINCI_OK);
  for (size_t i = 0; i < count_of(want->sets, 2); i++)
    assert_int_equal(vinci_soc_set(soc, want->sets[i], diag), VINCI_OK);
  enum vinci_status made =
      want->text ? vinci_trace_parse("text", want->text, strlen(want->text), soc, &trace, diag)
                 : vinci_compile(soc, want->op, want->args, count_of(want->args, 4), &trace, diag);
  if (made != VINCI_OK)
    fail_msg("%s", diag->text);
  struct vinci_guest_memory memory = {.struct_size = sizeof memory,
                                      .context = &outcome.memory,
                                      .request = want->own_memory ? NULL : take,
                                      .addresses = want->addresses,
                                      .behind_l2 = want->behind_l2};
  struct vinci_run_options options = want->options;
  options.struct_size = sizeof options;
  if (want->launches > 0)
    assert_int_equal(vinci_guest_state_create(soc, &state, diag), VINCI_OK);
  memory.state = state;
  for (unsigned i = 0; i <= want->launches; i++) {
    memset(&outcome.memory, 0, offsetof(struct memory, least));
    outcome.status = vinci_guest_open(soc, trace, &options, &memory, &guest, diag);
    if (outcome.status != VINCI_OK)
      break;
    drive(guest, &outcome.memory);
    vinci_result_free(result);
    outcome.status = vinci_guest_close(guest, &result);
    if (outcome.status != VINCI_OK)
      fail_msg("%s", diag->text);
    outcome.cycles = vinci_result_total_cycles(result);
  }
  vinci_result_free(result);
  vinci_guest_state_free(state);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
  return &outcome;
}

/* x and y of a relu of 1000 numbers: 2000 bytes each, behind one another from 0x1000 on. */
static const struct guest_case relu = {.op = "relu", .args = {"shape=1000", "dtype=fp16"}};

static void tensors_are_told(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  vinci_trace *trace = NULL;
  struct vinci_guest_tensor tensor;
  assert_int_equal(vinci_soc_load("Ascend910B4", NULL, &soc, &diag), VINCI_OK);
  assert_int_equal(vinci_compile(soc, relu.op, relu.args, 2, &trace, &diag), VINCI_OK);
  assert_true(vinci_guest_tensor(trace, 0, &tensor));
  assert_string_equal(tensor.name, "x");
  assert_int_equal(tensor.address, 0x1000);
  assert_int_equal(tensor.bytes, 2000);
  assert_int_equal(tensor.first, 0);
  assert_true(vinci_guest_tensor(trace, 1, &tensor));
  assert_string_equal(tensor.name, "y");
  assert_int_equal(tensor.address, 0x1800);
  assert_int_equal(tensor.first, 1);
  assert_false(vinci_guest_tensor(trace, 2, &tensor));
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

static void engines_ask_for_their_bytes(void **state) {
  (void)state;
  struct outcome *found = run(&relu);
  assert_int_equal(found->memory.read_bytes, 2000);
  assert_int_equal(found->memory.write_bytes, 2000);
  assert_int_equal(found->memory.least, 0x1000);
  assert_int_equal(found->memory.beyond, 0x1800 + 2000);
  assert_int_equal(found->memory.largest, 512);
  assert_false(found->memory.cut);
}

static void tensors_lie_where_the_host_says(void **state) {
  (void)state;
  static const uint64_t addresses[] = {0x80000000, 0x40000200};
  struct guest_case moved = relu;
  uint64_t cycles = run(&relu)->cycles;
  moved.addresses = addresses;
  struct outcome *found = run(&moved);
  assert_int_equal(found->memory.least, 0x40000200);
  assert_int_equal(found->memory.beyond, 0x80000000 + 2000);
  assert_int_equal(found->cycles, cycles);
  moved.behind_l2 = true;
  found = run(&moved);
  assert_int_equal(found->memory.least, 0x80000000); /* nothing is written back */
  assert_int_equal(found->memory.beyond, 0x80000000 + 2048);
  moved.options.l2_start = VINCI_L2_WARM;
  assert_int_equal(run(&moved)->memory.read_bytes, 0);
  moved.own_memory = true;
  assert_int_equal(run(&moved)->status, VINCI_OK);
}

static void addresses_are_checked(void **state) {
  (void)state;
  static const uint64_t crooked[] = {0x1000, 0x2100},
                        beyond[] = {0x1000, (UINT64_C(32) << 30) - 512};
  struct guest_case wrong = relu;
  wrong.addresses = crooked;
  struct outcome *found = run(&wrong);
  assert_int_equal(found->status, VINCI_E_USAGE);
  assert_string_equal(found->diag.text, "address 0x2100 of tensor \"y\" is not a multiple of 512");
  wrong.addresses = beyond;
  found = run(&wrong);
  assert_int_equal(found->status, VINCI_E_USAGE);
  assert_string_equal(
      found->diag.text,
      "tensor \"y\" at 0x7fffffe00 ends behind the 34359738368 bytes of device memory");
}

/* L2 holds all: each granule of the input is fetched once, in a line at most, and nothing leaves.
 */
static void l2_asks_for_what_it_lacks(void **state) {
  (void)state;
  struct guest_case behind = relu;
  behind.behind_l2 = true;
  struct outcome *found = run(&behind);
  assert_int_equal(found->memory.read_bytes, 2048);
  assert_int_equal(found->memory.write_bytes, 0);
  assert_int_equal(found->memory.least, 0x1000);
  assert_int_equal(found->memory.beyond, 0x1800);
  assert_int_equal(found->memory.largest, 512);
  assert_false(found->memory.cut);
  uint64_t cycles = found->cycles;
  behind.options.l2_start = VINCI_L2_WARM;
  found = run(&behind);
  assert_int_equal(found->memory.read_bytes, 0);
  assert_true(found->cycles + LATENCY_PS * UINT64_C(1650) / 1000000 <= cycles);
}

/* Operands that all cores read come once; what L2 has no room for leaves at their own addresses. */
static void l2_keeps_what_has_room(void **state) {
  (void)state;
  struct guest_case product = {
      .op = "matmul", .args = {"m=1024", "k=512", "n=1024"}, .behind_l2 = true};
  struct outcome *found = run(&product);
  assert_int_equal(found->memory.read_bytes, 2 * MIB);
  assert_int_equal(found->memory.write_bytes, 0);
  struct guest_case small = {.op = "relu",
                             .args = {"shape=4x256x1024", "dtype=fp16"},
                             .sets = {"l2.size=1MiB"},
                             .behind_l2 = true};
  found = run(&small);
  assert_int_equal(found->memory.read_bytes, 2 * MIB);
  assert_true(found->memory.write_bytes >= MIB && found->memory.write_bytes < 2 * MIB);
  assert_int_equal(found->memory.least, 0x1000);
  assert_true(found->memory.beyond <= 0x1000 + 4 * MIB);
  assert_true(found->memory.beyond > 0x1000 + 3 * MIB);
  assert_false(found->memory.cut);
}

/* Columns of a matrix are granules of their own; what lies on both sides of a granule that is there
 * comes by two requests. */
static void granules_with_gaps(void **state) {
  (void)state;
  struct guest_case rows = {
      .op = "slice", .args = {"shape=64x256", "out=64x64", "dtype=fp16"}, .behind_l2 = true};
  struct outcome *found = run(&rows);
  assert_int_equal(found->memory.read_bytes, 64 * L2_GRANULE_BYTES);
  assert_int_equal(found->memory.largest, L2_GRANULE_BYTES);
  struct guest_case line = {.text = "trace,version=1\n"
                                    "kernel,name=one,arch=dav-c220,blocks=1\n"
                                    "tensor,name=x,dtype=fp16,shape=8192,io=in\n"
                                    "buffer,name=a,space=UB,address=0,size=16384\n"
                                    "stream,core=AIV\n"
                                    "copy_gm_to_ubuf,dst=a,src=x+128,len_burst=4\n"
                                    "pipe_barrier,pipe=MTE2\n"
                                    "copy_gm_to_ubuf,dst=a,src=x,len_burst=16\n",
                            .behind_l2 = true};
  found = run(&line);
  assert_int_equal(found->memory.read_bytes, 512);
  assert_int_equal(found->memory.end, 3);
  assert_int_equal(found->memory.largest, 256);
  assert_int_equal(found->memory.beyond, 0x1000 + 512);
}

/* The second launch finds the input in L2 and the code in the instruction cache; without L2, the
 * code alone. */
static void a_chip_keeps_what_a_launch_leaves(void **state) {
  (void)state;
  struct guest_case again = relu;
  again.behind_l2 = true;
  uint64_t cycles = run(&again)->cycles;
  again.launches = 1;
  struct outcome *found = run(&again);
  assert_int_equal(found->memory.read_bytes, 0);
  assert_true(found->cycles + LATENCY_PS * UINT64_C(1650) / 1000000 <= cycles);
  again.behind_l2 = false;
  found = run(&again);
  assert_int_equal(found->memory.read_bytes, 2000);
  again.behind_l2 = true;
  again.options.l2_start = VINCI_L2_WARM;
  assert_string_equal(
      run(&again)->diag.text,
      "L2 holds what earlier runs have left: memory is cycle, and its state is left out");
}

static void options_are_checked(void **state) {
  (void)state;
  struct guest_case wrong = relu;
  wrong.behind_l2 = true;
  wrong.options.l2_start = VINCI_L2_DIRTY;
  assert_string_equal(run(&wrong)->diag.text,
                      "the memory behind L2 is the host's: L2 begins empty or warm");
  wrong.options = (struct vinci_run_options){.memory = VINCI_MEMORY_FLAT};
  assert_string_equal(run(&wrong)->diag.text,
                      "the memory behind L2 is the host's: memory is cycle");
  wrong = relu;
  wrong.options.l2_start = VINCI_L2_WARM;
  assert_string_equal(run(&wrong)->diag.text,
                      "the memory is the host's: leave out the state of L2");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tensors_are_told),
      cmocka_unit_test(engines_ask_for_their_bytes),
      cmocka_unit_test(tensors_lie_where_the_host_says),
      cmocka_unit_test(addresses_are_checked),
      cmocka_unit_test(l2_asks_for_what_it_lacks),
      cmocka_unit_test(l2_keeps_what_has_room),
      cmocka_unit_test(granules_with_gaps),
      cmocka_unit_test(a_chip_keeps_what_a_launch_leaves),
      cmocka_unit_test(options_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
