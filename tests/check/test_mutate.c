/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutations of correct programs: each flag, barrier and signal is deleted, moved and renumbered,
 * each address shifted, each unit flag cleared, each atomic operation left out, and another one
 * taken by one block; one at a time, and in loops also in the last turn alone. Whether a mutation
 * can change a value is found by executing it with real bytes in many orders that flags and
 * barriers allow, adversarial ones among them: consumers first, producers first, at random, and
 * with the instructions of one pipe that no barrier separates out of order; with different garbage
 * in all memory that nobody has written. A mutation whose outputs ever differ from those of the
 * correct program, or that hangs or is rejected while it runs, must be reported by the checks. Some
 * mutations (enum demand) leave a program that is wrong but in order: it computes the same wrong
 * result in every order, and nothing can notice. The correct programs must give the same outputs in
 * every order and raise nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/machine/machine.h"
#include "tests/support/orders.h"
#include "tests/support/runs.h"

enum { LINES_MAX = 100, TEXT_MAX = 1 << 14, ORDERS = 20 };

/* ---- programs as lines ------------------------------------------------------------ */

struct program {
  char text[TEXT_MAX];
  char *line[LINES_MAX];
  unsigned count;
  unsigned first; /* of the streams */
};

static void read_program(const char *name, struct program *program) {
  char path[512];
  const char *folder = getenv("TESTS_SRCDIR");
  snprintf(path, sizeof path, "%s/tests/mutate/%s.csv", folder ? folder : ".", name);
  FILE *in = fopen(path, "r");
  if (!in)
    fail_msg("cannot read %s", path);
  size_t length = fread(program->text, 1, sizeof program->text - 1, in);
  fclose(in);
  program->text[length] = '\0';
  for (char *line = strtok(program->text, "\n"); line; line = strtok(NULL, "\n")) {
    assert_true(program->count < LINES_MAX);
    if (program->first == 0 && strncmp(line, "stream,", 7) == 0)
      program->first = program->count;
    program->line[program->count++] = line;
  }
}

static enum isa_op op_of(const char *line) {
  line += strspn(line, " ");
  return isa_find(line, strcspn(line, ","));
}

static bool is_sync(enum isa_op op) {
  return op == OP_SET_FLAG || op == OP_WAIT_FLAG || op == OP_PIPE_BARRIER ||
         op == OP_FFTS_CROSS_CORE_SYNC || op == OP_WAIT_FLAG_DEV;
}

static bool is_atomic(enum isa_op op) {
  return op == OP_SET_ATOMIC_NONE || op == OP_SET_ATOMIC_ADD || op == OP_SET_ATOMIC_MAX;
}

/* ---- the judgement of one mutation --------------------------------------------------- */

struct tally {
  unsigned mutations, rejected, changing, reported_changing, reported_harmless, silent, missed;
  unsigned in_order;
};

/* What must be reported: whatever changes a result, or only what makes it depend on the order. */
enum demand { ALL_CHANGES, ALL_DEPENDENCE };

struct subject {
  const struct program *program;
  uint8_t *expected;
  uint64_t bytes;
  struct tally tally;
};

static bool is_reported(const vinci_trace *trace) {
  struct vinci_diag diag = {0};
  vinci_findings *findings;
  enum vinci_status status = vinci_check(fixture_shared, trace, NULL, &findings, &diag);
  vinci_findings_free(findings);
  return status != VINCI_OK;
}

static bool is_in_order(const vinci_trace *trace) {
  uint64_t bytes;
  uint8_t *own = orders_run(trace, 0, &bytes);
  bool in_order = own && orders_first_change(trace, ORDERS, own, bytes) == ORDERS;
  free(own);
  return in_order;
}

static void judge(struct subject *subject, enum demand demand, const char *text, const char *what) {
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  struct tally *tally = &subject->tally;
  tally->mutations++;
  if (vinci_trace_parse("m.csv", text, strlen(text), fixture_shared, &trace, &diag) != VINCI_OK) {
    tally->rejected++;
    return;
  }
  bool reported = is_reported(trace);
  unsigned order = orders_first_change(trace, ORDERS, subject->expected, subject->bytes);
  if (order < ORDERS && !reported && demand == ALL_DEPENDENCE && is_in_order(trace)) {
    tally->in_order++;
  } else if (order < ORDERS) {
    tally->changing++;
    tally->reported_changing += reported;
    tally->missed += !reported;
    if (!reported)
      print_message("missed: %s (order %u)\n", what, order);
  } else {
    tally->reported_harmless += reported;
    tally->silent += !reported;
  }
  vinci_trace_free(trace);
}

/* The text with line `at` replaced (NULL: left out) and moved to stand before line `to`. */
static void compose(const struct program *program, unsigned at, const char *line, unsigned to,
                    char *text) {
  char *end = text;
  for (unsigned i = 0; i <= program->count; i++) {
    if (i == to && line)
      end += sprintf(end, "%s\n", line);
    if (i < program->count && i != at)
      end += sprintf(end, "%s\n", program->line[i]);
  }
}

