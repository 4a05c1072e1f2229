/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: a run as the guest of another simulator. The host owns time: it asks when the next event
 * is due and has events fired up to a time. The host may also own the memory behind the cores:
 *
 *     struct vinci_guest_memory memory = {.struct_size = sizeof memory, .context = bus,
 *                                         .request = send_to_bus};
 *     if (vinci_guest_open(soc, trace, NULL, &memory, &guest, &diag) == VINCI_OK) {
 *       while (!vinci_guest_over(guest))
 *         ... vinci_guest_run(guest, now_ps); ... vinci_guest_answer(guest, id, now_ps); ...
 *       status = vinci_guest_close(guest, &result);
 *     }
 *
 * vinci_systemc.h is such a host, for SystemC and TLM-2.0. Several guests live in one process.
 */
#ifndef VINCI_GUEST_H
#define VINCI_GUEST_H

#include "vinci.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vinci_guest vinci_guest;
typedef struct vinci_guest_state vinci_guest_state;

/* What an engine of a core asks of the host's memory, or L2 for an engine. */
struct vinci_guest_request {
  uint64_t id;      /* for vinci_guest_answer(); used again after the answer */
  uint64_t address; /* of device memory, as the trace has its tensors */
  uint64_t bytes;   /* at most a line of L2, within one line */
  uint64_t at_ps;   /* of the run: the present time of the guest */
  uint32_t core;    /* that asks: an index of the result's cores */
  bool write;
};

/*
 * The memory behind the engines of the cores: their L2, network and device memory are then the
 * host's, and none of those that the chip describes takes part, unless behind_l2. An engine sends
 * its requests at the rate of its path and has as many bytes under way as the chip says.
 */
struct vinci_guest_memory {
  size_t struct_size; /* sizeof(struct vinci_guest_memory) */
  void *context;
  /* Called from vinci_guest_run(). Each request is answered once, at the present time or later.
   * NULL: L2, network and device memory are the chip's, and only addresses count. */
  void (*request)(void *context, const struct vinci_guest_request *request);
  /* Where the tensors lie in device memory, in the order of vinci_guest_tensor(); each a multiple
   * of 512. Has to outlive the guest. NULL: where the trace has them. */
  const uint64_t *addresses;
  /* L2 and network are the chip's, and only what L2 fetches and writes back is asked for: granules
   * of 128 bytes that follow one another within a line. In the cycle model, where options leave L2
   * empty or warm. What L2 still holds at the end is not written back. */
  bool behind_l2;
  /* What L2 and the instruction caches hold from earlier runs of the same chip, in the cycle model,
   * for one guest at a time; options leave L2 empty. NULL: nothing. Has to outlive the guest. */
  vinci_guest_state *state;
};

/* A tensor of a trace, by its declaration. */
struct vinci_guest_tensor {
  const char *name;
  uint64_t address; /* in device memory, unless the host gives another */
  uint64_t bytes;
  size_t first; /* index of the first declaration of the same memory: of itself, or before */
};
/* By index; false behind the last. */
VINCI_API bool vinci_guest_tensor(const vinci_trace *trace, size_t index,
                                  struct vinci_guest_tensor *out);

/* The chip has to outlive the state. The caller frees it, which may be NULL. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_guest_state_create(const vinci_soc *soc, vinci_guest_state **out, struct vinci_diag *diag);
VINCI_API void vinci_guest_state_free(vinci_guest_state *state);

/*
 * Begins a run at time 0. options as of vinci_run(), without repeat; NULL: the defaults. memory
 * NULL: L2, network and device memory of the chip; else options say no state of L2. soc, trace,
 * memory and diag have to outlive the guest, which the caller closes after VINCI_OK.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_guest_open(const vinci_soc *soc, const vinci_trace *trace,
                 const struct vinci_run_options *options, const struct vinci_guest_memory *memory,
                 vinci_guest **out, struct vinci_diag *diag);
/* Time of the next event, UINT64_MAX when there is none: the run is over, or waits for answers. */
VINCI_API uint64_t vinci_guest_next_ps(vinci_guest *guest);
/* Fires the events up to and with a time. Events that an answer causes at the same time fire in the
 * next call. */
VINCI_API void vinci_guest_run(vinci_guest *guest, uint64_t until_ps);
/* A request has been answered: for a read its bytes are there, for a write they are in memory. Not
 * before the present time of the guest. */
VINCI_API void vinci_guest_answer(vinci_guest *guest, uint64_t id, uint64_t at_ps);
/* Whether no event and no answer is due any more. */
VINCI_API bool vinci_guest_over(vinci_guest *guest);
/* Ends the run and frees the guest; as vinci_run(). A run that is not over gives VINCI_E_USAGE. */
VINCI_API enum vinci_status vinci_guest_close(vinci_guest *guest, vinci_result **out);

#ifdef __cplusplus
}
#endif

#endif
