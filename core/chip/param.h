/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One number of a description, of a SoC (core/chip/soc.h) or of a memory technology
 * (core/chip/mem.h): its kind, which fixes unit and scale, its range, where it comes from, and its
 * value as text.
 */
#ifndef VINCI_CORE_CHIP_PARAM_H
#define VINCI_CORE_CHIP_PARAM_H

#include "core/base/arena.h"
#include "core/vinci.h"

/*
 * Kinds of parameter: id, unit as written in data files and shown, scale from
 * that unit to the integer held, sentence.
 */
#define SOC_KIND_LIST(X)                                                                           \
  X(COUNT, "", 1, "whole number")                                                                  \
  X(BYTES, "B", 1, "bytes, suffixes KiB MiB GiB")                                                  \
  X(HZ, "Hz", 1, "clock frequency, suffixes kHz MHz GHz")                                          \
  X(BYTES_PER_SECOND, "B/s", 1, "bandwidth, suffixes MB/s GB/s TB/s (powers of ten)")              \
  X(TIME, "s", 1000000000000, "time, suffixes ps ns us ms")                                        \
  X(CYCLES, "cycle", 1, "core clock cycles")                                                       \
  X(MCYCLES, "cycle", 1000, "core clock cycles, to a thousandth")                                  \
  X(MBYTES_PER_CYCLE, "B/cycle", 1000, "bytes per core clock cycle, to a thousandth")              \
  X(ENERGY, "fJ", 1, "energy of one event, suffixes fJ pJ nJ")                                     \
  X(POWER, "W", 1000, "power, suffixes mW W, to a milliwatt")                                      \
  X(RATIO, "1", 1000000, "ratio, to a millionth")

enum soc_kind {
#define X(id, unit, scale, text) SOC_KIND_##id,
  SOC_KIND_LIST(X)
#undef X
      SOC_KINDS
};

/* How well a number is known. */
#define CONFIDENCE_LIST(X)                                                                         \
  X(DOCUMENTED, "documented", "the vendor states it")                                              \
  X(MEASURED, "measured", "measured on silicon, source named")                                     \
  X(DERIVED, "derived", "computed from documented or measured numbers")                            \
  X(ASSUMED, "assumed", "no public statement; a plausible choice")

enum confidence {
#define X(id, name, text) CONFIDENCE_##id,
  CONFIDENCE_LIST(X)
#undef X
      CONFIDENCE_COUNT
};

struct soc_provenance {
  const char *source; /* id of scripts/soc/sources.lua, or "override" */
  const char *note;   /* may be empty */
  uint8_t confidence; /* enum confidence */
  bool given;
  bool overridden;
};

/* A source that numbers of a description refer to. */
struct soc_source {
  const char *id;
  const char *text;
};

struct soc_param {
  const char *key; /* "path.GM_UB.startup_cycles" */
  enum soc_kind kind;
  size_t offset; /* of the int64_t inside struct vinci_soc */
  int64_t minimum;
  int64_t maximum;
  bool optional; /* 0 when the data has no value */
  const char *text;
};

const char *soc_kind_unit(enum soc_kind kind);
int64_t soc_kind_scale(enum soc_kind kind);
const char *confidence_name(enum confidence confidence);

/*
 * Parses a value of a kind with unit suffix ("96MiB", "1.8TB/s", "0.5us", "2") into
 * the integer held. "KB" for a size is rejected with a hint (KiB means 1024).
 */
enum vinci_status soc_parse_value(const char *text, enum soc_kind kind, int64_t *out,
                                  struct vinci_diag *diag);
/* Formats a held value with the handiest unit; the text parses back to the same value. */
void soc_format_value(int64_t value, enum soc_kind kind, char *buffer, size_t size);
/* VINCI_E_USAGE for a value outside the range of its number. */
VINCI_MUST_CHECK enum vinci_status soc_param_check(const struct soc_param *param, int64_t value,
                                                   struct vinci_diag *diag);
/* Replaces a list by a copy from the arena; false when memory is short. */
bool soc_copy_sources(struct arena *arena, const struct soc_source **sources, size_t count);
/* Replaces the texts of a list by copies from the arena; neighbours share what they shared. */
bool soc_copy_provenance(struct arena *arena, struct soc_provenance *provenance, size_t count);

#endif
