/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts of energy in print. */
#include "traces/export/report/energy.h"

#include <inttypes.h>
#include <string.h>

enum { PJ_PER_UJ_DIGITS = 6, MW_DIGITS = 3, PPM_DIGITS = 6, FJ_DIGITS = 3, LARGEST = 3 };

struct decimal energy_text(uint64_t pj) {
  static const struct {
    uint64_t pj;
    const char *unit;
  } units[] = {{UINT64_C(1000000000000), "J"}, {1000000000, "mJ"}, {1000000, "uJ"}, {1000, "nJ"}};
  size_t i = 0;
  while (i < sizeof units / sizeof *units && pj < units[i].pj)
    i++;
  struct decimal text;
  if (i == sizeof units / sizeof *units)
    snprintf(text.text, sizeof text.text, "%" PRIu64 " pJ", pj);
  else
    snprintf(text.text, sizeof text.text, "%.40s %s", decimal_ratio(pj, units[i].pj, 2).text,
             units[i].unit);
  return text;
}

static struct decimal watts(uint64_t pj, uint64_t time_ps, unsigned decimals) {
  return decimal_ratio((uint128)pj, (uint128)(time_ps > 0 ? time_ps : 1), decimals);
}

static void print_part(const char *name, struct vinci_energy energy, uint64_t total,
                       const char *text, FILE *out) {
  char interval[2 * sizeof(struct decimal) + sizeof " .. "];
  snprintf(interval, sizeof interval, "%s .. %s", energy_text(energy.low_pj).text,
           energy_text(energy.high_pj).text);
  fprintf(out, "          %-8s %10s %6s %%   %-24s %s\n", name, energy_text(energy.pj).text,
          decimal_ratio((uint128)energy.pj * 100, total > 0 ? total : 1, 1).text, interval, text);
}

/* How much of the energy comes from numbers of each confidence. */
static void print_confidence(const struct energy_spec *spec, const struct energy_counts *counts,
                             FILE *out) {
  fprintf(out, "          by numbers of %s that are", spec->name);
  for (unsigned i = 0; i < CONFIDENCE_COUNT; i++)
    fprintf(out, "%s %s %s %%", i > 0 ? "," : "", confidence_name((enum confidence)i),
            decimal_ratio(energy_share_ppm(spec, counts, (enum confidence)i), 10000, 1).text);
  fputs("\n", out);
}

/* The assumed numbers that weigh most, by what their ranges leave open. */
static void print_open(const struct energy_spec *spec, const struct energy_counts *counts,
                       FILE *out) {
  bool told[ENERGY_COUNT] = {false};
  const char *separator = "          the ranges that leave most open: ";
  for (unsigned place = 0; place < LARGEST; place++) {
    unsigned widest = ENERGY_COUNT;
    uint128 most = 0;
    for (unsigned i = 0; i < ENERGY_COUNT; i++) {
      struct energy_sum sum = energy_of(spec, counts, (enum energy_number)i);
      if (told[i] || sum.high_fj - sum.low_fj <= most)
        continue;
      most = sum.high_fj - sum.low_fj;
      widest = i;
    }
    if (widest == ENERGY_COUNT)
      break;
    told[widest] = true;
    fprintf(out, "%senergy.%s (%s)", separator, energy_param(widest)->key,
            confidence_name((enum confidence)spec->provenance[widest].confidence));
    separator = ", ";
  }
  fputc('\n', out);
}

static void print_changed(const struct energy_spec *spec, FILE *out) {
  for (unsigned i = 0; i < ENERGY_NUMBERS; i++) {
    char value[64];
    if (!spec->provenance[i].overridden)
      continue;
    soc_format_value(spec->value[i], energy_param(i)->kind, value, sizeof value);
    fprintf(out, "Changed   energy.%s = %s\n", energy_param(i)->key, value);
  }
}

