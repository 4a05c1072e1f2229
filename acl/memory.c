/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the device and of the host, copies and fills. */
#include <stdlib.h>
#include <string.h>

#include "acl/runtime.h"
#include "core/base/number.h"

/* ---- giving out --------------------------------------------------------------------------- */

ACL_API aclError aclrtMalloc(void **address, size_t size, aclrtMemMallocPolicy policy) {
  (void)policy;
  ACL_BEGIN(ACL_NEED_CONTEXT);
  if (!address || size == 0)
    return acl_leave(acl_fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMalloc of %zu bytes", size));
  *address = vinci_device_malloc(acl_runtime.device, size);
  if (*address)
    return acl_leave(ACL_SUCCESS);
  uint64_t used, bytes = vinci_device_bytes(acl_runtime.device, &used);
  return acl_leave(acl_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                            "device memory has no room for %zu bytes: %llu of %llu are in use",
                            size, (unsigned long long)used, (unsigned long long)bytes));
}

ACL_API aclError aclrtMallocAlign32(void **address, size_t size, aclrtMemMallocPolicy policy) {
  return aclrtMalloc(address, size, policy);
}

ACL_API aclError aclrtMallocCached(void **address, size_t size, aclrtMemMallocPolicy policy) {
  return aclrtMalloc(address, size, policy);
}

ACL_API aclError aclrtFree(void *address) {
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  if (address && vinci_device_release(acl_runtime.device, address))
    return acl_leave(ACL_SUCCESS);
  return acl_leave(acl_fail(ACL_ERROR_RT_MEMORY_FREE,
                            "aclrtFree: no device memory was given out at %p", address));
}

ACL_API aclError aclrtMallocHost(void **address, size_t size) {
  enum { PAGE = 4096 };
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  if (!address || size == 0)
    return acl_leave(ACL_ERROR_RT_PARAM_INVALID);
  return acl_leave(posix_memalign(address, PAGE, size) == 0 ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC);
}

ACL_API aclError aclrtFreeHost(void *address) {
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  free(address);
  return acl_leave(address ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID);
}

ACL_API aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *available, size_t *total) {
  (void)attr;
  ACL_BEGIN(ACL_NEED_CONTEXT);
  if (!available || !total)
    return acl_leave(ACL_ERROR_INVALID_PARAM);
  uint64_t used, bytes = vinci_device_bytes(acl_runtime.device, &used);
  *total = (size_t)bytes;
  *available = (size_t)(bytes - used);
  return acl_leave(ACL_SUCCESS);
}

/* ---- copies ------------------------------------------------------------------------------- */

struct copy {
  void *dst;
  const void *src;
  size_t bytes, room;
  bool from_device, to_device;
};

/* Finds out between which memories a copy goes; ACL_MEMCPY_DEFAULT goes by the addresses. */
static aclError take_kind(struct copy *copy, aclrtMemcpyKind kind) {
  bool src = vinci_device_holds(acl_runtime.device, copy->src, copy->bytes);
  bool dst = vinci_device_holds(acl_runtime.device, copy->dst, copy->bytes);
  copy->from_device = kind == ACL_MEMCPY_DEFAULT ? src
                                                 : kind == ACL_MEMCPY_DEVICE_TO_HOST ||
                                                       kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  copy->to_device = kind == ACL_MEMCPY_DEFAULT
                        ? dst
                        : kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  if (!copy->dst || !copy->src || (unsigned)kind > ACL_MEMCPY_DEFAULT)
    return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "a copy from %p to %p of kind %d", copy->src,
                    copy->dst, (int)kind);
  if (copy->bytes > copy->room)
    return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "a copy of %zu bytes where %zu have room",
                    copy->bytes, copy->room);
  if (copy->from_device && !src)
    return acl_fail(ACL_ERROR_RT_PARAM_INVALID,
                    "a copy from the device reads %zu bytes at %p, which are not device memory",
                    copy->bytes, copy->src);
  if (copy->to_device && !dst)
    return acl_fail(ACL_ERROR_RT_PARAM_INVALID,
                    "a copy to the device writes %zu bytes at %p, which are not device memory",
                    copy->bytes, copy->dst);
  return ACL_SUCCESS;
}

