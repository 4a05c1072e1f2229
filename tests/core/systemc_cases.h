/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of a test of C++ in SystemC's kernel: each is a process of its own, since the kernel is one
 * for the process. The test has sc_main(), which calls run_chosen(). */
#ifndef TESTS_CORE_SYSTEMC_CASES_H
#define TESTS_CORE_SYSTEMC_CASES_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <sys/wait.h>
#include <systemc>
#include <unistd.h>

namespace {

const char *wrong; // the first thing that is not as expected; nullptr: none

void expect(bool holds, const char *what) {
  if (!holds && !wrong)
    wrong = what;
}

struct Case {
  const char *name;
  void (*run)();
};
const Case *chosen;

int run_chosen() {
  try {
    chosen->run();
  } catch (const std::exception &error) {
    std::printf("# thrown: %s\n", error.what());
    wrong = "nothing is thrown";
  }
  if (wrong)
    std::printf("# not so: %s\n", wrong);
  std::fflush(nullptr);
  _exit(wrong ? 1 : 0);
}

/* What a function returns that simulates in a process of its own; 0: it came to no end. */
template <typename FUNCTION> uint64_t in_process(FUNCTION function) {
  int ends[2];
  uint64_t value = 0;
  std::fflush(nullptr);
  if (pipe(ends) != 0)
    return 0;
  if (fork() == 0) {
    try {
      value = function();
    } catch (const std::exception &error) {
      std::printf("# thrown: %s\n", error.what());
    }
    if (wrong)
      std::printf("# not so: %s\n", wrong);
    std::fflush(nullptr);
    _exit(write(ends[1], &value, sizeof value) == sizeof value ? 0 : 1);
  }
  close(ends[1]);
  if (read(ends[0], &value, sizeof value) != sizeof value)
    value = 0;
  close(ends[0]);
  return value;
}

template <int COUNT> int run_cases(const Case (&cases)[COUNT], int argc, char **argv) {
  int number = 0;
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  std::printf("1..%d\n", COUNT);
  std::fflush(nullptr);
  for (const Case &one : cases) {
    int ended = 0;
    const pid_t child = fork();
    if (child == 0) {
      chosen = &one;
      _exit(sc_core::sc_elab_and_sim(argc, argv));
    }
    const bool good = child > 0 && waitpid(child, &ended, 0) == child && ended == 0;
    std::printf("%s %d - %s\n", good ? "ok" : "not ok", ++number, one.name);
    std::fflush(nullptr);
  }
  return 0;
}

} // namespace

#endif
