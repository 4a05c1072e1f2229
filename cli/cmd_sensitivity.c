/* SPDX-License-Identifier: Apache-2.0 */
/* vinci sensitivity: what each number of the chip does to a run, halved and doubled. */
#include <inttypes.h>
#include <string.h>

#include "cli/support/cli.h"
#include "cli/support/command.h"
#include "cli/support/operator.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/sheet.h"
#include "core/vinci_sensitivity.h"
#include "traces/export/export.h"

struct sensitivity_settings {
  struct cli_command command;
  struct vinci_overrides overrides;
  struct text_list sets;
  struct text_list params;
  const char *output;
  const char *format;
  bool json, csv;
  uint64_t jobs;
};

static const struct option_row sensitivity_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct sensitivity_settings, overrides.soc, "NAME",
                    "the chip, such as Ascend910B4; 'vinci soc list' shows them all"),
    OPTION_LIST_ROW("params", 'p', struct sensitivity_settings, params, "KEY",
                    "a number of the chip, such as l2.size; may be repeated (default: those that "
                    "the causes on the critical path name)"),
    OPTION_LIST_ROW("set", 0, struct sensitivity_settings, sets, "KEY=VALUE",
                    "change a number of the chip in all runs; may be repeated"),
    OPTION_FLAG_ROW("json", 0, struct sensitivity_settings, json,
                    "print JSON instead of the table"),
    OPTION_FLAG_ROW("csv", 0, struct sensitivity_settings, csv, "print CSV instead of the table"),
    /* What --json and --csv were once. */
    OPTION_TEXT_ROW("format", 0, struct sensitivity_settings, format, "FORMAT", NULL),
    OPTION_TEXT_ROW("output", 'o', struct sensitivity_settings, output, "DIR",
                    "keep the results there as those of a sweep; running again goes on there"),
    OPTION_NUMBER_ROW("jobs", 'j', struct sensitivity_settings, jobs, "N", 1, 256,
                      "runs at a time (default: the number of processors)"),
    OPTION_TEXT_ROW("memory", 0, struct sensitivity_settings, overrides.memory, "MODEL",
                    "cycle or flat, as for 'vinci run'"),
    OPTION_TEXT_ROW("network", 0, struct sensitivity_settings, overrides.network, "LEVEL",
                    "packet or flit, as for 'vinci run'"),
    OPTION_TEXT_ROW("l2", 0, struct sensitivity_settings, overrides.l2, "STATE",
                    "L2 at the start, as for 'vinci run'"),
    OPTION_TEXT_ROW("code", 0, struct sensitivity_settings, overrides.code, "STATE",
                    "code at the start, as for 'vinci run'"),
    OPTION_TEXT_ROW("data", 0, struct sensitivity_settings, overrides.data_dir, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
};

/* "-12.3" per cent of the run as it is; "" when the chip cannot have the number. */
static struct decimal change(uint64_t cycles, uint64_t base) {
  struct decimal text = {""};
  if (cycles == 0 || base == 0)
    return text;
  uint64_t difference = cycles > base ? cycles - base : base - cycles;
  struct decimal amount = decimal_ratio((uint128)difference * 100, base, 1);
  snprintf(text.text, sizeof text.text, "%s%.40s", cycles < base ? "-" : "+", amount.text);
  return text;
}

/* A bar for each change: those that save time to the left, those that cost time to the right. */
static void print_bar(const struct vinci_sensitivity_row *row, uint64_t base, uint64_t largest,
                      struct sheet *sheet) {
  enum { SIDE = 9 };
  static const char lefts[] = "<<<<<<<<<", rights[] = ">>>>>>>>>";
  uint64_t left = 0, right = 0;
  uint64_t of[] = {row->half_cycles, row->twice_cycles};
  for (unsigned i = 0; i < 2; i++) {
    if (of[i] == 0)
      continue;
    uint64_t amount = of[i] > base ? of[i] - base : base - of[i];
    uint64_t width = largest == 0 ? 0 : (amount * SIDE + largest - 1) / largest;
    uint64_t *side = of[i] < base ? &left : &right;
    *side = width > *side ? width : *side;
  }
  sheet_cell(sheet, "%*.*s|%.*s", SIDE, (int)left, lefts, (int)right, rights);
}

static void print_change(uint64_t cycles, uint64_t base, struct sheet *sheet) {
  struct decimal text = change(cycles, base);
  sheet_cell(sheet, "%s %%", *text.text ? text.text : "-");
}

enum { KEPT_RANK = 2, BAR_RANK = 1 };

static const struct sheet_column lowered_columns[] = {
    {.title = "number", .left = true},
    {.title = "value", .left = true},
    {.title = "halved"},
    {.title = "doubled"},
    {.title = "halved*", .rank = KEPT_RANK},
    {.title = "doubled*", .rank = KEPT_RANK},
    {.title = "   saves | costs", .left = true, .rank = BAR_RANK},
};
static const struct sheet_column trace_columns[] = {
    {.title = "number", .left = true},
    {.title = "value", .left = true},
    {.title = "halved"},
    {.title = "doubled"},
    {.title = "   saves | costs", .left = true, .rank = BAR_RANK},
};

