/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, and the time of tasks. */
#include <stdlib.h>

#include "acl/runtime.h"
#include "core/base/arith.h"

#define PS_PER_SECOND UINT64_C(1000000000000)
#define PS_PER_MILLISECOND 1e9

/* ---- time --------------------------------------------------------------------------------- */

void acl_wait_until(uint64_t time_ps) {
  acl_runtime.host_ps = max_u64(acl_runtime.host_ps, time_ps);
}

uint64_t acl_copy_ps(uint64_t bytes, int64_t bytes_per_second) {
  return (uint64_t)acl_runtime.soc->host_copy_ps +
         (uint64_t)((uint128)bytes * PS_PER_SECOND / (uint64_t)bytes_per_second);
}

struct acl_task *acl_task_add(struct acl_stream *stream, enum acl_task_kind kind, uint64_t *free_ps,
                              uint64_t duration_ps) {
  struct acl_runtime *runtime = &acl_runtime;
  if (runtime->task_count == runtime->task_capacity) {
    size_t capacity = 2 * runtime->task_capacity + 64;
    struct acl_task *grown = realloc(runtime->tasks, capacity * sizeof *grown);
    if (!grown)
      return NULL;
    runtime->tasks = grown;
    runtime->task_capacity = capacity;
  }
  struct acl_task *task = &runtime->tasks[runtime->task_count++];
  uint64_t start = max_u64(max_u64(runtime->host_ps, stream->done_ps), *free_ps);
  *task = (struct acl_task){
      .kind = kind, .stream = stream->number, .start_ps = start, .end_ps = start + duration_ps};
  stream->done_ps = *free_ps = task->end_ps;
  return task;
}

/* ---- streams ------------------------------------------------------------------------------ */

static struct acl_stream *new_stream(void) {
  struct acl_stream *stream = calloc(1, sizeof *stream);
  if (!stream)
    return NULL;
  stream->next = acl_runtime.streams;
  stream->number = acl_runtime.stream_count++;
  acl_runtime.streams = stream;
  return stream;
}

struct acl_stream *acl_stream_of(aclrtStream handle) {
  if (!handle) {
    if (!acl_runtime.default_stream)
      acl_runtime.default_stream = new_stream();
    return acl_runtime.default_stream;
  }
  for (struct acl_stream *stream = acl_runtime.streams; stream; stream = stream->next)
    if (stream == handle && !stream->destroyed)
      return stream;
  (void)acl_fail(ACL_ERROR_RT_STREAM_CONTEXT, "%p is not a stream, or one that was destroyed",
                 handle);
  return NULL;
}

ACL_API aclError aclrtCreateStream(aclrtStream *stream) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  if (!stream)
    return acl_leave(ACL_ERROR_INVALID_PARAM);
  *stream = new_stream();
  return acl_leave(*stream ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC);
}

ACL_API aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority,
                                             uint32_t flag) {
  (void)priority;
  (void)flag;
  return aclrtCreateStream(stream);
}

/* Waits for a stream; what failed in the meantime is told once. */
static aclError wait_for(struct acl_stream *stream) {
  aclError error = acl_runtime.failed;
  acl_wait_until(stream->done_ps);
  stream->pending = false;
  acl_runtime.failed = ACL_SUCCESS;
  return error;
}

static aclError destroy(aclrtStream handle) {
  struct acl_stream *stream = handle ? acl_stream_of(handle) : NULL;
  if (!stream)
    return ACL_ERROR_RT_STREAM_CONTEXT;
  stream->destroyed = true; /* kept, so that later uses are found */
  return ACL_SUCCESS;
}

ACL_API aclError aclrtDestroyStream(aclrtStream stream) {
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  return acl_leave(destroy(stream));
}

ACL_API aclError aclrtDestroyStreamForce(aclrtStream stream) { return aclrtDestroyStream(stream); }

ACL_API aclError aclrtSynchronizeStream(aclrtStream handle) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  struct acl_stream *stream = acl_stream_of(handle);
  return acl_leave(stream ? wait_for(stream) : ACL_ERROR_RT_STREAM_CONTEXT);
}

ACL_API aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  (void)timeout;
  return aclrtSynchronizeStream(stream);
}

ACL_API aclError aclrtSynchronizeDevice(void) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  aclError error = acl_runtime.failed;
  for (struct acl_stream *stream = acl_runtime.streams; stream; stream = stream->next)
    (void)wait_for(stream);
  return acl_leave(error);
}

ACL_API aclError aclrtStreamQuery(aclrtStream handle, aclrtStreamStatus *status) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  const struct acl_stream *stream = acl_stream_of(handle);
  if (!stream || !status)
    return acl_leave(ACL_ERROR_INVALID_PARAM);
  *status = stream->done_ps <= acl_runtime.host_ps ? ACL_STREAM_STATUS_COMPLETE
                                                   : ACL_STREAM_STATUS_NOT_READY;
  return acl_leave(ACL_SUCCESS);
}