/* The condition of the last turn of the loop around a line; false when there is no loop of
 * several turns. */
static bool last_turn(const struct program *program, unsigned at, char *text, size_t size) {
  unsigned depth = 0;
  for (unsigned i = at; i-- > program->first;) {
    const char *line = program->line[i] + strspn(program->line[i], " ");
    if (strncmp(line, "endloop", 7) == 0)
      depth++;
    if (strncmp(line, "loop,", 5) != 0 || depth-- > 0)
      continue;
    const char *name = line + 5, *turns = name + strcspn(name, ",") + 1;
    if (strtol(turns, NULL, 10) < 2)
      return false;
    snprintf(text, size, "(%.*s==%s-1)", (int)(turns - 1 - name), name, turns);
    return true;
  }
  return false;
}

/* A row that is executed in all turns but the last. */
static void mutate_last_turn(struct subject *subject, unsigned at) {
  static char text[TEXT_MAX + 512];
  char last[64], line[400], what[512];
  const struct program *program = subject->program;
  if (!last_turn(program, at, last, sizeof last))
    return;
  snprintf(line, sizeof line, "loop,not_last,1-%s\n%s\nendloop", last, program->line[at]);
  snprintf(what, sizeof what, "\"%s\" but in the last turn", program->line[at]);
  compose(program, at, line, at, text);
  judge(subject, ALL_CHANGES, text, what);
}

static void mutate_sync(struct subject *subject, unsigned at) {
  const struct program *program = subject->program;
  static char text[TEXT_MAX + 512];
  char what[300], line[256];
  snprintf(what, sizeof what, "without \"%s\"", program->line[at]);
  compose(program, at, NULL, 0, text);
  judge(subject, ALL_CHANGES, text, what);
  mutate_last_turn(subject, at);
  for (int distance = -3; distance <= 3; distance++) {
    /* Moves stay between loop rows. */
    int to = (int)at + distance, step = distance < 0 ? -1 : 1;
    bool inside = distance != 0;
    for (int i = (int)at + step; inside && i != to + step; i += step)
      inside =
          i > (int)program->first && i < (int)program->count && op_of(program->line[i]) != OP_COUNT;
    if (!inside)
      continue;
    snprintf(what, sizeof what, "\"%s\" by %d", program->line[at], distance);
    compose(program, at, program->line[at], (unsigned)(distance < 0 ? to : to + 1), text);
    judge(subject, ALL_CHANGES, text, what);
  }
  const char *id = strstr(program->line[at], ",id=");
  if (!id)
    return;
  snprintf(line, sizeof line, "%.*s,id=(%s)+1", (int)(id - program->line[at]), program->line[at],
           id + 4);
  snprintf(what, sizeof what, "\"%s\"", line);
  compose(program, at, line, at, text);
  judge(subject, ALL_CHANGES, text, what);
}

/* Each operation is left out, and followed by another operation, or by another type, in one of the
 * blocks alone: what all blocks do alike has no wrong order. */
static void mutate_atomic(struct subject *subject, unsigned at, enum isa_op op) {
  static const enum isa_op others[] = {OP_SET_ATOMIC_NONE, OP_SET_ATOMIC_ADD, OP_SET_ATOMIC_MAX,
                                       OP_SET_ATOMIC_S32};
  static char text[TEXT_MAX + 512];
  char line[400], what[512];
  for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
    const char *name = isa_row(others[i])->name;
    if (others[i] == op)
      continue;
    snprintf(line, sizeof line, "%s\nloop,one,blk==1\n%s\nendloop", subject->program->line[at],
             name);
    snprintf(what, sizeof what, "\"%s\", in block 1 %s", subject->program->line[at], name);
    compose(subject->program, at, line, at, text);
    judge(subject, ALL_DEPENDENCE, text, what);
  }
  snprintf(what, sizeof what, "without \"%s\"", subject->program->line[at]);
  compose(subject->program, at, NULL, 0, text);
  judge(subject, ALL_DEPENDENCE, text, what);
  mutate_last_turn(subject, at);
}

static void mutate_unit_flag(struct subject *subject, unsigned at) {
  static char text[TEXT_MAX + 512];
  char line[400], what[512], last[64];
  const char *old = subject->program->line[at], *field = strstr(old, ",unit_flag=");
  if (!field)
    return;
  const char *value = field + strlen(",unit_flag="), *rest = value + strcspn(value, ",");
  snprintf(line, sizeof line, "%.*s%s", (int)(field - old), old, rest);
  snprintf(what, sizeof what, "\"%s\"", line);
  compose(subject->program, at, line, at, text);
  judge(subject, ALL_CHANGES, text, what);
  if (!last_turn(subject->program, at, last, sizeof last))
    return;
  snprintf(line, sizeof line, "%.*s,unit_flag=(%.*s)*(1-%s)%s", (int)(field - old), old,
           (int)(rest - value), value, last, rest);
  snprintf(what, sizeof what, "\"%s\"", line);
  compose(subject->program, at, line, at, text);
  judge(subject, ALL_CHANGES, text, what);
}