static void print_text(const vinci_sensitivity *result, bool lowered) {
  uint64_t base = vinci_sensitivity_cycles(result);
  size_t count = vinci_sensitivity_count(result);
  struct sheet sheet;
  sheet_line(stdout,
             "%" PRIu64
             " cycles as it is; each number alone, halved and doubled: change of the cycles%s\n",
             base, lowered ? " (*: with the tiling as it is)" : "");
  if (lowered)
    SHEET_BEGIN(&sheet, stdout, lowered_columns, 2, "the table of --csv");
  else
    SHEET_BEGIN(&sheet, stdout, trace_columns, 2, "the table of --csv");
  while (sheet_pass(&sheet))
    for (size_t i = 0; i < count; i++) {
      const struct vinci_sensitivity_row *row = vinci_sensitivity_row(result, i);
      sheet_text(&sheet, row->key);
      sheet_text(&sheet, row->value);
      print_change(row->half_cycles, base, &sheet);
      print_change(row->twice_cycles, base, &sheet);
      if (lowered) {
        print_change(row->half_kept_cycles, base, &sheet);
        print_change(row->twice_kept_cycles, base, &sheet);
      }
      print_bar(row, base, vinci_sensitivity_row(result, 0)->effect_cycles, &sheet);
    }
  if (count == 0)
    puts("  no number of the chip is behind the critical path; choose with --params=KEY");
  cli_summary("sensitivity cycles=%" PRIu64 " numbers=%zu first=%s", base, count,
              count > 0 ? vinci_sensitivity_row(result, 0)->key : "-");
}

static void print_csv(const vinci_sensitivity *result) {
  puts("key,value,half,twice,cycles,half_cycles,twice_cycles,effect_cycles,"
       "half_kept_cycles,twice_kept_cycles");
  for (size_t i = 0; i < vinci_sensitivity_count(result); i++) {
    const struct vinci_sensitivity_row *row = vinci_sensitivity_row(result, i);
    printf("%s,%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
           row->key, row->value, row->half, row->twice, vinci_sensitivity_cycles(result),
           row->half_cycles, row->twice_cycles, row->effect_cycles, row->half_kept_cycles,
           row->twice_kept_cycles);
  }
}

static void print_json(const vinci_sensitivity *result) {
  struct json_writer json;
  json_start(&json, stdout);
  json_object(&json, NULL, false);
  json_number(&json, "cycles", vinci_sensitivity_cycles(result));
  json_array(&json, "numbers", false);
  for (size_t i = 0; i < vinci_sensitivity_count(result); i++) {
    const struct vinci_sensitivity_row *row = vinci_sensitivity_row(result, i);
    json_object(&json, NULL, true);
    json_text(&json, "key", row->key);
    json_text(&json, "value", row->value);
    json_text(&json, "half", row->half);
    json_text(&json, "twice", row->twice);
    json_number(&json, "half_cycles", row->half_cycles);
    json_number(&json, "twice_cycles", row->twice_cycles);
    json_number(&json, "effect_cycles", row->effect_cycles);
    json_number(&json, "half_kept_cycles", row->half_kept_cycles);
    json_number(&json, "twice_kept_cycles", row->twice_kept_cycles);
    json_end(&json);
  }
  json_end(&json);
  json_end(&json);
}

static enum vinci_status print(const char *format, const vinci_sensitivity *result, bool lowered,
                               struct vinci_diag *diag) {
  if (strcmp(format, "csv") == 0)
    print_csv(result);
  else if (strcmp(format, "json") == 0)
    print_json(result);
  else
    print_text(result, lowered);
  return export_flush(stdout, "the table", diag);
}

static enum vinci_status execute(const struct sensitivity_settings *settings,
                                 const struct text_list *arguments, struct vinci_diag *diag) {
  const char *format;
  struct vinci_sensitivity_options options = {.struct_size = sizeof options,
                                              .overrides = settings->overrides,
                                              .params = settings->params.items,
                                              .param_count = settings->params.count,
                                              .folder = settings->output,
                                              .jobs = (unsigned)settings->jobs};
  vinci_sensitivity *result = NULL;
  options.overrides.sets = settings->sets.items;
  options.overrides.set_count = settings->sets.count;
  enum vinci_status status =
      cli_form(settings->json, settings->csv, settings->format, &format, diag);
  if (status == VINCI_OK)
    status = vinci_sensitivity_run(arguments->items, arguments->count, &options, &result, diag);
  if (status == VINCI_OK && settings->output)
    cli_keep_command(&settings->command, settings->output);
  if (status == VINCI_OK)
    status = print(format, result, operator_exists(arguments->items[0]), diag);
  vinci_sensitivity_free(result);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct sensitivity_settings settings = {.command = {verb, argc, argv}};
  struct text_list arguments = {0};
  struct vinci_diag diag = {0};
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &arguments, &exit_code))
    exit_code = execute(&settings, &arguments, &diag) == VINCI_OK ? 0 : cli_fail(&diag);
  text_list_free(&settings.sets);
  text_list_free(&settings.params);
  text_list_free(&arguments);
  return exit_code;
}

const struct cli_verb cli_verb_sensitivity = {
    .name = "sensitivity",
    .arguments = "TRACE | OP KEY=VALUE...",
    .summary = "Halve and double numbers of the chip, one at a time: which of them matter",
    .details =
        "The numbers are those that the causes on the critical path of the run name, as its\n"
        "report does, or those of --params. Rows come by effect. An operator is lowered anew\n"
        "for each chip; columns behind have its changes with the tiling of the run as it is.\n"
        "The table has the same bytes for every number of jobs.\n"
        "Example:\n"
        "  vinci sensitivity matmul m=512 k=512 n=512 -s Ascend910B4 --params=l2.ways\n",
    .options = {sensitivity_options, sizeof sensitivity_options / sizeof *sensitivity_options},
    .run = run,
};
