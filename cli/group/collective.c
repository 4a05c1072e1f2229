/* SPDX-License-Identifier: Apache-2.0 */
/* vinci group collective: one collective on a system of devices. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/group/group.h"
#include "core/base/decimal.h"
#include "core/base/sheet.h"
#include "core/chip/param.h"
#include "devices/flow/run.h"

enum { RANKS_DEFAULT = 8, US_DIGITS = 6, STEPS_NAME_MAX = 64 };

struct collective_settings {
  struct group_system_settings system;
  uint64_t ranks, root;
  const char *bytes, *algorithm;
  bool json, steps;
};

static const struct option_row collective_options[] = {
    GROUP_SYSTEM_ROWS(struct collective_settings, system),
    OPTION_NUMBER_ROW("ranks", 'n', struct collective_settings, ranks, "N", 2, GROUP_DEVICES_MAX,
                      "devices that take part, from the first on (8)"),
    OPTION_TEXT_ROW("bytes", 'b', struct collective_settings, bytes, "SIZES",
                    "bytes of the buffer, such as 64MiB; several with commas between"),
    OPTION_TEXT_ROW("algorithm", 'a', struct collective_settings, algorithm, "NAMES",
                    "algorithms with commas between, or all; by default the one that the library "
                    "would choose"),
    OPTION_NUMBER_ROW("root", 0, struct collective_settings, root, "RANK", 0, GROUP_DEVICES_MAX - 1,
                      "where a broadcast begins, or a reduce ends (0)"),
    OPTION_FLAG_ROW("steps", 0, struct collective_settings, steps,
                    "print each transfer: from, to, bytes, start, duration"),
    OPTION_FLAG_ROW("json", 0, struct collective_settings, json,
                    "print JSON, a line for each; with --steps it has the list of steps"),
};

struct one_run {
  const struct collective_settings *settings;
  const struct group_system *system;
  enum collective_op op;
  uint32_t *ranks;
  const struct group_program **programs;
  size_t simulated, left_out;
  bool has_header;
  FILE *steps; /* JSON of the run's transfers, which goes behind its result; NULL: not asked for */
  uint64_t step_count; /* that are in steps */
  struct group_fastest {
    const char *algorithm;
    uint64_t end_ps;
  } fastest; /* for the most bytes */
  uint64_t most_bytes;
};

/* What stands before the last column: rows come one at a time, so that a narrow terminal has it
 * below. */
static const char *beside(void) {
  enum { WIDE = 110 };
  unsigned width = sheet_width(stdout);
  return width > 0 && width < WIDE ? "\n           " : "  ";
}

/* Above the first line of the first run that takes place: a call that is refused prints nothing. */
static void print_header(struct one_run *run) {
  if (run->has_header || run->settings->json)
    return;
  printf("%-10s %12s %14s %9s %9s %12s%s%s\n", "algorithm", "bytes", "us", "GB/s", "transfers",
         "bytes moved", beside(), "busiest limit, its bytes");
  run->has_header = true;
}

static void put_step(struct one_run *run, const struct group_transfer *moved) {
  fprintf(run->steps,
          "%s{\"from\": %u, \"to\": %u, \"bytes\": %" PRIu64
          ", \"kind\": \"%s\", \"start_us\": %s, \"duration_us\": %s}",
          run->step_count++ ? ", " : "", moved->from, moved->to, moved->step->bytes,
          moved->step->adds ? "reduce" : "copy", decimal_exact(moved->start_ps, US_DIGITS).text,
          decimal_exact(moved->end_ps - moved->start_ps, US_DIGITS).text);
}

static void print_step(void *context, const struct group_transfer *moved) {
  struct one_run *run = context;
  if (moved->from == moved->to)
    return;
  if (run->steps) {
    put_step(run, moved);
    return;
  }
  print_header(run);
  printf("  %5u -> %-5u %12" PRIu64 " B %-6s %14s us %14s us\n", moved->from, moved->to,
         moved->step->bytes, moved->step->adds ? "reduce" : "copy",
         decimal_exact(moved->start_ps, US_DIGITS).text,
         decimal_exact(moved->end_ps - moved->start_ps, US_DIGITS).text);
}

