/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: a device whose memory outlives kernels, and launches of compiled kernels on that device.
 * What a runtime such as AscendCL needs (include/acl/acl.h is made of this):
 *
 *     vinci_device *device;
 *     if (vinci_device_create(soc, VINCI_MEMORY_CYCLE, &device, &diag) == VINCI_OK) {
 *       void *x = vinci_device_malloc(device, 4096);
 *       memcpy(x, data, 4096);
 *       struct vinci_launch launch = {.struct_size = sizeof launch, .library = "add.so", ...};
 *       if (vinci_device_launch(device, &launch, NULL, &result, NULL, &diag) == VINCI_OK) ...
 */
#ifndef VINCI_DEVICE_H
#define VINCI_DEVICE_H

#include "vinci.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vinci_device vinci_device;

/* The chip has to outlive the device. The caller frees the device. */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_device_create(const vinci_soc *soc,
                                                                 enum vinci_memory memory,
                                                                 vinci_device **out,
                                                                 struct vinci_diag *diag);
VINCI_API void vinci_device_free(vinci_device *device);

/*
 * Device memory, as addresses that the host can read and write too: at a multiple of 4096 bytes,
 * zeros at first. NULL when no gap of the device has that many.
 */
VINCI_API void *vinci_device_malloc(vinci_device *device, uint64_t bytes);
/* Gives memory back; false when there is no such memory. */
VINCI_API bool vinci_device_release(vinci_device *device, void *memory);
/* Whether a range was written by a launch that leaves values out. */
VINCI_API bool vinci_device_is_unknown(const vinci_device *device, const void *address,
                                       uint64_t bytes);
/* Says that the host has written a range, with values that are known or not. */
VINCI_API void vinci_device_wrote(vinci_device *device, const void *address, uint64_t bytes,
                                  bool known);
/* Whether a range lies in one piece of device memory. */
VINCI_API bool vinci_device_holds(const vinci_device *device, const void *address, uint64_t bytes);
/* Bytes of the device, and those that are given out. */
VINCI_API uint64_t vinci_device_bytes(const vinci_device *device, uint64_t *used);

/* A kernel<<<blocks>>>(arguments) of a program or library that `vinci cc` has compiled. */
struct vinci_launch {
  size_t struct_size; /* sizeof(struct vinci_launch) */
  const char *library;
  const char *kernel; /* symbol of the function */
  const char *enter;  /* symbol of vinci_cce::enter() for a kernel of that type */
  const void *arguments;
  uint32_t blocks;
  bool values_only; /* no time: *out stays NULL */
  /* No values: what instructions would compute is left out. Device memory that a kernel has written
   * then holds nothing of use, and code whose way depends on such memory is refused. */
  bool time_only;
  bool data_caches;         /* scalar code sees device memory by the data cache of its core */
  unsigned checks;          /* enum vinci_checks, several added, of what the kernel does */
  uint64_t workspace_bytes; /* of the library's own memory for the kernel */
};

/*
 * Executes a kernel: device memory holds its results afterwards, L2 what the kernel has left there.
 * options may be NULL. The caller frees the result; *findings, which may be NULL, are those of
 * vinci_check() when there are any (VINCI_E_CHECK). VINCI_E_INPUT: no such kernel, another
 * architecture, or the code fails.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_device_launch(vinci_device *device, const struct vinci_launch *launch,
                    const struct vinci_run_options *options, vinci_result **out,
                    vinci_findings **findings, struct vinci_diag *diag);
/* What the last launch has asked for that its instructions cannot do, "FILE:LINE: operand ...";
 * empty: nothing. Stays until the next launch. */
VINCI_API const char *vinci_device_warning(const vinci_device *device);
/* The symbol of the function that begins at an offset of a program or library, a local one too, for
 * free(); NULL: none. */
VINCI_API char *vinci_function_symbol(const char *path, uint64_t offset);
/* The name of a function without its spaces and parameters, "kernel<float>", from its symbol. */
VINCI_API void vinci_function_name(const char *symbol, char *out, size_t size);
/* From the launch to the last completion. */
VINCI_API uint64_t vinci_result_picoseconds(const vinci_result *result);

#ifdef __cplusplus
}
#endif

#endif
