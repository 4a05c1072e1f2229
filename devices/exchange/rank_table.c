/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rank tables, and finds the devices of a system that they mean. */
#include "devices/exchange/rank_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "traces/format/json_read.h"

enum { SERVERS_MAX = 1 << 16, DEVICES_OF_SERVER_MAX = 1 << 10, NO_POD = UINT32_MAX };

/* A device, in the order of the file. */
struct entry {
  struct entry *next;
  uint64_t rank;
  struct rank_seat seat;
  const char *at;
};

/* A server that a super pod holds. */
struct holding {
  struct holding *next;
  const char *server, *at;
  uint32_t pod;
};

struct table_reader {
  struct rank_table *table;
  struct entry *first, **end, **server_begin;
  struct holding *held;
  const char *version, *status;
  const char *split_at; /* devices for prefill and decode */
  const char *version_at, *status_at, *servers_at, *count_at;
  uint64_t count;
};

static enum vinci_status no_memory(struct json_reader *json) {
  return diag_error(json->diag, VINCI_E_NOMEM, "out of memory");
}

/* Members that the documentation has and placement does not need. */
static bool is_known(const char *key) {
  static const char *const known[] = {"host_ip",          "container_ip",       "pod_ip",
                                      "server_ip",        "hardware_type",      "device_ip",
                                      "device_port",      "host_port",          "device_logical_id",
                                      "backup_device_ip", "backup_device_port", "super_device_id"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i], key) == 0)
      return true;
  return false;
}

static enum vinci_status skip(struct json_reader *json, const char *key) {
  return is_known(key) ? json_skip_value(json) : json_skip_unknown(json, key);
}

/* ---- devices --------------------------------------------------------------------------------- */

struct device_reader {
  struct entry *entry;
  bool has_device, has_rank;
};

static enum vinci_status device_member(struct json_reader *json, const char *key, void *context) {
  struct device_reader *device = context;
  uint64_t value;
  enum vinci_status status = VINCI_OK;
  if (strcmp(key, "device_id") == 0) {
    status = json_read_whole(json, DEVICES_OF_SERVER_MAX - 1, &value);
    device->entry->seat.device = (uint32_t)value;
    device->has_device = true;
  } else if (strcmp(key, "rank_id") == 0) {
    device->entry->at = json->at;
    status = json_read_whole(json, GROUP_DEVICES_MAX - 1, &device->entry->rank);
    device->has_rank = true;
  } else {
    status = skip(json, key);
  }
  return status;
}

static enum vinci_status device_item(struct json_reader *json, const char *key, void *context) {
  struct table_reader *own = context;
  const char *at = json->at;
  struct device_reader device = {.entry = ARENA_NEW(json->arena, struct entry)};
  (void)key;
  if (!device.entry)
    return no_memory(json);
  *device.entry = (struct entry){.seat.server = own->table->server_count};
  enum vinci_status status = json_read_object(json, device_member, &device);
  if (status == VINCI_OK && !device.has_device)
    status = json_read_fail(json, at, "this device has no device_id");
  if (status == VINCI_OK && !device.has_rank)
    status = json_read_fail(json, at, "this device has no rank_id");
  if (status != VINCI_OK)
    return status;
  struct diag_position place = json_read_place(json, device.entry->at);
  device.entry->seat.line = place.line;
  device.entry->seat.column = place.column;
  for (const struct entry *other = *own->server_begin; other; other = other->next)
    if (other->seat.device == device.entry->seat.device)
      return json_read_fail(json, at, "device_id %u is in this server twice",
                            device.entry->seat.device);
  *own->end = device.entry;
  own->end = &device.entry->next;
  own->table->ranks++;
  return own->table->ranks <= GROUP_DEVICES_MAX
             ? VINCI_OK
             : json_read_fail(json, at, "more than %d devices", GROUP_DEVICES_MAX);
}

/* ---- servers and super pods ------------------------------------------------------------------ */

struct server_reader {
  struct table_reader *own;
  const char *id;
  uint32_t before; /* devices of servers before */
};

static enum vinci_status server_member(struct json_reader *json, const char *key, void *context) {
  struct server_reader *server = context;
  if (strcmp(key, "server_id") == 0)
    return json_read_text(json, &server->id);
  if (strcmp(key, "device") == 0)
    return json_read_list(json, device_item, server->own);
  return skip(json, key);
}

