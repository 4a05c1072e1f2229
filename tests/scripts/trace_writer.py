#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The Python writer of traces: what it writes is what was meant. Prints TAP.

    trace_writer.py VINCI FOLDER_OF_MODULE FOLDER_FOR_FILES
"""

import os
import re
import subprocess
import sys

from tap import plan, report

vinci, module, folder = sys.argv[1:4]
sys.path.insert(0, module)
import vinci_trace  # noqa: E402

chip = "--soc-version=Ascend910B4"


def normal(path):
    run = subprocess.run(
        [vinci, "check", path, chip, "--normalize=-", "--quiet"], capture_output=True, text=True, check=False
    )
    return run.stdout or run.stderr


def refused(make, kind, words):
    try:
        make()
    except kind as error:
        return "" if words in str(error) else f"says: {error}"
    return "was taken"


plan(6)
example = re.search(r"    from vinci_trace import Trace\n(.*?)\nRows are", vinci_trace.__doc__, re.S).group(1)
scope = {"Trace": vinci_trace.Trace}
os.chdir(folder)
exec("\n".join(line[4:] for line in example.splitlines()), scope)  # writes add.csv
hand = """trace,version=1
kernel,name=add,arch=dav-c220,blocks=8
tensor,name=x,dtype=fp16,shape=131072,io=in
tensor,name=y,dtype=fp16,shape=131072,io=out
buffer,name=tile,space=UB,address=0,size=4096
stream,core=AIV
loop,i,8
copy_gm_to_ubuf,dst=tile,src=x+32768*blk+4096*i,len_burst=128
set_flag,src=MTE2,dst=V,id=0
wait_flag,src=MTE2,dst=V,id=0
vadd,dst=tile,src0=tile,src1=tile,repeat=16,type=fp16
set_flag,src=V,dst=MTE3,id=0
wait_flag,src=V,dst=MTE3,id=0
copy_ubuf_to_gm,dst=y+32768*blk+4096*i,src=tile,len_burst=128
pipe_barrier,pipe=ALL
endloop
"""
with open("hand.csv", "w", encoding="utf-8") as out:
    out.write(hand)
same = normal("add.csv") == normal("hand.csv") and "vadd" in normal("hand.csv")
report("the example of its help is the trace by hand", "" if same else normal("add.csv"))
run = subprocess.run([vinci, "run", "add.csv", chip, "--quiet"], capture_output=True, text=True, check=False)
report("the example runs", run.stderr if run.returncode else "")

i, j = vinci_trace.Expression("i"), vinci_trace.Expression("j")
cases = {
    (i + 1) * 2 - j: "(i+1)*2-j",
    i - (j - 1): "i-(j-1)",
    i // (j % 4): "i/(j%4)",
    3 - i * (-2): "3-i*(-2)",
    (i < 4) * (j.equals(2)) + 1: "(i<4)*(j==2)+1",
    2 * (i + j) // 3: "2*(i+j)/3",
}
wrong = [f"{found} is not {wanted}" for found, wanted in cases.items() if str(found) != wanted]
report("expressions keep their order", "\n".join(wrong))
report("a number that is not whole is refused", refused(lambda: i + 0.5, TypeError, "whole number"))
report("a name with a blank is refused", refused(lambda: vinci_trace.Trace("a b"), ValueError, "is not a name"))
report("an expression is not a condition", refused(lambda: 1 if i < 2 else 0, TypeError, "no value"))
