/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose events another simulator has fired, and whose memory may be that simulator's. */
#include "core/vinci_guest.h"

#include <stdlib.h>

#include "core/base/diag.h"
#include "core/isa/taken.h"
#include "core/sim/device.h"
#include "core/sim/kept.h"

struct vinci_guest {
  struct device device;
  struct memory_host host;
  const struct vinci_guest_memory *memory;
  uint64_t under_way; /* requests without an answer */
  struct device_kept kept;
};

struct vinci_guest_state {
  struct kept_memory *kept;
  bool lent; /* to a guest */
};

enum vinci_status vinci_guest_state_create(const struct vinci_soc *soc,
                                           struct vinci_guest_state **out,
                                           struct vinci_diag *diag) {
  *out = calloc(1, sizeof **out);
  if (!*out)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the state of a chip");
  enum vinci_status status = kept_create(soc, VINCI_MEMORY_CYCLE, &(*out)->kept, diag);
  if (status == VINCI_OK)
    return VINCI_OK;
  free(*out);
  *out = NULL;
  return status;
}

void vinci_guest_state_free(struct vinci_guest_state *state) {
  if (state)
    kept_free(state->kept);
  free(state);
}

/* The state belongs to the guest until that is closed. */
static enum vinci_status take_state(struct vinci_guest *guest,
                                    const struct vinci_run_options *options,
                                    struct vinci_diag *diag) {
  static const struct vinci_run_options defaults = {0};
  struct vinci_guest_state *state = guest->memory ? guest->memory->state : NULL;
  if (!state)
    return VINCI_OK;
  options = options ? options : &defaults;
  if (options->memory != VINCI_MEMORY_CYCLE || options->l2_start != VINCI_L2_EMPTY)
    return diag_error(
        diag, VINCI_E_USAGE,
        "L2 holds what earlier runs have left: memory is cycle, and its state is left "
        "out");
  if (state->lent)
    return diag_error(diag, VINCI_E_USAGE, "another guest has the state of the chip");
  kept_lend(state->kept, guest->device.trace, guest->memory->addresses, options, &guest->kept);
  guest->device.kept = &guest->kept;
  return VINCI_OK;
}

static void send(void *context, const struct memory_host_request *asked) {
  struct vinci_guest *guest = context;
  const struct vinci_guest_request request = {.id = asked->id,
                                              .address = asked->address,
                                              .bytes = asked->bytes,
                                              .at_ps = engine_now_ps(guest->device.engine),
                                              .core = asked->port / PIPE_COUNT,
                                              .write = asked->write};
  guest->under_way++;
  guest->memory->request(guest->memory->context, &request);
}

bool vinci_guest_tensor(const struct vinci_trace *trace, size_t index,
                        struct vinci_guest_tensor *out) {
  if (index >= trace->tensor_count)
    return false;
  const struct program_tensor *tensor = &trace->tensors[index];
  *out = (struct vinci_guest_tensor){
      .name = tensor->name, .address = tensor->address, .bytes = tensor->bytes, .first = index};
  for (size_t i = 0; i < out->first; i++)
    if (trace->tensors[i].address == tensor->address)
      out->first = i;
  return true;
}

/* The host's addresses are legal ones. */
static enum vinci_status check_addresses(const struct vinci_soc *soc,
                                         const struct vinci_trace *trace, const uint64_t *addresses,
                                         struct vinci_diag *diag) {
  uint64_t end = (uint64_t)soc->hbm_bytes;
  for (uint32_t i = 0; addresses && i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    unsigned long long at = addresses[i];
    if (at % PROGRAM_TENSOR_ALIGNMENT != 0)
      return diag_error(diag, VINCI_E_USAGE,
                        "address %#llx of tensor \"%s\" is not a multiple of %u", at, tensor->name,
                        (unsigned)PROGRAM_TENSOR_ALIGNMENT);
    if (at > end || tensor->bytes > end - at)
      return diag_error(diag, VINCI_E_USAGE,
                        "tensor \"%s\" at %#llx ends behind the %llu bytes of device memory",
                        tensor->name, at, (unsigned long long)end);
  }
  return VINCI_OK;
}

