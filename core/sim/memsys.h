/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the parts of the chip meet: operation tables that the memory system
 * (memhier/) and the network (noc/) provide and the cores and each other use.
 * core/registry.c binds them.
 */
#ifndef VINCI_CORE_SIM_MEMSYS_H
#define VINCI_CORE_SIM_MEMSYS_H

#include "core/base/clock.h"
#include "core/chip/soc.h"
#include "core/result/result.h"
#include "core/sim/engine.h"

/*
 * How the time of a transfer behind its start-up divides: what the engine itself needs, and what
 * the transfer waits for. The first GM_OWN parts are the engine's.
 */
enum gm_part {
  GM_RATE,    /* bytes at the rate of the path */
  GM_REORDER, /* lines of L2 instead, where the engine needs longer for them than for their bytes */
  GM_OWN,
  GM_WINDOW = GM_OWN, /* no more bytes may be in flight */
  GM_NETWORK,         /* others on the way to L2 and back */
  GM_SLICE,           /* a slice of L2: its service, and others there */
  GM_SAME_LINE,       /* the same, behind a request for the same line */
  GM_REFETCH,         /* device memory, for a line that L2 has held before */
  GM_ACCESS,          /* device memory: an access to an open row */
  GM_ROW,             /* its row has to be opened */
  GM_TURN,            /* changes of direction */
  GM_REFRESH,
  GM_QUEUE, /* others, and the memory's bandwidth */
  GM_PARTS
};

/*
 * One transfer between a core and GM. Owned by the core's pipe; the fields below
 * the line belong to the memory system until done() is called.
 */
struct gm_transfer {
  uint32_t port; /* architectural number of the engine: core index * PIPE_COUNT + pipe */
  enum path path;
  bool write;
  bool passes_l2; /* takes no room there; what is there all the same is used */
  uint64_t address;
  uint64_t bursts; /* runs of burst_bytes, stride_bytes from start to start */
  uint64_t burst_bytes;
  uint64_t stride_bytes;
  uint64_t line_mcycles; /* of the engine for each line that it reorders, at least; thousandths */
  uint64_t line_bytes;
  uint64_t core_hz;
  bool *reached_memory; /* of a read: the core's kernel has read what L2 lacked; set by memory */
  /* Called in PHASE_DELIVER at the time the last byte has arrived. part_ps[] says then how the time
   * divides: shares of a whole that the core knows. */
  void (*done)(struct gm_transfer *transfer, uint64_t now_ps);
  void *owner;
  /* ---- */
  struct engine_event event;
  struct memsys *memory;
  struct gm_transfer *next; /* behind this one on the same port */
  uint64_t start_ps;
  bool missed;       /* L2 lacked some of its bytes */
  uint64_t burst;    /* the run of bytes that comes next, */
  uint64_t offset;   /* and the bytes of this run that have been requested */
  uint64_t requests; /* issued and not answered */
  uint64_t end_ps;   /* arrival of the latest answer so far */
  uint64_t first_ps; /* when the first request left */
  uint64_t lines;    /* requests so far */
  uint64_t moved_ps; /* sum of part_ps[] */
  uint64_t part_ps[GM_PARTS];
};

struct network;
struct memsys;

/*
 * A message between a core and a slice of L2. Owned by the sender; the network may use
 * the event until it calls done(), in PHASE_ARBITRATE or at a later instant.
 */
struct network_message {
  uint32_t id;      /* below the number given to prepare() */
  uint32_t cluster; /* the core's end: which cluster of cores */
  uint32_t slice;   /* L2's end */
  bool to_core;
  uint64_t bytes; /* payload; 0: a header alone */
  void (*done)(struct network_message *message, uint64_t now_ps);
  struct engine_event event; /* key set by the sender */
};

/* What a network has to know to be built. */
struct network_shape {
  uint32_t clusters;
  uint32_t slices;
  uint32_t part;
};

/* A message whose time of arrival is asked for. */
struct network_leg {
  uint32_t slice;
  uint32_t bytes;   /* payload; 0: a header alone */
  uint64_t time_ps; /* of its start (>= now), then of its arrival */
};