/* ---- events ------------------------------------------------------------------------------- */

static struct acl_event *event_of(aclrtEvent handle) {
  for (struct acl_event *event = acl_runtime.events; event; event = event->next)
    if (event == handle)
      return event;
  (void)acl_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not an event, or one that was destroyed",
                 handle);
  return NULL;
}

ACL_API aclError aclrtCreateEvent(aclrtEvent *out) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  struct acl_event *event = out ? calloc(1, sizeof *event) : NULL;
  if (!event)
    return acl_leave(out ? ACL_ERROR_BAD_ALLOC : ACL_ERROR_INVALID_PARAM);
  event->next = acl_runtime.events;
  *out = acl_runtime.events = event;
  return acl_leave(ACL_SUCCESS);
}

ACL_API aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag) {
  (void)flag;
  return aclrtCreateEvent(event);
}

ACL_API aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag) {
  (void)flag;
  return aclrtCreateEvent(event);
}

ACL_API aclError aclrtDestroyEvent(aclrtEvent handle) {
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  struct acl_event **link = &acl_runtime.events;
  while (*link && *link != handle)
    link = &(*link)->next;
  if (!*link)
    return acl_leave(acl_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not an event", handle));
  *link = (*link)->next;
  free(handle);
  return acl_leave(ACL_SUCCESS);
}

aclError acl_record(struct acl_stream *stream, const struct acl_call *call) {
  call->event->at_ps = max_u64(stream->done_ps, acl_runtime.host_ps);
  call->event->recorded = true;
  call->event->graph = NULL;
  return ACL_SUCCESS;
}

aclError acl_wait(struct acl_stream *stream, const struct acl_call *call) {
  if (call->event->recorded)
    stream->done_ps = max_u64(stream->done_ps, call->event->at_ps);
  return ACL_SUCCESS;
}

ACL_API aclError aclrtRecordEvent(aclrtEvent handle, aclrtStream stream_handle) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  struct acl_event *event = event_of(handle);
  struct acl_stream *stream = acl_stream_of(stream_handle);
  if (!event || !stream)
    return acl_leave(ACL_ERROR_RT_PARAM_INVALID);
  acl_runtime.host_ps += (uint64_t)acl_runtime.soc->host_record_call_ps;
  const struct acl_call call = {.kind = ACL_CALL_RECORD, .event = event};
  return acl_leave(acl_issue(stream, &call));
}

ACL_API aclError aclrtResetEvent(aclrtEvent handle, aclrtStream stream) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  (void)stream;
  struct acl_event *event = event_of(handle);
  if (event)
    event->recorded = false;
  return acl_leave(event ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID);
}

/* An event that was not recorded holds nobody up. */
ACL_API aclError aclrtStreamWaitEvent(aclrtStream stream_handle, aclrtEvent handle) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  struct acl_event *event = event_of(handle);
  struct acl_stream *stream = acl_stream_of(stream_handle);
  if (!event || !stream)
    return acl_leave(ACL_ERROR_RT_PARAM_INVALID);
  acl_runtime.host_ps += (uint64_t)acl_runtime.soc->host_stream_wait_ps;
  const struct acl_call call = {.kind = ACL_CALL_WAIT, .event = event};
  return acl_leave(acl_issue(stream, &call));
}

ACL_API aclError aclrtSynchronizeEvent(aclrtEvent handle) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  const struct acl_event *event = event_of(handle);
  if (event && event->recorded)
    acl_wait_until(event->at_ps);
  return acl_leave(event ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID);
}

static bool is_over(const struct acl_event *event) {
  return event->recorded && event->at_ps <= acl_runtime.host_ps;
}

ACL_API aclError aclrtQueryEvent(aclrtEvent handle, aclrtEventStatus *status) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  const struct acl_event *event = event_of(handle);
  if (!event || !status)
    return acl_leave(ACL_ERROR_RT_PARAM_INVALID);
  *status = is_over(event) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  return acl_leave(ACL_SUCCESS);
}

ACL_API aclError aclrtQueryEventStatus(aclrtEvent handle, aclrtEventRecordedStatus *status) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  const struct acl_event *event = event_of(handle);
  if (!event || !status)
    return acl_leave(ACL_ERROR_RT_PARAM_INVALID);
  *status =
      is_over(event) ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return acl_leave(ACL_SUCCESS);
}

ACL_API aclError aclrtEventElapsedTime(float *milliseconds, aclrtEvent start, aclrtEvent end) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  const struct acl_event *from = event_of(start), *to = event_of(end);
  if (!milliseconds || !from || !to)
    return acl_leave(ACL_ERROR_RT_PARAM_INVALID);
  if (!from->recorded || !to->recorded)
    return acl_leave(acl_fail(ACL_ERROR_RT_PARAM_INVALID, "an event was not recorded"));
  *milliseconds = (float)(((double)to->at_ps - (double)from->at_ps) / PS_PER_MILLISECOND);
  return acl_leave(ACL_SUCCESS);
}
