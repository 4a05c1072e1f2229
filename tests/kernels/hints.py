#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What a source says of L2 for its data: copies whose data take no room there, by the operand of the 950 and by the address of the
910B. Prints TAP.

    hints.py VINCI FOLDER_FOR_FILES
"""

import json
import os
import re
import subprocess
import sys

from tap import plan, report

vinci, folder = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
# Each of x and y is read twice, 512 lines of 128 bytes each time; z is written.
SOURCE = """%(head)s
extern "C" __global__ __vector__ void twice(__gm__ uint8_t *x, __gm__ uint8_t *y, __gm__ uint8_t *z) {
  __ubuf__ uint8_t *in = (__ubuf__ uint8_t *)0;
  for (int i = 0; i < 2; i++) {
    %(x)s;
    pipe_barrier(PIPE_ALL);
    %(y)s;
    pipe_barrier(PIPE_ALL);
  }
  %(z)s;
}
"""
LATER = ("copy_gm_to_ubuf_align_v2(in, %s, 0, 1, 65536, 0, 0, true, %d, 65536, 65536)",
         "copy_ubuf_to_gm_align_v2((__gm__ void *)%s, (__ubuf__ void *)in, 0, 1, 65536, %d, 65536, 65536)")
EARLIER = ("copy_gm_to_ubuf((__ubuf__ void *)in, (__gm__ void *)(%s + %s), 0, 1, 2048, 0, 0)",
           "copy_ubuf_to_gm((__gm__ void *)(%s + %s), (__ubuf__ void *)in, 0, 1, 2048, 0, 0)")
# What the open headers of Ascend C have for the 910B: a variable that a driver sets when it loads the kernel.
OFFSET = """#define ASCENDC_MODULE_UTILS_MACROS_H
#ifdef L2_CACHE_HINT
inline struct { uint64_t l2Cacheoffset; } g_opL2CacheHintCfg = {0};
#define PASSING g_opL2CacheHintCfg.l2Cacheoffset
#else
#define PASSING 0
#endif"""


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False, cwd=folder)


def measured(chip, arch, passing):
    """Hits of reads, the tensors of the recorded trace that pass L2, and whether that trace has the same cycles."""
    later = arch == "dav-3510"
    copies = LATER if later else EARLIER
    words = {name: copies[name == "z"] % (name, (4 if name in passing else 0) if later else ("PASSING" if name in passing else "0"))
             for name in "xyz"}
    with open(os.path.join(folder, "twice.cpp"), "w", encoding="utf-8") as file:
        file.write(SOURCE % {"head": "" if later else OFFSET, **words})
    made = command("cc", "--kernel-only", f"--npu-arch={arch}", "twice.cpp", "-o", "twice.so")
    if made.returncode != 0 or made.stderr:
        return made.stderr
    run = ["run", "./twice.so:twice", "--blocks=1", chip, *(word for name, io in (("x", "in"), ("y", "in"), ("z", "out"))
                                                          for word in ("--arg", f"name={name},dtype=uint8,shape=65536,io={io}"))]
    first = command(*run, "--json", "--record=twice.csv")
    again = command("run", "twice.csv", chip, "--json")
    if first.returncode != 0 or again.returncode != 0:
        return first.stderr + again.stderr
    with open(os.path.join(folder, "twice.csv"), encoding="utf-8") as file:
        trace = file.read()
    one, two = json.loads(first.stdout), json.loads(again.stdout)
    return one["l2"]["read_hits"], re.findall(r"^tensor,name=(\w+),.*cache=disable", trace, re.M), one["total_cycles"] == two["total_cycles"]


for chip, arch in (("-sAscend950PR_9589", "dav-3510"), ("-sAscend910B4", "dav-2201")):
    for passing in ("", "x", "xy", "z"):
        found = measured(chip, arch, passing)
        expected = ((2 - len(set("xy") & set(passing))) * 512, list(passing), True)
        report(f"{arch}: {' and '.join(passing) or 'nothing'} takes no room in L2", "" if found == expected else f"{found}, not {expected}")
plan()
