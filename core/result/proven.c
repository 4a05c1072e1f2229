/* SPDX-License-Identifier: Apache-2.0 */
/* Levers of networks and jobs: their order, their form in summaries and reports. */
#include "core/result/proven.h"

#include "core/base/decimal.h"
#include "core/base/json.h"
#include "core/base/sheet.h"

enum {
  US_DIGITS = 6,
  LINE_BYTES = PROVEN_TEXT_BYTES + PROVEN_CHANGE_BYTES + PROVEN_REASON_BYTES + 224,
  INDENT = 10
};

void proven_add(struct proven_list *list, struct proven *lever, uint64_t base_ps, uint64_t ps) {
  if (ps == base_ps)
    return;
  lever->saved_ps = (int64_t)base_ps - (int64_t)ps;
  size_t at = list->count;
  for (; at > 0 && list->items[at - 1].saved_ps < lever->saved_ps; at--)
    if (at < PROVEN_MAX)
      list->items[at] = list->items[at - 1];
  if (at < PROVEN_MAX)
    list->items[at] = *lever;
  if (list->count < PROVEN_MAX)
    list->count++;
  else
    list->left_out++;
}

void proven_limit(struct proven_list *list, const struct proven *lever, const char *limit) {
  list->limited_all++;
  if (list->limited_count == UNPROVEN_MAX)
    return;
  struct proven *out = &list->limited[list->limited_count++];
  *out = *lever;
  out->saved_ps = 0;
  snprintf(out->reason, sizeof out->reason, "not measured: limit: %s", limit);
}

static uint64_t size_of(int64_t ps) { return ps < 0 ? (uint64_t)0 - (uint64_t)ps : (uint64_t)ps; }

/* Where the saving comes from, or why there is none. */
static const char *origin_of(const struct proven *lever) {
  return lever->reason[0] ? lever->reason : lever->origin;
}

static void put_levers(const char *key, const struct proven *levers, size_t count, FILE *out) {
  fprintf(out, ",\n  \"%s\": [", key);
  for (size_t i = 0; i < count; i++) {
    const struct proven *lever = &levers[i];
    bool measured = !lever->reason[0];
    fprintf(out, "%s\n    {\"lever\": \"%s\", \"text\": ", i ? "," : "", lever->lever);
    json_write_plain(out, lever->text);
    if (measured)
      fprintf(out, ", \"saved_us\": %s%s", lever->saved_ps < 0 ? "-" : "",
              decimal_exact(size_of(lever->saved_ps), US_DIGITS).text);
    fprintf(out, ", \"measured\": %s, \"origin\": ", measured ? "true" : "false");
    json_write_plain(out, origin_of(lever));
    fputs(", \"change\": ", out);
    json_write_plain(out, lever->change);
    fputc('}', out);
  }
  fprintf(out, "%s]", count ? "\n  " : "");
}

void proven_put(const struct proven_list *list, FILE *out) {
  put_levers("levers", list->items, list->count, out);
  if (list->limited_count > 0)
    put_levers("levers_not_measured", list->limited, list->limited_count, out);
  if (!list->untried)
    return;
  fputs(",\n  \"levers_untried\": ", out);
  json_write_plain(out, list->untried);
}

static void print_line(const char *line, FILE *out) {
  fprintf(out, "%*s", INDENT, "");
  sheet_words(out, line, INDENT, INDENT);
  fputc('\n', out);
}

void proven_print(const struct proven_list *list, uint64_t base_ps, FILE *out) {
  char line[LINE_BYTES];
  if (list->count == 0)
    fputs("Levers    none: nothing that was tried changes the time\n", out);
  for (size_t i = 0; i < list->count; i++) {
    const struct proven *lever = &list->items[i];
    snprintf(line, sizeof line, "%s, the run takes %s %% %s (%s: %s).", lever->text,
             decimal_ratio((uint128)size_of(lever->saved_ps) * 100, base_ps ? base_ps : 1, 1).text,
             lever->saved_ps > 0 ? "less" : "more", origin_of(lever), lever->change);
    fprintf(out, "%s",
            i == 0 || (lever->saved_ps < 0) != (list->items[i - 1].saved_ps < 0)
                ? lever->saved_ps > 0 ? "Levers    " : "Kept      "
                : "          ");
    sheet_words(out, line, INDENT, INDENT);
    fputc('\n', out);
  }
  if (list->left_out > 0)
    fprintf(out, "          and %zu more that save less\n", list->left_out);
  for (size_t i = 0; i < list->limited_count; i++) {
    const struct proven *lever = &list->limited[i];
    snprintf(line, sizeof line, "%s: %s (%s).", lever->text, origin_of(lever), lever->change);
    print_line(line, out);
  }
  if (list->limited_all > list->limited_count)
    fprintf(out, "          and %zu more that are not measured\n",
            list->limited_all - list->limited_count);
  if (list->untried) {
    snprintf(line, sizeof line, "not tried: %s", list->untried);
    print_line(line, out);
  }
}

void proven_visit(const struct proven_list *list,
                  bool (*visit)(void *context, const struct vinci_proven *lever), void *context) {
  for (size_t i = 0; i < list->count + list->limited_count; i++) {
    const struct proven *lever =
        i < list->count ? &list->items[i] : &list->limited[i - list->count];
    const struct vinci_proven told = {.lever = lever->lever,
                                      .text = lever->text,
                                      .change = lever->change,
                                      .origin = origin_of(lever),
                                      .saved_ps = lever->saved_ps};
    if (!visit(context, &told))
      return;
  }
}