/* steps: NULL, or what put_step() has written. */
static void print_result(struct one_run *run, const struct collective_call *call,
                         const struct group_result *result, const char *steps) {
  const struct group_system *system = run->system;
  uint32_t busiest = 0;
  char limit[STEPS_NAME_MAX];
  for (uint32_t i = 1; i < group_limit_count(system); i++)
    if (result->limit_bytes[i] > result->limit_bytes[busiest])
      busiest = i;
  group_limit_name(system, busiest, limit, sizeof limit);
  uint64_t rate = result->end_ps ? result->end_ps : 1;
  struct decimal time = decimal_exact(result->end_ps, US_DIGITS);
  struct decimal algorithm_rate = decimal_ratio(call->bytes * 1000, rate, 3);
  print_header(run);
  if (run->settings->json) {
    printf("{\"op\": \"%s\", \"algorithm\": \"%s\", \"system\": \"%s\", \"ranks\": %" PRIu64
           ", \"bytes\": %" PRIu64 ", \"time_us\": %s, \"gb_per_s\": %s, \"transfers\": %" PRIu64
           ", \"moved_bytes\": %" PRIu64 ", \"busiest\": \"%s\", \"busiest_bytes\": %" PRIu64,
           collective_op_name(call->op), call->algorithm->name, system->name, run->settings->ranks,
           call->bytes, time.text, algorithm_rate.text, result->transfers, result->transfer_bytes,
           limit, result->limit_bytes[busiest]);
    if (steps)
      printf(", \"steps\": [%s]", steps);
    puts("}");
  } else {
    printf("%-10s %12" PRIu64 " %14s %9s %9" PRIu64 " %12" PRIu64 "%s%s %" PRIu64 "\n",
           call->algorithm->name, call->bytes, time.text, algorithm_rate.text, result->transfers,
           result->transfer_bytes, beside(), limit, result->limit_bytes[busiest]);
  }
}

static void note_result(struct one_run *run, const struct collective_call *call,
                        const struct group_result *result, const char *steps) {
  print_result(run, call, result, steps);
  bool larger = run->simulated++ == 0 || call->bytes > run->most_bytes;
  if (larger)
    run->most_bytes = call->bytes;
  if (larger || (call->bytes == run->most_bytes && result->end_ps < run->fastest.end_ps))
    run->fastest = (struct group_fastest){call->algorithm->name, result->end_ps};
}

/* Runs the call, and prints its result with its steps. */
static enum vinci_status run_and_print(struct one_run *run, const struct group_job *job,
                                       const struct collective_call *call,
                                       struct vinci_diag *diag) {
  const struct collective_settings *settings = run->settings;
  struct group_observer observer = {.context = run, .transfer_ended = print_step};
  struct arena arena = {0};
  struct group_result result;
  char *steps = NULL;
  size_t length = 0;
  if (settings->json && settings->steps && !(run->steps = open_memstream(&steps, &length)))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status =
      group_run(job, settings->steps ? &observer : NULL, &arena, &result, diag);
  if (run->steps && fclose(run->steps) != 0 && status == VINCI_OK)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  run->steps = NULL;
  run->step_count = 0;
  if (status == VINCI_OK)
    note_result(run, call, &result, steps);
  free(steps);
  arena_free(&arena);
  return status;
}

/* All ranks call at time 0. algorithm NULL: what the library would choose. */
static enum vinci_status run_one(struct one_run *run, const struct collective_algorithm *algorithm,
                                 uint64_t bytes, struct vinci_diag *diag) {
  uint32_t ranks = (uint32_t)run->settings->ranks;
  struct group_op op = {.kind = GROUP_COLLECTIVE,
                        .name = collective_op_name(run->op),
                        .call = {.op = run->op,
                                 .algorithm = algorithm,
                                 .bytes = bytes,
                                 .root = (uint32_t)run->settings->root}};
  struct group_stream stream = {&op, 1};
  struct group_program program = {&stream, 1, 0};
  for (uint32_t i = 0; i < ranks; i++)
    run->programs[i] = &program;
  struct group_ranks all = {run->ranks, ranks};
  struct group_family family = {"all", &all, 1};
  struct group_job job = {.system = run->system,
                          .programs = run->programs,
                          .ranks = ranks,
                          .families = &family,
                          .family_count = 1};
  group_complete_call(&job, &all, &op.call);
  return run_and_print(run, &job, &op.call, diag);
}

/* Each algorithm that the list names; all: those that can do the call. */
static enum vinci_status run_algorithms(struct one_run *run, uint64_t bytes,
                                        struct vinci_diag *diag) {
  const char *list = run->settings->algorithm;
  enum vinci_status status = VINCI_OK;
  size_t count;
  const struct collective_algorithm *all = collective_algorithms(&count);
  if (!list)
    return run_one(run, NULL, bytes, diag);
  if (strcmp(list, "all") == 0) {
    for (size_t i = 0; i < count; i++) {
      struct vinci_diag refused = {0};
      if (collective_can(&all[i], run->op))
        status = run_one(run, &all[i], bytes, &refused);
      run->left_out += status == VINCI_E_INPUT;
      if (status == VINCI_E_INPUT)
        fprintf(stderr, "left out: %s\n", refused.text);
      else if (status != VINCI_OK)
        return *diag = refused, status;
    }
    return VINCI_OK;
  }
  for (const char *end; status == VINCI_OK && *list; list = end + (*end == ',')) {
    char name[STEPS_NAME_MAX];
    const struct collective_algorithm *algorithm;
    end = list + strcspn(list, ",");
    snprintf(name, sizeof name, "%.*s", (int)(end - list), list);
    status = collective_find(run->op, name, &algorithm, diag);
    if (status == VINCI_OK)
      status = run_one(run, algorithm, bytes, diag);
  }
  return status;
}

