#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Programs with launches, from source to exit code. Prints TAP.

    programs.py VINCI FOLDER_OF_SOURCES FOLDER_FOR_FILES
"""

import csv
import json
import os
import re
import subprocess
import sys

from tap import plan, report

vinci, sources = sys.argv[1:3]
folder = os.path.realpath(sys.argv[3])


def command(*words, **environment):
    known = {key: value for key, value in os.environ.items() if not key.startswith("VINCI_") or key == "VINCI_DATA"}
    known.update(environment)
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, env=known)


def write(name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def built(name, *words):
    """A program of these sources and options; its path."""
    program = os.path.join(folder, name)
    made = command(vinci, "cc", *words, "-o", program)
    if made.returncode != 0:
        report(f"{name} is compiled", made.stderr)
    return program


def ends(text, run, code, *parts):
    """Whether a run ended with an exit code and said all parts."""
    said = run.stdout + run.stderr
    missing = [part for part in parts if part not in said]
    problem = "" if run.returncode == code and not missing else f"{run.returncode}, without {missing}: {said}"
    report(text, problem)


HOST = """
#include <cstdio>
#include <cstring>
#include "acl/acl.h"

static unsigned char *device(size_t bytes) {
  void *memory = nullptr;
  aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  return (unsigned char *)memory;
}
template <typename number> static number *from_device(const void *memory, size_t count) {
  static number result[4096];
  aclrtMemcpy(result, sizeof result, memory, count * sizeof(number), ACL_MEMCPY_DEVICE_TO_HOST);
  return result;
}
"""

# ---- the example ----

example = built("streams", os.path.join(sources, "streams.asc"))
ends("the example computes what it should", command(example), 0, "largest error 0", "scale_and_add<float>", "Ascend910B4")
ends("the same bits of time twice", command(example, VINCI_REPORT="0"), 0, command(example).stdout)
ends("another chip has another time", command(example, VINCI_SOC="Ascend910B1"), 0, "Ascend910B1", "largest error 0")
ends("values without time", command(example, VINCI_MEMORY="none"), 0, "largest error 0")
clean = command(example, VINCI_CHECK="all")
report("the example is clean", "ERROR" in clean.stderr and clean.stderr)
quiet = command(example, VINCI_REPORT="0")
report("no report when none is wanted", quiet.stderr)


def microseconds(run):
    return float(re.search(r"kernels ([0-9.]+) us", run.stdout).group(1))


slow = command(example, VINCI_SET="launch.base=50us host.launch_call=1us")
report(
    "VINCI_SET changes numbers of the chip",
    "" if 100 < microseconds(slow) < 120 else slow.stdout,
)
results = command(example, VINCI_OUTPUT=os.path.join(folder, "out"))
with open(os.path.join(folder, "out", "tasks.csv"), encoding="utf-8") as file:
    tasks = [line.strip().split(",") for line in file][1:]
kinds = [task[2] for task in tasks]
starts = [float(task[5]) for task in tasks]
launches = [name for name in os.listdir(os.path.join(folder, "out")) if name.startswith("launch-")]
report(
    "a folder of results has all tasks and a folder for each launch",
    ""
    if kinds == ["MEMCPY", "MEMCPY", "KERNEL", "KERNEL", "MEMCPY"]
    and len(launches) == 2
    and all(os.path.exists(os.path.join(folder, "out", name, "summary.json")) for name in launches)
    else f"{tasks} {launches}",
)
copied = float(tasks[1][5]) + float(tasks[1][6])
report("an event keeps the kernel behind the copies", "" if starts[2] >= copied else f"{starts[2]} < {copied}")
ends("an unknown chip", command(example, VINCI_SOC="Ascend910B9"), 2, "Ascend910B9", "did you mean")
ends("an unknown model of memory", command(example, VINCI_MEMORY="slow"), 2, "VINCI_MEMORY is cycle, flat or none")
ends("an unknown check", command(example, VINCI_CHECK="mem"), 2, "VINCI_CHECK is all, or some of")
ends(
    "a program's kernels for 'vinci run'",
    command(
        vinci, "run", example + ":scale_and_add", "-s", "Ascend910B4", "--blocks=2", "--fill=random:1",
        "--arg", "name=x,dtype=fp32,shape=8192,io=in", "--arg", "name=y,dtype=fp32,shape=8192,io=inout",
        "--arg", "value=0", "--arg", "value=2",
    ), 0, "scale_and_add<float>",
)

# ---- the time without values ----

path = write(
    "untold.asc",
    HOST + """
