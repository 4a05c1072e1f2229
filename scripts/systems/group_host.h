/* SPDX-License-Identifier: Apache-2.0 */
/* Systems of devices from scripts/group: links with their numbers, each with source and confidence.
 */
#ifndef VINCI_SCRIPTS_SYSTEMS_GROUP_HOST_H
#define VINCI_SCRIPTS_SYSTEMS_GROUP_HOST_H

#include "core/chip/param.h"
#include "devices/flow/system.h"
#include "scripts/host/soc_files.h"

enum { GROUP_NUMBERS_MAX = 96, GROUP_KEY_MAX = 64 };

struct group_number {
  char key[GROUP_KEY_MAX]; /* "hccs.copy", "notify.latency" */
  enum soc_kind kind;
  int64_t minimum, maximum;
  const char *text;
  uint64_t *value; /* in the system */
  struct soc_provenance provenance;
};

struct group_description {
  struct arena arena;
  struct group_system system;
  const char *description;
  const char *chip; /* the SoC of its devices */
  struct group_number numbers[GROUP_NUMBERS_MAX];
  size_t number_count;
  const struct soc_source *sources;
  size_t source_count;
};

/* Loads folder/group/NAME.lua; data_dir NULL: where data lies. Free with group_host_free(). */
VINCI_MUST_CHECK enum vinci_status group_host_load(const char *name, const char *data_dir,
                                                   struct group_description **out,
                                                   struct vinci_diag *diag);
/*
 * Makes it a system of `devices` devices, with memory and L2 of their chip. Errors: an unknown
 * chip, and levels that do not hold that many devices.
 */
VINCI_MUST_CHECK enum vinci_status group_host_fit(struct group_description *group,
                                                  const char *data_dir, uint32_t devices,
                                                  struct vinci_diag *diag);
/* The same with a chip that is there. */
VINCI_MUST_CHECK enum vinci_status group_host_fit_chip(struct group_description *group,
                                                       const vinci_soc *soc, uint32_t devices,
                                                       struct vinci_diag *diag);
/* Whether a system has a number of this key. */
bool group_host_has(const struct group_description *group, const char *key);
/* The key of the system that is nearest to one that there is not; NULL: none is near. */
const char *group_host_nearest(const struct group_description *group, const char *key);
/* Of the numbers of a system, how many devices it has, and what collectives take from its chip. */
uint64_t group_host_digest(const struct group_description *group);
/*
 * Loads a system, changes the numbers of "KEY=VALUE" assignments, and fits it to its devices. The
 * caller frees *out, after errors too; NULL: nothing was loaded.
 */
VINCI_MUST_CHECK enum vinci_status group_host_open(const char *name, const char *data_dir,
                                                   const char *const *sets, size_t set_count,
                                                   uint32_t devices, struct group_description **out,
                                                   struct vinci_diag *diag);
void group_host_free(struct group_description *group);
/* The system of a job, and the chip of its devices for jobs with operators: what the caller wants,
 * and what is open then. */
struct group_opening {
  const char *system, *data; /* system NULL: the one that the job names */
  const char *const *sets;
  size_t set_count;
  struct group_description *group;
  vinci_soc *soc;
};
/* A group_find_system (devices/flow/text.h); the context is a struct group_opening. */
VINCI_MUST_CHECK enum vinci_status
group_opening_find(void *context, const char *name, uint32_t devices,
                   const struct group_system **out, const vinci_soc **soc, struct vinci_diag *diag);
/* Frees what is open, also after errors. */
void group_opening_free(struct group_opening *opening);
/* Names of the systems that can be loaded, sorted. */
VINCI_MUST_CHECK enum vinci_status group_host_list(const char *data_dir, struct soc_names *out,
                                                   struct vinci_diag *diag);
/* Changes one number: "hccs.copy=25GB/s". An unknown key names the nearest. */
VINCI_MUST_CHECK enum vinci_status group_host_set(struct group_description *group,
                                                  const char *assignment, struct vinci_diag *diag);

#endif