static enum vinci_status run_sizes(struct one_run *run, struct vinci_diag *diag) {
  const char *list = run->settings->bytes;
  enum vinci_status status = VINCI_OK;
  for (const char *end; status == VINCI_OK && *list; list = end + (*end == ',')) {
    char text[STEPS_NAME_MAX];
    int64_t bytes = 0;
    end = list + strcspn(list, ",");
    snprintf(text, sizeof text, "%.*s", (int)(end - list), list);
    status = soc_parse_value(text, SOC_KIND_BYTES, &bytes, diag);
    if (status == VINCI_OK && (bytes < 0 || bytes > (INT64_C(1) << 50)))
      status = diag_error(diag, VINCI_E_USAGE, "%s is not a size of a buffer", text);
    if (status == VINCI_OK)
      status = run_algorithms(run, (uint64_t)bytes, diag);
  }
  return status;
}

static enum vinci_status find_op(const struct text_list *words, enum collective_op *out,
                                 struct vinci_diag *diag) {
  if (words->count != 1)
    return diag_error(diag, VINCI_E_USAGE, "give one collective, not %zu", words->count);
  *out = collective_op_find(words->items[0], strlen(words->items[0]));
  if (*out != COLLECTIVE_OPS)
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_USAGE, "unknown collective '%s'", words->items[0]);
  diag_hint(diag, "'vinci group collective --help' lists the collectives");
  return VINCI_E_USAGE;
}

static enum vinci_status collective(const struct collective_settings *settings,
                                    const struct text_list *words, struct vinci_diag *diag) {
  struct group_description *group = NULL;
  struct one_run run = {.settings = settings};
  enum vinci_status status = find_op(words, &run.op, diag);
  if (status == VINCI_OK && !settings->bytes)
    status = diag_error(diag, VINCI_E_USAGE, "give the bytes of the buffer with --bytes");
  if (status == VINCI_OK)
    status = group_load(&settings->system, (uint32_t)settings->ranks, &group, diag);
  if (status == VINCI_OK) {
    run.system = &group->system;
    run.ranks = calloc(settings->ranks, sizeof *run.ranks);
    run.programs = calloc(settings->ranks, sizeof *run.programs);
    if (!run.ranks || !run.programs)
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  for (uint32_t i = 0; status == VINCI_OK && i < settings->ranks; i++)
    run.ranks[i] = i;
  if (status == VINCI_OK)
    status = run_sizes(&run, diag);
  if (status == VINCI_OK && run.simulated > 0 && !settings->json)
    cli_summary("group collective runs=%zu left_out=%zu bytes=%" PRIu64 " fastest=%s us=%s",
                run.simulated, run.left_out, run.most_bytes, run.fastest.algorithm,
                decimal_exact(run.fastest.end_ps, US_DIGITS).text);
  free(run.ranks);
  free(run.programs);
  group_host_free(group);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  struct collective_settings settings = {.ranks = RANKS_DEFAULT};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code))
    exit_code = collective(&settings, &words, &diag) == VINCI_OK ? 0 : cli_fail(&diag);
  text_list_free(&settings.system.sets);
  text_list_free(&words);
  return exit_code;
}

#define X(id, name, text) "  " name "\n      " text "\n"
const struct cli_verb cli_group_collective = {
    .name = "group collective",
    .arguments = "COLLECTIVE",
    .summary = "Simulate one collective on a system of devices",
    .details = "COLLECTIVE is one of\n" COLLECTIVE_OP_LIST(
        X) "\n"
           "All ranks call at time 0. GB/s is bytes by time. A limit is a link, a port, or what a\n"
           "device can do at all.\n\n"
           "Examples:\n"
           "  vinci group collective all_reduce -s atlas_a2_910b2 -n 8 -b 151011328\n"
           "  vinci group collective all_reduce -s atlas_a2_910b4 -n 64 -b 1MiB,64MiB -a all\n",
    .options = {collective_options, sizeof collective_options / sizeof *collective_options},
    .run = run,
};
#undef X