// 0: the way depends on numbers that came from the host; 1: on a sum; 2: on a register; 3: on what a launch before
// has left.
__global__ __vector__ void ways(__gm__ int32_t *counts, __gm__ float *x, int32_t what) {
  __ubuf__ float *ub = (__ubuf__ float *)(uintptr_t)0;
  __ubuf__ int32_t *given = (__ubuf__ int32_t *)(uintptr_t)0x10000;
  copy_gm_to_ubuf(ub, x, 0, 1, 256, 0, 0);
  copy_gm_to_ubuf(given, counts, 0, 1, 1, 0, 0);
  pipe_barrier(PIPE_ALL);
  set_mask_norm();
  set_vector_mask(-1, -1);
  int32_t times = what == 3 ? (int32_t)x[0] : given[0];
  vadds(ub, ub, 1.0f, 32, 1, 1, 8, 8);
  pipe_barrier(PIPE_ALL);
  if (what == 1)
    times = (int32_t)ub[0]; // line 27
  if (what == 2) {
    vcmax(ub + 4096, ub, 1, 1, 1, 8, (Order_t)0);
    pipe_barrier(PIPE_ALL);
    times = (int32_t)(get_max_min_cnt() & 1);
  }
  for (int32_t i = 0; i < times; i++)
    vmuls(ub, ub, 2.0f, 32, 1, 1, 8, 8);
  pipe_barrier(PIPE_ALL);
  copy_ubuf_to_gm(x, ub, 0, 1, 256, 0, 0);
}
int main(int count, char **words) {
  unsigned char *counts = device(32), *x = device(8192);
  int32_t given[8] = {5}, what = words[1][0] - '0';
  float one[2048] = {1};
  aclrtMemcpy(counts, 32, given, 32, ACL_MEMCPY_HOST_TO_DEVICE);
  ways<<<1>>>((int32_t *)counts, (float *)x, what == 3 ? 0 : what);
  if (count > 2) // what the host writes is known again
    aclrtMemcpy(x, 8192, one, 8192, ACL_MEMCPY_HOST_TO_DEVICE);
  if (what == 3)
    ways<<<1>>>((int32_t *)counts, (float *)x, 3);
  aclrtSynchronizeDevice();
  printf("first %g\\n", from_device<float>(x, 2048)[0]);
  return 0;
}
""",
)
untold = built("untold", path)
whole, alone = command(untold, "0"), command(untold, "0", VINCI_VALUES="0")
rows = [re.findall(r"^ways .*$", run.stderr, re.M) for run in (whole, alone)]
report(
    "a run without values takes the time of the run with values",
    "" if "first 32" in whole.stdout and "first 0" in alone.stdout
    and len(rows[0]) == 1 and rows[0] == rows[1] else f"{whole.stdout} {alone.stdout}{alone.stderr}",
)
ends("results that were not computed are told", alone, 0, "a copy to the host takes results that were not computed")
NEEDS = "the code reads what a run without values does not compute"
line = 1 + HOST.count("\n") + 15
ends("a way that depends on a sum", command(untold, "1", VINCI_VALUES="0"), 3, f"untold.asc:{line}", NEEDS)
ends("a way that depends on a register", command(untold, "2", VINCI_VALUES="0"), 3, NEEDS, "VINCI_VALUES=1")
ends("a way that depends on a launch before", command(untold, "3", VINCI_VALUES="0"), 3, NEEDS)
ends("a way that depends on what the host has written", command(untold, "3", "again", VINCI_VALUES="0"), 0, "first")
ends("a way that depends on values, with values", command(untold, "1"), 0, "first 2")
ends("neither 0 nor 1", command(untold, "0", VINCI_VALUES="no"), 2, "VINCI_VALUES is 1, or 0")
ends("neither values nor time", command(untold, "0", VINCI_VALUES="0", VINCI_MEMORY="none"), 2, "nothing is left")

# ---- mistakes of programs ----

KERNEL = """
__global__ __vector__ void copy(GM_ADDR from, GM_ADDR to, uint32_t bytes) {
  __ubuf__ uint8_t *ub = (__ubuf__ uint8_t *)(uintptr_t)0;
  copy_gm_to_ubuf(ub, from, 0, 1, bytes / 32, 0, 0);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm(to, ub, 0, 1, bytes / 32, 0, 0);
}
"""
path = write(
    "mistakes.asc",
    HOST + KERNEL + "#include <thread>\n" + """
