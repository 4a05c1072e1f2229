/* SPDX-License-Identifier: Apache-2.0 */
/* vinci soc show: the numbers of a SoC with unit, confidence, source and note. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/soc/rows.h"
#include "cli/support/cli.h"
#include "core/base/diag.h"
#include "core/base/sheet.h"
#include "traces/export/export.h"

enum { PLAIN_BYTES = SHEET_CELL_BYTES };

/* Whether a byte is printed as it is: no control character, and none begins there in UTF-8. Most
 * are of the first kind. */
static bool is_printed(unsigned char byte) {
  return (unsigned char)(byte - 0x20) < 0x7f - 0x20 || (byte > 0x7f && byte != 0xc2);
}

static bool is_plain(const char *text) {
  while (is_printed((unsigned char)*text))
    text++;
  return *text == '\0';
}

/* Text of a description on a terminal: control characters are shown, not obeyed. `out` holds it
 * where it differs from `text`. */
static const char *plain(const char *text, char out[PLAIN_BYTES]) {
  static const char code[] = "\\x00";
  if (is_plain(text))
    return text;
  size_t used = 0;
  for (; *text && used + 2 * sizeof code < PLAIN_BYTES; text++) {
    unsigned char byte = (unsigned char)*text, next = (unsigned char)text[1];
    bool c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0; /* U+0080 to U+009F in UTF-8 */
    if (byte < 0x20 || byte == 0x7f || c1)
      used += (size_t)snprintf(out + used, PLAIN_BYTES - used, "\\x%02x", byte);
    else
      out[used++] = (char)byte;
    if (c1)
      used += (size_t)snprintf(out + used, PLAIN_BYTES - used, "\\x%02x", (unsigned char)*++text);
  }
  out[used] = '\0';
  return out;
}

static const char *confidence_text(const struct soc_provenance *provenance) {
  if (!provenance->given)
    return "not given";
  if (provenance->overridden)
    return "override";
  return confidence_name((enum confidence)provenance->confidence);
}

static char mark_of(const struct soc_provenance *provenance) {
  if (provenance->overridden)
    return '!';
  return provenance->given && provenance->confidence == CONFIDENCE_ASSUMED ? '?' : ' ';
}

static const struct sheet_column number_columns[] = {
    {.left = true}, {0}, {.left = true}, {.left = true}, {.left = true, .fit = SHEET_BREAK},
};

/* "[40 pJ .. 60 pJ] " of an energy, before its note. */
static void put_range(const struct soc_number *row, char *out, size_t size) {
  char low[SOC_VALUE_TEXT], high[SOC_VALUE_TEXT];
  *out = '\0';
  if (!row->ranged || row->provenance->overridden)
    return;
  soc_format_value(row->low, row->param->kind, low, sizeof low);
  soc_format_value(row->high, row->param->kind, high, sizeof high);
  snprintf(out, size, "[%s .. %s] ", low, high);
}

static void show_row(const struct soc_number *row, struct sheet *sheet) {
  const struct soc_provenance *provenance = row->provenance;
  char value[SOC_VALUE_TEXT], note[PLAIN_BYTES], range[2 * SOC_VALUE_TEXT + 8];
  soc_row_value(row, value, sizeof value);
  put_range(row, range, sizeof range);
  sheet_cell(sheet, "%c %s", mark_of(provenance), row->key);
  sheet_text(sheet, value);
  sheet_text(sheet, confidence_text(provenance));
  sheet_text(sheet, provenance->overridden ? "" : provenance->source);
  sheet_cell(sheet, "%s%s", range, plain(provenance->note, note));
}

/* ---- what is asked for ------------------------------------------------------------------- */

/* Whether a key is the one that is asked for, or of the group that is. */
static bool is_of(const char *key, const char *asked) {
  size_t length = strlen(asked);
  return strncmp(key, asked, length) == 0 && (key[length] == '\0' || key[length] == '.');
}

static bool is_asked(const struct soc_shown *shown, const char *key) {
  bool asked = shown->key_count == 0;
  for (size_t i = 0; i < shown->key_count && !asked; i++)
    asked = is_of(key, shown->keys[i]);
  return asked;
}

static bool is_shown(const struct soc_shown *shown, const struct soc_number *row) {
  return (shown->all || shown->key_count > 0 || row->provenance->given) &&
         is_asked(shown, row->key);
}

/* All keys: names, then numbers. */
struct key_list {
  char items[SOC_NAME_COUNT + SOC_PARAMS_MAX + MEM_PARAMS_MAX + ENERGY_NUMBERS][SOC_KEY_MAX];
  size_t count;
};