static enum vinci_status server_item(struct json_reader *json, const char *key, void *context) {
  struct table_reader *own = context;
  struct rank_table *table = own->table;
  struct server_reader server = {.own = own, .before = table->ranks};
  const char *at = json->at;
  unsigned long line = json_read_place(json, at).line; /* going back would count from the top */
  (void)key;
  own->server_begin = own->end;
  enum vinci_status status = json_read_object(json, server_member, &server);
  if (status == VINCI_OK && !server.id)
    status = json_read_fail(json, at, "this server has no server_id");
  if (status == VINCI_OK && table->ranks == server.before)
    status = json_read_fail(json, at, "server \"%.40s\" has no device", server.id);
  for (uint32_t i = 0; status == VINCI_OK && i < table->server_count; i++)
    if (strcmp(table->servers[i].id, server.id) == 0)
      status = json_read_fail(json, at, "server_id \"%.40s\" is there twice", server.id);
  if (status == VINCI_OK && table->server_count == SERVERS_MAX)
    status = json_read_fail(json, at, "more than %d servers", SERVERS_MAX);
  if (status != VINCI_OK)
    return status;
  table->servers[table->server_count++] = (struct rank_server){server.id, line, NO_POD};
  return VINCI_OK;
}

static enum vinci_status held_member(struct json_reader *json, const char *key, void *context) {
  const char **id = context;
  return strcmp(key, "server_id") == 0 ? json_read_text(json, id) : skip(json, key);
}

static enum vinci_status held_item(struct json_reader *json, const char *key, void *context) {
  struct table_reader *own = context;
  struct holding *holding = ARENA_NEW(json->arena, struct holding);
  (void)key;
  if (!holding)
    return no_memory(json);
  *holding = (struct holding){.next = own->held, .at = json->at, .pod = own->table->pod_count};
  own->held = holding;
  enum vinci_status status = json_read_object(json, held_member, &holding->server);
  if (status == VINCI_OK && !holding->server)
    status = json_read_fail(json, holding->at, "a server of a super pod has no server_id");
  return status;
}

struct pod_reader {
  struct table_reader *own;
  const char *id;
};

static enum vinci_status pod_member(struct json_reader *json, const char *key, void *context) {
  struct pod_reader *pod = context;
  if (strcmp(key, "super_pod_id") == 0)
    return json_read_text(json, &pod->id);
  return strcmp(key, "server_list") == 0 ? json_read_list(json, held_item, pod->own)
                                         : skip(json, key);
}

static enum vinci_status pod_item(struct json_reader *json, const char *key, void *context) {
  struct table_reader *own = context;
  struct pod_reader pod = {.own = own};
  const char *at = json->at;
  (void)key;
  if (own->table->pod_count == SERVERS_MAX)
    return json_read_fail(json, at, "more than %d super pods", SERVERS_MAX);
  enum vinci_status status = json_read_object(json, pod_member, &pod);
  if (status == VINCI_OK && !pod.id)
    status = json_read_fail(json, at, "this super pod has no super_pod_id");
  if (status == VINCI_OK)
    own->table->pods[own->table->pod_count++] = pod.id;
  return status;
}

static enum vinci_status table_member(struct json_reader *json, const char *key, void *context) {
  struct table_reader *own = context;
  const char *at = json->at;
  if (strcmp(key, "version") == 0) {
    own->version_at = at;
    return json_read_text(json, &own->version);
  }
  if (strcmp(key, "status") == 0) {
    own->status_at = at;
    return json_read_text(json, &own->status);
  }
  if (strcmp(key, "server_count") == 0) {
    own->count_at = at;
    return json_read_whole(json, SERVERS_MAX, &own->count);
  }
  if (strcmp(key, "server_list") == 0) {
    own->servers_at = at;
    return json_read_list(json, server_item, own);
  }
  if (strcmp(key, "prefill_device_list") == 0 || strcmp(key, "decode_device_list") == 0) {
    own->split_at = own->split_at ? own->split_at : at;
    return json_skip_value(json);
  }
  return strcmp(key, "super_pod_list") == 0 ? json_read_list(json, pod_item, own) : skip(json, key);
}