/* One address, moved by N bytes. */
static void shift_address(struct subject *subject, enum demand demand, unsigned at,
                          const char *field, size_t value, const char *shift) {
  static char text[TEXT_MAX + 512];
  char line[400], what[512];
  const char *old = subject->program->line[at], *rest = field + value;
  snprintf(line, sizeof line, "%.*s%s%s", (int)(rest - old), old, shift, rest);
  snprintf(what, sizeof what, "\"%s\"", line);
  compose(subject->program, at, line, at, text);
  judge(subject, demand, text, what);
}

static void mutate_addresses(struct subject *subject, unsigned at, enum isa_op op) {
  const struct isa_row *row = isa_row(op);
  const char *old = subject->program->line[at];
  char last[64];
  bool in_loop = last_turn(subject->program, at, last, sizeof last);
  for (unsigned arg = 0; arg < row->arg_count; arg++) {
    if (row->arg[arg].kind != ARG_ADDRESS)
      continue;
    char key[32], shift[100];
    snprintf(key, sizeof key, ",%s=", row->arg[arg].name);
    const char *field = strstr(old, key);
    unsigned unit = row->arg[arg].space == SPACE_GM    ? 32
                    : row->arg[arg].space == SPACE_L0C ? 1024
                                                       : space_alignment(row->arg[arg].space);
    for (int sign = -1; field && sign <= 1; sign += 2) {
      size_t value = strlen(key) + strcspn(field + strlen(key), ",");
      snprintf(shift, sizeof shift, "%+d", sign * (int)unit);
      shift_address(subject, ALL_CHANGES, at, field, value, shift);
      snprintf(shift, sizeof shift, "%+d*%s", sign * (int)unit, last);
      if (in_loop)
        shift_address(subject, ALL_DEPENDENCE, at, field, value, shift);
    }
  }
}

static void run_program(const char *name) {
  static struct program program;
  static char text[TEXT_MAX + 512];
  memset(&program, 0, sizeof program);
  read_program(name, &program);
  compose(&program, program.count + 1, NULL, 0, text);
  vinci_trace *trace = runs_parse(text, fixture_shared);
  struct subject subject = {.program = &program};
  assert_false(is_reported(trace));
  subject.expected = orders_run(trace, 0, &subject.bytes);
  assert_non_null(subject.expected);
  assert_int_equal(orders_first_change(trace, ORDERS, subject.expected, subject.bytes), ORDERS);
  vinci_trace_free(trace);
  for (unsigned at = program.first; at < program.count; at++) {
    enum isa_op op = op_of(program.line[at]);
    if (op == OP_COUNT)
      continue;
    if (is_sync(op))
      mutate_sync(&subject, at);
    else if (is_atomic(op))
      mutate_atomic(&subject, at, op);
    else
      mutate_addresses(&subject, at, op);
    mutate_unit_flag(&subject, at);
  }
  const struct tally *tally = &subject.tally;
  print_message(
      "%s: %u mutations, %u rejected by the reader, %u change a value in one of %u "
      "orders, %u of them reported, %u missed; %u are wrong but in order; of %u others %u "
      "are reported\n",
      name, tally->mutations, tally->rejected, tally->changing, ORDERS, tally->reported_changing,
      tally->missed, tally->in_order, tally->reported_harmless + tally->silent,
      tally->reported_harmless);
  free(subject.expected);
  assert_true(tally->changing > 0);
  assert_int_equal(tally->missed, 0);
}

static void test_add_single(void **state) {
  (void)state;
  run_program("add_single");
}

static void test_add_double(void **state) {
  (void)state;
  run_program("add_double");
}

static void test_chain(void **state) {
  (void)state;
  run_program("chain");
}

/* read rows: a flag that the scalar unit lacks shows in what is read. */
static void test_follow(void **state) {
  (void)state;
  run_program("follow");
}

static void test_matmul(void **state) {
  (void)state;
  run_program("matmul");
}

static void test_mixed(void **state) {
  (void)state;
  run_program("mixed");
}

static void test_sync_all(void **state) {
  (void)state;
  run_program("sync_all");
}

static void test_atomic(void **state) {
  (void)state;
  run_program("atomic");
}

static void test_mixed_atomic(void **state) {
  (void)state;
  run_program("mixed_atomic");
}

static void test_unit_flag(void **state) {
  (void)state;
  run_program("unit_flag");
}

static void test_tail(void **state) {
  (void)state;
  run_program("tail");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_atomic),     cmocka_unit_test(test_mixed_atomic),
      cmocka_unit_test(test_unit_flag),  cmocka_unit_test(test_tail),
      cmocka_unit_test(test_add_single), cmocka_unit_test(test_add_double),
      cmocka_unit_test(test_chain),      cmocka_unit_test(test_matmul),
      cmocka_unit_test(test_mixed),      cmocka_unit_test(test_sync_all),
      cmocka_unit_test(test_follow),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
