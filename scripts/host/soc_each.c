/* SPDX-License-Identifier: Apache-2.0 */
/* The names of chips for callers of the library (core/vinci_tables.h). */
#include "core/vinci_tables.h"

#include "scripts/host/soc_host.h"

enum vinci_status vinci_soc_each(const char *data_dir,
                                 bool (*visit)(void *context, const char *name), void *context,
                                 struct vinci_diag *diag) {
  struct soc_names names = {0};
  enum vinci_status status = soc_host_list(data_dir, &names, diag);
  for (size_t i = 0; status == VINCI_OK && i < names.count; i++)
    if (!visit(context, names.items[i]))
      break;
  soc_names_free(&names);
  return status;
}
