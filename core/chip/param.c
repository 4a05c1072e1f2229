/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of parameters as text: parsing and formatting with unit suffixes, in
 * exact decimal arithmetic on integers. A value too fine for its kind is an error,
 * never rounded.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/chip/param.h"

enum { SUFFIXES_MAX = 7, EXPONENT_MAX = 60, HELD_DIGITS = 19, VALUE_TEXT = 48 };

/* A suffix and its worth in held units; "" is a number alone. */
struct suffix {
  const char *text;
  int64_t worth;
};

/* Suffixes of a kind; the first `shown` are used for printing, in ascending order. */
struct suffix_list {
  unsigned shown;
  bool exact_only; /* print in the largest unit that divides the value */
  struct suffix row[SUFFIXES_MAX];
};

#define KIBI INT64_C(1024)

/* clang-format off */
static const struct suffix_list suffix_lists[] = {
    [SOC_KIND_COUNT] = {1, false, {{"", 1}}},
    [SOC_KIND_BYTES] = {5, true, {{"B", 1}, {"KiB", KIBI}, {"MiB", KIBI * KIBI}, {"GiB", KIBI * KIBI * KIBI},
                                  {"TiB", KIBI * KIBI * KIBI * KIBI}, {"", 1}}},
    [SOC_KIND_HZ] = {4, false, {{"Hz", 1}, {"kHz", 1000}, {"MHz", 1000000}, {"GHz", 1000000000}, {"", 1}}},
    [SOC_KIND_BYTES_PER_SECOND] = {5, false, {{"B/s", 1}, {"kB/s", 1000}, {"MB/s", 1000000}, {"GB/s", 1000000000},
                                   {"TB/s", INT64_C(1000000000000)}, {"", 1}}},
    [SOC_KIND_TIME] = {5, false, {{"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000},
                                  {"s", INT64_C(1000000000000)}}},
    [SOC_KIND_CYCLES] = {1, false, {{"", 1}, {"cycle", 1}, {"cycles", 1}}},
    [SOC_KIND_MCYCLES] = {1, false, {{"", 1000}, {"cycle", 1000}, {"cycles", 1000}}},
    [SOC_KIND_MBYTES_PER_CYCLE] = {1, false, {{"", 1000}, {"B/cycle", 1000}}},
    [SOC_KIND_ENERGY] = {4, false, {{"fJ", 1}, {"pJ", 1000}, {"nJ", 1000000}, {"uJ", 1000000000}}},
    [SOC_KIND_POWER] = {2, false, {{"mW", 1}, {"W", 1000}}},
    [SOC_KIND_RATIO] = {1, false, {{"", 1000000}, {"%", 10000}}},
};
/* clang-format on */

const char *soc_kind_unit(enum soc_kind kind) {
  static const char *const units[] = {
#define X(id, unit, scale, text) unit,
      SOC_KIND_LIST(X)
#undef X
  };
  return units[kind];
}

int64_t soc_kind_scale(enum soc_kind kind) {
  static const int64_t scales[] = {
#define X(id, unit, scale, text) scale,
      SOC_KIND_LIST(X)
#undef X
  };
  return scales[kind];
}

const char *confidence_name(enum confidence confidence) {
  static const char *const names[] = {
#define X(id, name, text) name,
      CONFIDENCE_LIST(X)
#undef X
  };
  return names[confidence];
}

/* A non-negative decimal number: digits * 10^-places. */
struct written {
  uint64_t digits;
  int places;
};

static bool add_digit(struct written *number, char digit) {
  return !__builtin_mul_overflow(number->digits, 10u, &number->digits) &&
         !__builtin_add_overflow(number->digits, (unsigned)(digit - '0'), &number->digits);
}

/* Reads digits[.digits]; NULL when there are none, or with *fits false when too many. */
static const char *read_digits(const char *text, struct written *number, bool *fits) {
  bool any = false;
  bool point = false;
  for (;; text++) {
    if (*text == '.' && !point) {
      point = true;
      continue;
    }
    if (!isdigit((unsigned char)*text))
      return any ? text : NULL;
    any = true;
    *fits = *fits && add_digit(number, *text);
    number->places += point;
  }
}

/* Reads an exponent "e9", "e-3" if present; a plain 'e' belongs to the unit. */
static const char *read_exponent(const char *text, struct written *number) {
  if (*text != 'e' && *text != 'E')
    return text;
  const char *next = text + 1;
  bool negative = *next == '-';
  if (*next == '-' || *next == '+')
    next++;
  if (!isdigit((unsigned char)*next))
    return text;
  int exponent = 0;
  for (; isdigit((unsigned char)*next); next++)
    if (exponent < EXPONENT_MAX)
      exponent = exponent * 10 + (*next - '0');
  number->places += negative ? exponent : -exponent;
  return next;
}

/* Takes the factor out of *value as often as it divides, at most *times. */
static void cancel(uint64_t *value, unsigned factor, int *times) {
  while (*times > 0 && *value % factor == 0) {
    *value /= factor;
    --*times;
  }
}

enum scaling { SCALED, TOO_FINE, TOO_LARGE };

/* number * worth as an integer, exactly. */
static enum scaling scale_decimal(struct written number, int64_t worth, int64_t *out) {
  uint64_t digits = number.digits;
  uint64_t multiplier = (uint64_t)worth;
  if (digits == 0) {
    *out = 0;
    return SCALED;
  }
  int twos = number.places > 0 ? number.places : 0;
  int fives = twos;
  cancel(&multiplier, 2, &twos);
  cancel(&multiplier, 5, &fives);
  cancel(&digits, 2, &twos);
  cancel(&digits, 5, &fives);
  if (twos > 0 || fives > 0)
    return TOO_FINE;
  for (int i = number.places; i < 0; i++)
    if (__builtin_mul_overflow(digits, 10u, &digits))
      return TOO_LARGE;
  return __builtin_mul_overflow(digits, multiplier, out) ? TOO_LARGE : SCALED;
}

static const struct suffix *find_suffix(const struct suffix_list *list, const char *text) {
  for (unsigned i = 0; i < SUFFIXES_MAX && list->row[i].text; i++)
    if (strcmp(list->row[i].text, text) == 0)
      return &list->row[i];
  return NULL;
}

static const char *kind_text(enum soc_kind kind) {
  static const char *const texts[] = {
#define X(id, unit, scale, text) text,
      SOC_KIND_LIST(X)
#undef X
  };
  return texts[kind];
}

static bool is_decimal_size(const char *suffix) {
  static const char *const known[] = {"K", "M", "G", "T", "k", "KB", "kB", "MB", "GB", "TB"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strcmp(suffix, known[i]) == 0)
      return true;
  return false;
}

static enum vinci_status unknown_suffix(const char *text, const char *suffix, enum soc_kind kind,
                                        struct vinci_diag *diag) {
  if (*suffix == '\0') {
    (void)diag_error(diag, VINCI_E_USAGE, "'%s' needs a unit", text);
    diag_hint(diag, "%s", kind_text(kind));
    return VINCI_E_USAGE;
  }
  (void)diag_error(diag, VINCI_E_USAGE, "unknown unit '%s' in '%s'", suffix, text);
  if (kind == SOC_KIND_BYTES && is_decimal_size(suffix))
    diag_hint(diag, "sizes are in KiB (1024 bytes), MiB, GiB");
  else
    diag_hint(diag, "%s", kind_text(kind));
  return VINCI_E_USAGE;
}

enum vinci_status soc_parse_value(const char *text, enum soc_kind kind, int64_t *out,
                                  struct vinci_diag *diag) {
  struct written number = {0};
  bool fits = true;
  const char *suffix = read_digits(text, &number, &fits);
  if (!suffix) {
    (void)diag_error(diag, VINCI_E_USAGE, "'%s' is not a number", text);
    diag_hint(diag, "%s", kind_text(kind));
    return VINCI_E_USAGE;
  }
  suffix = read_exponent(suffix, &number);
  suffix += strspn(suffix, " ");
  const struct suffix *unit = find_suffix(&suffix_lists[kind], suffix);
  if (!unit && (number.digits != 0 || *suffix != '\0'))
    return unknown_suffix(text, suffix, kind, diag);
  int64_t value = 0;
  enum scaling scaling = fits ? scale_decimal(number, unit ? unit->worth : 1, &value) : TOO_LARGE;
  if (scaling == TOO_LARGE)
    return diag_error(diag, VINCI_E_USAGE, "'%s' is too large or has too many digits", text);
  if (scaling == TOO_FINE) {
    (void)diag_error(diag, VINCI_E_USAGE, "'%s' is finer than can be held", text);
    diag_hint(diag, "%s", kind_text(kind));
    return VINCI_E_USAGE;
  }
  *out = value;
  return VINCI_OK;
}

static const struct suffix *handiest(const struct suffix_list *list, uint64_t value) {
  const struct suffix *best = &list->row[0];
  for (unsigned i = 1; i < list->shown; i++) {
    uint64_t worth = (uint64_t)list->row[i].worth;
    if (value >= worth && (!list->exact_only || value % worth == 0))
      best = &list->row[i];
  }
  return best;
}

void soc_format_value(int64_t value, enum soc_kind kind, char *buffer, size_t size) {
  uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  const struct suffix *unit = handiest(&suffix_lists[kind], magnitude);
  uint64_t worth = (uint64_t)unit->worth;
  uint64_t rest = magnitude % worth;
  int64_t whole = value / unit->worth;
  char text[DECIMAL_TEXT_BYTES + HELD_DIGITS + 2];
  size_t length = 0;
  if (value < 0 && whole == 0)
    text[length++] = '-';
  length += decimal_put(text + length, whole);
  if (rest != 0)
    text[length++] = '.';
  /* Worths with a fraction are powers of ten up to 10^12: rest * 10 cannot overflow. */
  for (unsigned digit = 0; rest != 0 && digit < HELD_DIGITS; digit++) {
    rest *= 10;
    text[length++] = (char)('0' + rest / worth);
    rest %= worth;
  }
  size_t suffix = strlen(unit->text);
  if (size == 0)
    return;
  length = length < size - 1 ? length : size - 1;
  suffix = suffix < size - 1 - length ? suffix : size - 1 - length;
  memcpy(buffer, text, length);
  memcpy(buffer + length, unit->text, suffix);
  buffer[length + suffix] = '\0';
}

enum vinci_status soc_param_check(const struct soc_param *param, int64_t value,
                                  struct vinci_diag *diag) {
  if (value >= param->minimum && value <= param->maximum)
    return VINCI_OK;
  char text[VALUE_TEXT], low[VALUE_TEXT], high[VALUE_TEXT];
  soc_format_value(value, param->kind, text, sizeof text);
  soc_format_value(param->minimum, param->kind, low, sizeof low);
  soc_format_value(param->maximum, param->kind, high, sizeof high);
  return diag_error(diag, VINCI_E_USAGE, "%s: %s is outside %s to %s", param->key, text, low, high);
}

/* ---- sources -------------------------------------------------------------------------- */

bool soc_copy_sources(struct arena *arena, const struct soc_source **sources, size_t count) {
  struct soc_source *copies = ARENA_ARRAY(arena, struct soc_source, count);
  for (size_t i = 0; copies && i < count; i++) {
    copies[i] = (struct soc_source){arena_strdup(arena, (*sources)[i].id),
                                    arena_strdup(arena, (*sources)[i].text)};
    if (!copies[i].id || !copies[i].text)
      return false;
  }
  *sources = copies;
  return copies != NULL;
}

/* A text that is the last one again has the copy of that; an empty one needs none. */
static bool copy_text(struct arena *arena, const char **text, const char *last, const char *copy) {
  if (!*text)
    return true;
  if (*text == last)
    *text = copy;
  else
    *text = **text == '\0' ? "" : arena_strdup(arena, *text);
  return *text != NULL;
}

bool soc_copy_provenance(struct arena *arena, struct soc_provenance *provenance, size_t count) {
  struct soc_provenance last = {0}, copy = {0};
  for (size_t i = 0; i < count; i++) {
    struct soc_provenance original = provenance[i];
    if (!copy_text(arena, &provenance[i].source, last.source, copy.source) ||
        !copy_text(arena, &provenance[i].note, last.note, copy.note))
      return false;
    last = original;
    copy = provenance[i];
  }
  return true;
}
