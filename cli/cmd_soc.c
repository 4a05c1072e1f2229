/* SPDX-License-Identifier: Apache-2.0 */
/* vinci soc: lists, shows, compares and validates hardware descriptions. */
#include <inttypes.h>
#include <string.h>

#include "cli/soc/new.h"
#include "cli/soc/rows.h"
#include "cli/support/cli.h"
#include "core/base/diag.h"
#include "core/base/sheet.h"
#include "scripts/host/soc_host.h"

enum { FOLDER_MAX = 4096 };

struct soc_settings {
  const char *data;
  struct text_list sets;
  const char *base, *output;
  bool json;
  bool all;
};

#define DATA_ROW                                                                                   \
  OPTION_TEXT_ROW("data", 0, struct soc_settings, data, "DIR",                                     \
                  "the folder that holds soc/ with the hardware descriptions")

static const struct option_row data_options[] = {DATA_ROW};

static const struct option_row new_options[] = {
    OPTION_TEXT_ROW("base", 'b', struct soc_settings, base, "NAME",
                    "the chip whose numbers hold where the new one says nothing"),
    OPTION_TEXT_ROW("output", 'o', struct soc_settings, output, "FILE",
                    "write there; '-' is standard output (default: NAME.lua)"),
    DATA_ROW,
};

static const struct option_row show_options[] = {
    OPTION_LIST_ROW(
        "set", 0, struct soc_settings, sets, "KEY=VALUE",
        "change a number or name first, such as l2.size=96MiB or noc.topology=ring; may "
        "be repeated"),
    OPTION_WORD_ROW("energy", 0, struct soc_settings, sets, "energy=on",
                    "show also the energies, with the ranges that they lie in"),
    OPTION_FLAG_ROW("json", 0, struct soc_settings, json, "print JSON"),
    OPTION_FLAG_ROW("all", 0, struct soc_settings, all,
                    "show also the optional numbers that the description does not give"),
    DATA_ROW,
};

/* ---- list ------------------------------------------------------------------------- */

static void cores_text(const vinci_soc *soc, char *buffer, size_t size) {
  static const enum core_kind order[] = {CORE_AIC, CORE_AICORE, CORE_AIV};
  size_t length = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    unsigned count = soc_core_count(soc, order[i]);
    if (count == 0 || length >= size)
      continue;
    int added = snprintf(buffer + length, size - length, "%s%u %s", length ? " + " : "", count,
                         core_kind_name(order[i]));
    length += added > 0 ? (size_t)added : 0;
  }
}

/* Sizes of any number of bytes, to a tenth of a GiB when no unit divides them well. */
static void size_text(int64_t bytes, char *buffer, size_t size) {
  const uint64_t mebi = UINT64_C(1) << 20, gibi = UINT64_C(1) << 30;
  uint64_t value = (uint64_t)bytes;
  uint64_t tenths = (value * 10 + gibi / 2) / gibi;
  if (value < gibi || value % mebi == 0)
    soc_format_value(bytes, SOC_KIND_BYTES, buffer, size);
  else
    snprintf(buffer, size, "%" PRIu64 ".%" PRIu64 "GiB", tenths / 10, tenths % 10);
}

enum { LIST_COLUMNS_MAX = 16 };

static unsigned list_columns(struct sheet_column columns[LIST_COLUMNS_MAX]) {
  static const struct sheet_column first[] = {
      {.title = "SoC", .left = true},   {.title = "arch", .left = true},
      {.title = "cores", .left = true}, {.title = "clock", .left = true},
      {.title = "L2", .left = true},    {.title = "memory", .left = true},
  };
  unsigned count = sizeof first / sizeof *first;
  memcpy(columns, first, sizeof first);
  for (unsigned i = 0; i < CONFIDENCE_COUNT; i++)
    columns[count++] = (struct sheet_column){.title = confidence_name((enum confidence)i),
                                             .rank = i == CONFIDENCE_ASSUMED ? 1 : 2};
  columns[count++] =
      (struct sheet_column){.title = "description", .left = true, .fit = SHEET_BREAK, .rank = 3};
  return count;
}

