/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system of devices: the levels of links that join them, and what a transfer over these takes.
 *
 * A level joins groups of devices that follow each other: the dies of a package, the devices of a
 * server, the servers of a pod. Two devices are joined by the innermost level whose group holds
 * both. In a mesh each ordered pair has a link of its own; in a switch each device has a port out
 * and a port in, which all its transfers of that level share.
 */
#ifndef VINCI_DEVICES_FLOW_SYSTEM_H
#define VINCI_DEVICES_FLOW_SYSTEM_H

#include "core/base/arena.h"
#include "core/base/diag.h"

enum { GROUP_LEVELS_MAX = 8, GROUP_DEVICES_MAX = 1 << 16, GROUP_MESH_MAX = 64, GROUP_PATH_MAX = 4 };

enum group_join { GROUP_MESH, GROUP_SWITCH };

enum group_use {
  GROUP_COPY,   /* a step of a collective that writes into the other device */
  GROUP_REDUCE, /* the same, and the other device's memory adds */
  GROUP_SEND,   /* between two devices alone: send and receive */
  GROUP_USES
};

/*
 * Numbers of a level: X(field, key, kind, minimum, maximum, text), kinds as in core/chip/soc.def.
 * Rates of 0 mean: no limit of this sort.
 */
/* clang-format off */
#define GROUP_LEVEL_LIST(X)                                                                                        \
  X(latency_ps,         "latency",         TIME,      0, 1000000000000,     "a transfer takes this beside its bytes")   \
  X(copy_rate,          "copy",            BYTES_PER_SECOND, 1, 100000000000000,   "of one transfer that writes")              \
  X(reduce_rate,        "reduce",          BYTES_PER_SECOND, 1, 100000000000000,   "of one transfer that adds on the way")     \
  X(send_rate,          "send",            BYTES_PER_SECOND, 1, 100000000000000,   "of a transfer between two devices alone")  \
  X(device_rate,        "device",          BYTES_PER_SECOND, 0, 100000000000000,   "of all transfers of a device together")    \
  X(device_reduce_rate, "device_reduce",   BYTES_PER_SECOND, 0, 100000000000000,   "of those that add")
/* Numbers of the system itself. */
#define GROUP_SYSTEM_LIST(X)                                                                                       \
  X(local_latency_ps,   "memory.latency",   TIME,      0, 1000000000000,     "a copy within a device takes this beside its bytes") \
  X(local_copy_rate,    "memory.copy",      BYTES_PER_SECOND, 0, 100000000000000,   "of a copy within a device; 0: it takes no time")     \
  X(local_fresh_rate,   "memory.fresh",     BYTES_PER_SECOND, 0, 100000000000000,   "of a copy of what transfers have just brought, while that fits L2; 0: as others")     \
  X(local_reduce_rate,  "memory.add",      BYTES_PER_SECOND, 0, 100000000000000,   "of adding within a device; 0: it takes no time")     \
  X(notify_ps,          "notify.latency",  TIME,      0, 1000000000000,     "a notify to another device")               \
  X(notify_issue_ps,    "notify.issue",    TIME,      0, 1000000000000,     "a device issues a notify or a transfer, one after the other") \
  X(notify_wait_ps,     "notify.wait",     TIME,      0, 1000000000000,     "a device takes a notify, one after the other") \
  X(inline_reduce,      "reduce.inline",   COUNT,     0, 1,                 "1: transfers add on the way; 0: a device adds what it has received") \
  X(slice_bytes,        "collective.slice", BYTES,    1, 1073741824,        "the parts of a buffer are multiples of this") \
  X(buffer_bytes,       "collective.buffer", BYTES,   0, 1099511627776,     "a collective moves at most this at once; 0: any size") \
  X(timeout_ps,         "collective.timeout", TIME,   0, 100000000000000000, "a rank waits at most this in a collective for a device that is down; 0: for ever")
/* clang-format on */

struct group_level {
  const char *name;
  enum group_join join;
  uint32_t devices; /* of a group of this level; a multiple of that of the level before */
#define X(field, key, kind, minimum, maximum, text) uint64_t field;
  GROUP_LEVEL_LIST(X)
#undef X
};

struct group_system {
  const char *name;
  uint32_t devices;
  uint32_t level_count;
  struct group_level levels[GROUP_LEVELS_MAX]; /* from the innermost to that of all devices */
#define X(field, key, kind, minimum, maximum, text) uint64_t field;
  GROUP_SYSTEM_LIST(X)
#undef X
  uint64_t hbm_rate;  /* of a device's memory, bytes a second; 0: transfers slow no kernel */
  uint64_t l2_bytes;  /* of a device */
  uint64_t hbm_bytes; /* of a device's memory; 0: not known. No time depends on that */
};

/* What a transfer needs: a share of each limit on its path, at most `rate` for itself. */
struct group_path {
  uint32_t level;
  uint64_t latency_ps, rate;
  uint32_t limits[GROUP_PATH_MAX]; /* numbers below group_limit_count() */
  uint32_t limit_count;
};

VINCI_MUST_CHECK enum vinci_status group_system_check(const struct group_system *system,
                                                      struct vinci_diag *diag);
/* The level that joins two different devices. */
uint32_t group_level_of(const struct group_system *system, uint32_t from, uint32_t to);
/* From one device to another; both are devices of the system, and not the same. */
struct group_path group_path_of(const struct group_system *system, uint32_t from, uint32_t to,
                                enum group_use use);
/* Limits are links of a mesh, ports of a switch, and what a device can do at a level at all. */
uint32_t group_limit_count(const struct group_system *system);
/* Bytes a second of a limit. */
uint64_t group_limit_rate(const struct group_system *system, uint32_t limit);
/* Its name for tables: "hccs 0->1", "rdma 3 out", "hccs 3 reduce". */
void group_limit_name(const struct group_system *system, uint32_t limit, char *out, size_t size);
/* The limit of that name, or group_limit_count(). */
uint32_t group_limit_find(const struct group_system *system, const char *name);
/* Whether all that passes the limit begins or ends at the device: its link or port. */
bool group_limit_is_of(const struct group_system *system, uint32_t limit, uint32_t device);

#endif
