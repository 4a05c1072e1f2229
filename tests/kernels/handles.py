#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Programs that call AscendCL after its end, or with handles that are gone; and programs that fork. Prints TAP.

    handles.py VINCI FOLDER_FOR_FILES
"""

import os
import re
import subprocess
import sys

from tap import plan, report

vinci = sys.argv[1]
folder = os.path.realpath(sys.argv[2])


def command(*words, **environment):
    known = {key: value for key, value in os.environ.items() if not key.startswith("VINCI_") or key == "VINCI_DATA"}
    known.update(environment)
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, env=known, timeout=300)


def built(name, text):
    with open(os.path.join(folder, name + ".asc"), "w", encoding="utf-8") as out:
        out.write(text)
    made = command(vinci, "cc", name + ".asc", "-o", name)
    if made.returncode != 0:
        report(f"{name} is compiled", made.stderr)
    return os.path.join(folder, name)


HEAD = """
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <sys/wait.h>
#include <unistd.h>
#include "acl/acl.h"
#include "acl/acl_rt_compile.h"

__global__ __vector__ void fill(__gm__ int32_t *to) {
  __ubuf__ int32_t *ub = (__ubuf__ int32_t *)(uintptr_t)0;
  ub[0] = 7;
  set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm(to, ub, 0, 1, 1, 0, 0);
}
static int wrong;
static void check(const char *call, int error, int wanted) {
  if (error != wanted)
    printf("%s: %d, not %d\\n", call, error, wanted);
  wrong += error != wanted;
}
#define CHECK(call, wanted) check(#call, call, wanted)
"""

# ---- calls after the end ----

late = built("late", HEAD + """
int main(int count, char **words) {
  void *memory, *host, *other;
  char bytes[32];
  size_t size;
  int32_t number;
  uint32_t devices;
  float ms;
  aclrtStream stream, stream2;
  aclrtEvent event;
  aclrtContext context, own;
  aclrtEventStatus event_status;
  aclrtEventRecordedStatus recorded;
  aclrtStreamStatus stream_status;
  aclrtRunMode mode;
  aclmdlRI graph;
  CHECK(aclInit(nullptr), ACL_SUCCESS);
  CHECK(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  CHECK(aclrtSetDevice(0), ACL_SUCCESS);
  CHECK(aclrtCreateContext(&own, 0), ACL_SUCCESS);
  CHECK(aclrtMalloc(&memory, 32, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  CHECK(aclrtMallocHost(&host, 32), ACL_SUCCESS);
  CHECK(aclrtCreateStream(&stream), ACL_SUCCESS);
  CHECK(aclrtCreateEvent(&event), ACL_SUCCESS);
  CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  CHECK(aclmdlRICaptureEnd(stream, &graph), ACL_SUCCESS);
  fill<<<1, nullptr, stream>>>((int32_t *)memory);
  CHECK(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  CHECK(aclFinalize(), ACL_SUCCESS);
  const int end = ACL_ERROR_UNINITIALIZE;
  if (count > 1) {
    fill<<<1, nullptr, stream>>>((int32_t *)memory);
    return 0;
  }
  CHECK(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  CHECK(aclrtSetDevice(0), end);
  CHECK(aclrtResetDevice(0), end);
  CHECK(aclrtGetDevice(&number), end);
  CHECK(aclrtGetDeviceCount(&devices), end);
  CHECK(aclrtSynchronizeDevice(), end);
  CHECK(aclrtGetRunMode(&mode), end);
  CHECK(aclrtCreateContext(&context, 0), end);
  CHECK(aclrtDestroyContext(own), end);
  CHECK(aclrtSetCurrentContext(own), end);
  CHECK(aclrtGetCurrentContext(&context), end);
  CHECK(aclrtCreateStream(&stream2), end);
  CHECK(aclrtCreateStreamWithConfig(&stream2, 0, 0), end);
  CHECK(aclrtDestroyStream(stream), end);
  CHECK(aclrtDestroyStreamForce(stream), end);
  CHECK(aclrtSynchronizeStream(stream), end);
  CHECK(aclrtSynchronizeStreamWithTimeout(stream, 1), end);
  CHECK(aclrtStreamQuery(stream, &stream_status), end);
  CHECK(aclrtStreamWaitEvent(stream, event), end);
  CHECK(aclrtCreateEvent(&other), end);
  CHECK(aclrtCreateEventWithFlag(&other, 0), end);
  CHECK(aclrtCreateEventExWithFlag(&other, 0), end);
  CHECK(aclrtDestroyEvent(event), end);
  CHECK(aclrtRecordEvent(event, stream), end);
  CHECK(aclrtResetEvent(event, stream), end);
  CHECK(aclrtSynchronizeEvent(event), end);
  CHECK(aclrtQueryEvent(event, &event_status), end);
  CHECK(aclrtQueryEventStatus(event, &recorded), end);
  CHECK(aclrtEventElapsedTime(&ms, event, event), end);
  CHECK(aclrtMalloc(&other, 32, ACL_MEM_MALLOC_HUGE_FIRST), end);
  CHECK(aclrtMallocAlign32(&other, 32, ACL_MEM_MALLOC_HUGE_FIRST), end);
  CHECK(aclrtMallocCached(&other, 32, ACL_MEM_MALLOC_HUGE_FIRST), end);
  CHECK(aclrtFree(memory), end);
  CHECK(aclrtMallocHost(&other, 32), end);
  CHECK(aclrtFreeHost(host), end);
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &size, &size), end);
  CHECK(aclrtMemset(memory, 32, 0, 32), end);
  CHECK(aclrtMemsetAsync(memory, 32, 0, 32, stream), end);
  CHECK(aclrtMemcpy(bytes, 32, memory, 32, ACL_MEMCPY_DEVICE_TO_HOST), end);
  CHECK(aclrtMemcpyAsync(bytes, 32, memory, 32, ACL_MEMCPY_DEVICE_TO_HOST, stream), end);
  CHECK(aclrtMemcpy2d(bytes, 32, memory, 32, 32, 1, ACL_MEMCPY_DEVICE_TO_HOST), end);
  CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), end);
  CHECK(aclmdlRICaptureEnd(stream, &graph), end);
  CHECK(aclmdlRIExecuteAsync(graph, stream), end);
  CHECK(aclmdlRIDestroy(graph), end);
  CHECK(aclrtBinaryLoadFromData(bytes, 32, nullptr, &other), end);
  CHECK(aclrtBinaryUnLoad(bytes), end);
  // A second life.
  CHECK(aclInit(nullptr), ACL_SUCCESS);
  CHECK(aclrtFree(memory), ACL_SUCCESS);
  CHECK(aclFinalize(), ACL_SUCCESS);
  return wrong != 0;
}
""")
run = command(late)
report("calls after aclFinalize return what the documentation says", run.stdout or (run.returncode and run.stderr))
run = command(late, "launch")
wanted = "a launch after aclFinalize"
report("a launch after aclFinalize", "" if run.returncode == 3 and wanted in run.stderr else f"{run.returncode} {run.stderr}")
never = built("never", "#include \"acl/acl.h\"\nint main() { return aclFinalize() == ACL_ERROR_UNINITIALIZE ? 0 : 1; }\n")
run = command(never)
report("aclFinalize without aclInit", run.returncode and run.stderr)

# ---- handles that are gone, or never were ----

gone = built("gone", HEAD + """
int main(int count, char **words) {
  void *memory;
  char bytes[32] = {0};
  size_t size;
  int32_t number;
  aclrtStream stream;
  aclrtEvent event, event2;
  aclrtContext first, second, found;
  aclmdlRI graph;
  aclrtcProg prog = nullptr, copy;
  aclrtFuncHandle function;
  aclrtBinHandle binary;
  aclrtSetDevice(0);
  aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtCreateStream(&stream);
  if (count > 1) {
    aclrtResetDevice(0);
    fill<<<1, nullptr, stream>>>((int32_t *)memory);
    return 0;
  }
  const int param = ACL_ERROR_RT_PARAM_INVALID, other = ACL_ERROR_RT_STREAM_CONTEXT;
  // contexts
  CHECK(aclrtCreateContext(&first, 0), ACL_SUCCESS);
  CHECK(aclrtCreateContext(&second, 0), ACL_SUCCESS);
  CHECK(aclrtGetCurrentContext(&found), ACL_SUCCESS);
  CHECK(found == second, 1);
  CHECK(aclrtCreateContext(nullptr, 0), ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtCreateContext(&found, 1), ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK(aclrtDestroyContext(first), ACL_SUCCESS);
  CHECK(aclrtDestroyContext(first), param);
  CHECK(aclrtSetCurrentContext(first), param);
  CHECK(aclrtSetCurrentContext(nullptr), param);
  CHECK(aclrtSetCurrentContext(bytes), param);
  CHECK(aclrtMemset(memory, 32, 0, 32), ACL_SUCCESS);
  CHECK(aclrtDestroyContext(second), ACL_SUCCESS);
  CHECK(aclrtMemset(memory, 32, 0, 32), ACL_ERROR_RT_CONTEXT_NULL);
  CHECK(aclrtGetCurrentContext(&found), ACL_ERROR_RT_CONTEXT_NULL);
  CHECK(aclrtSetDevice(0), ACL_SUCCESS);
  CHECK(aclrtMemset(memory, 32, 0, 32), ACL_SUCCESS);
  // streams
  CHECK(aclrtDestroyStream(nullptr), other);
  CHECK(aclrtDestroyStream(bytes), other);
  CHECK(aclrtDestroyStream(stream), ACL_SUCCESS);
  CHECK(aclrtDestroyStream(stream), other);
  CHECK(aclrtMemsetAsync(memory, 32, 0, 32, stream), other);
  CHECK(aclrtSynchronizeStream(stream), other);
  CHECK(aclrtCreateStream(nullptr), ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtCreateStream(&stream), ACL_SUCCESS);
  // events
  CHECK(aclrtCreateEvent(nullptr), ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtCreateEvent(&event), ACL_SUCCESS);
  CHECK(aclrtCreateEvent(&event2), ACL_SUCCESS);
  CHECK(aclrtDestroyEvent(event), ACL_SUCCESS);
  CHECK(aclrtDestroyEvent(event), param);
  CHECK(aclrtRecordEvent(event, stream), param);
  CHECK(aclrtRecordEvent(nullptr, stream), param);
  CHECK(aclrtSynchronizeEvent(event), param);
  CHECK(aclrtEventElapsedTime(nullptr, event2, event2), param);
  // memory
  CHECK(aclrtMalloc(nullptr, 32, ACL_MEM_MALLOC_HUGE_FIRST), param);
  CHECK(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), param);
  CHECK(aclrtFree(nullptr), ACL_ERROR_RT_MEMORY_FREE);
  CHECK(aclrtFree(bytes), ACL_ERROR_RT_MEMORY_FREE);
  CHECK(aclrtMemcpy(nullptr, 32, memory, 32, ACL_MEMCPY_DEVICE_TO_HOST), param);
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &size), ACL_ERROR_INVALID_PARAM);
  // graphs
  CHECK(aclmdlRICaptureBegin(nullptr, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), other);
  CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  CHECK(aclmdlRICaptureEnd(stream, nullptr), other);
  CHECK(aclmdlRICaptureEnd(stream, &graph), ACL_SUCCESS);
  CHECK(aclmdlRIExecuteAsync(nullptr, stream), param);
  CHECK(aclmdlRIExecuteAsync(bytes, stream), param);
  CHECK(aclmdlRIDestroy(graph), ACL_SUCCESS);
  CHECK(aclmdlRIDestroy(graph), param);
  CHECK(aclmdlRIExecuteAsync(graph, stream), param);
  CHECK(aclmdlRIDebugJsonPrint(graph, "graph.json", 0), param);
  CHECK(aclmdlRIDestroy(nullptr), param);
  // kernels that were compiled at run time
  CHECK(aclrtBinaryLoadFromData(nullptr, 32, nullptr, &binary), param);
  CHECK(aclrtBinaryLoadFromData(bytes, 32, nullptr, &binary), param);
  CHECK(aclrtBinaryUnLoad(nullptr), param);
  CHECK(aclrtBinaryUnLoad(bytes), param);
  CHECK(aclrtBinaryGetFunction(bytes, "fill", &function), param);
  CHECK(aclrtLaunchKernelWithArgsArray(bytes, 1, stream, nullptr, &memory), param);
  CHECK(aclrtLaunchKernelWithArgsArray(nullptr, 1, stream, nullptr, &memory), param);
  CHECK(aclrtcCreateProg(&prog, "int a;", "a", 0, nullptr, nullptr), ACL_SUCCESS);
  copy = prog;
  CHECK(aclrtcGetBinDataSize(prog, &size), ACL_ERROR_RTC_INVALID_PROG);
  CHECK(aclrtcGetCompileLogSize(prog, nullptr), ACL_ERROR_RTC_INVALID_INPUT);
  CHECK(aclrtcDestroyProg(&prog), ACL_SUCCESS);
  CHECK(aclrtcDestroyProg(&prog), ACL_ERROR_RTC_INVALID_PROG);
  CHECK(aclrtcDestroyProg(&copy), ACL_ERROR_RTC_INVALID_PROG);
  CHECK(aclrtcCompileProg(copy, 0, nullptr), ACL_ERROR_RTC_INVALID_PROG);
  CHECK(aclrtcGetCompileLog(copy, bytes), ACL_ERROR_RTC_INVALID_PROG);
  CHECK(aclrtcCompileProg(nullptr, 0, nullptr), ACL_ERROR_RTC_INVALID_PROG);
  return wrong != 0;
}
""")
run = command(gone)
report("handles that are gone, or never were", run.stdout or (run.returncode and run.stderr))
run = command(gone, "launch")
wanted = "a launch without a context: the device was reset"
report("a launch after aclrtResetDevice", "" if run.returncode == 3 and wanted in run.stderr else f"{run.returncode} {run.stderr}")

# ---- forks ----

forks = built("forks", HEAD + """
int main(int count, char **words) {
  void *memory;
  int child = words[1][0], result = 0, status;
  if (child == 'f') { // before there is a device: each process has one of its own
    fork();
  }
  aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  fill<<<1>>>((int32_t *)memory);
  aclrtSynchronizeDevice();
  if (child != 'f' && (fork() == 0) | (fork() == 0)) {
    if (child == 'u')
      return aclrtSynchronizeDevice() == ACL_ERROR_RT_CONTEXT_NULL ? 0 : 9;
    if (child == 'l')
      fill<<<1>>>((int32_t *)memory);
    exit(0); // by the way of handlers at the end
  }
  while (wait(&status) > 0)
    result = status != 0 ? WEXITSTATUS(status) : result;
  printf("children end with %d\\n", result);
  return 0;
}
""")


def forked(title, word, reports, warnings, result):
    run = command(forks, word)
    counts = [len(re.findall(text, run.stderr, re.M)) for text in ("^vinci: .* us simulated", "children are not simulated")]
    good = run.returncode == 0 and counts == [reports, warnings] and f"children end with {result}" in run.stdout
    report(title, "" if good else f"{counts} {run.returncode} {run.stdout}{run.stderr}")


forked("children that ask for nothing say nothing", "n", 1, 0, 0)
forked("children that use the device of their parent are told of once", "u", 1, 1, 0)
forked("a launch of a child is not a good end of the child", "l", 1, 1, 3)
forked("processes that make a device each have a report each", "f", 2, 0, 0)

plan()
