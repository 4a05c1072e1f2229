/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the options of timelines. */
#include "traces/export/timeline/timeline.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"

static const char *const format_names[] = {
#define X(id, name, text) name,
    TIMELINE_LIST(X)
#undef X
};

static enum vinci_status choose_format(const char *name, size_t length, unsigned *formats,
                                       struct vinci_diag *diag) {
  for (unsigned i = 0; i < TIMELINE_COUNT; i++) {
    if (strlen(format_names[i]) == length && strncmp(format_names[i], name, length) == 0) {
      *formats |= 1u << i;
      return VINCI_OK;
    }
  }
  return diag_error(diag, VINCI_E_USAGE,
                    "there is no timeline '%.*s'; choose some of perfetto, chrome, msprof and vcd "
                    "with commas between them, or none",
                    (int)length, name);
}

static enum vinci_status choose_formats(const char *text, unsigned *formats,
                                        struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  *formats = 0;
  if (!text)
    *formats = 1u << TIMELINE_PERFETTO;
  if (!text || strcmp(text, "none") == 0)
    return VINCI_OK;
  for (const char *at = text; status == VINCI_OK;) {
    size_t length = strcspn(at, ",");
    status = choose_format(at, length, formats, diag);
    if (at[length] == '\0')
      break;
    at += length + 1;
  }
  return status;
}

/* Digits only: strtoull() would take spaces and signs. NULL where no digit is. */
static const char *read_number(const char *at, uint64_t *value) {
  if (!isdigit((unsigned char)*at))
    return NULL;
  char *end;
  *value = strtoull(at, &end, 10);
  return end;
}

/* "0|31", as the vendor's simulator takes. */
static enum vinci_status choose_cores(const char *text, struct timeline_choice *out,
                                      struct vinci_diag *diag) {
  out->all_cores = !text;
  for (const char *at = text; at;) {
    uint64_t cluster;
    const char *end = read_number(at, &cluster);
    if (!end || (*end != '|' && *end != '\0') || cluster >= TIMELINE_CLUSTERS_MAX)
      return diag_error(diag, VINCI_E_USAGE,
                        "the cores '%s' are not numbers of 0 to %d with '|' between them, such as "
                        "0|31",
                        text, TIMELINE_CLUSTERS_MAX - 1);
    out->cluster[cluster] = true;
    at = *end == '|' ? end + 1 : NULL;
  }
  return VINCI_OK;
}

static enum vinci_status choose_window(const char *text, struct timeline_choice *out,
                                       struct vinci_diag *diag) {
  out->last_cycle = UINT64_MAX;
  if (!text)
    return VINCI_OK;
  const char *end = read_number(text, &out->first_cycle);
  end = end && *end == ':' ? read_number(end + 1, &out->last_cycle) : NULL;
  if (!end || *end != '\0' || out->first_cycle > out->last_cycle)
    return diag_error(diag, VINCI_E_USAGE,
                      "the window '%s' is not FIRST:LAST, two cycles of which the first is not the "
                      "larger one, such as 1000:25000",
                      text);
  return VINCI_OK;
}

enum vinci_status timeline_choose(const struct vinci_timeline_options *options,
                                  struct timeline_choice *out, struct vinci_diag *diag) {
  static const struct vinci_timeline_options all;
  const struct vinci_timeline_options *read = options ? options : &all;
  if (options && options->struct_size != sizeof *options)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the timeline options is %zu, not %zu",
                      options->struct_size, sizeof *options);
  *out = (struct timeline_choice){.min_cycles = read->min_cycles, .source = read->source};
  enum vinci_status status = choose_formats(read->formats, &out->formats, diag);
  if (status == VINCI_OK)
    status = choose_cores(read->core_id, out, diag);
  if (status == VINCI_OK)
    status = choose_window(read->window, out, diag);
  return status;
}

bool timeline_has_core(const struct timeline_choice *choice, uint32_t cluster) {
  return choice->all_cores || (cluster < TIMELINE_CLUSTERS_MAX && choice->cluster[cluster]);
}

enum vinci_status vinci_timeline_check(const struct vinci_timeline_options *options,
                                       struct vinci_diag *diag) {
  struct timeline_choice choice;
  return timeline_choose(options, &choice, diag);
}
