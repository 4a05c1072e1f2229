/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles in their order: which tensors are the same, and where they lie. Whatever a profile says,
 * tensors that are alive at the same time share no byte of device memory.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/arith.h"
#include "lower/calls/sequence.h"

enum { TEXT_BYTES = 1 << 16, ROWS = 300, MIB = 1 << 20 };

static const char header[] = "Name,Type,Input Shapes,Input Data Types,Output Shapes,Output Data "
                             "Types\n";

struct profile {
  struct call_list list;
  struct sequence sequence;
};

static void read_profile(struct profile *profile, const char *rows) {
  static char text[TEXT_BYTES];
  struct vinci_diag diag = {0};
  int length = snprintf(text, sizeof text, "%s%s", header, rows);
  assert_in_range(length, 1, TEXT_BYTES - 1);
  FILE *file = fmemopen(text, (size_t)length, "r");
  assert_non_null(file);
  assert_int_equal(calls_read_stream(file, "profile", &profile->list, &diag), VINCI_OK);
  fclose(file);
  assert_int_equal(sequence_create(&profile->list, &profile->sequence, &diag), VINCI_OK);
}

static void free_profile(struct profile *profile) {
  sequence_free(&profile->sequence);
  arena_free(&profile->list.arena);
}

/* Inputs, then outputs. */
static struct sequence_use use_of(const struct profile *profile, size_t row, unsigned index) {
  return profile->sequence.uses[profile->sequence.rows[row].first_use + index];
}

static uint64_t address_of(const struct profile *profile, size_t row, unsigned index) {
  return profile->sequence.tensors[use_of(profile, row, index).tensor].address;
}

static void outputs_are_read_by_the_rows_behind(void **state) {
  (void)state;
  struct profile profile = {0};
  read_profile(&profile, "a,Relu,\"64,64\",FLOAT,\"64,64\",FLOAT\n"
                         "b,Sqrt,\"4096\",FLOAT,\"4096\",FLOAT\n"
                         "c,Sub,\"64,64;64,64\",FLOAT;FLOAT,\"64,64\",FLOAT\n");
  assert_true(use_of(&profile, 0, 0).before == SEQUENCE_NONE);
  assert_int_equal(use_of(&profile, 1, 0).tensor, use_of(&profile, 0, 1).tensor);
  assert_true(use_of(&profile, 1, 0).written);
  assert_int_equal(use_of(&profile, 2, 0).tensor, use_of(&profile, 1, 1).tensor); /* unread */
  assert_int_equal(use_of(&profile, 2, 1).tensor, use_of(&profile, 0, 1).tensor); /* used last */
  assert_false(use_of(&profile, 2, 1).written);
  free_profile(&profile);
}

/* The kernel that is named after the same call adds to what MemSet has cleared; another does not.
 */
static void what_is_cleared_is_the_result_behind(void **state) {
  (void)state;
  struct profile profile = {0};
  read_profile(&profile, "a_Common_MemSet,MemSet,N/A,N/A,N/A,N/A\n"
                         "a_Common_Embed,EmbedGrad,\"8,4;8\",FLOAT;INT32,\"64,4;7\",FLOAT;INT32\n"
                         "b_MemSet,MemSet,N/A,N/A,N/A,N/A\n"
                         "b,Relu,\"8\",FLOAT16,\"8\",FLOAT16\n"
                         "c_MemSet,MemSet,N/A,N/A,N/A,N/A\n"
                         "cc,Relu,\"8\",FLOAT16,\"8\",FLOAT16\n");
  const struct call_row *rows = profile.list.rows;
  assert_string_equal(rows[0].cell[CALL_OUT_SHAPES], "64,4");
  assert_string_equal(rows[0].cell[CALL_OUT_TYPES], "FLOAT");
  assert_true(rows[1].cleared);
  assert_int_equal(use_of(&profile, 1, 2).tensor, use_of(&profile, 0, 0).tensor);
  assert_true(use_of(&profile, 1, 2).written);
  assert_false(use_of(&profile, 1, 2).fresh);
  assert_true(use_of(&profile, 1, 3).fresh);
  assert_string_equal(rows[2].cell[CALL_OUT_TYPES], "FLOAT16");
  assert_int_equal(use_of(&profile, 3, 1).tensor, use_of(&profile, 2, 0).tensor);
  assert_string_equal(rows[4].cell[CALL_OUT_SHAPES], "N/A");
  assert_false(rows[5].cleared);
  assert_true(use_of(&profile, 5, 1).fresh);
  free_profile(&profile);
}