static enum vinci_status check_options(const struct vinci_run_options *options,
                                       const struct vinci_guest_memory *memory,
                                       struct vinci_diag *diag) {
  if (memory && memory->struct_size != sizeof *memory)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the guest's memory is %zu, not %zu",
                      memory->struct_size, sizeof *memory);
  if (options && options->repeat > 1)
    return diag_error(diag, VINCI_E_USAGE, "a guest runs once: leave out repeat");
  if (!memory || !memory->request || !options)
    return VINCI_OK;
  if (memory->behind_l2 && options->memory != VINCI_MEMORY_CYCLE)
    return diag_error(diag, VINCI_E_USAGE, "the memory behind L2 is the host's: memory is cycle");
  if (memory->behind_l2 && options->l2_start > VINCI_L2_WARM)
    return diag_error(diag, VINCI_E_USAGE,
                      "the memory behind L2 is the host's: L2 begins empty or warm");
  if (!memory->behind_l2 && options->l2_start != VINCI_L2_EMPTY)
    return diag_error(diag, VINCI_E_USAGE, "the memory is the host's: leave out the state of L2");
  return VINCI_OK;
}

enum vinci_status vinci_guest_open(const struct vinci_soc *soc, const struct vinci_trace *trace,
                                   const struct vinci_run_options *options,
                                   const struct vinci_guest_memory *memory,
                                   struct vinci_guest **out, struct vinci_diag *diag) {
  *out = NULL;
  enum vinci_status status = check_options(options, memory, diag);
  if (status == VINCI_OK && memory)
    status = check_addresses(soc, trace, memory->addresses, diag);
  if (status != VINCI_OK)
    return status;
  struct vinci_guest *guest = calloc(1, sizeof *guest);
  if (!guest)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for a guest");
  guest->memory = memory;
  guest->host = (struct memory_host){
      .context = guest, .request = send, .behind_l2 = memory && memory->behind_l2};
  guest->device.soc = soc;
  guest->device.trace = trace;
  guest->device.diag = diag;
  guest->device.host = memory && memory->request ? &guest->host : NULL;
  guest->device.addresses = memory ? memory->addresses : NULL;
  status = take_state(guest, options, diag);
  if (status == VINCI_OK)
    status = trace_take(trace, diag);
  if (status == VINCI_OK) {
    status = device_open(&guest->device, options);
    if (status != VINCI_OK)
      trace_give_back(trace);
  }
  if (status == VINCI_OK && guest->device.kept)
    memory->state->lent = true;
  if (status == VINCI_OK)
    *out = guest;
  else
    free(guest);
  return status;
}

uint64_t vinci_guest_next_ps(struct vinci_guest *guest) {
  return engine_next_ps(guest->device.engine);
}

void vinci_guest_run(struct vinci_guest *guest, uint64_t until_ps) {
  engine_run_until(guest->device.engine, until_ps);
}

void vinci_guest_answer(struct vinci_guest *guest, uint64_t id, uint64_t at_ps) {
  guest->under_way--;
  guest->device.memory_ops->answer(guest->device.memory, id, at_ps);
}

bool vinci_guest_over(struct vinci_guest *guest) {
  return guest->under_way == 0 && vinci_guest_next_ps(guest) == UINT64_MAX;
}

enum vinci_status vinci_guest_close(struct vinci_guest *guest, struct vinci_result **out) {
  const struct vinci_trace *trace = guest->device.trace;
  struct vinci_diag *diag = guest->device.diag;
  *out = NULL;
  enum vinci_status status = VINCI_OK;
  if (!vinci_guest_over(guest))
    status = diag_error(diag, VINCI_E_USAGE, "the run of a guest was closed before its end");
  status = device_close(&guest->device, status, out);
  if (guest->device.kept)
    guest->memory->state->lent = false;
  trace_give_back(trace);
  free(guest);
  return status;
}