static void list_keys(const vinci_soc *soc, struct key_list *list) {
  list->count = 0;
  for (unsigned i = 0; i < SOC_NAME_COUNT; i++)
    snprintf(list->items[list->count++], SOC_KEY_MAX, "%s", soc_name_key((enum soc_name)i));
  for (size_t i = 0; i < soc_number_count(soc); i++)
    memcpy(list->items[list->count++], soc_number_at(soc, i).key, SOC_KEY_MAX);
}

static const char *key_at(const void *context, size_t index) {
  const struct key_list *list = context;
  return list->items[index];
}

static bool is_known(const struct key_list *list, const char *asked) {
  bool known = false;
  for (size_t i = 0; i < list->count && !known; i++)
    known = is_of(list->items[i], asked);
  return known;
}

enum vinci_status soc_shown_check(const vinci_soc *soc, const struct soc_shown *shown,
                                  struct vinci_diag *diag) {
  struct key_list list;
  if (shown->key_count == 0)
    return VINCI_OK;
  list_keys(soc, &list);
  for (size_t i = 0; i < shown->key_count; i++) {
    const char *asked = shown->keys[i];
    if (is_known(&list, asked))
      continue;
    (void)diag_error(diag, VINCI_E_USAGE, "%s has no number and no name '%s'", soc->name, asked);
    const char *nearest = diag_nearest(asked, list.count, key_at, &list);
    if (nearest)
      diag_hint(diag, "did you mean '%s'?", nearest);
    else
      diag_hint(diag, "'vinci soc show %s' shows all%s", soc->name,
                soc->energy ? "" : ", with --energy the energies too");
    return VINCI_E_USAGE;
  }
  return VINCI_OK;
}

/* ---- sources ----------------------------------------------------------------------------- */

/* The descriptions that have sources of their own, by the groups of their numbers. */
static const char memory_group[] = "memory", energy_group[] = "energy";

static bool is_of_part(const char *key, const char *group) {
  return group ? is_of(key, group) : !is_of(key, memory_group) && !is_of(key, energy_group);
}

/* Whether a number that is shown has this source; group NULL: the chip's own. */
static bool is_used(const vinci_soc *soc, const struct soc_shown *shown, const char *group,
                    const char *id) {
  size_t count = soc_number_count(soc);
  for (size_t i = 0; i < count; i++) {
    struct soc_number row = soc_number_at(soc, i);
    if (is_of_part(row.key, group) && is_shown(shown, &row) && !row.provenance->overridden &&
        row.provenance->given && strcmp(row.provenance->source, id) == 0)
      return true;
  }
  return false;
}

/* All sources, or with keys those of the numbers that are shown. */
static bool shows_source(const vinci_soc *soc, const struct soc_shown *shown, const char *group,
                         const char *id) {
  return shown->key_count == 0 || is_used(soc, shown, group, id);
}

static void show_sources(const vinci_soc *soc, const struct soc_shown *shown, const char *group,
                         const struct soc_source *sources, size_t count) {
  char text[PLAIN_BYTES];
  bool any = false;
  for (size_t i = 0; i < count; i++) {
    if (!shows_source(soc, shown, group, sources[i].id))
      continue;
    if (!any)
      printf("\nSources%s%s%s:\n", group ? " of " : "", group ? group : "", group ? ".*" : "");
    any = true;
    sheet_line(stdout, "  %-5s  %s\n", sources[i].id, plain(sources[i].text, text));
  }
}

/* ---- as text ----------------------------------------------------------------------------- */

static void show_rows(const vinci_soc *soc, const struct soc_shown *shown) {
  struct sheet sheet;
  size_t count = soc_number_count(soc);
  SHEET_BEGIN(&sheet, stdout, number_columns, 0, NULL);
  while (sheet_pass(&sheet))
    for (size_t i = 0; i < count; i++) {
      struct soc_number row = soc_number_at(soc, i);
      if (is_shown(shown, &row))
        show_row(&row, &sheet);
    }
}

/* Returns whether there were any. */
static bool show_names(const vinci_soc *soc, const struct soc_shown *shown) {
  static const char *const texts[] = {
#define NAME(id, field, key, text) text,
      SOC_NAMES(NAME)
#undef NAME
  };
  bool any = false;
  for (unsigned i = 0; i < SOC_NAME_COUNT; i++) {
    const char *key = soc_name_key((enum soc_name)i);
    if (!is_asked(shown, key))
      continue;
    any = true;
    sheet_line(stdout, "%c %-12s  %-14s  %s\n", soc->choices[i].overridden ? '!' : ' ', key,
               *soc->choices[i].name ? soc->choices[i].name : "none", texts[i]);
  }
  return any;
}