/* y = f(x), z = x + y: the sum reads x although a row between has given another of its shape. */
static void a_residual_goes_from_sum_to_sum(void **state) {
  (void)state;
  struct profile profile = {0};
  read_profile(&profile, "s,Add,\"64,64;64,64\",FLOAT;FLOAT,\"64,64\",FLOAT\n"
                         "n,RmsNorm,\"64,64;64\",FLOAT;FLOAT,\"64,64;64,1\",FLOAT;FLOAT\n"
                         "f,Relu,\"64,64\",FLOAT,\"64,64\",FLOAT\n"
                         "t,Add,\"64,64;64,64\",FLOAT;FLOAT,\"64,64\",FLOAT\n");
  assert_int_equal(use_of(&profile, 3, 0).tensor, use_of(&profile, 2, 1).tensor);
  assert_int_equal(use_of(&profile, 3, 1).tensor, use_of(&profile, 0, 2).tensor);
  free_profile(&profile);
}

static void updates_stay_where_they_are(void **state) {
  (void)state;
  struct profile profile = {0};
  read_profile(
      &profile,
      "a,Relu,\"64,64\",FLOAT,\"64,64\",FLOAT\n"
      "aclnnInplaceMuls,Mul,\"64,64\",FLOAT,\"64,64\",FLOAT\n"
      "c,ApplyAdam,\"64,64;64,64;64,64;64,64\",FLOAT;FLOAT;FLOAT;FLOAT,\"64,64;64,64;64,64\","
      "FLOAT;FLOAT;FLOAT\n");
  assert_int_equal(use_of(&profile, 1, 1).tensor, use_of(&profile, 1, 0).tensor);
  assert_int_equal(use_of(&profile, 2, 3).tensor, use_of(&profile, 1, 1).tensor); /* gradient */
  for (unsigned i = 0; i < 3; i++) {
    assert_true(use_of(&profile, 2, i).before == SEQUENCE_NONE);
    assert_int_equal(use_of(&profile, 2, 4 + i).tensor, use_of(&profile, 2, i).tensor);
  }
  free_profile(&profile);
}

static void freed_memory_is_given_out_again(void **state) {
  (void)state;
  struct profile profile = {0};
  read_profile(&profile, "a,Relu,\"1048576\",FLOAT,\"1048576\",FLOAT\n"
                         "b,Relu,\"1048576\",FLOAT,\"1048576\",FLOAT\n"
                         "c,Relu,\"1048576\",FLOAT,\"1048576\",FLOAT\n"
                         "d,Relu,\"1048576\",FLOAT,\"1048576\",FLOAT\n");
  for (size_t row = 0; row < 4; row++) {
    assert_true(sequence_begin_row(&profile.sequence, row));
    sequence_end_row(&profile.sequence, row);
  }
  /* 4 MiB with their 512 bytes lie one behind the other in a segment of 20 MiB. */
  assert_int_equal(address_of(&profile, 1, 1), address_of(&profile, 0, 1) + 4 * MIB + 512);
  assert_int_equal(address_of(&profile, 2, 1), address_of(&profile, 0, 1));
  assert_int_equal(address_of(&profile, 3, 1), address_of(&profile, 1, 1));
  free_profile(&profile);
}

/* ---- any profile ---------------------------------------------------------------------------- */

