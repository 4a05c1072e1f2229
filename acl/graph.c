/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs (aclmdlRI): while a stream is captured, what it is asked for is kept. A stream that waits
 * for an event of a captured stream is captured too. A graph is executed in the order of the calls:
 * the first stream becomes the stream of the execution, the others are streams of the graph's own,
 * which start when that stream is free and end before it goes on. Events are the graph's own.
 */
#include <stdlib.h>
#include <string.h>

#include "acl/runtime.h"
#include "core/base/arith.h"

struct node {
  struct node *next;
  unsigned stream; /* of the graph; 0: the first */
  struct acl_call call;
  struct acl_event event; /* of a record */
  void *arguments;        /* of a launch, a copy */
};

enum { STREAMS_MAX = 32 };

struct acl_graph {
  struct node *first, **last;
  struct acl_stream *captured[STREAMS_MAX];
  struct acl_stream own[STREAMS_MAX];
  unsigned stream_count;
};

/* ---- now, or captured --------------------------------------------------------------------- */

static aclError execute(struct acl_stream *stream, const struct acl_call *call) {
  switch (call->kind) {
  case ACL_CALL_LAUNCH:
    return acl_launch(stream, call);
  case ACL_CALL_COPY:
    return acl_copy(stream, call);
  case ACL_CALL_FILL:
    return acl_fill(stream, call);
  case ACL_CALL_RECORD:
    return acl_record(stream, call);
  case ACL_CALL_WAIT:
    return acl_wait(stream, call);
  }
  return ACL_ERROR_RT_PARAM_INVALID;
}

/* Makes a stream one of the graph's; false when there is no room. */
static bool join(struct acl_graph *graph, struct acl_stream *stream) {
  if (graph->stream_count == STREAMS_MAX)
    return false;
  graph->own[graph->stream_count].number = stream->number;
  graph->captured[graph->stream_count++] = stream;
  stream->graph = graph;
  return true;
}

static bool take_arguments(struct node *node) {
  const struct acl_call *call = &node->call;
  if (call->kind != ACL_CALL_LAUNCH)
    return true;
  node->arguments = malloc(call->argument_bytes + 1);
  if (node->arguments)
    memcpy(node->arguments, call->arguments, call->argument_bytes);
  node->call.arguments = node->arguments;
  return node->arguments != NULL;
}

/* Events are those of the graph from now on. */
static void take_event(struct acl_graph *graph, struct node *node) {
  struct acl_event *event = node->call.event;
  if (node->call.kind == ACL_CALL_RECORD) {
    event->graph = graph;
    event->in_graph = &node->event;
  }
  if (event && event->graph == graph)
    node->call.event = event->in_graph;
}

static aclError capture(struct acl_stream *stream, const struct acl_call *call) {
  struct acl_graph *graph = stream->graph;
  struct node *node = calloc(1, sizeof *node);
  if (!node)
    return ACL_ERROR_BAD_ALLOC;
  node->call = *call;
  while (graph->captured[node->stream] != stream)
    node->stream++;
  if (!take_arguments(node)) {
    free(node);
    return ACL_ERROR_BAD_ALLOC;
  }
  take_event(graph, node);
  *graph->last = node;
  graph->last = &node->next;
  return ACL_SUCCESS;
}

aclError acl_issue(struct acl_stream *stream, const struct acl_call *call) {
  struct acl_graph *graph = call->kind == ACL_CALL_WAIT ? call->event->graph : NULL;
  if (graph && !stream->graph && !join(graph, stream))
    return acl_fail(ACL_ERROR_RT_STREAM_CONTEXT, "a graph has more than %d streams", STREAMS_MAX);
  if (stream->graph && call->kind == ACL_CALL_WAIT && graph != stream->graph)
    return acl_fail(ACL_ERROR_RT_PARAM_INVALID,
                    "a captured stream waits for an event that is not of the capture");
  return stream->graph ? capture(stream, call) : execute(stream, call);
}

/* ---- the calls ---------------------------------------------------------------------------- */