/* A copy in a stream; copies and fills share the link in their order. */
static aclError add_copy(struct acl_stream *stream, const char *name, uint64_t bytes,
                         int64_t bytes_per_second) {
  struct acl_task *task = acl_task_add(stream, ACL_TASK_COPY, &acl_runtime.link_free_ps,
                                       acl_copy_ps(bytes, bytes_per_second));
  if (!task)
    return ACL_ERROR_BAD_ALLOC;
  snprintf(task->name, sizeof task->name, "%s", name);
  task->bytes = bytes;
  return ACL_SUCCESS;
}

static aclError time_copy(const struct copy *copy, struct acl_stream *stream) {
  const struct vinci_soc *soc = acl_runtime.soc;
  if (copy->from_device && copy->to_device) /* reads and writes share the memory's bandwidth */
    return add_copy(stream, "device to device", copy->bytes, soc->hbm_bytes_per_second / 2);
  if (copy->to_device)
    return add_copy(stream, "host to device", copy->bytes, soc->host_write_rate);
  if (copy->from_device)
    return add_copy(stream, "device to host", copy->bytes, soc->host_read_rate);
  return ACL_SUCCESS;
}

/* A copy that the host waits for does not wait for kernels in streams. */
static void warn_of_kernels(const struct copy *copy) {
  for (const struct acl_stream *stream = acl_runtime.streams; stream; stream = stream->next) {
    if (!stream->pending || !copy->from_device || acl_runtime.warned_of_wait)
      continue;
    fprintf(stderr,
            "vinci: warning: aclrtMemcpy from the device while kernels of stream %u may "
            "run: on a chip the copy does not wait for them (aclrtSynchronizeStream)\n",
            stream->number);
    acl_runtime.warned_of_wait = true;
  }
}

/* The host waits for what is on a time of its own: a copy or a fill that is in no stream. */
static aclError wait_alone(const struct acl_stream *alone, aclError error) {
  acl_wait_until(alone->done_ps);
  acl_runtime.host_ps += (uint64_t)acl_runtime.soc->host_wait_call_ps;
  return error;
}

/* What kernels have not computed (VINCI_VALUES=0) goes along with copies on the device. */
static void note_values(const struct copy *copy) {
  bool unknown =
      copy->from_device && vinci_device_is_unknown(acl_runtime.device, copy->src, copy->bytes);
  if (copy->to_device)
    vinci_device_wrote(acl_runtime.device, copy->dst, copy->bytes, !unknown);
  else if (unknown && !acl_runtime.warned_of_values)
    fprintf(stderr, "vinci: warning: a copy to the host takes results that were not computed "
                    "(VINCI_VALUES=0): its bytes mean nothing\n");
  acl_runtime.warned_of_values |= unknown && !copy->to_device;
}

ACL_API aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count,
                             aclrtMemcpyKind kind) {
  struct copy copy = {.dst = dst, .src = src, .bytes = count, .room = destMax};
  struct acl_stream alone = {0};
  ACL_BEGIN(ACL_NEED_CONTEXT);
  aclError error = take_kind(&copy, kind);
  if (error != ACL_SUCCESS)
    return acl_leave(error);
  warn_of_kernels(&copy);
  memmove(dst, src, count);
  note_values(&copy);
  error = time_copy(&copy, &alone);
  return acl_leave(wait_alone(&alone, error));
}

aclError acl_copy(struct acl_stream *stream, const struct acl_call *call) {
  struct copy copy = {.dst = call->dst, .src = call->src, .bytes = call->bytes, .room = call->room};
  aclError error = take_kind(&copy, call->direction);
  if (error != ACL_SUCCESS)
    return error;
  memmove(copy.dst, copy.src, copy.bytes);
  note_values(&copy);
  return time_copy(&copy, stream);
}