/* The network between cores and L2. */
struct network_ops {
  const char *name;
  struct network *(*create)(struct arena *arena, struct engine *engine, const struct vinci_soc *soc,
                            struct network_shape shape);
  /* Moves bytes between a port and L2 as a whole, starting at now_ps; returns the arrival
   * time. Calls come in the order of (time, port). For memory systems without slices;
   * NULL where the network has to know both ends. */
  uint64_t (*move_ps)(struct network *network, uint32_t port, uint64_t bytes, uint64_t now_ps);
  /* Makes room for `messages` messages under way at a time; false when memory is short. */
  bool (*prepare)(struct network *network, struct arena *arena, uint32_t messages);
  /* Sends a message at the present time; NULL where the network knows no ends. */
  void (*send)(struct network *network, struct network_message *message);
  /* Sends messages between a cluster and slices, one after the other, and tells at once when
   * they arrive. NULL where the network cannot. */
  void (*arrivals)(struct network *network, uint32_t cluster, bool to_core,
                   struct network_leg *legs, unsigned count);
  /* Time of a message to the farthest slice in an idle network, mean of all clusters. */
  uint64_t (*idle_ps)(const struct network *network, uint64_t bytes, bool to_core);
  /* The same to a slice and back for one cluster, mean of all slices. */
  uint64_t (*idle_trip_ps)(const struct network *network, uint32_t cluster, uint64_t there_bytes,
                           uint64_t back_bytes);
  void (*report)(const struct network *network, uint64_t total_ps, struct vinci_result *result);
};

/* What an engine asks of memory that another simulator owns. */
struct memory_host_request {
  uint64_t id, address, bytes;
  uint32_t port;
  bool write;
};
struct memory_host {
  void *context;
  void (*request)(void *context, const struct memory_host_request *request);
  bool behind_l2; /* what L2 asks for; otherwise what engines do, without an L2 */
};

/* What a memory system has to know to be built. */
struct memsys_shape {
  uint32_t part;  /* first of MEMSYS_PARTS */
  uint32_t ports; /* cores * PIPE_COUNT */
  const uint32_t *cluster_of_core;
  uint64_t gm_bytes;   /* end of the last tensor */
  struct memsys *tags; /* of create_tags(): L2 holds what is there; NULL: an L2 of its own */
  const struct memory_host *host; /* who owns the memory; NULL: the model */
};
enum { MEMSYS_PARTS = 2, NETWORK_PARTS = 2 };

/* The memory system behind the cores' transfer engines: L2 and device memory. */
struct memsys_ops {
  const char *name;
  struct memsys *(*create)(struct arena *arena, struct engine *engine, const struct vinci_soc *soc,
                           const struct network_ops *network_ops, struct network *network,
                           const struct memsys_shape *shape);
  /* What L2 holds, alone: for runs one after the other, and for find() and pass(). */
  struct memsys *(*create_tags)(struct arena *arena, const struct vinci_soc *soc,
                                uint64_t gm_bytes);
  /* Adds up the bytes of a range that are in L2, and of these the dirty ones, in whole granules. */
  void (*find)(const struct memsys *tags, uint64_t address, uint64_t bytes, uint64_t *valid,
               uint64_t *dirty);
  /* Reads or writes a range; takes no time and counts nothing. */
  void (*pass)(struct memsys *tags, uint64_t address, uint64_t bytes, bool write);
  /* Gives tags what others of the same chip hold. */
  void (*copy)(struct memsys *tags, const struct memsys *from);
  /* Of all in tags that later runs on them depend on. */
  uint64_t (*digest)(const struct memsys *tags);
  /* Writes back what is dirty; takes no time and counts nothing. */
  void (*clean)(struct memsys *tags);
  /* Brings bytes into L2 before the run, clean; takes no time and counts nothing. */
  void (*preload)(struct memsys *memory, uint64_t address, uint64_t bytes);
  /* Lets bytes above an address be written back, as if they were dirty lines of kernels before: of
   * the lines that come in from now on this share pushes out one of them, or one that the run
   * itself has made dirty. */
  void (*owe)(struct memsys *memory, uint64_t address, uint64_t bytes, uint32_t share_ppm);
  /* Starts moving bytes at start_ps (>= now); the transfer's done() is called once. */
  void (*start)(struct memsys *memory, struct gm_transfer *transfer, uint64_t start_ps);
  /* The host of the shape has answered a request; NULL where none is asked. */
  void (*answer)(struct memsys *memory, uint64_t id, uint64_t at_ps);
  void (*report)(const struct memsys *memory, uint64_t total_ps, struct vinci_result *result);
};

/* How closely memory and network are modelled. */
struct memory_model {
  const struct memsys_ops *memory;
  const struct network_ops *network;
};
/* The implementations of a level (core/registry.c). */
struct memory_model registry_memory(enum vinci_memory memory, enum vinci_network network);
/* Memory that another simulator owns, without an L2: the host of the shape. */
struct memory_model registry_hosted_memory(void);

#endif
