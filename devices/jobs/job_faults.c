/* SPDX-License-Identifier: Apache-2.0 */
/* Reads jobs: faults of devices and links, in a row of the file or from an option. */
#include <stdio.h>
#include <string.h>

#include "core/base/diag.h"
#include "devices/jobs/job_reader.h"

enum { FAULT_BYTES_MAX = 1024 };

static enum vinci_status take_devices(struct text_reader *reader, struct group_fault *fault) {
  size_t field = text_find_key(reader, "devices");
  const char *at = text_value_of(reader, field);
  struct rank_list list;
  enum vinci_status status = job_take_ranks(reader, field, &at, &list);
  if (status == VINCI_OK && *at)
    status = text_fail(reader, field, "a fault has one list of devices");
  if (status == VINCI_OK) {
    fault->devices = list.ranks;
    fault->device_count = list.count;
  }
  return status;
}

static enum vinci_status take_link(struct text_reader *reader, struct group_fault *fault) {
  const char *link;
  enum vinci_status status = text_take(reader, "link", NULL, &link);
  if (status == VINCI_OK && !(fault->link = arena_strdup(reader->arena, link)))
    status = text_no_memory(reader);
  return status;
}

enum vinci_status job_fault_row(struct text_reader *reader) {
  static const char *const keys[] = {"devices", "link", "speed", "from_us", "to_us"};
  struct job_reader *own = job_of(reader);
  struct group_fault fault = {.line = own->programs ? reader->line : 0, .to_ps = UINT64_MAX};
  bool devices = text_find_key(reader, "devices") != 0, link = text_find_key(reader, "link") != 0;
  enum vinci_status status =
      devices != link ? VINCI_OK : text_fail(reader, 0, "a fault is of devices=LIST or link=NAME");
  if (status == VINCI_OK)
    status = devices ? take_devices(reader, &fault) : take_link(reader, &fault);
  if (status == VINCI_OK)
    status = job_take_share(reader, "speed", "its speed that is left", &fault.speed_milli);
  if (status == VINCI_OK)
    status = text_take_us(reader, "from_us", "0", &fault.from_ps);
  if (status == VINCI_OK && text_find_key(reader, "to_us"))
    status = text_take_us(reader, "to_us", NULL, &fault.to_ps);
  if (status == VINCI_OK && fault.to_ps <= fault.from_ps)
    status = text_fail(reader, text_find_key(reader, "to_us"), "the fault ends before it begins");
  if (status == VINCI_OK)
    status = text_end_row(reader, (struct text_words){keys, sizeof keys / sizeof *keys});
  if (status != VINCI_OK)
    return status;
  struct group_fault *kept = ARENA_NEW(reader->arena, struct group_fault);
  if (!kept)
    return text_no_memory(reader);
  *kept = fault;
  kept->next = own->job->job.faults;
  own->job->job.faults = kept;
  return VINCI_OK;
}

enum vinci_status job_add_fault(struct job *job, const char *text, struct vinci_diag *diag) {
  struct job_reader own = {.job = job};
  struct text_reader reader = {
      .object = &own, .arena = &job->arena, .diag = diag, .path = "--fault", .begun = true};
  struct vinci_diag problem = {0};
  char row[FAULT_BYTES_MAX];
  if (snprintf(row, sizeof row, "fault,%s", text) >= (int)sizeof row)
    return diag_error(diag, VINCI_E_USAGE, "a fault has at most %d characters",
                      FAULT_BYTES_MAX - 8);
  reader.diag = &problem;
  enum vinci_status status = text_read_rows(&reader, row, strlen(row), "fault", job_fault_row);
  if (status == VINCI_OK)
    return status;
  (void)diag_error(diag, VINCI_E_USAGE, "--fault=%s: %s", text, problem.text);
  diag_hint(diag, "a fault is written as devices=3,from_us=100,to_us=200,speed=0.5");
  return VINCI_E_USAGE;
}
