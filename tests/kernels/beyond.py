#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Programs whose kernels leave the memory that aclrtMalloc gave, in runs without a check, and programs with data caches.
Prints TAP.

    beyond.py VINCI FOLDER_FOR_FILES
"""

import os
import subprocess
import sys

from tap import plan, report

vinci = sys.argv[1]
folder = os.path.realpath(sys.argv[2])
SOURCE = """#include <cstdio>
#include "acl/acl.h"
__global__ __vector__ void act(GM_ADDR x, GM_ADDR y, int32_t what, int64_t at) {
  __gm__ volatile int32_t *from = (__gm__ int32_t *)x, *to = (__gm__ int32_t *)y;
  __ubuf__ volatile int32_t *a = (__ubuf__ int32_t *)(uintptr_t)0;
  switch (what) {
  case 0:
    to[at] = 5; // store
    break;
  case 1:
    to[0] = from[at]; // load
    break;
  case 2: // as a copy of 32 bytes leaves what lies behind
    copy_ubuf_to_gm(y, (__ubuf__ void *)a, 0, 1, 1, 0, 0);
    break;
  case 3:
    a[at] = 5; // UB
    break;
  case 4: {
    int32_t old = to[0];
    a[0] = 7;
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(y, (__ubuf__ void *)a, 0, 1, 1, 0, 0);
    pipe_barrier(PIPE_ALL);
    if (at == 1)
      dcci((__gm__ void *)to, SINGLE_CACHE_LINE);
    to[16] = to[0] + old;
    break;
  }
  }
}
__global__ __vector__ void bring(GM_ADDR x, int64_t blocks) {
  copy_gm_to_ubuf((__ubuf__ void *)0, x, 0, 1, (uint16_t)blocks, 0, 0); // copy
}
__global__ __vector__ void take(GM_ADDR y, int64_t blocks) {
  copy_ubuf_to_gm(y, (__ubuf__ void *)0, 0, 1, (uint16_t)blocks, 0, 0); // result
}
__global__ __vector__ void fill(GM_ADDR y) {
  vector_dup((__ubuf__ int32_t *)0, (int32_t)3, 1, 1, 1, 8, 0);
  pipe_barrier(PIPE_ALL);
  copy_ubuf_to_gm(y, (__ubuf__ void *)0, 0, 1, 1, 0, 0);
}
int main(int count, char **words) {
  void *x, *y;
  int32_t host[32] = {0}, bytes = atoi(words[3]);
  aclrtMalloc(&x, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc(&y, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  if (count == 5) // memory of before
    aclrtFree(words[4][0] == 'x' ? x : y);
  if (atoi(words[1]) == 5)
    bring<<<1>>>(x, atoll(words[2]));
  else if (atoi(words[1]) == 6)
    take<<<1>>>(y, atoll(words[2]));
  else if (atoi(words[1]) == 7)
    fill<<<1>>>(y);
  else
    act<<<1>>>(x, y, atoi(words[1]), atoll(words[2]));
  bool good = aclrtSynchronizeDevice() == ACL_SUCCESS;
  if (count > 5)
    aclrtFree(y);
  if (count > 5) { // all of the page is given out once more
    static uint8_t page[4096];
    aclrtMalloc(&y, sizeof page, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(page, sizeof page, y, sizeof page, ACL_MEMCPY_DEVICE_TO_HOST);
    for (uint8_t byte : page)
      host[16] += byte != 0;
  }
  if (good && count == 4)
    aclrtMemcpy(host, sizeof host, y, bytes < 128 ? bytes : 128, ACL_MEMCPY_DEVICE_TO_HOST);
  printf("%s: %d\\n", good ? "good" : "failed", host[16]);
  return 0;
}
"""
LINES = {word: SOURCE[: SOURCE.index("// " + word)].count("\n") + 1 for word in ("store", "load", "UB", "copy", "result")}


def command(*words, **environment):
    known = {key: value for key, value in os.environ.items() if not key.startswith("VINCI_") or key == "VINCI_DATA"}
    known.update(environment, VINCI_REPORT="0")
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, env=known)


def ends(text, code, parts, *words, **environment):
    run = command(os.path.join(folder, "beyond"), *(str(word) for word in words), **environment)
    said = run.stdout + run.stderr
    missing = [part for part in parts if part not in said]
    report(text, "" if run.returncode == code and not missing else f"{run.returncode}, without {missing}: {said}")


with open(os.path.join(folder, "beyond.asc"), "w", encoding="utf-8") as out:
    out.write("#include <cstdlib>\n" + SOURCE)
LINES = {word: line + 1 for word, line in LINES.items()}
made = command(vinci, "cc", "beyond.asc", "-o", "beyond")
report("the program is compiled", made.stderr if made.returncode else "")
PLACE = {word: f"beyond.asc:{line}: error: block 0: " for word, line in LINES.items()}
ends("inside", 0, ["good"], 0, 63, 256)
ends("a store behind the last memory, at the end of a page", 3, [PLACE["store"], "0 bytes behind the end"], 0, 1024, 4096)
ends("a load there", 3, [PLACE["load"]], 1, 1024, 4096)
ends("a load of memory that was given back", 3, [PLACE["load"]], 1, 0, 8192, "x")
ends("a store in front of all memory", 3, [PLACE["store"]], 0, -4096, 4096)
ends("a store behind memory that ends within its page", 3, [PLACE["store"], "0 bytes behind the end"], 0, 128, 512)
ends("a store behind more such memory", 3, [PLACE["store"], "0 bytes behind the end"], 0, 1152, 4608)
ends("a store behind memory whose end is none of a page", 3,
     ["kernel act has written 60 bytes behind the end of device memory of 260 bytes", "VINCI_CHECK=memcheck tells the line"], 0, 80, 260)
ends("the check of that tells the line", 5, [f"beyond.asc:{LINES['store']} "], 0, 80, 260, VINCI_CHECK="memcheck")
ends("a store further behind it", 3, [PLACE["store"]], 0, 128, 260)
for at in (-1, -8, -896):
    ends(f"a store at {at} of 512 bytes", 3,
         [f"kernel act has written {-4 * at} bytes in front of device memory of 512 bytes", "VINCI_CHECK=memcheck tells the line"], 0, at, 512)
ends("the check of that tells the line", 5, [f"beyond.asc:{LINES['store']} "], 0, -1, 512, VINCI_CHECK="memcheck")
ends("a store in front of the page of 512 bytes", 3, [PLACE["store"]], 0, -897, 512)
ends("a load in front gets a zero", 0, ["good: 0"], 1, -1, 512)
ends("the check of that load", 5, [f"beyond.asc:{LINES['load']} "], 1, -1, 512, VINCI_CHECK="memcheck")
ends("a store in front, without values", 3, ["4 bytes in front of device memory of 512 bytes"], 0, -1, 512, VINCI_VALUES="0")
ends("512 bytes that a kernel has not computed", 0, ["good"], 7, 0, 512, VINCI_VALUES="0")
ends("zeros after a store in front", 3, ["failed: 0"], 0, -1, 512, "y", "again")
ends("zeros after a checked store in front", 5, [": 0"], 0, -1, 512, "y", "again", VINCI_CHECK="memcheck")
ends("zeros after a store behind 28 bytes", 0, ["good: 0"], 0, 7, 28, "y", "again")
ends("what an allocation has more", 0, ["good"], 0, 7, 28)
ends("a store behind UB", 3, [PLACE["UB"]], 3, 49152, 256)
for word, what in (("copy", 5), ("result", 6)):
    ends(f"{word}: inside", 0, ["good"], what, 128, 4096)
    for size in (1024, 4096):
        for memory in ("none", "flat", "cycle"):
            ends(f"{word}: beyond the end of {size} bytes, memory {memory}", 3, [PLACE[word][:-9], "copy_"], what, size // 32 + 1, size,
                 VINCI_MEMORY=memory)
        ends(f"{word}: a check of that", 5, [f"beyond.asc:{LINES[word]} ", f"illegal {'read' if what == 5 else 'write'} of size 32"], what,
             size // 32 + 1, size, VINCI_CHECK="memcheck")
ends("values without caches", 0, ["good: 7"], 4, 0, 256)
ends("values of an old line", 0, ["good: 0"], 4, 0, 256, VINCI_DCACHE="1")
ends("values with dcci", 0, ["good: 7"], 4, 1, 256, VINCI_DCACHE="1")
ends("VINCI_DCACHE is 0 or 1", 2, ["VINCI_DCACHE is 0, or 1"], 4, 1, 256, VINCI_DCACHE="yes")
plan()
