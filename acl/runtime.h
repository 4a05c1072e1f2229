/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime of programs on a simulated chip (AscendCL, include/acl/acl.h). A program is executed
 * as the host executes programs; its calls come here. Values come at once: a copy is made and a
 * kernel is executed when the program calls. Time is simulated beside: the host has a clock that
 * its calls move on, each stream has a time when it is done, and a task starts when the host has
 * issued the task, its stream is done, and what the task needs (the cores, the link) is free.
 *
 * AscendCL belongs to the process, and so does this state. A lock is held during each call.
 */
#ifndef VINCI_ACL_RUNTIME_H
#define VINCI_ACL_RUNTIME_H

#include <pthread.h>
#include <sys/types.h>

#include "core/base/diag.h"
#include "core/chip/soc.h"
#include "core/isa/source.h"
#include "core/vinci_device.h"
#include "include/acl/acl.h"

#define ACL_API __attribute__((visibility("default")))

struct acl_graph;
struct acl_handle;
struct acl_shared;

struct acl_stream {
  struct acl_stream *next;
  struct acl_graph *graph; /* that captures the stream; NULL: none */
  uint64_t done_ps;        /* all its tasks end by then */
  uint32_t number;
  bool pending; /* kernels since the host waited for the stream */
  bool destroyed;
};

struct acl_event {
  struct acl_event *next;
  struct acl_graph *graph;    /* that has captured the last record; NULL: none */
  struct acl_event *in_graph; /* that stands for the record there */
  uint64_t at_ps;             /* when the stream comes to its record */
  bool recorded;
};

enum acl_task_kind { ACL_TASK_KERNEL, ACL_TASK_COPY };

/* What took time on the device. */
struct acl_task {
  enum acl_task_kind kind;
  char name[256];
  uint32_t stream, blocks;
  uint64_t bytes; /* of a copy */
  uint64_t start_ps, end_ps;
  const char *bound; /* of a kernel: what limits the run */
  bool waits_left_out;
  struct program_scalar unchecked; /* of checks: what they have not looked at */
};

/* What a stream is asked for. */
enum acl_call_kind {
  ACL_CALL_LAUNCH,
  ACL_CALL_COPY,
  ACL_CALL_FILL,
  ACL_CALL_RECORD,
  ACL_CALL_WAIT
};
struct acl_call {
  enum acl_call_kind kind;
  struct acl_event *event;
  void *dst; /* of a copy or a fill */
  const void *src;
  size_t room, bytes;
  int32_t value;
  aclrtMemcpyKind direction;
  const void *kernel, *enter, *arguments;
  size_t argument_bytes;
  uint32_t blocks;
};

struct acl_runtime {
  pthread_mutex_t lock;
  bool initialized;
  bool finalized;       /* and not initialized since */
  int32_t device_id;    /* of the one device */
  unsigned devices_set; /* calls of aclrtSetDevice without that of aclrtResetDevice */
  bool context_is_gone; /* the device was reset, or the current context destroyed */
  const void *context;  /* current; NULL: that of the device */
  struct acl_handle *handles;
  /* The process that made the device. Children have a copy of all this, which is not simulated. */
  pid_t process;
  bool is_child;             /* of that process; known from the first call on */
  struct acl_shared *shared; /* with the children; NULL: out of memory */
  /* The chip and its device are there from the first call that needs them to the process's end. */
  vinci_soc *soc;
  vinci_device *device;
  enum vinci_memory memory;
  bool timed;         /* else values only */
  bool time_only;     /* kernels do not compute (VINCI_VALUES=0) */
  bool data_caches;   /* values are as data caches leave them (VINCI_DCACHE=1) */
  unsigned checks;    /* enum vinci_checks */
  const char *output; /* folder for results; NULL: none */
  bool silent;        /* no report at the end */
  struct acl_stream *streams, *default_stream;
  uint32_t stream_count;
  struct acl_event *events;
  uint64_t host_ps, cores_free_ps, link_free_ps;
  struct acl_task *tasks;
  size_t task_count, task_capacity;
  aclError failed;    /* of a kernel, for the next call that waits; ACL_SUCCESS: none */
  int exit_code;      /* that the process shall end with, unless it has one of its own */
  char message[2048]; /* for aclGetRecentErrMsg() */
  bool warned_of_wait, warned_of_values;
  char warned_of[1024]; /* the last warning of a launch: said once in a row */
};

extern struct acl_runtime acl_runtime;

/* Every call: takes the lock; loads the chip when need_device. */
void acl_enter(bool need_device);
aclError acl_leave(aclError error);
/* The same with the chip, for calls that are refused after aclFinalize; those that need a context,
 * also where the program has none any more. Returns why. */
enum acl_need { ACL_NEED_INITIALIZED, ACL_NEED_CONTEXT };
aclError acl_begin(const char *call, enum acl_need need);
#define ACL_BEGIN(need)                                                                            \
  do {                                                                                             \
    aclError refused = acl_begin(__func__, need);                                                  \
    if (refused != ACL_SUCCESS)                                                                    \
      return acl_leave(refused);                                                                   \
  } while (0)
/* Keeps a message and says it on standard error; returns the error. */
aclError acl_fail(aclError error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- handles (handles.c); streams and events have lists of their own ---- */
enum acl_handle_kind {
  ACL_HANDLE_CONTEXT,
  ACL_HANDLE_GRAPH,
  ACL_HANDLE_BINARY,
  ACL_HANDLE_FUNCTION,
  ACL_HANDLE_PROGRAM
};
bool acl_handle_add(enum acl_handle_kind kind, const void *pointer);
/* Whether a program may use the handle; if not, that is told. */
bool acl_handle_is(enum acl_handle_kind kind, const void *pointer);
void acl_handle_remove(enum acl_handle_kind kind, const void *pointer);

/* ---- streams and time (stream.c) ---- */
/* NULL for the default stream; NULL when there is no such stream. */
struct acl_stream *acl_stream_of(aclrtStream stream);
/* A task of a stream that needs a resource (its time in *free_ps) for a while; moves all on. NULL:
 * out of memory. */
struct acl_task *acl_task_add(struct acl_stream *stream, enum acl_task_kind kind, uint64_t *free_ps,
                              uint64_t duration_ps);
/* Duration of a copy of some bytes. */
uint64_t acl_copy_ps(uint64_t bytes, int64_t bytes_per_second);
void acl_wait_until(uint64_t time_ps);

/* ---- calls of streams: now, or captured (graph.c) ---- */
aclError acl_issue(struct acl_stream *stream, const struct acl_call *call);
/* Each kind, now. */
aclError acl_launch(struct acl_stream *stream, const struct acl_call *call);
aclError acl_copy(struct acl_stream *stream, const struct acl_call *call);
aclError acl_fill(struct acl_stream *stream, const struct acl_call *call);
aclError acl_record(struct acl_stream *stream, const struct acl_call *call);
aclError acl_wait(struct acl_stream *stream, const struct acl_call *call);

/* ---- kernels that were compiled at run time (binary.c) ---- */
/* The symbol of kernel N of a library that compile.c has made, for free(); NULL: no such kernel. */
char *acl_binary_symbol(void *library, unsigned number);

/* ---- the end (report.c) ---- */
void acl_report(void);

#endif
