/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the description host share. Internal to scripts/. */
#ifndef VINCI_SCRIPTS_HOST_SOC_FILES_H
#define VINCI_SCRIPTS_HOST_SOC_FILES_H

#include <stdbool.h>

#include "scripts/host/soc_host.h"

enum { SOC_PATH_MAX = 4096, SOC_NAME_BYTES = 64 };

/* Adds the names of all descriptions of a kind (soc, mem, noc), sorted; bases of others, too. */
VINCI_MUST_CHECK enum vinci_status soc_files_list(const char *folder, const char *kind,
                                                  struct soc_names *names, struct vinci_diag *diag);
/* Lets overrides of the names of a SoC load from a folder what they name. */
VINCI_MUST_CHECK enum vinci_status soc_named_attach(struct vinci_soc *soc, const char *folder,
                                                    struct vinci_diag *diag);
/* The same, and loads the descriptions that the SoC names now. */
VINCI_MUST_CHECK enum vinci_status soc_named_load(struct vinci_soc *soc, const char *folder,
                                                  struct vinci_diag *diag);
/* The chip whose name is written in another way: small letters, without Ascend in front, other
 * signs between the parts. False when there is none, or when several chips begin so. */
bool soc_also_named(const char *folder, const char *name, char *chip, size_t size);
/* VINCI_E_USAGE for a name that no chip has, with a hint at those that may be meant. */
enum vinci_status soc_unknown(const char *folder, const char *name, struct vinci_diag *diag);
/* ---- chips of one's own (soc_own.c) ---- */
/* Whether a name of a chip is the path of its file. */
bool soc_own_is_file(const char *name);
/* The folders that hold soc/ with own chips, by index; false behind the last. */
bool soc_own_folder(size_t index, char *folder, size_t size);
/*
 * The description of a name: in folder/soc, then beside a file (NULL: none), then in own folders;
 * *own: it is none of folder. Names are plain words, never paths. False when there is none; path
 * then is any of these.
 */
bool soc_file_find(const char *folder, const char *beside, const char *name, char *path,
                   size_t size, bool *own);
/* A chip by its file: the folder of the file, and the name that the file has to give the chip. */
struct soc_own {
  char folder[SOC_PATH_MAX];
  char name[256];
};
/* VINCI_E_USAGE when an installed chip has the name. */
VINCI_MUST_CHECK enum vinci_status soc_own_open(const char *folder, const char *path,
                                                struct soc_own *out, struct vinci_diag *diag);

/* Whether folder/soc/name.lua is a base for others; false also when it cannot be read. */
bool soc_file_is_abstract(const char *folder, const char *name);

#endif
