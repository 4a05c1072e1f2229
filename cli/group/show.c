/* SPDX-License-Identifier: Apache-2.0 */
/* vinci group show: systems of devices, and where their numbers come from. */
#include "cli/group/group.h"

#include "core/base/sheet.h"
#include "core/chip/soc.h"

struct show_settings {
  struct group_system_settings system;
};

static const struct option_row show_options[] = {GROUP_SYSTEM_ROWS(struct show_settings, system)};

enum vinci_status group_load(const struct group_system_settings *settings, uint32_t devices,
                             struct group_description **out, struct vinci_diag *diag) {
  *out = NULL;
  if (!settings->name) {
    (void)diag_error(diag, VINCI_E_USAGE, "give the system of devices with --system");
    diag_hint(diag, "'vinci group show' lists the systems");
    return VINCI_E_USAGE;
  }
  enum vinci_status status = group_host_open(settings->name, settings->data, settings->sets.items,
                                             settings->sets.count, devices, out, diag);
  if (status != VINCI_OK) {
    group_host_free(*out);
    *out = NULL;
  }
  return status;
}

static const struct sheet_column system_columns[] = {
    {.left = true}, {.left = true}, {.left = true, .fit = SHEET_BREAK}};

static enum vinci_status list_systems(const char *data, struct vinci_diag *diag) {
  struct soc_names names;
  struct sheet sheet;
  enum vinci_status status = group_host_list(data, &names, diag);
  SHEET_BEGIN(&sheet, stdout, system_columns, 0, NULL);
  while (sheet_pass(&sheet))
    for (size_t i = 0; status == VINCI_OK && i < names.count; i++) {
      struct group_description *group = NULL;
      status = group_host_load(names.items[i], data, &group, diag);
      for (unsigned c = 0; status == VINCI_OK && c < 3; c++)
        sheet_text(&sheet, c == 0 ? names.items[i] : c == 1 ? group->chip : group->description);
      group_host_free(group);
    }
  soc_names_free(&names);
  return status;
}

static const struct sheet_column number_columns[] = {
    {.title = "key", .left = true},
    {.title = "value"},
    {.title = "confidence", .left = true},
    {.title = "source", .left = true},
    {.title = "what", .left = true, .fit = SHEET_BREAK},
};

static void print_number(const struct group_number *number, struct sheet *sheet) {
  char value[32];
  soc_format_value((int64_t)*number->value, number->kind, value, sizeof value);
  sheet_text(sheet, number->key);
  sheet_text(sheet, value);
  sheet_text(sheet, number->provenance.overridden
                        ? "set"
                        : confidence_name((enum confidence)number->provenance.confidence));
  sheet_text(sheet, number->provenance.overridden ? "" : number->provenance.source);
  sheet_cell(sheet, "%s%s%s", number->text, *number->provenance.note ? "; " : "",
             number->provenance.note);
}

static void print_numbers(const struct group_description *group) {
  const struct group_system *system = &group->system;
  struct sheet sheet;
  sheet_line(stdout, "System   %s: %s\nDevices  %s\n", system->name, group->description,
             group->chip);
  for (uint32_t i = 0; i < system->level_count; i++)
    printf("Level    %-8s %s of %u devices\n", system->levels[i].name,
           system->levels[i].join == GROUP_MESH ? "mesh" : "switch", system->levels[i].devices);
  putchar('\n');
  SHEET_BEGIN(&sheet, stdout, number_columns, 0, NULL);
  while (sheet_pass(&sheet))
    for (size_t i = 0; i < group->number_count; i++)
      print_number(&group->numbers[i], &sheet);
  putchar('\n');
  for (size_t i = 0; i < group->source_count; i++)
    sheet_line(stdout, "%-6s  %s\n", group->sources[i].id, group->sources[i].text);
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  struct show_settings settings = {0};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    struct group_description *group = NULL;
    enum vinci_status status = VINCI_OK;
    if (words.count > 1)
      status = diag_error(&diag, VINCI_E_USAGE, "give one system, not %zu", words.count);
    else if (words.count == 1)
      settings.system.name = words.items[0];
    if (status == VINCI_OK && !settings.system.name)
      status = list_systems(settings.system.data, &diag);
    else if (status == VINCI_OK)
      status = group_load(&settings.system, 1, &group, &diag);
    if (group)
      print_numbers(group);
    group_host_free(group);
    exit_code = status == VINCI_OK ? 0 : cli_fail(&diag);
  }
  text_list_free(&settings.system.sets);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_group_show = {
    .name = "group show",
    .arguments = "[SYSTEM]",
    .summary = "List the systems of devices, or the numbers of one",
    .details = "Each number has a source and says how well it is known.\n\n"
               "Examples:\n"
               "  vinci group show\n"
               "  vinci group show atlas_a2_910b4\n",
    .options = {show_options, sizeof show_options / sizeof *show_options},
    .run = run,
};
