/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the architecture's vocabulary, and which core type has what. */
#include "core/chip/arch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const arch_names[] = {
#define X(id, name, text) name,
    ARCH_LIST(X)
#undef X
};
static const char *const core_names[] = {
#define X(id, name, instance) name,
    CORE_LIST(X)
#undef X
};
static const char *const core_instances[] = {
#define X(id, name, instance) instance,
    CORE_LIST(X)
#undef X
};
static const char *const pipe_names[] = {
#define X(id, lane, text) #id,
    PIPE_LIST(X)
#undef X
        "ALL",
};
static const char *const pipe_lanes[] = {
#define X(id, lane, text) lane,
    PIPE_LIST(X)
#undef X
        "ALL",
};
static const char *const space_names[] = {
#define X(id, alignment) #id,
    SPACE_LIST(X)
#undef X
};
static const unsigned space_alignments[] = {
#define X(id, alignment) alignment,
    SPACE_LIST(X)
#undef X
};
static const char *const dtype_names[] = {
#define X(id, name, bits) name,
    DTYPE_LIST(X)
#undef X
};
static const unsigned dtype_widths[] = {
#define X(id, name, bits) bits,
    DTYPE_LIST(X)
#undef X
};

struct path_row {
  const char *name;
  enum space from, to;
  enum pipe pipe;
};
static const struct path_row paths[] = {
#define X(id, from, to, pipe) {#from "->" #to, SPACE_##from, SPACE_##to, PIPE_##pipe},
    PATH_LIST(X)
#undef X
};

const char *arch_name(enum arch arch) { return arch_names[arch]; }
const char *core_kind_name(enum core_kind kind) { return core_names[kind]; }
const char *pipe_name(enum pipe pipe) { return pipe_names[pipe]; }
const char *pipe_lane(enum pipe pipe) { return pipe_lanes[pipe]; }
const char *space_name(enum space space) { return space_names[space]; }
unsigned space_alignment(enum space space) { return space_alignments[space]; }
const char *dtype_name(enum dtype dtype) { return dtype_names[dtype]; }
unsigned dtype_bits(enum dtype dtype) { return dtype_widths[dtype]; }
const char *path_name(enum path path) { return paths[path].name; }
enum space path_from(enum path path) { return paths[path].from; }
enum space path_to(enum path path) { return paths[path].to; }
enum pipe path_pipe(enum path path) { return paths[path].pipe; }

void core_name(enum core_kind kind, uint32_t cluster, uint32_t member, char *buffer, size_t size) {
  snprintf(buffer, size, "core%" PRIu32 ".%s%" PRIu32, cluster, core_instances[kind], member);
}

static unsigned find_name(const char *name, const char *const *names, unsigned count) {
  unsigned i = 0;
  while (i < count && strcmp(names[i], name) != 0)
    i++;
  return i;
}

/* CANN calls the two by numbers as well, in --npu-arch and in macros of its compiler. */
enum arch arch_by_name(const char *name) {
  if (strcmp(name, "dav-2201") == 0)
    return ARCH_C220;
  if (strcmp(name, "dav-3510") == 0)
    return ARCH_C310;
  return (enum arch)find_name(name, arch_names, ARCH_COUNT);
}
/* "ALL" is PIPE_ALL, which is also the count: callers that do not take ALL see no name. */
enum pipe pipe_by_name(const char *name) {
  return (enum pipe)find_name(name, pipe_names, PIPE_COUNT);
}
enum dtype dtype_by_name(const char *name) {
  return (enum dtype)find_name(name, dtype_names, DTYPE_COUNT);
}

/* Which pipes live where: Ascend C documentation, basic architecture (coupled and split). */
bool core_has_pipe(enum core_kind kind, enum pipe pipe) {
  switch (kind) {
  case CORE_AIC:
    return pipe != PIPE_V;
  case CORE_AIV:
    return pipe == PIPE_S || pipe == PIPE_V || pipe == PIPE_MTE2 || pipe == PIPE_MTE3;
  default:
    return pipe != PIPE_FIX;
  }
}

bool core_has_space(enum core_kind kind, enum space space) {
  switch (kind) {
  case CORE_AIC:
    return space != SPACE_UB && space != SPACE_VR;
  case CORE_AIV:
    return space == SPACE_GM || space == SPACE_UB || space == SPACE_VR;
  default:
    return space != SPACE_BT && space != SPACE_FB && space != SPACE_IDX && space != SPACE_L0A_MX &&
           space != SPACE_L0B_MX && space != SPACE_VR;
  }
}