static void list_row(const vinci_soc *soc, struct sheet *sheet) {
  char cores[SOC_VALUE_TEXT], clock[SOC_VALUE_TEXT], l2[SOC_VALUE_TEXT], memory[SOC_VALUE_TEXT];
  cores_text(soc, cores, sizeof cores);
  soc_format_value(soc->core_hz, SOC_KIND_HZ, clock, sizeof clock);
  size_text(soc->l2_bytes, l2, sizeof l2);
  size_text(soc->hbm_bytes, memory, sizeof memory);
  struct soc_shares shares = soc_shares_count(soc);
  sheet_text(sheet, soc->name);
  sheet_text(sheet, arch_name(soc->arch));
  sheet_text(sheet, cores);
  sheet_text(sheet, clock);
  sheet_text(sheet, l2);
  sheet_text(sheet, memory);
  for (unsigned i = 0; i < CONFIDENCE_COUNT; i++)
    sheet_cell(sheet, "%u%%", soc_percent(shares.count[i], shares.total));
  sheet_text(sheet, soc->description);
}

static int list_all(const struct soc_settings *settings) {
  struct sheet_column columns[LIST_COLUMNS_MAX];
  struct vinci_diag diag = {0};
  struct soc_names names = {0};
  struct sheet sheet;
  int exit_code = 0;
  if (soc_host_list(settings->data, &names, &diag) != VINCI_OK)
    return cli_fail(&diag);
  sheet_begin(&sheet, stdout, columns, list_columns(columns), 0, NULL);
  while (sheet_pass(&sheet))
    for (size_t i = 0; i < names.count; i++) {
      vinci_soc *soc;
      struct vinci_diag problem = {0};
      if (vinci_soc_load(names.items[i], settings->data, &soc, &problem) == VINCI_OK)
        list_row(soc, &sheet);
      else if (sheet.pass == 1)
        exit_code = cli_fail(&problem);
      vinci_soc_free(soc);
    }
  soc_names_free(&names);
  return exit_code;
}

/* ---- show ------------------------------------------------------------------------- */

static int show_one(const struct soc_settings *settings, const struct text_list *arguments) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (arguments->count == 0) {
    (void)diag_error(&diag, VINCI_E_USAGE, "show takes the name of a SoC");
    diag_hint(&diag, "'vinci soc list' shows the names");
    return cli_fail(&diag);
  }
  struct soc_shown shown = {settings->all, arguments->items + 1, arguments->count - 1};
  if (cli_load_soc(arguments->items[0], settings->data, &settings->sets, &soc, &diag) != VINCI_OK)
    return cli_fail(&diag);
  enum vinci_status status = soc_validate(soc, &diag);
  if (status == VINCI_OK)
    status = soc_shown_check(soc, &shown, &diag);
  if (status == VINCI_OK && settings->json)
    soc_show_json(soc, &shown);
  else if (status == VINCI_OK)
    soc_show_text(soc, &shown);
  vinci_soc_free(soc);
  return status == VINCI_OK ? 0 : cli_fail(&diag);
}

/* ---- diff ------------------------------------------------------------------------- */

/* One line of a comparison. */
struct difference {
  char key[SOC_KEY_MAX], left[SOC_VALUE_TEXT], right[SOC_VALUE_TEXT];
};

enum { DIFFERENCES_MAX = 1 + SOC_NAME_COUNT + SOC_PARAMS_MAX + MEM_PARAMS_MAX };

struct differences {
  size_t count;
  struct difference items[DIFFERENCES_MAX];
};

static void add_texts(struct differences *differences, const char *key, const char *left,
                      const char *right) {
  if (strcmp(left, right) == 0)
    return;
  struct difference *item = &differences->items[differences->count++];
  snprintf(item->key, sizeof item->key, "%s", key);
  snprintf(item->left, sizeof item->left, "%s", left);
  snprintf(item->right, sizeof item->right, "%s", right);
}

static void given_text(const struct soc_number *row, char *buffer, size_t size) {
  if (row->provenance->given)
    soc_row_value(row, buffer, size);
  else
    snprintf(buffer, size, "-");
}

static void find_differences(const vinci_soc *left, const vinci_soc *right,
                             struct differences *differences) {
  add_texts(differences, "arch", arch_name(left->arch), arch_name(right->arch));
  for (unsigned i = 0; i < SOC_NAME_COUNT; i++)
    add_texts(differences, soc_name_key((enum soc_name)i), left->choices[i].name,
              right->choices[i].name);
  for (size_t i = 0; i < soc_number_count(left) && i < soc_number_count(right); i++) {
    struct soc_number rows[] = {soc_number_at(left, i), soc_number_at(right, i)};
    char values[2][SOC_VALUE_TEXT];
    if (rows[0].value == rows[1].value)
      continue;
    for (unsigned r = 0; r < 2; r++)
      given_text(&rows[r], values[r], sizeof values[r]);
    add_texts(differences, rows[0].key, values[0], values[1]);
  }
}

