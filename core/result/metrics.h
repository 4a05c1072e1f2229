/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of a result as one flat list of named integers with units, for whoever
 * compares or tabulates results: sweeps, the regression gate, Lua. Names are part of the
 * interface: "total_cycles", "pipe.MTE2.busy_cycles", "bytes.GM_UB", "l2.read_hits".
 */
#ifndef VINCI_CORE_RESULT_METRICS_H
#define VINCI_CORE_RESULT_METRICS_H

#include "core/result/result_counters.h"
#include "core/vinci_net.h"

enum { METRIC_NAME_MAX = 64, METRICS_MAX = 320 };

struct metric {
  char name[METRIC_NAME_MAX];    /* "noc.max_link_ppm" */
  char printed[METRIC_NAME_MAX]; /* "noc.max_link_utilization" */
  const struct counter *counter; /* unit, direction, places */
  const char *member;            /* the pipe or the path; NULL: neither */
  uint64_t value;
  bool unused; /* of a pipe that executed nothing */
};

struct metric_list {
  struct metric item[METRICS_MAX];
  size_t count;
};

/* All counters of a result, always the same names in the same order; NULL: the names alone. */
void metrics_collect(const struct vinci_result *result, struct metric_list *list);
/* What sweeps and gates tell of a network's run (network_metrics.def). */
struct network_metric {
  const char *name, *unit;
  uint64_t value;
};
enum { NETWORK_METRICS_MAX = 32 };
/* Of a result, always the same names in the same order; NULL: the names alone. */
size_t network_metrics(const struct vinci_net_result *result, struct network_metric *out);

/* What is known of a name alone, for a value that a result does not have. */
enum metric_better metric_better(const char *name);
const char *metric_unit(const char *name);

#endif
