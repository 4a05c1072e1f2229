/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware descriptions in Lua: where they lie, which there are, and how they
 * become a struct vinci_soc (vinci_soc_load in core/vinci.h).
 */
#ifndef VINCI_SCRIPTS_HOST_SOC_HOST_H
#define VINCI_SCRIPTS_HOST_SOC_HOST_H

#include "core/base/arena.h"
#include "core/vinci.h"

/* Names of SoCs, sorted; zero-initialise, free with soc_names_free. */
struct soc_names {
  struct arena arena;
  const char **items;
  size_t count;
};

/*
 * The folder that holds soc/: data_dir when given, else $VINCI_DATA, else that of the sources
 * for a program in its build folder, else the installed folder.
 */
VINCI_MUST_CHECK enum vinci_status soc_host_data_dir(const char *data_dir, char *buffer,
                                                     size_t size, struct vinci_diag *diag);
/* The folder of the installed data; NULL in a program of a build folder, which reads the sources.
 */
const char *soc_host_installed_dir(void);
/*
 * All SoCs that can be loaded. Descriptions marked abstract are left out; broken
 * ones are in, so that loading them tells what is wrong.
 */
VINCI_MUST_CHECK enum vinci_status soc_host_list(const char *data_dir, struct soc_names *out,
                                                 struct vinci_diag *diag);
void soc_names_free(struct soc_names *names);
/* The name that may be meant, NULL when none is near; lives as long as the names. */
const char *soc_names_nearest(const struct soc_names *names, const char *name);

#endif
