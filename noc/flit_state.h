/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the flit level. Internal to noc/.
 *
 * Numbers: `input` and `port` count the input and output ports of all routers (struct
 * noc_map); an input VC is input * vcs + vc, an output VC port * vcs + vc. Request
 * masks of one router hold a bit per input VC at (input - first) << stride_shift | vc.
 */
#ifndef VINCI_NOC_FLIT_STATE_H
#define VINCI_NOC_FLIT_STATE_H

#include "noc/flit.h"

enum { VC_CLASSES = 2 }; /* before and after the dateline of a ring; else all use the first */
enum { NO_OWNER = UINT32_MAX };

enum vc_state { VC_IDLE, VC_ROUTING, VC_ALLOCATION, VC_ACTIVE };

/* One virtual channel of an input port: the packets in its buffer, oldest first. */
struct input_vc {
  uint16_t first; /* flit buffer, a ring */
  uint16_t count;
  uint8_t state;    /* of the packet in front */
  uint8_t vc_class; /* class of output VCs it asks for */
  uint16_t bit;     /* in the masks of its router */
  uint32_t router;
  uint32_t left;   /* flits of the packet in front still to leave */
  uint32_t port;   /* where it goes */
  uint32_t out_vc; /* output VC it holds */
};

struct output_port {
  uint32_t free_vcs;              /* bit per VC without owner */
  uint32_t class_vcs[VC_CLASSES]; /* VCs that requests of a class may get */
  uint16_t first_input;           /* switch allocator: input (in its router) with priority */
  uint16_t router;
  uint64_t flits; /* sent so far */
};

struct output_vc {
  uint32_t owner;   /* input VC */
  uint16_t credits; /* free places in the buffer it leads to */
  uint16_t first;   /* VC allocator: bit of the input VC with priority */
};

/* A flit on its way to an input VC; terminals come behind the input VCs. */
struct flying {
  uint32_t target;
  struct flit_packet *packet;
};

/* What arrives in one cycle. */
struct wheel_slot {
  uint32_t flit_count;
  uint32_t credit_count;
  struct flying *flits;
  uint32_t *credits; /* output VCs; those of terminals come behind */
};

struct source {
  struct flit_packet *head;
  struct flit_packet *tail;
  uint32_t last_vc;
};

struct flit_network {
  const struct noc_map *map;
  uint64_t cycle;
  uint32_t vcs;
  uint32_t stride_shift;
  uint32_t words; /* of a request mask */
  struct input_vc *input_vcs;
  struct flit_packet **buffers; /* [input VC][vc_flits] */
  struct output_port *ports;
  struct output_vc *output_vcs;
  uint16_t *next_output_vc;  /* VC allocator: per input VC, output VC in its router with priority */
  uint16_t *next_output;     /* switch allocator: per input, output in its router with priority */
  uint8_t *next_vc;          /* switch allocator: per input, VC with priority */
  uint64_t *routing;         /* [router][words]: input VCs in route computation */
  uint64_t *vc_requests;     /* [port][VC_CLASSES][words] */
  uint64_t *switch_requests; /* [port][words]: a flit and a credit for it are there */
  uint32_t *work;            /* per router: bits set in the three masks */
  uint64_t *active;          /* bit per router with work */
  uint32_t active_words;
  /* scratch of one router's step */
  uint16_t *best_output; /* per input of the router: output whose grant it takes + 1, 0 none */
  uint32_t *granted;     /* inputs that have a grant */
  uint32_t *activated;   /* input VCs that got an output VC in this cycle */
  struct source *sources;
  uint16_t *source_credits; /* [terminal][vc] */
  uint64_t *sending;        /* bit per terminal with packets */
  uint32_t sending_words;
  struct wheel_slot *wheel;
  uint32_t wheel_mask;
  uint64_t in_flight; /* flits in routers and on links */
  struct flit_counters counters;
};

/* One cycle of a router with work (noc/flit_router.c). */
void flit_router_step(struct flit_network *network, uint32_t router);
/* The packet in front of an input VC starts on its way through the router. */
void flit_start_packet(struct flit_network *network, struct input_vc *vc, uint32_t index);
/* Adds a switch request; the caller knows that a flit and a credit are there. */
void flit_request_switch(struct flit_network *network, const struct input_vc *vc);

static inline struct wheel_slot *flit_slot(struct flit_network *network, uint32_t ahead) {
  return &network->wheel[(network->cycle + ahead) & network->wheel_mask];
}

static inline void flit_wake(struct flit_network *network, uint32_t router) {
  network->work[router]++;
  network->active[router >> 6] |= UINT64_C(1) << (router & 63);
}

#endif