static uint64_t below(uint64_t *state, uint64_t limit) { return splitmix64_next(state) % limit; }

static void put_shape(char *text, size_t size, uint64_t *state) {
  static const unsigned extents[] = {1, 7, 64, 1000, 4096, 300000, 3 * MIB};
  enum { COUNT = sizeof extents / sizeof *extents };
  snprintf(text, size, "%u,%u", (unsigned)below(state, 4) + 1, extents[below(state, COUNT)]);
}

/* Rows of one to three inputs and one or two outputs. */
static void put_rows(char *text, size_t size, uint64_t *state) {
  static const char *const types[] = {"Relu", "Add",       "RmsNorm",  "RmsNormGrad",
                                      "Mul",  "ApplyAdam", "MatMulV3", "ZerosLike"};
  size_t used = 0;
  for (unsigned row = 0; row < ROWS; row++) {
    char in[3][32], out[2][32];
    for (unsigned i = 0; i < 3; i++)
      put_shape(in[i], sizeof in[i], state);
    for (unsigned i = 0; i < 2; i++)
      put_shape(out[i], sizeof out[i], state);
    used += (size_t)snprintf(text + used, size - used,
                             "%s,%s,\"%s;%s;%s\",FLOAT;FLOAT;FLOAT,\"%s;%s\",FLOAT;FLOAT\n",
                             below(state, 8) == 0 ? "aclnnInplaceX" : "x", types[below(state, 8)],
                             in[0], in[1], in[2], out[0], out[1]);
  }
}

struct range {
  uint64_t from, to;
};

static void assert_apart(const struct range *ranges, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < i; j++)
      if (ranges[i].from < ranges[j].to && ranges[j].from < ranges[i].to)
        fail_msg("%" PRIx64 " to %" PRIx64 " and %" PRIx64 " to %" PRIx64 " share bytes",
                 ranges[i].from, ranges[i].to, ranges[j].from, ranges[j].to);
}

/* Of all tensors that a row now or later uses, and of the row's scratch memory. */
static void check_row(struct profile *profile, size_t row, uint64_t scratch) {
  static struct range ranges[8 * ROWS];
  size_t count = 0;
  uint64_t address = sequence_scratch(&profile->sequence, scratch);
  assert_true(address != 0 && address % PROGRAM_TENSOR_ALIGNMENT == 0);
  ranges[count++] = (struct range){address, address + scratch};
  for (size_t i = 0; i < profile->sequence.tensor_count; i++) {
    const struct sequence_tensor *tensor = &profile->sequence.tensors[i];
    if (!tensor->placed || tensor->last < row)
      continue;
    assert_true(tensor->address % PROGRAM_TENSOR_ALIGNMENT == 0);
    ranges[count++] = (struct range){tensor->address, tensor->address + tensor->bytes};
  }
  assert_apart(ranges, count);
}

static void what_is_alive_shares_no_memory(void **state) {
  (void)state;
  static char rows[TEXT_BYTES - sizeof header];
  for (uint64_t seed = 1; seed <= 4; seed++) {
    uint64_t random = seed;
    struct profile profile = {0};
    put_rows(rows, sizeof rows, &random);
    read_profile(&profile, rows);
    for (size_t row = 0; row < profile.list.count; row++) {
      assert_true(sequence_begin_row(&profile.sequence, row));
      check_row(&profile, row, 1 + below(&random, 30 * MIB));
      sequence_end_row(&profile.sequence, row);
    }
    free_profile(&profile);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_are_read_by_the_rows_behind),
      cmocka_unit_test(what_is_cleared_is_the_result_behind),
      cmocka_unit_test(a_residual_goes_from_sum_to_sum),
      cmocka_unit_test(updates_stay_where_they_are),
      cmocka_unit_test(freed_memory_is_given_out_again),
      cmocka_unit_test(what_is_alive_shares_no_memory),
  };
  return cmocka_run_group_tests_name("sequence", tests, NULL, NULL);
}