void energy_print(const struct energy_spec *spec, const struct energy_counts *counts,
                  uint64_t time_ps, FILE *out) {
  struct vinci_energy total = energy_total(spec, counts);
  uint64_t macs = energy_macs(counts);
  fprintf(out, "\nEnergy    %s, between %s and %s: %s W on average, between %s and %s W",
          energy_text(total.pj).text, energy_text(total.low_pj).text,
          energy_text(total.high_pj).text, watts(total.pj, time_ps, 1).text,
          watts(total.low_pj, time_ps, 1).text, watts(total.high_pj, time_ps, 1).text);
  if (macs > 0)
    fprintf(out, "; %s pJ a multiply-accumulate", decimal_ratio(total.pj, macs, 2).text);
  fputs("\n", out);
  for (unsigned i = 0; i < ENERGY_PART_COUNT; i++) {
    struct vinci_energy part = energy_part(spec, counts, (enum energy_part)i);
    if (part.high_pj > 0)
      print_part(energy_part_key((enum energy_part)i), part, total.pj,
                 energy_part_text((enum energy_part)i), out);
  }
  print_confidence(spec, counts, out);
  print_open(spec, counts, out);
  print_changed(spec, out);
}

static void put_energy(struct json_writer *json, struct vinci_energy energy) {
  json_decimal(json, "uj", decimal_exact(energy.pj, PJ_PER_UJ_DIGITS));
  json_decimal(json, "low_uj", decimal_exact(energy.low_pj, PJ_PER_UJ_DIGITS));
  json_decimal(json, "high_uj", decimal_exact(energy.high_pj, PJ_PER_UJ_DIGITS));
}

static void put_events(struct json_writer *json, const struct energy_spec *spec,
                       const struct energy_counts *counts) {
  json_object(json, "events", false);
  for (unsigned i = 0; i < ENERGY_COUNT; i++) {
    if (counts->of[i] == 0)
      continue;
    bool power = energy_is_power((enum energy_number)i);
    json_object(json, energy_param(i)->key, true);
    json_number(json, power ? "ps" : "count", counts->of[i]);
    if (power) {
      json_decimal(json, "w", decimal_exact((uint64_t)spec->value[i], MW_DIGITS));
      json_decimal(json, "low_w", decimal_exact((uint64_t)spec->low[i], MW_DIGITS));
      json_decimal(json, "high_w", decimal_exact((uint64_t)spec->high[i], MW_DIGITS));
    } else {
      json_number(json, "fj", (uint64_t)spec->value[i]);
      json_number(json, "low_fj", (uint64_t)spec->low[i]);
      json_number(json, "high_fj", (uint64_t)spec->high[i]);
    }
    json_text(json, "confidence",
              spec->provenance[i].overridden
                  ? "override"
                  : confidence_name((enum confidence)spec->provenance[i].confidence));
    json_end(json);
  }
  json_end(json);
}

void energy_json(struct json_writer *json, const struct energy_spec *spec,
                 const struct energy_counts *counts, uint64_t time_ps) {
  struct vinci_energy total = energy_total(spec, counts);
  json_object(json, "energy", false);
  json_text(json, "data", spec->name);
  put_energy(json, total);
  json_decimal(json, "average_w", decimal_exact(energy_mw(total.pj, time_ps), MW_DIGITS));
  json_decimal(json, "low_w", decimal_exact(energy_mw(total.low_pj, time_ps), MW_DIGITS));
  json_decimal(json, "high_w", decimal_exact(energy_mw(total.high_pj, time_ps), MW_DIGITS));
  json_number(json, "macs", energy_macs(counts));
  json_object(json, "parts", false);
  for (unsigned i = 0; i < ENERGY_PART_COUNT; i++) {
    json_object(json, energy_part_key((enum energy_part)i), true);
    put_energy(json, energy_part(spec, counts, (enum energy_part)i));
    json_end(json);
  }
  json_end(json);
  json_object(json, "confidence", true);
  for (unsigned i = 0; i < CONFIDENCE_COUNT; i++)
    json_decimal(json, confidence_name((enum confidence)i),
                 decimal_exact(energy_share_ppm(spec, counts, (enum confidence)i), PPM_DIGITS));
  json_end(json);
  put_events(json, spec, counts);
  json_end(json);
}