static void diff_rows(const vinci_soc *left, const vinci_soc *right) {
  const struct sheet_column columns[] = {
      {.title = "", .left = true},
      {.title = left->name, .left = true},
      {.title = right->name, .left = true, .fit = SHEET_BREAK},
  };
  struct differences differences = {0};
  struct sheet sheet;
  find_differences(left, right, &differences);
  SHEET_BEGIN(&sheet, stdout, columns, 0, NULL);
  while (sheet_pass(&sheet))
    for (size_t i = 0; i < differences.count; i++) {
      sheet_text(&sheet, differences.items[i].key);
      sheet_text(&sheet, differences.items[i].left);
      sheet_text(&sheet, differences.items[i].right);
    }
  printf("%zu difference%s\n", differences.count, differences.count == 1 ? "" : "s");
}

static int diff_two(const struct soc_settings *settings, const struct text_list *arguments) {
  struct vinci_diag diag = {0};
  vinci_soc *left = NULL, *right = NULL;
  int exit_code = 0;
  if (arguments->count != 2) {
    (void)diag_error(&diag, VINCI_E_USAGE, "diff takes the names of two SoCs");
    diag_hint(&diag, "'vinci soc list' shows the names");
    return cli_fail(&diag);
  }
  if (vinci_soc_load(arguments->items[0], settings->data, &left, &diag) == VINCI_OK &&
      vinci_soc_load(arguments->items[1], settings->data, &right, &diag) == VINCI_OK)
    diff_rows(left, right);
  else
    exit_code = cli_fail(&diag);
  vinci_soc_free(left);
  vinci_soc_free(right);
  return exit_code;
}

/* ---- validate --------------------------------------------------------------------- */

static int validate_one(const char *name, const char *data) {
  struct vinci_diag diag = {0};
  vinci_soc *soc;
  if (vinci_soc_load(name, data, &soc, &diag) != VINCI_OK)
    return cli_fail(&diag);
  struct soc_shares shares = soc_shares_count(soc);
  printf("%s: ok, %u numbers\n", name, shares.total);
  vinci_soc_free(soc);
  return 0;
}

/* The names of all SoCs; that there is none is an error. */
static enum vinci_status all_names(const char *data, struct soc_names *names,
                                   struct vinci_diag *diag) {
  char folder[FOLDER_MAX];
  enum vinci_status status = soc_host_data_dir(data, folder, sizeof folder, diag);
  if (status == VINCI_OK)
    status = soc_host_list(folder, names, diag);
  if (status == VINCI_OK && names->count == 0)
    status = diag_error(diag, VINCI_E_USAGE, "there is no SoC in '%s/soc'", folder);
  return status;
}

static int validate_all(const struct soc_settings *settings, const struct text_list *arguments) {
  struct vinci_diag diag = {0};
  struct soc_names names = {0};
  const char *const *items = arguments->items;
  size_t count = arguments->count;
  int exit_code = 0;
  if (count == 0) {
    if (all_names(settings->data, &names, &diag) != VINCI_OK)
      exit_code = cli_fail(&diag);
    items = names.items;
    count = exit_code == 0 ? names.count : 0;
  }
  for (size_t i = 0; i < count; i++) {
    int code = validate_one(items[i], settings->data);
    exit_code = exit_code ? exit_code : code;
  }
  soc_names_free(&names);
  return exit_code;
}

/* ---- new -------------------------------------------------------------------------- */

static int new_one(const struct soc_settings *settings, const struct text_list *arguments) {
  struct vinci_diag diag = {0};
  if (arguments->count != 1)
    (void)diag_error(&diag, VINCI_E_USAGE, "new takes the name of the new chip");
  else if (soc_new(arguments->items[0], settings->base, settings->data, settings->output, &diag) ==
           VINCI_OK)
    return 0;
  return cli_fail(&diag);
}

/* ---- commands --------------------------------------------------------------------- */

static int list_plain(const struct soc_settings *settings, const struct text_list *arguments) {
  struct vinci_diag diag = {0};
  if (arguments->count == 0)
    return list_all(settings);
  (void)diag_error(&diag, VINCI_E_USAGE, "list takes no argument '%s'", arguments->items[0]);
  diag_hint(&diag, "'vinci soc show %s' shows one SoC", arguments->items[0]);
  return cli_fail(&diag);
}