/* How many numbers are known how well. */
static void show_shares(const vinci_soc *soc) {
  struct sheet_lines lines;
  struct soc_shares shares = soc_shares_count(soc);
  FILE *out = sheet_lines_begin(&lines, stdout);
  fprintf(out, "\n%u numbers:", shares.total);
  for (unsigned i = 0; i < CONFIDENCE_COUNT; i++)
    fprintf(out, "%s %u %s (%u%%)", i ? "," : "", shares.count[i],
            confidence_name((enum confidence)i), soc_percent(shares.count[i], shares.total));
  fputs("\n? = assumed: no public statement, a plausible choice; ! = override of this call\n", out);
  sheet_lines_end(&lines);
}

void soc_show_text(const vinci_soc *soc, const struct soc_shown *shown) {
  char text[PLAIN_BYTES];
  bool whole = shown->key_count == 0;
  if (whole) {
    sheet_line(stdout, "%s: %s\n", soc->name, plain(soc->description, text));
    sheet_line(stdout, "architecture %s%s%s, configuration %016" PRIx64 "\n\n",
               arch_name(soc->arch), *soc->base ? ", based on " : "", soc->base, soc_digest(soc));
  }
  if (show_names(soc, shown) && whole)
    putchar('\n');
  show_rows(soc, shown);
  if (whole)
    show_shares(soc);
  show_sources(soc, shown, NULL, soc->sources, soc->source_count);
  if (soc->memory)
    show_sources(soc, shown, memory_group, soc->memory->sources, soc->memory->source_count);
  if (soc->energy)
    show_sources(soc, shown, energy_group, soc->energy->sources, soc->energy->source_count);
}

/* ---- as JSON ----------------------------------------------------------------------------- */

/* Decimal places of a kind: its scale is a power of ten. */
static unsigned decimals_of(enum soc_kind kind) {
  unsigned decimals = 0;
  for (int64_t scale = soc_kind_scale(kind); scale > 1; scale /= 10)
    decimals++;
  return decimals;
}

static void show_json_number(struct json_writer *json, const struct soc_number *row) {
  char text[SOC_VALUE_TEXT];
  soc_format_value(row->value, row->param->kind, text, sizeof text);
  json_object(json, row->key, true);
  json_decimal(json, "value", decimal_exact((uint64_t)row->value, decimals_of(row->param->kind)));
  json_text(json, "unit", soc_kind_unit(row->param->kind));
  json_text(json, "text", text);
  json_text(json, "confidence", confidence_text(row->provenance));
  json_text(json, "source", row->provenance->source);
  json_text(json, "note", row->provenance->note);
  if (row->ranged) {
    json_decimal(json, "low", decimal_exact((uint64_t)row->low, decimals_of(row->param->kind)));
    json_decimal(json, "high", decimal_exact((uint64_t)row->high, decimals_of(row->param->kind)));
  }
  json_end(json);
}

static void show_json_sources(struct json_writer *json, const vinci_soc *soc,
                              const struct soc_shown *shown, const char *group, const char *key,
                              const struct soc_source *sources, size_t count) {
  json_object(json, key, false);
  for (size_t i = 0; i < count; i++)
    if (shows_source(soc, shown, group, sources[i].id))
      json_text(json, sources[i].id, sources[i].text);
  json_end(json);
}

void soc_show_json(const vinci_soc *soc, const struct soc_shown *shown) {
  struct json_writer json;
  json_start(&json, stdout);
  json_object(&json, NULL, false);
  json_text(&json, "soc", soc->name);
  json_text(&json, "description", soc->description);
  json_text(&json, "base", soc->base);
  json_text(&json, "arch", arch_name(soc->arch));
  json_hex64(&json, "config_digest", soc_digest(soc));
  for (unsigned i = 0; i < SOC_NAME_COUNT; i++)
    if (is_asked(shown, soc_name_key((enum soc_name)i)))
      json_text(&json, soc_name_key((enum soc_name)i), soc->choices[i].name);
  json_object(&json, "numbers", false);
  for (size_t i = 0; i < soc_number_count(soc); i++) {
    struct soc_number row = soc_number_at(soc, i);
    if (is_asked(shown, row.key))
      show_json_number(&json, &row);
  }
  json_end(&json);
  show_json_sources(&json, soc, shown, NULL, "sources", soc->sources, soc->source_count);
  if (soc->memory)
    show_json_sources(&json, soc, shown, memory_group, "memory_sources", soc->memory->sources,
                      soc->memory->source_count);
  if (soc->energy)
    show_json_sources(&json, soc, shown, energy_group, "energy_sources", soc->energy->sources,
                      soc->energy->source_count);
  json_end(&json);
}