int main(int count, char **words) {
  aclrtStream stream;
  aclrtCreateStream(&stream);
  unsigned char *from = device(1024), *to = device(1024), host[64];
  switch (count > 1 ? words[1][0] : '?') {
  case 'a': // beyond the end of device memory
    copy<<<1, 0, stream>>>(from, to, 2048);
    return aclrtSynchronizeStream(stream) != ACL_SUCCESS ? 0 : 1;
  case 'b': // freed twice
    aclrtFree(from);
    return aclrtFree(from) == ACL_ERROR_RT_MEMORY_FREE ? 0 : 1;
  case 'c': // a copy beyond the end
    return aclrtMemcpy(host, 64, from + 1000, 64, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS ? 0 : 1;
  case 'd': // more than fits
    return aclrtMemcpy(from, 32, host, 64, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS ? 0 : 1;
  case 'e': // a stream that was destroyed
    aclrtDestroyStream(stream);
    return aclrtSynchronizeStream(stream) == ACL_ERROR_RT_STREAM_CONTEXT ? 0 : 1;
  case 'f': { // more than the device has
    void *all;
    return aclrtMalloc(&all, (size_t)1 << 50, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_RT_MEMORY_ALLOCATION ? 0 : 1;
  }
  case 'g': // read before the kernel was waited for
    copy<<<1, 0, stream>>>(from, to, 64);
    return aclrtMemcpy(host, 64, to, 64, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS ? 0 : 1;
  case 'h': // no block
    copy<<<0, 0, stream>>>(from, to, 64);
    return 0;
  case 'i': // device 1
    return aclrtSetDevice(1) == ACL_ERROR_RT_INVALID_DEVICEID ? 0 : 1;
  case 'j': { // the last error of a thread: kept for Peek, forgotten by Get; a wait has the kernel's
    int good = aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS;
    aclrtFree(host);
    good &= aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_RT_MEMORY_FREE;
    std::thread([&] { good &= aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS; }).join();
    good &= aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_RT_MEMORY_FREE;
    good &= aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS;
    copy<<<1, 0, stream>>>(from, to, 2048);
    good &= aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS;
    aclrtSynchronizeStream(stream);
    good &= aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_RT_AICORE_EXCEPTION;
    return good ? 0 : 1;
  }
  default:
    return 1;
  }
}
""",
)
mistakes = built("mistakes", path)
line = 1 + (HOST + KERNEL)[: (HOST + KERNEL).index("copy_gm_to_ubuf")].count("\n")
ends(
    "a kernel beyond device memory: its line, an error at the wait, an exit code",
    command(mistakes, "a"), 3, f"mistakes.asc:{line}: error:",
)
ends("memory that is freed twice", command(mistakes, "b"), 0, "aclrtFree: no device memory was given out at")
ends("a copy beyond the end of device memory", command(mistakes, "c"), 0, "which are not device memory")
ends("a copy of more than has room", command(mistakes, "d"), 0, "a copy of 64 bytes where 32 have room")
ends("a stream that was destroyed", command(mistakes, "e"), 0, "is not a stream, or one that was destroyed")
ends("more memory than the device has", command(mistakes, "f"), 0, "device memory has no room for 1125899906842624 bytes")
ends("a copy that does not wait for a kernel", command(mistakes, "g"), 0, "warning: aclrtMemcpy from the device while kernels")
ends("a launch of no block", command(mistakes, "h"), 3, "a launch of no block")
ends("the last error of a thread", command(mistakes, "j"), 3, "mistakes.asc:")
ends("a device that is not there", command(mistakes, "i"), 0, "there is device 0, and no device 1 (VINCI_DEVICE=1")
ends("a device with that number", command(mistakes, "i", VINCI_DEVICE="1"), 1)
ends("a number of a device that is none", command(mistakes, "i", VINCI_DEVICE="1x"), 2,
     "VINCI_DEVICE is the number of the device, below 1024, not '1x'")

# ---- registers, flags that count, meetings of a few blocks ----

path = write(
    "registers.asc",
    HOST + """
// Scalar code takes what vector instructions leave in registers.
__global__ __vector__ void registers(__gm__ int64_t *to) {
  __ubuf__ float *values = (__ubuf__ float *)(uintptr_t)0, *out = values + 1024;
  __ubuf__ uint32_t *bits = (__ubuf__ uint32_t *)(uintptr_t)16384;
  for (int i = 0; i < 192; i++)
    values[i] = i == 100 ? 1000 : i % 10;
  for (int i = 0; i < 8; i++)
    bits[i] = 0x10101;
  set_mask_norm();
  set_vector_mask(0, -1);
  vcmax(out, values, 3, 1, 1, 8, ONLY_VALUE);
  to[0] = get_max_min_cnt();
  vreducev2((__ubuf__ uint32_t *)out, (__ubuf__ uint32_t *)values, bits, 2, 1, 0, 8, 1);
  to[1] = get_rsvd_cnt();
  pipe_barrier(PIPE_ALL);
}
// The flag is set a second time before anyone has waited for the first.
__global__ __vector__ void counted(GM_ADDR from, GM_ADDR to) {
  __ubuf__ uint8_t *ub = (__ubuf__ uint8_t *)(uintptr_t)0;
  copy_gm_to_ubuf(ub, from, 0, 1, 1, 0, 0);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  copy_gm_to_ubuf(ub + 32, from + 32, 0, 1, 1, 0, 0);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm(to, ub, 0, 1, 2, 0, 0);
}
// Three blocks meet; each then takes what its neighbour has stored.
__global__ __vector__ void meet(__gm__ int32_t *shared, __gm__ int32_t *to) {
  __ubuf__ int32_t *ub = (__ubuf__ int32_t *)(uintptr_t)0;
  ub[0] = 7 + block_idx;
  copy_ubuf_to_gm(shared + 8 * block_idx, ub, 0, 1, 1, 0, 0);
  ffts_cross_core_sync(PIPE_MTE3, 1 | 0 << 4 | 2 << 8);
  wait_flag_dev(2);
  copy_gm_to_ubuf(ub, shared + 8 * ((block_idx + 1) % block_num), 0, 1, 1, 0, 0);
  pipe_barrier(PIPE_ALL);
  copy_ubuf_to_gm(to + 8 * block_idx, ub, 0, 1, 1, 0, 0);
}
// A block looks at memory until the other has written there: block 0 is there first, or comes later.
template <int writer> __global__ __vector__ void look(__gm__ int64_t *shared) {
  if (block_idx == writer) {
    for (int i = 0; i < 50; i++)
      pipe_barrier(PIPE_ALL);
    *shared = 5;
    dcci(shared, 0);
    return;
  }
  do
    dcci(shared, 0);
  while (*(volatile int64_t *)shared != 5);
  shared[1] = 6;
}
// Each line once, and one of them twice with an instruction between: nobody waits.
__global__ __vector__ void flush(__gm__ int64_t *shared) {
  for (int i = 0; i < 100; i++)
    dcci(shared + 8 * i, 0);
  pipe_barrier(PIPE_ALL);
  dcci(shared + 8 * 99, 0);
  shared[2] = 7;
}
int main() {
  unsigned char *memory = device(4096), *other = device(4096), host[64];
  int64_t *numbers;
  float largest;
  registers<<<1>>>((int64_t *)memory);
  numbers = from_device<int64_t>(memory, 2);
  memcpy(&largest, &numbers[0], 4);
  printf("largest %g at %d, taken %d\\n", largest, (int)(numbers[0] >> 32), (int)numbers[1]);
  for (int i = 0; i < 64; i++)
    host[i] = i;
  aclrtMemcpy(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE);
  counted<<<1>>>(memory, other);
  printf("last of both copies: %d\\n", from_device<unsigned char>(other, 64)[63]);
  meet<<<3>>>((int32_t *)memory, (int32_t *)other);
  int32_t *met = from_device<int32_t>(other, 24);
  printf("met %d %d %d\\n", met[0], met[8], met[16]);
  aclrtMemset(memory, 4096, 0, 4096);
  look<1><<<2>>>((int64_t *)memory);
  numbers = from_device<int64_t>(memory, 2);
  printf("looked %d %d\\n", (int)numbers[0], (int)numbers[1]);
  aclrtMemset(memory, 4096, 0, 4096);
  look<0><<<2>>>((int64_t *)memory);
  printf("looked later %d\\n", (int)from_device<int64_t>(memory, 2)[1]);
  flush<<<1>>>((int64_t *)device(8192));
  return 0;
}
""",
)
registers = built("registers", path)
looked = command(registers)
ends(
    "registers, flags that count, a meeting of three blocks, memory that is looked at", looked, 0,
    "largest 1000 at 100, taken 6", "last of both copies: 63", "met 8 9 7", "looked 5 6", "looked later 6",
    "vinci: warning: scalar code of look<0> waits for other cores through memory",
    "vinci: warning: scalar code of look<1> waits for other cores through memory",
)
report("only the kernels that wait are told", "" if looked.stderr.count("left out") == 2 else looked.stderr)
words = ["-s", "Ascend910B4", "--blocks=2", "--arg", "name=x,dtype=int64,shape=1024,io=inout"]
ends("a run tells of waits that are left out", command(vinci, "run", registers + ":look", *words), 0, "Waits     scalar code waits")
ends("and in its summary", command(vinci, "run", registers + ":look", *words, "--json"), 0, '"waits_left_out": true')
words[2] = "--blocks=1"
quiet = command(vinci, "run", registers + ":flush", *words, "--json")
ends("or that there are none", quiet, 0, '"waits_left_out": false')
path = write(
    "forever.asc",
    HOST + """
__global__ __vector__ void forever(__gm__ int64_t *shared) {
  while (*(volatile int64_t *)shared != 5)
    dcci(shared, 0);
}
int main() {
  forever<<<2>>>((int64_t *)device(64));
  return aclrtSynchronizeDevice() == ACL_ERROR_RT_AICORE_TIMEOUT ? 0 : 1;
}
""",
)
ends("memory that nobody writes", command(built("forever", path)), 6, "looks at memory that nobody writes")

# ---- assertions, dumps, text of kernels ----

path = write(
    "asserts.asc",
    "#include <cassert>\n" + HOST + """
// As the library's own assertion with a message does.
#define ASSERT_TEXT(condition, ...) \\
  ((condition) ? (void)0 : __assert_fail_msg(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__, __VA_ARGS__))
template <int limit> __global__ __vector__ void plain(int count) {
  __asc_aicore::printf("block %d of %u, %s %.1f\\n", (int)get_block_idx(), (uint32_t)block_num, "half", (half)1.5f);
  assert(get_block_idx() + count < limit); // plain
}
__global__ __cube__ void with_text(half size) {
  ASSERT_TEXT(size < (half)16, "size %.2f and %d more\\n", size, 7); // with text
}
int main(int count, char **words) {
  if (words[1][0] == 't')
    with_text<<<1>>>((half)count * 16);
  else
    plain<4><<<4>>>(words[1][0] - '0');
  int failed = aclrtSynchronizeDevice() != ACL_SUCCESS;
  printf("failed %d\\n", failed);
  return 0;
}
""",
)
with open(path, encoding="utf-8") as file:
    lines = {text.split("// ")[-1].strip(): number for number, text in enumerate(file, 1)}
asserts = built("asserts", path)
good = command(asserts, "0")
ends("assertions that hold, text of kernels", good, 0, "block 0 of 4, half 1.5", "block 3 of 4, half 1.5", "failed 0")
report("the text of a kernel goes to standard output, once", "" if good.stdout.count("block 2 of 4") == 1 else good.stdout)
ends(
    "an assertion that fails ends the run at its line", command(asserts, "2"), 3, "failed 1",
    f"asserts.asc:{lines['plain']}: error: block 2: assertion 'get_block_idx() + count < limit' failed",
)
ends(
    "an assertion with a message", command(asserts, "text"), 3, "failed 1",
    f"asserts.asc:{lines['with text']}: error: block 0: assertion 'size < (half)16' failed: size 32.00 and 7 more",
)
quiet = command(built("quiet", path, "-DASCENDC_DUMP=0"), "0")
report("a silenced kernel", "" if quiet.stdout == "failed 0\n" else quiet.stdout)
path = write(
    "dumps.asc",
    HOST + """
__global__ __vector__ void dumps(__gm__ int16_t *from) {
  __ubuf__ int16_t tile[16];
  __ubuf__ half halves[16];
  __ubuf__ bfloat16_t wide[16];
  const uint32_t shape[] = {2, 3};
  copy_gm_to_ubuf(tile, from, 0, 1, 1, 0, 0); // nobody waits but the dump
  asc_dump(tile, 3, 4);
  asc_dump_gm(from + 2, 4, 2);
  for (int i = 0; i < 16; i++) {
    halves[i] = (half)(i * 0.5f);
    wide[i].bits = bfloat16_t(i * -1.5f).bits;
  }
  asc_dump_ubuf(halves, 5, 5, shape, 2);
  asc_dump_ubuf(&wide[1], 6, 3);
}
__global__ __cube__ void fractals() {
  __ca__ half a[256];
  create_ca_matrix(a, 1 | 1 << 16, (half)2);
  __asc_aicore::asc_dump_abuf(a, 7, 3);
  __asc_aicore::asc_dump_ubuf((__ubuf__ float *)(uintptr_t)(1 << 20), 8, 3);
}
int main() {
  unsigned char *from = device(64);
  int16_t host[16];
  for (int i = 0; i < 16; i++)
    host[i] = i - 2;
  aclrtMemcpy(from, 32, host, 32, ACL_MEMCPY_HOST_TO_DEVICE);
  dumps<<<1>>>((int16_t *)from);
  fractals<<<1>>>();
  return 0;
}
""",
)
ends(
    "dumps of memories", command(built("dumps", path)), 3,
    "DumpTensor: desc=3, addr=0x0, data_type=int16, position=UB, dump_size=4, block=0\n[-2, -1, 0, 1]\n",
    "data_type=int16, position=GM, dump_size=2, block=0\n[0, 1]\n",
    "desc=5, addr=0x20, data_type=float16, position=UB, dump_size=5, block=0\n"
    "[[0.000000, 0.500000, 1.000000],\n[1.500000, 2.000000, -]]\n",
    "desc=6, addr=0x42, data_type=bfloat16, position=UB, dump_size=3, block=0\n[-1.500000, -3.000000, -4.500000]\n",
    "desc=7, addr=0x0, data_type=float16, position=L0A, dump_size=3, block=0\n[2.000000, 2.000000, 2.000000]\n",
    "error: block 0: a dump of memory that this core does not have",
)

# ---- kinds of cores, kinds of files, text ----

path = write(
    "unmarked.asc",
    HOST + """
#if defined(__DAV_C220_CUBE__)
#define IS_CUBE 1
#else
#define IS_CUBE 0
#endif
// Nobody says what this runs on: its instructions do.
__global__ __aicore__ void both(__gm__ float *c, __gm__ int32_t *seen) {
  if (IS_CUBE) {
    create_ca_matrix((__ca__ half *)(uintptr_t)0, 1 | 1 << 16, (half)2);
    create_cb_matrix((__cb__ half *)(uintptr_t)0, 1 | 1 << 16, (half)3);
    pipe_barrier(PIPE_ALL);
    mad((__cc__ float *)(uintptr_t)0, (__ca__ half *)(uintptr_t)0, (__cb__ half *)(uintptr_t)0, 16, 16, 16, 0, false,
        false, true);
    pipe_barrier(PIPE_ALL);
    set_nd_para(1);
    copy_matrix_cc_to_gm(c + 256 * get_block_idx(), (__cc__ float *)(uintptr_t)0, 0, 16, 16, 16, 16, 0,
                         QuantMode_t::NoQuant, 0, false, true);
  } else {
    __ubuf__ int32_t *ub = (__ubuf__ int32_t *)(uintptr_t)0;
    set_mask_norm();
    set_vector_mask(0, 1);
    vector_dup(ub, (int32_t)(10 * get_block_idx() + get_subblockid()), 1, 1, 1, 8, 0);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(seen + 8 * (2 * get_block_idx() + get_subblockid()), ub, 0, 1, 1, 0, 0);
  }
}
int main() {
  unsigned char *c = device(2048), *seen = device(1024);
  both<<<2>>>((float *)c, (int32_t *)seen);
  int32_t *found = from_device<int32_t>(seen, 32);
  printf("seen %d %d %d %d\\n", found[0], found[8], found[16], found[24]);
  printf("products %g %g\\n", from_device<float>(c, 512)[0], from_device<float>(c, 512)[511]);
  return 0;
}
""",
)
ends("cores of an unmarked kernel", command(built("unmarked", path)), 0, "seen 0 1 10 11", "products 96 96")
path = write(
    "text.asc",
    HOST + KERNEL + """
struct stream;
template <typename type> stream &operator<<(stream &, type);
struct stream {
  int value;
  friend stream &operator<<<>(stream &, int); // no launch
};
namespace space {
template <int bytes, typename type> __global__ __vector__ void nested(type *from, type *to, uint32_t) {
  __ubuf__ uint8_t *ub = (__ubuf__ uint8_t *)(uintptr_t)0;
  copy_gm_to_ubuf(ub, from, 0, 1, bytes / 32, 0, 0);
  pipe_barrier(PIPE_ALL);
  copy_ubuf_to_gm(to, ub, 0, 1, bytes / 32, 0, 0);
}
} // namespace space
template <typename type> struct lengths { type bytes; };
template <typename type> __global__ __vector__ void chosen(uint8_t *from, uint8_t *to, lengths<type> length) {
  __ubuf__ uint8_t *ub = (__ubuf__ uint8_t *)(uintptr_t)0;
  copy_gm_to_ubuf(ub, from, 0, 1, length.bytes / 32, 0, 0);
  pipe_barrier(PIPE_ALL);
  copy_ubuf_to_gm(to, ub, 0, 1, length.bytes / 32, 0, 0);
}
static int blocks(int a, int b) { return a > b ? a : b; }
#define LAUNCH(...) copy<<<__VA_ARGS__>>>
int main() {
  // copy<<<1, 0>>>(nowhere);   /* and <<< here */
  const char *text = "<<<1>>>(\\"", *raw = R"x(<<<")x";
  char quote = '"', large = 1'000 > 5;
  unsigned char *from = device(256), *to = device(256), host[256];
  for (int i = 0; i < 256; i++)
    host[i] = 255 - i;
  aclrtMemcpy(from, 256, host, 256, ACL_MEMCPY_HOST_TO_DEVICE);
  space::nested<64, uint8_t>
      <<<blocks((1 >> 1) + 1, 1), nullptr,
         nullptr>>>(from, to, 1'0);
  LAUNCH(1)(from + 64, to + 64, 64);
  if (large) copy<<<1, 0>>>(from + 128, to + 128, 64); else copy<<<1, 0>>>(from, to, 64);
  lengths<short> length = {32};
  chosen<<<1, nullptr, nullptr>>>(from + 192, to + 192, length); // the arguments say which
  unsigned char *found = from_device<unsigned char>(to, 256);
  printf("%d %d %d %d %d %s%s%c\\n", found[63], found[127], found[191], found[223], found[224], text, raw, quote);
  return 0;
}
""",
)
ends("launches in all sorts of text", command(built("text", path)), 0, '192 128 64 32 0 <<<1>>>("<<<""', "nested<64",
     "chosen<short>")
path = write(
    "variables.asc",
    HOST + """
template <typename type, int count> struct row { type value[count]; };
#define TILE 64
#if TILE > 32 // a directive before a declaration
static __vector__ void unused(__ubuf__ float *tile) {}
#endif
template <int count> __global__ __vector__ void variables(__gm__ float *from, __gm__ int32_t *to) {
  __ubuf__ float tile[TILE / 2][2], more[count]; __ubuf__ row<float, 3> /* a type with a comma */ rows
      [2];
#if TILE > 32
  __ubuf__ uint32_t number;
#endif
  __ubuf__ float *pointer = &more[0];
  copy_gm_to_ubuf(tile, from, 0, 1, 8, 0, 0);
  copy_gm_to_ubuf(pointer, from + 64, 0, 1, count / 8, 0, 0);
  pipe_barrier(PIPE_ALL);
  number = 7;
  rows[1].value[2] = more[count - 1];
  int places = 0;
  for (int i = 0; i < 3; i++) {
    __ubuf__ int32_t again[1];
    places += (int)(uintptr_t)again;
  }
  to[0] = (int)(uintptr_t)tile;
  to[1] = (int)(uintptr_t)more;
  to[2] = (int)(uintptr_t)rows;
  to[3] = (int)(uintptr_t)&number;
  to[4] = places / 3;
  to[5] = (int)tile[31][1];
  to[6] = (int)rows[1].value[2];
  to[7] = sizeof more + number;
}
int main() {
  unsigned char *from = device(1024), *to = device(64);
  float host[128];
  for (int i = 0; i < 128; i++)
    host[i] = i;
  aclrtMemcpy(from, 512, host, 512, ACL_MEMCPY_HOST_TO_DEVICE);
  variables<16><<<1>>>((float *)from, (int32_t *)to);
  int32_t *found = from_device<int32_t>(to, 8);
  printf("places %d %d %d %d %d\\n", found[0], found[1], found[2], found[3], found[4]);
  printf("values %d %d %d line %d\\n", found[5], found[6], found[7], __LINE__);
  return 0;
}
""",
)
with open(path, encoding="utf-8") as file:
    printed = [number for number, text in enumerate(file, 1) if "__LINE__" in text]
ends(
    "variables in UB: their places, one behind the other, and their values", command(built("variables", path)), 0,
    "places 0 256 320 352 384", f"values 63 79 71 line {printed[0]}",
)
path = write(
    "loops.asc",
    HOST + """
// Loops of scalar code that a compiler likes to make calls of: fills, copies, many zeros in a row.
struct pair { int32_t a, b; };
__global__ __vector__ void loops(__gm__ int32_t *to, int32_t count) {
  __ubuf__ int32_t zeros[64], from[64], copy[64], row[16];
  __ubuf__ pair pairs[2];
  for (int i = 0; i < 64; i++)
    zeros[i] = from[i] = copy[i] = 100 + i;
  for (int i = 0; i < count; i++)
    zeros[i] = 0;
  for (int i = 0; i < count; i++)
    copy[i] = from[i + 1];
  for (int i = 0; i < count; i++)
    to[i] = from[63 - i];
  row[0] = row[1] = row[2] = row[3] = row[4] = row[5] = row[6] = row[7] = row[8] = row[9] = row[10] = row[11] = 0;
  row[12] = row[13] = row[14] = row[15] = 0;
  pairs[0].a = pairs[0].b = 1;
  pairs[1].a = pairs[0].a;
  pairs[1].b = pairs[0].b;
  to[40] = zeros[count - 1];
  to[41] = zeros[count];
  to[42] = copy[count - 1];
  to[43] = row[7] + row[15];
  to[44] = pairs[1].a + pairs[1].b;
}
int main() {
  unsigned char *to = device(256);
  loops<<<1>>>((int32_t *)to, 40);
  int32_t *found = from_device<int32_t>(to, 45);
  printf("%d %d %d %d %d %d %d\\n", found[0], found[39], found[40], found[41], found[42], found[43], found[44]);
  return 0;
}
""",
)
ends("loops over UB that fill and copy", command(built("loops", path)), 0, "163 124 0 140 140 0 2")
path = write(
    "forms.asc",
    HOST + """
// A library with names of its own.
namespace library {
template <class T, class U, std::enable_if_t<std::is_arithmetic<T>::value && std::is_arithmetic<U>::value, int> = 0>
constexpr auto min(T const &t, U const &u) {
  return t < u ? t : u;
}
} // namespace library
using namespace library;
// What the C interface of Ascend C calls.
__global__ __vector__ void vectors(__gm__ half *from, __gm__ float *to) {
  __ubuf__ half a[64], b[64];
  __ubuf__ float sum[64];
  __ubuf__ uint32_t blocks[64], offsets[8], moved[64];
  __ubuf__ int16_t words[128];
  __ubuf__ int8_t bytes[256];
  copy_gm_to_ubuf(a, from, 0, 1, 4, 0, 0);
  pipe_barrier(PIPE_ALL);
  for (int i = 0; i < 64; i++) {
    b[i] = (half)2;
    sum[i] = 100;
    blocks[i] = i;
    words[i] = words[64 + i] = i - 32;
  }
  for (int i = 0; i < 8; i++)
    offsets[i] = 32 * (7 - i);
  for (int i = 0; i < 256; i++)
    bytes[i] = 99;
  set_mask_norm();
  set_vector_mask(0, -1);
  vmla(sum, a, b, 1, 1, 1, 1, 8, 4, 4);
  pipe_barrier(PIPE_ALL);
  vaxpy(sum, a, (half)3, 1, 1, 1, 8, 4);
  vgatherb(moved, offsets, (uint64_t)blocks, 8, 1, 1);
  float scale = 2;
  uint32_t bits;
  memcpy(&bits, &scale, 4);
  set_deqscale((uint64_t)bits | (uint64_t)1 << 46);
  set_vector_mask(-1, -1);
  vconv_deqs162b8l(bytes, words, 1, 1, 1, 8, 8);
  pipe_barrier(PIPE_ALL);
  to[0] = sum[5]; // 100 + 2 * 5 + 3 * 5
  to[1] = moved[0]; // the first of block 7
  to[2] = moved[63]; // the last of block 0
  to[3] = bytes[3]; // (3 - 32) * 2
  to[4] = bytes[16]; // the upper half stays
  to[5] = min(sum[5], 7.5f) + max(-1, 2) + max((half)1.5f, (half)0.5f) + min(3u, 4u) - 3;
}
__global__ __cube__ void products(__gm__ half *from, __gm__ float *to) {
  __ca__ half a[2][256];
  __cb__ half b[256];
  __cc__ float c[256];
  load_gm_to_ca(a[1], from, 0, 1, 1, 0, 0, inc);
  load_gm_to_cb(b, from, 0, 1, 1, 0, 0, inc);
  pipe_barrier(PIPE_ALL);
  mad(c, a[1], b, 16, 16, 16, 0, false, false, true);
  pipe_barrier(PIPE_ALL);
  set_fpc(5 << 8);
  set_nd_para(1);
  copy_matrix_cc_to_gm(to, c, 0, 16, 16, 16, 16, 0, QuantMode_t::NoQuant, 0, false, true);
  to[256] = get_fpc();
}
int main() {
  unsigned char *from = device(1024), *to = device(2048);
  half host[256];
  for (int i = 0; i < 256; i++)
    host[i] = (half)(i % 64);
  aclrtMemcpy(from, 512, host, 512, ACL_MEMCPY_HOST_TO_DEVICE);
  vectors<<<1>>>((half *)from, (float *)to);
  float *found = from_device<float>(to, 6);
  printf("vectors %g %g %g %g %g %g\\n", found[0], found[1], found[2], found[3], found[4], found[5]);
  products<<<1>>>((half *)from, (float *)to);
  found = from_device<float>(to, 257);
  double wanted = 0;
  for (int k = 0; k < 16; k++) // L0B has a fractal transposed
    wanted += (double)host[3 * 16 + k] * (double)host[9 * 16 + k];
  printf("products %g %g\\n", found[3 * 16 + 9] - wanted, found[256]);
  return 0;
}
""",
)
ends(
    "forms of intrinsics that the C interface calls", command(built("forms", path)), 0,
    "vectors 125 56 7 -58 99 11", "products 0 1280",
)
path = write(
    "local.asc",
    HOST + """
static constexpr uint8_t bytes[] = {3, 0, 0, 0, 0, 0, 32, 65};
struct both { int32_t whole; float part; };
template <typename type, const uint8_t *from> struct holder {
  static constexpr type value = convert_from_bytes<type>(from);
};
static_assert(holder<both, bytes>::value.whole == 3 && holder<both, bytes>::value.part == 10);
static __global__ __vector__ void hidden(__gm__ int32_t *to) { to[0] = 1 + block_idx; }
namespace {
struct pair { int32_t a, b; };
__global__ __vector__ void unnamed(__gm__ int32_t *to, pair numbers) { to[1] = numbers.a - numbers.b; }
} // namespace
// A local variable is part of the name, which is local too.
template <typename type> __global__ __vector__ void held(__gm__ int32_t *to) { to[2] = (int)type::value.part; }
int main() {
  unsigned char *to = device(64);
  hidden<<<1>>>((int32_t *)to);
  unnamed<<<1>>>((int32_t *)to, pair{9, 4});
  held<holder<both, bytes>><<<1>>>((int32_t *)to);
  int32_t *found = from_device<int32_t>(to, 3);
  __asc_aicore::printf("local %d %d %d\\n", found[0], found[1], found[2]); // by the host
  return 0;
}
""",
)
ends(
    "kernels with local symbols, values from bytes", command(built("local", path)), 0, "local 1 5 10",
    "hidden ", "\nheld ",
)
path = write(
    "graph.asc",
    HOST + """
struct step { int32_t value; };
__global__ __vector__ void add(__gm__ int32_t *to, step more) { to[0] += more.value; }
static int value(const void *memory) { return from_device<int32_t>(memory, 1)[0]; }
int main() {
  unsigned char *first = device(64), *second = device(64);
  aclrtStream main, side;
  aclrtEvent begun, done, outside;
  aclmdlRI graph;
  int32_t start = 5;
  aclrtCreateStream(&main);
  aclrtCreateStream(&side);
  aclrtCreateEvent(&begun);
  aclrtCreateEvent(&done);
  aclrtCreateEvent(&outside);
  printf("no begin %d\\n", aclmdlRICaptureEnd(main, &graph));
  aclmdlRICaptureBegin(main, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  aclrtMemcpyAsync(first, 4, &start, 4, ACL_MEMCPY_HOST_TO_DEVICE, main);
  aclrtRecordEvent(begun, main);
  aclrtStreamWaitEvent(side, begun);
  for (int i = 1; i < 3; i++)
    add<<<1, 0, side>>>((int32_t *)second, step{i}); // 1 + 2 each time
  aclrtMemsetAsync(second + 32, 32, 7, 32, side);
  aclrtRecordEvent(done, side);
  add<<<1, 0, main>>>((int32_t *)first, step{10});
  aclrtStreamWaitEvent(main, done);
  printf("outside %d\\n", aclrtStreamWaitEvent(main, outside));
  aclmdlRICaptureEnd(main, &graph);
  aclrtDestroyEvent(begun);
  printf("captured %d %d\\n", value(first), value(second));
  add<<<1, 0, side>>>((int32_t *)second, step{100}); // no longer captured
  printf("printed %d\\n", aclmdlRIDebugJsonPrint(graph, "graph.json", 0));
  for (int i = 0; i < 3; i++)
    aclmdlRIExecuteAsync(graph, main);
  aclrtSynchronizeStream(main);
  printf("executed %d %d %d\\n", value(first), value(second), from_device<unsigned char>(second, 64)[63]);
  aclmdlRIDestroy(graph);
  return 0;
}
""",
)
tasks = os.path.join(folder, "graph-out", "tasks.csv")
ends(
    "graphs: captured, and executed again and again",
    command(built("graph", path), VINCI_OUTPUT=os.path.join(folder, "graph-out")), 0, "no begin 107003",
    "outside 107000", "captured 0 0", "printed 0", "executed 15 109 7",
)
with open(tasks, encoding="utf-8") as file:
    times = [(float(row[5]), float(row[5]) + float(row[6])) for row in csv.reader(list(file)[1:]) if row[0] == "add"]
problem = [pair for pair in zip(times, times[1:]) if pair[1][0] < pair[0][1]]
report("launches of a graph follow each other", problem or len(times) != 10 and times)
with open(os.path.join(folder, "graph.json"), encoding="utf-8") as file:
    nodes = [node["task"] for node in json.load(file)]
wanted = ["copy", "record", "wait", "kernel", "kernel", "fill", "record", "kernel", "wait"]
report("a graph as JSON", "" if nodes == wanted else nodes)
RTC = HOST + """
#include <vector>
#include "acl/acl_rt_compile.h"
static const char *const text = R"(
#include "sizes.h"
struct both { int32_t whole; float part; };
extern "C" {
__global__ __vector__ void plain(__gm__ float *to, float value, both other, int8_t small) {
  { __ubuf__ float unused[4]; unused[0] = 1; }
  to[0] = value; to[1] = other.whole; to[2] = other.part; to[3] = small + SIZE;
}
}
namespace space {
template <typename type> __global__ __vector__ void typed(__gm__ float *to, type value) { to[block_idx] = value * 2; }
__global__ __vector__ void inner(__gm__ float *to) { to[0] = 77; }
}
)";
#define CHECK(call) \\
  if (aclError error = (call)) \\
    return printf("%s: %d\\\\n", #call, error), 1
int main(int count, char **) {
  const char *headers[] = {"#define SIZE 1000\\n"}, *names[] = {"sizes.h"}, *lowered = "", *options[] = {"-DX=1"};
  aclrtcProg prog, bad;
  CHECK(aclrtcCreateProg(&bad, "\\nint x = y;\\n", "bad", 0, nullptr, nullptr));
  int refused = aclrtcCompileProg(bad, 0, nullptr);
  size_t size = 0;
  aclrtcGetCompileLogSize(bad, &size);
  std::vector<char> log(size);
  aclrtcGetCompileLog(bad, log.data());
  printf("refused %d: %s\\n", refused, log.data());
  aclrtcDestroyProg(&bad);
  CHECK(aclrtcCreateProg(&prog, text, "text", 1, headers, names));
  CHECK(aclrtcAddNameExpr(prog, "space::typed<float>"));
  CHECK(aclrtcCompileProg(prog, 1, options));
  CHECK(aclrtcGetLoweredName(prog, "space::typed<float>", &lowered));
  CHECK(aclrtcGetBinDataSize(prog, &size));
  std::vector<char> data(size);
  CHECK(aclrtcGetBinData(prog, data.data()));
  aclrtBinHandle binary;
  aclrtFuncHandle plain, typed, none;
  CHECK(aclrtBinaryLoadFromData(data.data(), size, nullptr, &binary));
  CHECK(aclrtBinaryGetFunction(binary, "plain", &plain));
  CHECK(aclrtBinaryGetFunction(binary, lowered, &typed));
  printf("lowered %s, inner %d\\n", lowered, aclrtBinaryGetFunction(binary, "inner", &none));
  void *to = device(64);
  float value = 1.5f, *found;
  struct { int32_t whole; float part; } other = {7, 0.25f};
  signed char small = -3;
  void *values[] = {&to, &value, &other, &small};
  CHECK(aclrtLaunchKernelWithArgsArray(plain, 1, nullptr, nullptr, values));
  CHECK(aclrtSynchronizeDevice());
  found = from_device<float>(to, 4);
  printf("plain %g %g %g %g\\n", found[0], found[1], found[2], found[3]);
  CHECK(aclrtLaunchKernelWithArgsArray(typed, 2, nullptr, nullptr, values));
  CHECK(aclrtSynchronizeDevice());
  found = from_device<float>(to, 3);
  printf("typed %g %g %g\\n", found[0], found[1], found[2]);
  printf("no binary %d\\n", aclrtBinaryLoadFromData("abc", 3, nullptr, &binary));
  CHECK(aclrtcDestroyProg(&prog));
  return 0;
}
"""
path = write("rtc.cpp", RTC)
ends(
    "kernels from text at run time", command(built("rtc", path), VINCI=os.path.abspath(vinci), TMPDIR=folder), 0,
    "refused 176003", "kernels.asc:2:9: error: use of undeclared identifier 'y'",
    "lowered _ZN5space5typedIfEEvPfT_, inner 107000", 'the binary has no kernel "inner"',
    "plain 1.5 7 0.25 997", "typed 3 3 0.25", "no binary 107000", "typed<float> ",
)
left = [name for name in os.listdir(folder) if name.startswith("vinci-")]
report("nothing temporary is left", left)
write("part.h", "void start(unsigned char *from, unsigned char *to);\n")
part = write("part.asc", '#include "acl/acl.h"\n#include "part.h"\n' + KERNEL + """
void start(unsigned char *from, unsigned char *to) { copy<<<1>>>(from, to, 32); }
""")
main = write("main.asc", HOST + '#include "part.h"\n' + """
__global__ __vector__ void twice(__gm__ uint8_t *to) {
  __ubuf__ uint8_t *ub = (__ubuf__ uint8_t *)(uintptr_t)0;
  copy_gm_to_ubuf(ub, to, 0, 1, 1, 0, 0);
  pipe_barrier(PIPE_ALL);
  copy_ubuf_to_gm(to + 32, ub, 0, 1, 1, 0, 0);
}
int main() {
  unsigned char *from = device(64), *to = device(64), host[64] = {0, 9};
  aclrtMemcpy(from, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE);
  start(from, to);
  twice<<<1>>>(to);
  printf("parts %d %d\\n", from_device<unsigned char>(to, 64)[1], from_device<unsigned char>(to, 64)[33]);
}
""")
objects = []
for name, source in (("part", part), ("main", main)):
    objects.append(os.path.join(folder, name + ".o"))
    command(vinci, "cc", "-c", source, "-o", objects[-1])
ends("objects that were compiled apart", command(built("linked", *objects)), 0, "parts 9 9")
callee = write("callee.asc", """
[[block_local]] uint64_t both_have;
__aicore__ int increment(int value) { return value + 2 + (int)both_have++; }
""")
caller = write("caller.asc", HOST + """
[[block_local]] uint64_t both_have;
extern __aicore__ int increment(int value);
template <int block> __global__ __vector__ void calls(__gm__ int32_t *to) {
  both_have = 10;
  to[0] = increment(block); // 5 + 2 + 10
  to[1] = increment(block); // the same variable: 11 by now
}
__global__ __cube__ void cubes(__gm__ int32_t *to) {
  to[2] = increment(100);
}
int main(int count, char **) {
  unsigned char *to = device(64);
  calls<5><<<1>>>((int32_t *)to);
  cubes<<<1>>>((int32_t *)to);
  int32_t *found = from_device<int32_t>(to, 3);
  printf("calls %d %d %d\\n", found[0], found[1], found[2]);
  if (count > 1)
    calls<5><<<1>>>((int32_t *)0); // nowhere
  return 0;
}
""")
objects = []
for name, source in (("callee", callee), ("caller", caller)):
    objects.append(os.path.join(folder, name + ".o"))
    command(vinci, "cc", "-dc", "--core=mix", source, "-o", objects[-1])
parts = built("parts", *objects)
ends("device functions of another object", command(parts), 0, "calls 17 18 102")
with open(caller, encoding="utf-8") as file:
    line = [number for number, text in enumerate(file, 1) if "to[0] = " in text][0]
ends("a fault in an object of several", command(parts, "x"), 3, f"caller.asc:{line}: error: block 0: scalar code")
shared = os.path.join(folder, "libpart.so")
command(vinci, "cc", "-shared", part, "-o", shared)
ends(
    "kernels in a shared library",
    command(built("using", main, shared, f"-Wl,-rpath,{folder}")), 0, "parts 9 9",
)
made = command(vinci, "cc", part, "-o", os.path.join(folder, "nothing"))
ends("a program without main()", made, 3, "the program was not linked", "--kernel-only")
path = write("few.asc", HOST + KERNEL + "int main() { copy<<<1>>>(device(32)); }\n")
ends(
    "a launch with too few arguments", command(vinci, "cc", path, "-o", "few"), 3,
    "a launch has as many arguments as its kernel has parameters",
)
dry = command(vinci, "cc", "-###", os.path.join(folder, "text.asc"), "-o", "text")
# Preprocessor, compiler in two steps, assembler and link of the kernels; assembler and link of the host.
report("-### prints all commands", "" if dry.stderr.count("clang++") == 7 else dry.stderr)
ends("headers that are not there", command(vinci, "cc", "--headers=/nowhere", path), 2, "/nowhere")
ends("host functions without their sources", command(vinci, "cc", "--tiling", f"--headers={folder}"), 2, "impl/adv_api/tiling")
cmake = command(vinci, "cc", "--cmake").stdout.strip()
report("the folder for CMake", "" if os.path.exists(os.path.join(cmake, "ASCConfig.cmake")) else cmake)
write("CMakeLists.txt", """cmake_minimum_required(VERSION 3.16)
find_package(ASC REQUIRED)
project(sample LANGUAGES ASC CXX)
add_executable(sample text.asc)
add_library(parts SHARED part.asc)
add_executable(user main.asc)
target_link_libraries(user PRIVATE parts)
target_link_libraries(sample PRIVATE tiling_api register platform m dl)
target_compile_options(sample PRIVATE $<$<COMPILE_LANGUAGE:ASC>:--npu-arch=dav-2201>)
""")
try:
    made = command("cmake", f"-DASC_DIR={cmake}", "-S", folder, "-B", os.path.join(folder, "cmake"), VINCI=os.path.abspath(vinci))
    command("cmake", "--build", os.path.join(folder, "cmake"), VINCI=os.path.abspath(vinci))
    ends("a library of kernels finds its way", command(os.path.join(folder, "cmake", "user")), 0, "parts 9 9")
    ends("the language ASC of CMake", command(os.path.join(folder, "cmake", "sample")), 0, "192 128 64 32 0")
    os.makedirs(os.path.join(folder, "plain"))
    write("plain/CMakeLists.txt", """cmake_minimum_required(VERSION 3.16)
project(plain LANGUAGES CXX)
add_executable(plain ../rtc.cpp)
target_link_libraries(plain PRIVATE ascendcl acl_rtc)
""")
    plain = os.path.join(folder, "plain")
    known = {"VINCI": os.path.abspath(vinci), "TMPDIR": folder}
    made = command("cmake", f"-DCMAKE_PROJECT_INCLUDE={cmake}/ASCConfig.cmake", "-S", plain, "-B", plain + "/build", **known)
    made = command("cmake", "--build", plain + "/build", **known)
    ends("a program of C++ alone", command(plain + "/build/plain", **known), 0, "plain 1.5 7 0.25 997")
except FileNotFoundError:
    report("the language ASC of CMake # SKIP no cmake", "")
plan()