/* Frame of a command: options in, lists freed. */
static int with_options(const struct cli_verb *verb, int argc, char **argv,
                        int (*body)(const struct soc_settings *, const struct text_list *)) {
  struct soc_settings settings = {0};
  struct text_list arguments = {0};
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &arguments, &exit_code))
    exit_code = body(&settings, &arguments);
  text_list_free(&settings.sets);
  text_list_free(&arguments);
  return exit_code;
}

static int list(const struct cli_verb *verb, int argc, char **argv) {
  return with_options(verb, argc, argv, list_plain);
}
static int show(const struct cli_verb *verb, int argc, char **argv) {
  return with_options(verb, argc, argv, show_one);
}
static int diff(const struct cli_verb *verb, int argc, char **argv) {
  return with_options(verb, argc, argv, diff_two);
}
static int make_new(const struct cli_verb *verb, int argc, char **argv) {
  return with_options(verb, argc, argv, new_one);
}
static int validate(const struct cli_verb *verb, int argc, char **argv) {
  return with_options(verb, argc, argv, validate_all);
}

#define DATA_TABLE                                                                                 \
  { data_options, sizeof data_options / sizeof *data_options }

static const struct cli_verb rows[] = {
    {.name = "soc list",
     .arguments = "",
     .summary = "List the SoCs and how well their numbers are known",
     .details = "Example:\n"
                "  vinci soc list\n",
     .options = DATA_TABLE,
     .run = list},
    {.name = "soc show",
     .arguments = "NAME [KEY]...",
     .summary = "Show the numbers of a SoC with unit, confidence, source and note",
     .details =
         "With keys only these numbers and names, and the sources that they have. A group is "
         "all of\nits keys: hbm, or path.GM_UB.\n"
         "Examples:\n"
         "  vinci soc show Ascend910B4 --set=l2.size=96MiB\n"
         "  vinci soc show Ascend910B4 hbm.bandwidth_scale path.GM_UB\n",
     .options = {show_options, sizeof show_options / sizeof *show_options},
     .run = show},
    {.name = "soc diff",
     .arguments = "NAME NAME",
     .summary = "Show the numbers in which two SoCs differ",
     .details = "Example:\n"
                "  vinci soc diff Ascend910B4 Ascend910B1\n",
     .options = DATA_TABLE,
     .run = diff},
    {.name = "soc validate",
     .arguments = "[NAME]...",
     .summary = "Check descriptions, all when none is named",
     .details = "The exit code is 0 when all are good and 2 when one is not.\n"
                "Example:\n"
                "  vinci soc validate Ascend910B4\n",
     .options = DATA_TABLE,
     .run = validate},
    {.name = "soc new",
     .arguments = "NAME",
     .summary = "Write a description of your own, which starts from another chip",
     .details =
         "Without changes the new chip is like its base. '--soc-version=NAME.lua' simulates it; "
         "in\n"
         "soc/ of a folder that VINCI_PATH names, or of $XDG_DATA_HOME/vinci, its name is "
         "enough.\n"
         "Example:\n"
         "  vinci soc new Mine --base=Ascend910B4\n",
     .options = {new_options, sizeof new_options / sizeof *new_options},
     .run = make_new},
};
static const struct cli_verb *const commands[] = {&rows[0], &rows[1], &rows[2], &rows[3], &rows[4]};
_Static_assert(sizeof commands / sizeof *commands == sizeof rows / sizeof *rows, "each of them");

const struct cli_verb cli_verb_soc = {
    .name = "soc",
    .arguments = "list|show|diff|validate|new",
    .summary = "Look at the hardware descriptions",
    .details =
        "  list               the SoCs and how well their numbers are known\n"
        "  show NAME [KEY]... numbers, all or these, with unit, confidence, source and note\n"
        "  diff NAME NAME     the numbers in which two SoCs differ\n"
        "  validate [NAME]... check descriptions, all when none is named\n"
        "  new NAME           write a description of your own\n\n"
        "'vinci soc COMMAND --help' explains the options of a command.\n"
        "Examples:\n"
        "  vinci soc list\n"
        "  vinci soc show Ascend910B4\n"
        "  vinci soc diff Ascend910B4 Ascend910B1\n",
    .options = DATA_TABLE,
    .run = cli_run_command,
    .commands = commands,
    .command_count = sizeof commands / sizeof *commands,
};
