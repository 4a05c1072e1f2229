/* SPDX-License-Identifier: Apache-2.0 */
/* Names as people write them, and what is said of a name that no chip has. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/base/diag.h"
#include "scripts/host/soc_files.h"
#include "scripts/host/soc_host.h"

static const char *name_at(const void *context, size_t index) {
  const struct soc_names *names = context;
  return names->items[index];
}

const char *soc_names_nearest(const struct soc_names *names, const char *name) {
  return diag_nearest(name, names->count, name_at, names);
}

/* The SoC somebody may have meant: one slip of the pen away, or the name without its front. */
static const char *nearest_soc(const struct soc_names *names, const char *name) {
  const char *nearest = soc_names_nearest(names, name);
  size_t length = strlen(name);
  for (size_t i = 0; !nearest && length > 0 && i < names->count; i++) {
    size_t whole = strlen(names->items[i]);
    if (whole > length && strcasecmp(names->items[i] + whole - length, name) == 0)
      nearest = names->items[i];
  }
  return nearest;
}

enum { HINT_MAX = 256 };

/* ---- other spellings ------------------------------------------------------------------ */

/* A name without "Ascend" in front, in small letters, without signs between letters and digits. */
static void spell(const char *name, char *out) {
  static const char front[] = "ascend";
  size_t used = 0;
  if (strncasecmp(name, front, sizeof front - 1) == 0)
    name += sizeof front - 1;
  for (; *name && used + 1 < SOC_NAME_BYTES; name++)
    if (!strchr("-_ ", *name))
      out[used++] = (char)tolower((unsigned char)*name);
  out[used] = '\0';
}

/* Of 910B4 and 910B4-1 the first is a chip; 910B, with which many begin, is taken for the family.
 */
bool soc_also_named(const char *folder, const char *name, char *chip, size_t size) {
  struct soc_names names = {0};
  char wanted[SOC_NAME_BYTES], known[SOC_NAME_BYTES];
  size_t longer = 0;
  bool found = false;
  spell(name, wanted);
  if (*wanted == '\0' || strlen(name) >= SOC_NAME_BYTES ||
      soc_host_list(folder, &names, NULL) != VINCI_OK)
    return false;
  for (size_t i = 0; i < names.count; i++) {
    spell(names.items[i], known);
    if (strcmp(known, wanted) == 0)
      found = (size_t)snprintf(chip, size, "%s", names.items[i]) < size;
    else
      longer += strncmp(known, wanted, strlen(wanted)) == 0;
  }
  soc_names_free(&names);
  return found && longer < 2;
}

#define LACKS_310B                                                                                 \
  "its cores, clocks and buffers are public, the costs of its instructions (dav-m300) and its "    \
  "memory are not"
#define OF_310B "the 310B is not modelled: " LACKS_310B

/* What products and generations are called, as far as public pages say which chips they have. */
static const struct product {
  const char *word, *chips;
} products[] = {
    {"310B", OF_310B},
    {"200I", "an Atlas 200I A2 or its DK has a 310B, which is not modelled: " LACKS_310B},
    {"500 A2", "an Atlas 500 A2 has a 310B, which is not modelled: " LACKS_310B},
    {"AIpro", "an Orange Pi AIpro has a 310B, which is not modelled: " LACKS_310B},
    {"950DT",
     "a 950DT has the cores of a 950PR and other memory, whose channels and timing are not "
     "public: Ascend950PR_9589 with --memory=flat --set hbm.bandwidth=4.2TB/s is near the "
     "950DT_9581"},
    {"300I Pro", "an Atlas 300I Pro has an Ascend310P3"},
    {"300V", "an Atlas 300V has an Ascend310P3"},
    {"300I Duo", "an Atlas 300I Duo has two Ascend310P3"},
    {"300I A2", "an Atlas 300I A2 has an Ascend910B4"},
    {"800I A2", "an Atlas 800I A2 has Ascend910B4 (32 GB) or Ascend910B4-1 (64 GB)"},
    {"A2",
     "products of the A2 generation have Ascend910B1, B2, B2C, B3, B4 or B4-1: 'npu-smi info' "
     "says which"},
    {"A3", "products of the A3 generation have two dies in each package, Ascend910_9362 to "
           "Ascend910_9392: 'npu-smi info' says which"},
    {"910C", "a 910C has two dies, each an Ascend910_9392 or one of its siblings"},
    {"A5", "the A5 generation is the Ascend950"},
};

static const char *product_hint(const char *name) {
  for (size_t i = 0; i < sizeof products / sizeof *products; i++)
    if (strcasestr(name, products[i].word))
      return products[i].chips;
  return NULL;
}

/* ---- unknown names -------------------------------------------------------------------- */

static bool is_of_family(const char *chip, const char *name) {
  char known[SOC_NAME_BYTES], wanted[SOC_NAME_BYTES];
  spell(chip, known);
  spell(name, wanted);
  size_t length = strlen(wanted);
  return length > 0 && strlen(known) > length && strncmp(known, wanted, length) == 0;
}

/* "there are A, B and C": all chips whose names begin like that; false when there is none. */
static bool hint_family(const struct soc_names *names, const char *name, struct vinci_diag *diag) {
  char list[HINT_MAX] = "";
  size_t used = 0, found = 0;
  for (size_t i = 0; i < names->count; i++)
    found += is_of_family(names->items[i], name);
  for (size_t i = 0, left = found; left > 0 && used < sizeof list; i++) {
    if (!is_of_family(names->items[i], name))
      continue;
    const char *separator = left == found ? "" : left == 1 ? " and " : ", ";
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", separator, names->items[i]);
    left--;
  }
  if (found == 0 || used >= sizeof list)
    return false;
  diag_hint(diag, "%s %s", found == 1 ? "there is" : "there are", list);
  return true;
}

enum vinci_status soc_unknown(const char *folder, const char *name, struct vinci_diag *diag) {
  struct soc_names names = {0};
  (void)diag_error(diag, VINCI_E_USAGE, "unknown SoC '%s'", name);
  const char *nearest = NULL;
  bool told = false;
  if (soc_host_list(folder, &names, NULL) == VINCI_OK) {
    told = hint_family(&names, name, diag);
    nearest = nearest_soc(&names, name);
  }
  if (told) {
    soc_names_free(&names);
    return VINCI_E_USAGE;
  }
  if (product_hint(name))
    diag_hint(diag, "%s", product_hint(name));
  else if (nearest)
    diag_hint(diag, "did you mean '%s'? `vinci soc list` shows all", nearest);
  else
    diag_hint(diag, "`vinci soc list` shows all");
  soc_names_free(&names);
  return VINCI_E_USAGE;
}