/* ---- what must hold -------------------------------------------------------------------------- */

static enum vinci_status check_head(struct json_reader *json, const struct table_reader *own) {
  if (own->split_at) {
    enum vinci_status split =
        json_read_fail(json, own->split_at,
                       "a rank table of prefill and decode devices: it has no rank_id, "
                       "and two groups that are not ranks of one job");
    diag_hint(json->diag, "give the rank table of HCCL (hccl.json, with server_list) of the "
                          "devices that run this job");
    return split;
  }
  if (!own->version)
    return json_read_fail(json, json->text, "the table has no version; 1.0 and 1.2 are read");
  if (strcmp(own->version, "1.0") != 0 && strcmp(own->version, "1.2") != 0)
    return json_read_fail(json, own->version_at, "version %.20s; 1.0 and 1.2 are read",
                          own->version);
  if (own->status && strcmp(own->status, "completed") != 0) {
    enum vinci_status status = json_read_fail(
        json, own->status_at, "status is \"%.40s\": the table is not finished", own->status);
    diag_hint(json->diag, "wait until status is \"completed\"");
    return status;
  }
  if (!own->servers_at) {
    enum vinci_status status = json_read_fail(json, json->text, "the table has no server_list");
    diag_hint(json->diag, "the older form, with group_list, is not read");
    return status;
  }
  if (own->count_at && own->count != own->table->server_count)
    return json_read_fail(json, own->count_at, "server_count is %llu, but server_list has %u",
                          (unsigned long long)own->count, own->table->server_count);
  return VINCI_OK;
}

static enum vinci_status hold_servers(struct json_reader *json, const struct table_reader *own) {
  struct rank_table *table = own->table;
  for (const struct holding *held = own->held; held; held = held->next) {
    uint32_t server = 0;
    while (server < table->server_count && strcmp(table->servers[server].id, held->server) != 0)
      server++;
    if (server == table->server_count)
      return json_read_fail(json, held->at, "server_list has no server \"%.40s\"", held->server);
    if (table->servers[server].pod != NO_POD)
      return json_read_fail(json, held->at, "server \"%.40s\" is in two super pods", held->server);
    table->servers[server].pod = held->pod;
  }
  for (uint32_t i = 0; table->pod_count > 0 && i < table->server_count; i++)
    if (table->servers[i].pod == NO_POD)
      return diag_error_at(json->diag, VINCI_E_INPUT,
                           (struct diag_position){json->path, table->servers[i].line, 1},
                           "super_pod_list does not hold server \"%.40s\"", table->servers[i].id);
  return VINCI_OK;
}

/* Ranks by number: each is there once, and those of a server follow each other, as HCCL asks. */
static enum vinci_status seat_ranks(struct json_reader *json, const struct table_reader *own) {
  struct rank_table *table = own->table;
  table->seats = ARENA_ARRAY(json->arena, struct rank_seat, table->ranks + 1);
  if (!table->seats)
    return no_memory(json);
  for (const struct entry *entry = own->first; entry; entry = entry->next) {
    if (entry->rank >= table->ranks)
      return json_read_fail(json, entry->at, "rank_id %llu: the table has ranks 0 to %u",
                            (unsigned long long)entry->rank, table->ranks - 1);
    if (table->seats[entry->rank].line)
      return json_read_fail(json, entry->at, "rank_id %llu is there twice, first in line %lu",
                            (unsigned long long)entry->rank, table->seats[entry->rank].line);
    table->seats[entry->rank] = entry->seat;
  }
  bool *left = ARENA_ARRAY(json->arena, bool, table->server_count + 1);
  if (!left)
    return no_memory(json);
  for (uint32_t i = 1; i < table->ranks; i++) {
    const struct rank_seat *seat = &table->seats[i];
    left[table->seats[i - 1].server] |= seat->server != table->seats[i - 1].server;
    if (left[seat->server])
      return diag_error_at(json->diag, VINCI_E_INPUT,
                           (struct diag_position){json->path, seat->line, seat->column},
                           "rank %u is on server \"%.40s\" again: ranks of a server follow each "
                           "other",
                           i, table->servers[seat->server].id);
  }
  return VINCI_OK;
}

