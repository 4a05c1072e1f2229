/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of several devices: profiles of a host have the launches of all of its devices in one
 * table. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/base/diag.h"
#include "lower/calls/calls.h"

enum { NAMED_MAX = 8 }; /* that a message names */

/* The device of a row; "": none, as profilers write N/A for what is on no device. */
static const char *device_of(const struct call_row *row) {
  const char *cell = row->cell[CALL_DEVICE];
  return strcmp(cell, "N/A") == 0 ? "" : cell;
}

struct devices {
  const char *name[NAMED_MAX];
  size_t count; /* of all, also of those that are not named */
};

/* Adds the device of a row, unless it is known; rows without a device belong to none. */
static void add_device(struct devices *devices, const char *name) {
  for (size_t i = 0; i < devices->count && i < NAMED_MAX; i++)
    if (strcmp(devices->name[i], name) == 0)
      return;
  if (*name == '\0')
    return;
  if (devices->count < NAMED_MAX)
    devices->name[devices->count] = name;
  devices->count++;
}

static void find_devices(const struct call_list *list, struct devices *out) {
  *out = (struct devices){.count = 0};
  for (size_t i = 0; i < list->count && out->count <= NAMED_MAX; i++)
    add_device(out, device_of(&list->rows[i]));
}

/* "0, 1 and 2", or "0, 1, 2 and more". */
static void name_devices(const struct devices *devices, char *text, size_t size) {
  size_t named = devices->count < NAMED_MAX ? devices->count : NAMED_MAX, length = 0;
  *text = '\0';
  for (size_t i = 0; i < named && length < size; i++) {
    bool last = i + 1 == devices->count;
    length += (size_t)snprintf(text + length, size - length, "%s%s",
                               i == 0 ? ""
                               : last ? " and "
                                      : ", ",
                               devices->name[i]);
  }
  if (devices->count > NAMED_MAX && length < size)
    snprintf(text + length, size - length, " and more");
}

/* Rows that may be of the device, and may not. */
static void say_left_out(const char *path, size_t count, struct vinci_diag *diag) {
  char text[PATH_MAX + 128];
  snprintf(text, sizeof text, "%s: warning: %zu rows name no device, and are left out", path,
           count);
  if (count > 0)
    diag_warn(diag, text);
}

enum vinci_status calls_keep_device(struct call_list *list, const char *path, const char *device,
                                    struct vinci_diag *diag) {
  struct devices devices;
  char names[200];
  size_t kept = 0, unnamed = 0;
  bool found = false;
  find_devices(list, &devices);
  for (size_t i = 0; i < list->count; i++) {
    const char *own = device_of(&list->rows[i]);
    bool is_wanted = strcmp(own, device) == 0;
    found |= is_wanted && *own;
    unnamed += devices.count > 1 && *own == '\0';
    if (is_wanted || (*own == '\0' && devices.count == 1))
      list->rows[kept++] = list->rows[i];
  }
  if (found) {
    list->count = kept;
    say_left_out(path, unnamed, diag);
    return VINCI_OK;
  }
  (void)diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = path},
                      "no row is of device '%s'", device);
  name_devices(&devices, names, sizeof names);
  if (devices.count > 0)
    diag_hint(diag, "the rows are of %s %s", devices.count == 1 ? "device" : "devices", names);
  else
    diag_hint(diag, "no row has a device: leave out the device");
  return VINCI_E_USAGE;
}

enum vinci_status calls_one_device(const struct call_list *list, const char *path,
                                   struct vinci_diag *diag) {
  struct devices devices;
  char names[200];
  find_devices(list, &devices);
  if (devices.count < 2)
    return VINCI_OK;
  name_devices(&devices, names, sizeof names);
  (void)diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                      "the rows are of devices %s, which have no order among each other", names);
  diag_hint(diag, "choose one of them: --device=%s, or device in C, Lua and Python",
            devices.name[0]);
  return VINCI_E_INPUT;
}
