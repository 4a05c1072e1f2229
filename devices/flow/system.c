/* SPDX-License-Identifier: Apache-2.0 */
/* Which limits lie between two devices. */
#include "devices/flow/system.h"

#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"

/*
 * The limits of a level, in this order: links (of a mesh, from each device to each place of its
 * group) or ports (out of each device, into each device); then for each device the sum of its
 * transfers, then the sum of those that add.
 */
static uint32_t links_of(const struct group_system *system, const struct group_level *level) {
  return level->join == GROUP_MESH ? system->devices * level->devices : 2 * system->devices;
}

static uint32_t limits_of(const struct group_system *system, const struct group_level *level) {
  return links_of(system, level) + 2 * system->devices;
}

static uint32_t base_of(const struct group_system *system, uint32_t level) {
  uint32_t base = 0;
  for (uint32_t i = 0; i < level; i++)
    base += limits_of(system, &system->levels[i]);
  return base;
}

uint32_t group_limit_count(const struct group_system *system) {
  return base_of(system, system->level_count);
}

static enum vinci_status check_level(const struct group_system *system, uint32_t index,
                                     struct vinci_diag *diag) {
  const struct group_level *level = &system->levels[index];
  uint32_t inner = index ? level[-1].devices : 1;
  if (level->devices <= inner || level->devices % inner != 0)
    return diag_error(diag, VINCI_E_INPUT,
                      "level '%s' joins %u devices, which must be a multiple of %u and more",
                      level->name, level->devices, inner);
  if (level->join == GROUP_MESH && level->devices > GROUP_MESH_MAX)
    return diag_error(diag, VINCI_E_INPUT,
                      "level '%s' is a mesh of %u devices; a mesh has at most %d", level->name,
                      level->devices, GROUP_MESH_MAX);
  return VINCI_OK;
}

enum vinci_status group_system_check(const struct group_system *system, struct vinci_diag *diag) {
  if (system->level_count == 0 || system->level_count > GROUP_LEVELS_MAX)
    return diag_error(diag, VINCI_E_INPUT, "a system has 1 to %d levels of links, not %u",
                      GROUP_LEVELS_MAX, system->level_count);
  for (uint32_t i = 0; i < system->level_count; i++) {
    enum vinci_status status = check_level(system, i, diag);
    if (status != VINCI_OK)
      return status;
  }
  uint32_t most = system->levels[system->level_count - 1].devices;
  if (system->devices == 0 || system->devices > GROUP_DEVICES_MAX || system->devices > most)
    return diag_error(diag, VINCI_E_INPUT, "%u devices: system '%s' joins 1 to %u", system->devices,
                      system->name, most < GROUP_DEVICES_MAX ? most : GROUP_DEVICES_MAX);
  return VINCI_OK;
}

uint32_t group_level_of(const struct group_system *system, uint32_t from, uint32_t to) {
  uint32_t level = 0;
  while (level + 1 < system->level_count &&
         from / system->levels[level].devices != to / system->levels[level].devices)
    level++;
  return level;
}

static uint64_t rate_of(const struct group_level *level, enum group_use use) {
  return use == GROUP_REDUCE ? level->reduce_rate
         : use == GROUP_SEND ? level->send_rate
                             : level->copy_rate;
}

struct group_path group_path_of(const struct group_system *system, uint32_t from, uint32_t to,
                                enum group_use use) {
  uint32_t index = group_level_of(system, from, to);
  const struct group_level *level = &system->levels[index];
  uint32_t base = base_of(system, index), sums = base + links_of(system, level);
  struct group_path path = {
      .level = index, .latency_ps = level->latency_ps, .rate = rate_of(level, use)};
  if (level->join == GROUP_MESH) {
    path.limits[path.limit_count++] = base + from * level->devices + to % level->devices;
  } else {
    path.limits[path.limit_count++] = base + from;
    path.limits[path.limit_count++] = base + system->devices + to;
  }
  if (level->device_rate)
    path.limits[path.limit_count++] = sums + from;
  if (level->device_reduce_rate && use == GROUP_REDUCE)
    path.limits[path.limit_count++] = sums + system->devices + from;
  return path;
}

/* Which level a limit belongs to; *place is its number within the level. */
static const struct group_level *level_at(const struct group_system *system, uint32_t limit,
                                          uint32_t *place) {
  const struct group_level *level = system->levels;
  *place = limit;
  while (*place >= limits_of(system, level))
    *place -= limits_of(system, level++);
  return level;
}

uint64_t group_limit_rate(const struct group_system *system, uint32_t limit) {
  uint32_t place;
  const struct group_level *level = level_at(system, limit, &place);
  uint32_t links = links_of(system, level);
  if (place >= links + system->devices)
    return level->device_reduce_rate;
  if (place >= links)
    return level->device_rate;
  return max_u64(level->copy_rate, max_u64(level->reduce_rate, level->send_rate));
}

void group_limit_name(const struct group_system *system, uint32_t limit, char *out, size_t size) {
  uint32_t place;
  const struct group_level *level = level_at(system, limit, &place);
  uint32_t links = links_of(system, level), devices = system->devices;
  if (place >= links)
    snprintf(out, size, "%s %u %s", level->name, (place - links) % devices,
             place - links >= devices ? "reduce" : "all");
  else if (level->join == GROUP_MESH)
    snprintf(out, size, "%s %u->%u", level->name, place / level->devices,
             place / level->devices / level->devices * level->devices + place % level->devices);
  else
    snprintf(out, size, "%s %u %s", level->name, place % devices, place < devices ? "out" : "in");
}

uint32_t group_limit_find(const struct group_system *system, const char *name) {
  uint32_t count = group_limit_count(system), limit = 0;
  char text[64];
  for (; limit < count; limit++) {
    if (group_limit_rate(system, limit) == 0)
      continue;
    group_limit_name(system, limit, text, sizeof text);
    if (strcmp(text, name) == 0)
      break;
  }
  return limit;
}

bool group_limit_is_of(const struct group_system *system, uint32_t limit, uint32_t device) {
  uint32_t place;
  const struct group_level *level = level_at(system, limit, &place);
  if (place >= links_of(system, level))
    return false; /* the links say enough */
  if (level->join == GROUP_SWITCH)
    return place % system->devices == device;
  uint32_t from = place / level->devices;
  return from == device ||
         from / level->devices * level->devices + place % level->devices == device;
}