void rank_table_free(struct rank_table *table) {
  free(table->servers);
  free(table->pods);
  arena_free(&table->arena);
}

enum vinci_status rank_table_read(const char *path, const char *text, size_t length,
                                  struct rank_table *out, struct vinci_diag *diag) {
  *out = (struct rank_table){0};
  struct table_reader own = {.table = out, .end = &own.first};
  struct json_reader json = {.path = path,
                             .text = text,
                             .end = text + length,
                             .at = text,
                             .arena = &out->arena,
                             .diag = diag};
  out->servers = calloc(SERVERS_MAX, sizeof *out->servers);
  out->pods = calloc(SERVERS_MAX, sizeof *out->pods);
  out->path = arena_strdup(&out->arena, path);
  enum vinci_status status = out->servers && out->pods && out->path ? VINCI_OK : no_memory(&json);
  if (status == VINCI_OK)
    status = json_read_object(&json, table_member, &own);
  if (status == VINCI_OK)
    status = json_read_end(&json);
  if (status == VINCI_OK)
    status = check_head(&json, &own);
  if (status == VINCI_OK)
    status = hold_servers(&json, &own);
  if (status == VINCI_OK)
    status = seat_ranks(&json, &own);
  out->skipped = arena_strdup(&out->arena, json_skipped(&json));
  if (status == VINCI_OK && !out->skipped)
    status = no_memory(&json);
  if (status != VINCI_OK)
    rank_table_free(out);
  return status;
}

/* ---- placement ------------------------------------------------------------------------------- */

static struct diag_position place_of(const struct rank_table *table, uint32_t rank) {
  return (struct diag_position){table->path, table->seats[rank].line, table->seats[rank].column};
}

/* Devices of a server, as multiples of the innermost groups, so that a package stays whole. */
static uint32_t server_extent(const struct rank_table *table, const struct group_system *system) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < table->ranks; i++)
    most = table->seats[i].device > most ? table->seats[i].device : most;
  return (uint32_t)round_up(most + 1, system->levels[0].devices);
}

/* Where a server begins among the devices of its super pod. */
static uint64_t begin_in_pod(const struct rank_table *table, uint32_t server, uint32_t extent) {
  uint64_t begin = 0;
  for (uint32_t i = 0; i < server; i++)
    begin += table->servers[i].pod == table->servers[server].pod ? extent : 0;
  return begin;
}

enum vinci_status rank_table_place(const struct rank_table *table,
                                   const struct group_system *system, uint32_t ranks,
                                   uint32_t *devices, uint32_t *needed, struct vinci_diag *diag) {
  uint32_t last = system->level_count > 1 ? system->level_count - 2 : 0;
  const struct group_level *level = &system->levels[last];
  uint32_t extent = server_extent(table, system);
  bool pods = table->pod_count > 0;
  *needed = 0;
  if (table->ranks != ranks)
    return diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = table->path},
                         "the table has %u ranks, the job %u", table->ranks, ranks);
  for (uint32_t i = 0; i < ranks; i++) {
    const struct rank_seat *seat = &table->seats[i];
    const struct rank_server *server = &table->servers[seat->server];
    uint64_t within = seat->device + (pods ? begin_in_pod(table, seat->server, extent) : 0);
    uint64_t device = (uint64_t)(pods ? server->pod : seat->server) * level->devices + within;
    if (within >= level->devices)
      return diag_error_at(diag, VINCI_E_INPUT, place_of(table, i),
                           "rank %u is device %llu of %s \"%.40s\", where %s joins %u devices of "
                           "system '%s'",
                           i, (unsigned long long)within, pods ? "super pod" : "server",
                           pods ? table->pods[server->pod] : server->id, level->name,
                           level->devices, system->name);
    if (device >= GROUP_DEVICES_MAX)
      return diag_error_at(diag, VINCI_E_INPUT, place_of(table, i),
                           "rank %u would be device %llu; a system has %d at most", i,
                           (unsigned long long)device, GROUP_DEVICES_MAX);
    devices[i] = (uint32_t)device;
    *needed = devices[i] >= *needed ? devices[i] + 1 : *needed;
  }
  return VINCI_OK;
}
