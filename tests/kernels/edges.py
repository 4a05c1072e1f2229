#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Kernels at the edges: what leaves the process, what no check has looked at, operands that are cut, forms of source
that public samples have. Prints TAP.

    edges.py VINCI FOLDER_FOR_FILES
"""

import json
import os
import subprocess
import sys

import numpy as np

from tap import plan, report

vinci = sys.argv[1]
folder = os.path.realpath(sys.argv[2])
chip = "--soc-version=Ascend910B4"


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False, cwd=folder)


def compiled(name, text, *words):
    """A library of the kernels in a text, and the run of the compiler."""
    with open(os.path.join(folder, name + ".cpp"), "w", encoding="utf-8") as out:
        out.write(text)
    made = command("cc", "--kernel-only", name + ".cpp", "-o", name + ".so", *words)
    if made.returncode != 0:
        report(f"{name} is compiled", made.stderr)
    return made


def tensor(name, dtype="fp16", shape=256, io="in"):
    return ["--arg", f"name={name},dtype={dtype},shape={shape},io={io}"]


def ends(text, run, code, *parts):
    """Whether a run ended with an exit code and said all parts."""
    said = run.stdout + run.stderr
    missing = [part for part in parts if part not in said]
    report(text, "" if run.returncode == code and not missing else f"{run.returncode}, without {missing}: {said}")


# ---- ways out of the process ----

LEAVING = """#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>
extern "C" __global__ __aicore__ void leaving(GM_ADDR x, int64_t what) {
  static jmp_buf place;
  volatile int zero = 0;
  switch (what) {
"""
ways = [
    ("exit(0);", "kernel leaving left the process: it calls exit(0)"),
    ("_exit(0);", "it calls _exit(0)"),
    ("_Exit(0);", "it calls _Exit(0)"),
    ("quick_exit(0);", "it calls quick_exit(0)"),
    ("std::exit(7);", "it calls exit(7)"),
    ("abort();", "it calls abort()"),
    ("throw 5;", "it throws an exception"),
    ("longjmp(place, 1);", "it calls longjmp()"),
    ("raise(SIGTERM); zero = 1; break;", "it calls raise(15)"),
    ("kill(getpid(), SIGKILL); zero = 1; break;", "it calls kill()"),
    ("zero = fork(); break;", "it calls fork()"),
    ("zero = system(\"true\"); break;", "it calls system()"),
    ("zero = execl(\"/bin/true\", \"true\", nullptr); break;", "it calls execl()"),
    ("zero = (int)syscall(SYS_exit_group, 0); break;", "it calls syscall()"),
    ("pthread_exit(nullptr);", "it calls pthread_exit()"),
    ("__builtin_trap();", "the kernel comes to an instruction that the host does not have"),
    ("__builtin_debugtrap(); zero = 1; break;", "the kernel comes to a breakpoint"),
]
made = compiled("leaving", LEAVING + "".join(f"  case {i}: {way[0]}\n" for i, way in enumerate(ways)) + "  }\n}\n")
for number, (way, wanted) in enumerate(ways):
    line = LEAVING.count("\n") + 1 + number
    for verb in ("check", "run"):
        run = command(verb, "leaving.so:leaving", chip, *tensor("x"), "--arg", f"value={number}", "--blocks=2")
        # A breakpoint is told behind itself.
        place = "leaving.cpp:" if "debugtrap" in way else f"leaving.cpp:{line}: "
        ends(f"{verb} of a kernel with {way}", run, 3, place, "error: block 0: ", wanted)
        if run.stdout != ("summary: check traces=1 ok=0 failed=1 exit=3\n" if verb == "check" else ""):
            report("a kernel that leaves has no result", run.stdout)
# What the library of C++ does itself has the line of the call.
compiled("ended", """#include <stdexcept>
#include <vector>
extern "C" __global__ __aicore__ void ended(GM_ADDR x, int64_t at) { *x = (uint8_t)std::vector<int>(3).at(at); }
""")
for verb in ("check", "run"):
    ends(f"{verb} of a kernel that nobody catches", command(verb, "ended.so:ended", chip, *tensor("x"), "--arg", "value=5"), 3,
         "ended.cpp:3: error: block 0: the kernel ends by abort()")
# A library that was linked without these names, as older ones are: the process ends, and not well.
compiled("older", """#include <dlfcn.h>
extern "C" __global__ __aicore__ void older(GM_ADDR x) { ((void (*)(int))dlsym(RTLD_DEFAULT, "exit"))(0); }
""")
for verb in ("check", "run"):
    ends(f"{verb} of a kernel that finds exit() by its name", command(verb, "older.so:older", chip, *tensor("x")), 3,
         "older.cpp: error: block 0: kernel older left the process")

# ---- what checks have looked at ----

compiled("scalar", """extern "C" __global__ __aicore__ __vector__ void scalar(GM_ADDR x, GM_ADDR y, int64_t count) {
  __gm__ volatile half *g = (__gm__ half *)y;
  __ubuf__ volatile half *u = (__ubuf__ half *)0;
  volatile int own[2] = {1, 2};
  for (int64_t i = 0; i < count; i++)
    g[i] = (half)2.0f;
  for (int64_t i = 0; i < 2 * count; i++)
    u[i] = g[0];
  if (count == 7)
    memcpy((void *)y, (void *)x, 512);
  own[0] = own[1];
}
""")
compiled("quiet", """extern "C" __global__ __aicore__ __vector__ void quiet(GM_ADDR x) {
  copy_gm_to_ubuf((__ubuf__ half *)0, (__gm__ half *)x, 0, 1, 1, 0, 0);
}
""")
two = [*tensor("x"), *tensor("y", io="out")]


def checked(title, verb, count, words, wanted, code=0):
    run = command(verb, "scalar.so:scalar", chip, "--fill=random:1", *two, "--arg", f"value={count}", *words)
    ends(title, run, code, wanted)
    return run


checked("scalar accesses are looked at, so an ok stands for all", "check", 3, [], "ok: 1 kernel, 0 rows\n")
checked("blocks that store in the same place", "check", 3, ["--blocks=2"], "out of bounds, blocks write the same memory", 5)
checked("copies of the C library by both of their sides", "check", 7, [], "ok: 1 kernel, 0 rows\n")
checked("checks that were not asked for are named", "check", 1, ["-t", "memcheck", "-t", "racecheck"],
        "ok: 1 kernel, 0 rows; not run: initcheck, synccheck")
for times, wanted in ((0, 0), (3, 15), (7, 37)):
    found = json.loads(checked(f"{wanted} accesses for scripts", "check", times, ["--json"], "").stdout)
    seen = [found["scalar_accesses_checked"], found["scalar_accesses_not_checked"], found["errors"]]
    report("in check.json", "" if seen == [wanted, 0, 0] else seen)
run = checked("a run says what of them is not simulated", "run", 3, [], "15 accesses of scalar code to memory")
report("and where", "" if "the data cache, L2 and their bytes are not simulated" in run.stdout else run.stdout)
found = json.loads(checked("the same for scripts", "run", 3, ["--json"], "").stdout)
report("in summary.json", "" if found["scalar_accesses_not_simulated"] == 15 else found.get("scalar_accesses_not_simulated"))
checked("run with checks", "run", 3, ["--check"], "15 accesses of scalar code to memory")
checked("that find something", "run", 3, ["--check", "--blocks=2"], "blocks write the same memory", 5)
run = command("check", "quiet.so:quiet", chip, *tensor("x"))
report("a kernel without such accesses is ok", "" if run.stdout == "ok: 1 kernel, 2 rows\nsummary: check traces=1 ok=1 failed=0 exit=0\n" and run.returncode == 0 else run.stdout + run.stderr)
# A library that does not count, as older ones are: its counters have another name.
with open(os.path.join(folder, "scalar.so"), "rb") as file:
    library = file.read()
with open(os.path.join(folder, "old.so"), "wb") as out:
    out.write(library.replace(b"vinci_cce_watched\0", b"vinci_cce_xxxxxxx\0"))
# One that counts and does not tell.
with open(os.path.join(folder, "counts.so"), "wb") as out:
    out.write(library.replace(b"vinci_cce_told\0", b"vinci_cce_xxxx\0"))
ends("an ok over a kernel that was compiled when accesses were counted", command("check", "counts.so:scalar", chip, "--fill=random:1", *two, "--arg", "value=3"), 0,
     "ok: 1 kernel, 0 rows; 15 scalar accesses not checked (9 of device memory, 6 of UB)")
words = ["old.so:scalar", chip, "--fill=random:1", *two, "--arg", "value=3"]
ends("an ok over a kernel that was compiled without counting", command("check", *words), 0,
     "ok: 1 kernel, 0 rows; scalar accesses of kernel scalar were not checked (not counted")
found = json.loads(command("check", *words, "--json").stdout)
report("in check.json", "" if found["scalar_accesses_not_checked"] is None else found)
ends("a run of the same", command("run", *words), 0, "accesses of scalar code to memory were not counted")
with open(os.path.join(folder, "plain.csv"), "w", encoding="utf-8") as out:
    out.write("trace,version=1\nkernel,name=one,arch=dav-c220,blocks=1\ntensor,name=x,dtype=fp16,shape=64,io=in\n"
              "buffer,name=a,space=UB,address=0,size=128\nstream,core=AIV\ncopy_gm_to_ubuf,dst=a,src=x,len_burst=4\n")
ends("a trace has no scalar code", command("check", "plain.csv", chip), 0, "ok: 1 kernel, 1 row\n")
found = json.loads(command("check", "plain.csv", chip, "--json").stdout)
report("in check.json", "" if found["scalar_accesses_not_checked"] == 0 else found)
ends("a trace with one check", command("check", "plain.csv", chip, "-t", "synccheck"), 0, "ok: 1 kernel, 1 row; not run: memcheck, racecheck, initcheck\n")

# ---- flags of the processor live on where accesses are counted ----

compiled("carry", """extern "C" __global__ __aicore__ __vector__ void carry(__gm__ uint64_t *x, __gm__ uint64_t *y) {
  unsigned long long low = x[0], high = x[1];
  asm("addq %2, %0\\n\\tadcq %3, %1" : "+r"(low), "+r"(high) : "m"(x[2]), "m"(x[3]));
  y[0] = low;
  y[1] = high;
  unsigned __int128 sum = ((unsigned __int128)x[1] << 64 | x[0]) + ((unsigned __int128)x[3] << 64 | x[2]);
  y[2] = (uint64_t)sum;
  y[3] = (uint64_t)(sum >> 64);
  y[4] = x[0] > x[2] ? x[1] : x[3];
}
""")
given = np.array([2**64 - 3, 5, 7, 11], dtype=np.uint64)
np.save(os.path.join(folder, "x.npy"), given.view(np.int64))
run = command("run", "carry.so:carry", chip, "--values", "--output=carry", "-q", "--input", "x=x.npy",
              *tensor("x", "int64", 4), *tensor("y", "int64", 5, "out"))
found = np.load(os.path.join(folder, "carry", "tensors", "y.npy")).view(np.uint64) if run.returncode == 0 else run.stderr
report("counting changes no flag", "" if list(found) == [4, 17, 4, 17, 5] else found)

# ---- operands that do not fit their fields ----

compiled("wide", """extern "C" __global__ __aicore__ __cube__ void wide(GM_ADDR x, GM_ADDR y, uint32_t rows) {
  uint32_t gap = rows * 16;
  copy_gm_to_cbuf((__cbuf__ half *)(uintptr_t)0, (__gm__ half *)x, 0, 2, 8, gap, 0, PAD_NONE);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  copy_cbuf_to_gm((__gm__ half *)y, (__cbuf__ half *)(uintptr_t)0, 0, 1, 16, 0, 0);
}
""")
words = ["wide.so:wide", chip, *tensor("x", shape=1100000), *tensor("y", io="out")]
TEXT = 'operand "src_gap" of copy_gm_to_cbuf is 65664, its field has 16 bits: the core takes 128'
ends("a gap of 17 bits is a finding at its line", command("check", *words, "--arg", "value=4104"), 5,
     "====== ERROR: operand wider than its field in wide", TEXT, "wide.cpp:3 copy_gm_to_cbuf", "SUMMARY: 1 error")
found = json.loads(command("check", *words, "--arg", "value=4104", "--json").stdout)["findings"]
report("in check.json", "" if [f["kind"] for f in found] == ["operand_cut"] and found[0]["detail"] == TEXT else found)
ends("a run warns and takes what the core takes", command("run", *words, "--arg", "value=4104"), 0, f"wide.cpp:3: warning: {TEXT}\n")
run = command("run", *words, "--arg", "value=4095")
ends("what fits is not told", run, 0)
report("at all", run.stderr)
compiled("repeats", """extern "C" __global__ __aicore__ __vector__ void repeats(GM_ADDR x, int64_t repeat, int64_t stride) {
  __ubuf__ half *u = (__ubuf__ half *)0;
  set_mask_norm();
  set_vector_mask(-1, -1);
#pragma clang loop unroll(disable)
  for (int i = 0; i < 3; i++) {
    vector_dup(u, (half)1.0f, repeat, 1, 1, stride, 8);
    pipe_barrier(PIPE_V);
    vadd(u, u, u, 1, 1, 1, 1, 8, 8, stride); // line 9
    pipe_barrier(PIPE_V);
  }
}
""")


def repeats(title, repeat, stride, code, *parts):
    ends(title, command("check", "repeats.so:repeats", chip, *tensor("x"), "--arg", f"value={repeat}", "--arg", f"value={stride}"), code, *parts)


repeats("256 repeats are none", 256, 8, 5, 'operand "repeat" of vector_dup is 256, its field has 8 bits: the core takes 0', "3 times in all")
repeats("a stride below 0", 1, -8, 5, 'operand "dst_repeat" of vector_dup is -8, its field has 8 bits: the core takes 248',
        'operand "src1_repeat" of vadd is -8', "repeats.cpp:9 vadd")
repeats("two operands of an instruction are two findings", 257, 264, 5, "vector_dup is 257", "vector_dup is 264", "vadd is 264", "SUMMARY: 3 errors")
repeats("what fits", 8, 8, 0, "ok: 1 kernel")

# ---- forms of source that public samples have ----

FORMS = r"""#define HOST_DEVICE __forceinline__ [host, aicore]
#define DEVICE __forceinline__[aicore]
#define AIV_ATTR __attribute__((aiv))
[aicore] inline int a1() { return 1; }
[host] inline int a2() { return 1; }
inline [aicore, host] int a3() { return 1; }
static DEVICE int a4() { return 1; }
HOST_DEVICE constexpr int a5() { return 1; }
template <typename T> HOST_DEVICE T twice(T x) { return x + x; }
template <typename T> [aicore] inline void put(__ubuf__ T *to, int i, T value) { to[i] = value; }
template <typename T> [aicore] inline T get(const __ubuf__ T *from, int i) { return from[i]; }
struct holder {
  __ubuf__ bfloat16_t *data_;
  __forceinline__ [aicore] holder(__ubuf__ bfloat16_t *data) : data_(data) {}
  [aicore] void set(int i, float v) { data_[i] = v; *(data_ + i + 1) = v; }
  [aicore] float get(int i) { return data_[i]; }
};
[aicore] inline float sum(__ubuf__ bfloat16_t *from, int count) {
  float total = 0;
  for (int i = 0; i < count; i++)
    total += from[i];
  return total;
}
extern "C" AIV_ATTR __global__ [aicore] void k(__gm__ bfloat16_t *z, __gm__ float *y) {
  __ubuf__ bfloat16_t *u = (__ubuf__ bfloat16_t *)0, *w = u + 64;
  __ubuf__ bfloat16_t tile[4][8];
  __ubuf__ half *h = (__ubuf__ half *)4096;
  int host = 1, list[3] = {0, 1, 2};
  auto lambda = [host](int x) { return x + host; };
  list[host] = lambda(2);
  bfloat16_t v = *z, array[4] = {1.0f, 2, v, (half)4};
  u[0] = v;
  u[1] = 1.5f;
  u[2] = u[1] + u[0];
  u[3] = (float)u[1] * 2;
  u[4] += 1;  // 0 + 1
  u[4] -= 0.5f;
  u[4] *= 4;
  ++u[4];
  u[4]++;
  *u = 7;
  *(u + 5) = u[4];
  *(__ubuf__ bfloat16_t *)(uintptr_t)12 = 9.0f;
  tile[1][2] = 3;
  w[0] = tile[1][2] / 2;
  if (u[1] > 1 && u[1] < (float)u[3]) *w = -(float)u[3];
  float f = *w, g = u[0];
  float s = static_cast<float>(u[1]) + (u[2]);
  put<bfloat16_t>(u, 8, array[2]);
  holder box(u + 16);
  box.set(0, 5);
  half x = (half)u[1];
  h[0] = x; h[1] = u[1]; h[2] = h[0] * h[1]; h[2] += h[0]; h[3] = -h[2];
  bfloat16_t b = (bfloat16_t)(float)h[2];
  b += 1; b = b * 2 + v;
  z[1] = b; z[2] = u[2]; z[3] = get<bfloat16_t>(u, 8); array[3] = z[2];
  y[0] = f; y[1] = g; y[2] = s; y[3] = sum(u, 6); y[4] = box.get(0); y[5] = box.get(1); y[6] = h[2]; y[7] = (float)array[3];
  y[8] = list[1]; y[9] = a1() + a2() + a3() + a4() + a5() + twice(3); y[10] = u[4] == u[5] ? 1 : 0; y[11] = u[6]; y[12] = max(u[1], v); y[13] = w[0];
}
"""
compiled("forms", FORMS)
run = command("run", "forms.so:k", chip, "--values", "--fill=zero", "--output=forms", "-q", *tensor("z", "bf16", 16, "inout"), *tensor("y", "fp32", 16, "out"))
found = np.load(os.path.join(folder, "forms", "tensors", "y.npy"))[:14] if run.returncode == 0 else run.stderr
wanted = [-3, 7, 3, 21, 5, 5, 3.75, 1.5, 3, 11, 1, 9, 1.5, -3]
report("attributes in any place, and single numbers of bf16 and fp16", "" if list(found) == wanted else found)
with open(os.path.join(folder, "pre.h"), "w", encoding="utf-8") as out:
    out.write("__aicore__ inline int before() { return 1; }\n")
for words in (["-include", "pre.h"], ["-includepre.h"], ["-imacros", "pre.h"]):
    text = 'extern "C" __global__ __aicore__ void included(__gm__ int *z) { *z = %s; }\n' % ("2" if "imacros" in words[0] else "before()")
    made = compiled("included", text, *words)
    report(f"a file of {words[0]} comes behind the headers of kernels", made.stderr)
made = compiled("attributes", """#define cube_only __attribute__((aic))
extern "C" cube_only __global__ __aicore__ void attributes(__gm__ float *z) { *z = 1; }
extern "C" __attribute__(( aiv )) __attribute__((aicore)) __attribute__((cce_kernel)) void raw(__gm__ float *z) {
  __attribute__((cce_unif_buff)) float *u = (__attribute__((cce_unif_buff)) float *)0;
  u[0] = 1;
  *z = u[0];
}
""")
report("attributes by their own names", made.stderr)
for kernel, kind in (("attributes", "AIC"), ("raw", "AIV")):
    ends(f"a kernel of {kind}", command("check", f"attributes.so:{kernel}", chip, *tensor("z", "fp32", 8, "out")), 0, "ok: 1 kernel, 0 rows\n")
    run = command("run", f"attributes.so:{kernel}", chip, *tensor("z", "fp32", 8, "out"), "--json")
    cores = [core["name"] for core in json.loads(run.stdout)["cores"]] if run.returncode == 0 else run.stderr
    report(f"runs on {kind}", "" if all(("cube" in name) == (kind == "AIC") for name in cores) else cores)

plan()