/* A call of a stream that moves memory. */
static aclError issue(const char *name, aclrtStream handle, const struct acl_call *call) {
  aclError refused = acl_begin(name, ACL_NEED_CONTEXT);
  if (refused != ACL_SUCCESS)
    return acl_leave(refused);
  struct acl_stream *stream = acl_stream_of(handle);
  acl_runtime.host_ps += (uint64_t)acl_runtime.soc->host_copy_call_ps;
  return acl_leave(stream ? acl_issue(stream, call) : ACL_ERROR_RT_STREAM_CONTEXT);
}

ACL_API aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count,
                                  aclrtMemcpyKind kind, aclrtStream handle) {
  const struct acl_call call = {.kind = ACL_CALL_COPY,
                                .dst = dst,
                                .src = src,
                                .bytes = count,
                                .room = destMax,
                                .direction = kind};
  return issue(__func__, handle, &call);
}

ACL_API aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch,
                               size_t width, size_t height, aclrtMemcpyKind kind) {
  if (width > dpitch || width > spitch || height == 0)
    return ACL_ERROR_RT_PARAM_INVALID;
  struct copy copy = {.dst = dst,
                      .src = src,
                      .bytes = width + (height - 1) * (spitch < dpitch ? spitch : dpitch),
                      .room = height * dpitch};
  struct acl_stream alone = {0};
  ACL_BEGIN(ACL_NEED_CONTEXT);
  aclError error = take_kind(&copy, kind);
  if (error != ACL_SUCCESS)
    return acl_leave(error);
  warn_of_kernels(&copy);
  for (size_t row = 0; row < height; row++)
    memmove((char *)dst + row * dpitch, (const char *)src + row * spitch, width);
  note_values(&copy);
  copy.bytes = width * height;
  error = time_copy(&copy, &alone);
  return acl_leave(wait_alone(&alone, error));
}

/* ---- fills -------------------------------------------------------------------------------- */

static aclError fill(void *address, size_t room, int32_t value, size_t count,
                     struct acl_stream *stream) {
  if (!address || count > room || !vinci_device_holds(acl_runtime.device, address, count))
    return acl_fail(ACL_ERROR_RT_PARAM_INVALID,
                    "a fill of %zu bytes at %p, which are not device memory", count, address);
  memset(address, value, count);
  vinci_device_wrote(acl_runtime.device, address, count, true);
  return add_copy(stream, "fill", count, acl_runtime.soc->hbm_bytes_per_second);
}

ACL_API aclError aclrtMemset(void *address, size_t maxCount, int32_t value, size_t count) {
  struct acl_stream alone = {0};
  ACL_BEGIN(ACL_NEED_CONTEXT);
  aclError error = fill(address, maxCount, value, count, &alone);
  return acl_leave(wait_alone(&alone, error));
}

aclError acl_fill(struct acl_stream *stream, const struct acl_call *call) {
  return fill(call->dst, call->room, call->value, call->bytes, stream);
}

ACL_API aclError aclrtMemsetAsync(void *address, size_t maxCount, int32_t value, size_t count,
                                  aclrtStream handle) {
  const struct acl_call call = {
      .kind = ACL_CALL_FILL, .dst = address, .bytes = count, .room = maxCount, .value = value};
  return issue(__func__, handle, &call);
}

/* ---- numbers ------------------------------------------------------------------------------ */

ACL_API aclFloat16 aclFloatToFloat16(float value) { return fp16_from_fp32(value); }
ACL_API float aclFloat16ToFloat(aclFloat16 value) { return fp16_to_fp32(value); }

ACL_API size_t aclDataTypeSize(aclDataType type) {
  switch (type) {
  case ACL_INT8:
  case ACL_UINT8:
  case ACL_BOOL:
  case ACL_INT4:
    return 1;
  case ACL_FLOAT16:
  case ACL_BF16:
  case ACL_INT16:
  case ACL_UINT16:
    return sizeof(uint16_t);
  case ACL_FLOAT:
  case ACL_INT32:
  case ACL_UINT32:
    return sizeof(uint32_t);
  case ACL_DOUBLE:
  case ACL_INT64:
  case ACL_UINT64:
    return sizeof(uint64_t);
  case ACL_DT_UNDEFINED:
    break;
  }
  return 0;
}
