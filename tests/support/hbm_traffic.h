/* SPDX-License-Identifier: Apache-2.0 */
/* Random traffic for tests of the DRAM controller. */
#ifndef VINCI_TESTS_SUPPORT_HBM_TRAFFIC_H
#define VINCI_TESTS_SUPPORT_HBM_TRAFFIC_H

#include "memhier/dram/hbm_map.h"

struct traffic {
  const char *map;
  unsigned write_percent;
  unsigned idle_percent; /* of cycles without an offer */
  unsigned run_percent;  /* chance that a request follows the one before */
  uint64_t span;         /* bytes */
};

enum { TRAFFICS = 8 };
extern const struct traffic traffics[TRAFFICS];

/* A source of bursts; address and write are those of the present burst. */
struct traffic_source {
  const struct traffic *traffic;
  struct hbm_map map;
  uint64_t random;
  uint64_t address;
  bool write;
};

bool traffic_start(struct traffic_source *source, const struct traffic *traffic,
                   const struct mem_spec *mem, uint64_t seed);
/* Goes on to the next burst. */
void traffic_next(struct traffic_source *source);
/* Whether nothing is offered in this cycle; to be asked once a cycle. */
bool traffic_pauses(struct traffic_source *source);
/* The place of the present burst, on one of two channels. */
struct hbm_place traffic_place(const struct traffic_source *source);

#endif