ACL_API aclError aclmdlRICaptureBegin(aclrtStream handle, aclmdlRICaptureMode mode) {
  (void)mode;
  ACL_BEGIN(ACL_NEED_CONTEXT);
  struct acl_stream *stream = handle ? acl_stream_of(handle) : NULL;
  if (!stream || stream->graph)
    return acl_leave(
        acl_fail(ACL_ERROR_RT_STREAM_CONTEXT, stream ? "the stream is captured already"
                                                     : "the default stream cannot be captured"));
  struct acl_graph *graph = calloc(1, sizeof *graph);
  if (!graph || !acl_handle_add(ACL_HANDLE_GRAPH, graph)) {
    free(graph);
    return acl_leave(ACL_ERROR_BAD_ALLOC);
  }
  graph->last = &graph->first;
  (void)join(graph, stream);
  return acl_leave(ACL_SUCCESS);
}

static void free_graph(struct acl_graph *graph) {
  for (struct node *node = graph->first, *next; node; node = next) {
    next = node->next;
    free(node->arguments);
    free(node);
  }
  free(graph);
}

ACL_API aclError aclmdlRICaptureEnd(aclrtStream handle, aclmdlRI *modelRI) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  const struct acl_stream *stream = handle ? acl_stream_of(handle) : NULL;
  struct acl_graph *graph = stream ? stream->graph : NULL;
  if (!graph || !modelRI || graph->captured[0] != stream)
    return acl_leave(acl_fail(ACL_ERROR_RT_STREAM_CONTEXT, "no capture has begun with the stream"));
  for (unsigned i = 0; i < graph->stream_count; i++)
    graph->captured[i]->graph = NULL;
  for (struct acl_event *event = acl_runtime.events; event; event = event->next)
    if (event->graph == graph)
      event->graph = NULL;
  *modelRI = graph;
  return acl_leave(ACL_SUCCESS);
}

ACL_API aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream handle) {
  struct acl_graph *graph = modelRI;
  aclError error = ACL_SUCCESS;
  ACL_BEGIN(ACL_NEED_CONTEXT);
  struct acl_stream *stream = acl_stream_of(handle);
  if (!stream || !acl_handle_is(ACL_HANDLE_GRAPH, graph))
    return acl_leave(ACL_ERROR_RT_PARAM_INVALID);
  acl_runtime.host_ps += (uint64_t)acl_runtime.soc->host_launch_call_ps;
  for (unsigned i = 1; i < graph->stream_count; i++)
    graph->own[i].done_ps = stream->done_ps;
  for (const struct node *node = graph->first; node && error == ACL_SUCCESS; node = node->next)
    error = execute(node->stream == 0 ? stream : &graph->own[node->stream], &node->call);
  for (unsigned i = 1; i < graph->stream_count; i++)
    stream->done_ps = max_u64(stream->done_ps, graph->own[i].done_ps);
  stream->pending = true;
  return acl_leave(error);
}

ACL_API aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  if (!acl_handle_is(ACL_HANDLE_GRAPH, modelRI))
    return acl_leave(ACL_ERROR_RT_PARAM_INVALID);
  acl_handle_remove(ACL_HANDLE_GRAPH, modelRI);
  free_graph(modelRI);
  return acl_leave(ACL_SUCCESS);
}

ACL_API aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path, uint32_t flags) {
  static const char *const kinds[] = {"kernel", "copy", "fill", "record", "wait"};
  const struct acl_graph *graph = modelRI;
  (void)flags;
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  bool good = acl_handle_is(ACL_HANDLE_GRAPH, graph);
  FILE *out = good && path ? fopen(path, "w") : NULL;
  if (!out)
    return acl_leave(ACL_ERROR_RT_PARAM_INVALID);
  fputs("[", out);
  for (const struct node *node = graph->first; node; node = node->next)
    fprintf(out, "%s\n  {\"task\": \"%s\", \"stream\": %u, \"blocks\": %u, \"bytes\": %zu}",
            node == graph->first ? "" : ",", kinds[node->call.kind],
            graph->own[node->stream].number, node->call.blocks, node->call.bytes);
  fputs("\n]\n", out);
  return acl_leave(fclose(out) == 0 ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID);
}
