/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs as text: what rows mean, and each error with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/digest.h"
#include "devices/jobs/job.h"
#include "devices/jobs/job_events.h"

static enum vinci_status read_text(const char *text, struct job *job, struct vinci_diag *diag) {
  *diag = (struct vinci_diag){0};
  return job_read("j.csv", text, strlen(text), job, diag);
}

static void rows_become_programs(void **state) {
  (void)state;
  struct job job;
  struct vinci_diag diag;
  const char *text =
      "# a comment\n"
      "job,version=1,name=n,system=s,ranks=6\n"
      "\n"
      "group,name=pairs,ranks=0 1|5 4\n"
      "group,name=even,ranks=0-4:2\n"
      "program,name=p,ranks=0-1 4-5\n"
      "work,name=w,us=1.5,memory=0.25,at_us=7\n"
      "record,event=e\n"
      "wait,event=e,stream=3\n"
      "collective,name=c,op=all_reduce,group=pairs,bytes=12,algorithm=ring,stream=3\n"
      "host,us=2.25,stream=3\n"
      "program,ranks=2 3\n"
      "fault,devices=1 4-5,speed=0.25,from_us=2,to_us=3.5\n"
      "fault,link=hccs 0->1\n"
      "collective,op=barrier,group=even\n";
  if (read_text(text, &job, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  assert_string_equal(job.name, "n");
  assert_string_equal(job.system, "s");
  assert_int_equal(job.job.ranks, 6);
  assert_int_equal(job.job.family_count, 2);
  assert_int_equal(job.job.families[0].count, 2);
  assert_int_equal(job.job.families[0].groups[1].ranks[0], 5);
  assert_int_equal(job.job.families[1].groups[0].count, 3);
  assert_int_equal(job.job.families[1].groups[0].ranks[2], 4);
  const struct group_program *first = job.job.programs[0];
  assert_ptr_equal(first, job.job.programs[5]);
  assert_ptr_not_equal(first, job.job.programs[2]);
  assert_int_equal(first->stream_count, 4);
  assert_int_equal(first->event_count, 1);
  assert_int_equal(first->streams[0].count, 2);
  assert_int_equal(first->streams[1].count, 0);
  assert_int_equal(first->streams[0].ops[0].duration_ps, 1500000);
  assert_int_equal(first->streams[0].ops[0].memory_milli, 250);
  assert_int_equal(first->streams[0].ops[0].earliest_ps, 7000000);
  const struct group_op *call = &first->streams[3].ops[1];
  assert_int_equal(call->kind, GROUP_COLLECTIVE);
  assert_int_equal(call->line, 10);
  assert_int_equal(call->family, 0);
  assert_int_equal(call->call.bytes, 12);
  assert_string_equal(call->call.algorithm->name, "ring");
  assert_int_equal(first->streams[3].ops[2].kind, GROUP_HOST);
  assert_int_equal(first->streams[3].ops[2].duration_ps, 2250000);
  assert_int_equal(job.job.programs[2]->streams[0].ops[0].call.op, COLLECTIVE_BARRIER);
  const struct group_fault *link = job.job.faults, *devices = link->next;
  assert_string_equal(link->link, "hccs 0->1");
  assert_null(link->devices);
  assert_int_equal(link->speed_milli, 0);
  assert_int_equal(link->from_ps, 0);
  assert_true(link->to_ps == UINT64_MAX);
  assert_null(devices->next);
  assert_int_equal(devices->device_count, 3);
  assert_int_equal(devices->devices[2], 5);
  assert_int_equal(devices->speed_milli, 250);
  assert_int_equal(devices->from_ps, 2000000);
  assert_int_equal(devices->to_ps, 3500000);
  assert_int_equal(devices->line, 13);
  job_free(&job);
}

#define JOB "job,version=1,ranks=2\n"
#define PROGRAM JOB "group,name=all,ranks=0 1\nprogram,ranks=0 1\n"

static void errors_have_a_place(void **state) {
  (void)state;
  static const struct {
    const char *text, *place, *message;
  } cases[] = {
      {"", "j.csv", "the job is empty; the first row is \"job,version=1\""},
      {"work,us=1\n", "j.csv:1:1", "the first row is \"job,version=1,ranks=N\""},
      {"job,version=2,ranks=1\n", "j.csv:1:5", "this program reads job,version=1"},
      {"job,version=1\n", "j.csv:1:1", "the job needs ranks=N"},
      {JOB "job,version=1,ranks=2\n", "j.csv:2:1", "second job row; a file has one, the first"},
      {JOB "worc,us=1\n", "j.csv:2:1", "unknown row \"worc\""},
      {JOB "work,us=1\n", "j.csv:2:1", "a row program, with its ranks, stands before this row"},
      {JOB "group,name=g,ranks=0 2\n", "j.csv:2:14", "rank 2: the job has 2 ranks"},
      {JOB "group,name=g,ranks=0 x\n", "j.csv:2:14",
       "ranks are numbers, A-B or A-B:STEP, not \"x\""},
      {JOB "group,name=g,ranks=1-0\n", "j.csv:2:14",
       "ranks are numbers, A-B or A-B:STEP, not \"1-0\""},
      {JOB "group,name=g,ranks=0|\n", "j.csv:2:14", "a list of ranks is empty"},
      {JOB "group,name=g,ranks=0\ngroup,name=g,ranks=1\n", "j.csv:3:7", "second group \"g\""},
      {JOB "program,ranks=0|1\n", "j.csv:2:9", "a program has one list of ranks"},
      {JOB "program,ranks=0\nprogram,ranks=0 1\n", "j.csv:3:9", "rank 0 has a program already"},
      {JOB "program,ranks=0\nwork,us=1\n", "j.csv", "rank 1 has no program"},
      {PROGRAM "work,us=fast\n", "j.csv:4:6", "us is a number up to 1e12, not \"fast\""},
      {PROGRAM "work,us=1,memory=2\n", "j.csv:4:11",
       "memory is the share of the time that is bound by memory, 0 to 1"},
      {PROGRAM "host,us=1,memory=1\n", "j.csv:4:11", "a host row has no key memory"},
      {PROGRAM "work,us=1,bytes=2\n", "j.csv:4:11", "a work row has no key bytes"},
      {PROGRAM "collective,op=all_reduce,group=alls,bytes=1\n", "j.csv:4:26",
       "no group \"alls\" stands before this row"},
      {PROGRAM "collective,op=reduce_all,group=all,bytes=1\n", "j.csv:4:12",
       "unknown collective \"reduce_all\""},
      {PROGRAM "collective,op=all_reduce,group=all\n", "j.csv:4:1", "the row needs bytes=N"},
      {PROGRAM "collective,op=all_reduce,group=all,bytes=1,algorithm=star\n", "j.csv:4:44",
       "no algorithm 'star' for all_reduce"},
      {PROGRAM "record,event=e\nrecord,event=e\n", "j.csv:5:8", "event \"e\" is recorded twice"},
      {PROGRAM "allocate,bytes=1\n", "j.csv:4:1", "an allocate row needs name=..."},
      {PROGRAM "allocate,name=a\n", "j.csv:4:1", "the row needs bytes=N, at least 1"},
      {PROGRAM "allocate,name=a,bytes=0\n", "j.csv:4:17", "the row needs bytes=N, at least 1"},
      {PROGRAM "free,name=a,bytes=-1\n", "j.csv:4:13",
       "bytes is a whole number up to 1125899906842624, not \"-1\""},
      {PROGRAM "allocate,name=a,bytes=1,at_us=1\n", "j.csv:4:25",
       "an allocate row has no key at_us"},
      {PROGRAM "allocate,name=a,bytes=2\nfree,name=a,bytes=1\nfree,name=a,bytes=2\n", "j.csv:6:13",
       "the program gives back more of \"a\" than it holds there"},
      {JOB "fault,speed=0.5\n", "j.csv:2:1", "a fault is of devices=LIST or link=NAME"},
      {JOB "fault,devices=0,link=hccs 0->1\n", "j.csv:2:1",
       "a fault is of devices=LIST or link=NAME"},
      {JOB "fault,devices=0|1\n", "j.csv:2:7", "a fault has one list of devices"},
      {JOB "fault,devices=2\n", "j.csv:2:7", "rank 2: the job has 2 ranks"},
      {JOB "fault,devices=0,speed=1.5\n", "j.csv:2:17",
       "speed is the share of its speed that is left, 0 to 1"},
      {JOB "fault,devices=0,from_us=5,to_us=5\n", "j.csv:2:27", "the fault ends before it begins"},
      {JOB "fault,devices=0,until_us=5\n", "j.csv:2:17", "a fault row has no key until_us"},
      {PROGRAM "wait,event=e\n", "j.csv:4:1", "no row of this program records event \"e\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct job job;
    struct vinci_diag diag;
    char place[sizeof diag.path];
    assert_int_equal(read_text(cases[i].text, &job, &diag), VINCI_E_INPUT);
    snprintf(place, sizeof place, "%s", diag.path);
    if (diag.line)
      snprintf(place, sizeof place, "j.csv:%lu:%lu", diag.line, diag.column);
    assert_string_equal(place, cases[i].place);
    assert_string_equal(diag.text, cases[i].message);
  }
}

/* Each event keeps its number however many there are, and few slots are looked at for each. */
static void many_events_are_found(void **state) {
  enum { EVENTS = 100000, LONGEST = 48 };
  struct arena arena = {0};
  struct job_events events = {0};
  struct job_event *event;
  char name[32];
  (void)state;
  for (uint32_t pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < EVENTS; i++) {
      snprintf(name, sizeof name, "f%u.%u", (unsigned)i % 7, (unsigned)i);
      event = job_event_of(&events, &arena, name);
      assert_non_null(event);
      assert_string_equal(event->name, name);
      assert_int_equal(event->number, i);
    }
  assert_int_equal(events.count, EVENTS);
  for (event = events.last; event; event = event->next) { /* those made last stand first */
    size_t looked = 0;
    assert_ptr_equal(lookup_next(&events.table, digest_string(DIGEST_SEED, event->name), &looked),
                     event);
    assert_true(looked <= LONGEST);
    assert_true(!event->next || event->next->number + 1 == event->number);
  }
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_become_programs),
      cmocka_unit_test(many_events_are_found),
      cmocka_unit_test(errors_have_a_place),
  };
  return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
