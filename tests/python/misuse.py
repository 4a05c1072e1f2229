# SPDX-License-Identifier: Apache-2.0
"""What a caller may do wrong is an exception with a place and a hint, and never a crash."""
import copy
import os
import pickle
import signal
import tempfile
import threading

import vinci


def fails(what, status, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except vinci.Error as error:
        assert what in str(error) and error.status == status, (error.status, str(error))
        return error
    raise AssertionError(what)


chip = vinci.soc("Ascend910B4")
fails("which chip?", "E_USAGE", vinci.run, "copy shape=64")
fails("did you mean 'Ascend910B1'", "E_USAGE", vinci.soc, "Ascend910X1")
fails("unknown parameter 'l2.siez'", "E_USAGE", vinci.soc, "Ascend910B4", {"l2.siez": 1})
fails("did you mean 'l2.size'?", "E_USAGE", chip.__getitem__, "l2.siez")
fails("memory is 'falt', not one of cycle, flat", "E_USAGE", vinci.run, "copy shape=64", chip=chip,
      memory="falt")
fails("contains a zero byte", "E_USAGE", vinci.soc, "Ascend\0")
fails("is a dict, not a text", "E_USAGE", vinci.compile, "copy", {"shape": {}}, chip=chip)
fails("has no key 'shap'", "E_USAGE", vinci.compile, "copy", chip=chip, shap=64)
error = fails("k.csv:1:1: the first row", "E_INPUT", vinci.parse, "x", chip=chip, name="k.csv")
assert (error.file, error.line, error.exit_code) == ("k.csv", 1, 3), vars(error)
assert vinci.run("copy shape=4096", chip=chip, max_cycles=100, partial=True).partial
fails("no counter is called 'x'", "E_USAGE", vinci.run("copy shape=64", chip=chip).get, "x")
fails("did you mean 'total_cycles'?", "E_USAGE", vinci.run("copy shape=64", chip=chip).get, "total_cyles")
try:
    vinci.run("copy shape=64", chip=chip)["total_cyles"]
    raise AssertionError("a key that is not there")
except KeyError as problem:
    assert "'total_cyles'; did you mean 'total_cycles'?" in str(problem), problem
fails("seed is 'random:1', not a whole number from 0", "E_USAGE",
      vinci.values("copy shape=64", chip=chip).fill, "random:1")
fails("checks has 'racechek'", "E_USAGE", vinci.check, "copy shape=64", chip=chip, checks=["racechek"])
fails("give one of study, trace and op", "E_USAGE", vinci.sweep, output="none")
fails("there is no option 'memroy'", "E_USAGE", vinci.sweep, op="copy shape=64", output="none",
      memroy="flat")
fails("max_cycles is -1, not a whole number from 0", "E_USAGE", vinci.run, "copy shape=64", chip=chip,
      max_cycles=-1)
fails("questions are a list", "E_USAGE", vinci.evaluate, chip, "copy shape=64")
for us in (-1.0, 0, 1e15, float("nan"), float("inf"), "x", None, True):
    error = fails("questions[1] has us = " + repr(us) + ", not a time above 0 of at most 1e9 microseconds", "E_USAGE",
                  vinci.evaluate, chip, ["gelu shape=64", ("gelu", {"shape": 64}, us)], sequence=True)
    assert isinstance(error, ValueError), us
answers = vinci.evaluate(chip, [("gelu", {"shape": 64}, us) for us in (1e-9, 1e9)], sequence=True)
assert [answer.us for answer in answers] == [1e-6, 1e9], answers
wrong = [vinci.evaluate(chip, ["op args", "gelu shape=64"], sequence=sequence) for sequence in (False, True)]
assert [(one.status, one.text, one.program) for one in wrong[1]] == \
    [("E_USAGE", "unknown operator 'op'", ""), ("OK", "", "lowering")] and wrong[0] == wrong[1], wrong
fails("no.graph.csv: cannot read: No such file", "E_IO", vinci.net, chip, "no.graph.csv")
fails("no.onnx", "E_IO", vinci.net, chip, "no.onnx")
fails("a trace is for the chip", "E_USAGE", vinci.run, vinci.compile("copy shape=64", chip=chip),
      set={"l2.size": "1MiB"})

# Freed objects, and objects whose chip has no other reference.
trace = vinci.compile("copy shape=64", chip="Ascend910B4")
assert vinci.run(trace).total_cycles > 0
trace.free()
fails("the Trace has been freed", "E_USAGE", vinci.run, trace)
with vinci.compile("copy shape=64", chip=chip) as short:
    assert short.tensors()


# What a callback raises comes out, and ends the call.
class Mine(Exception):
    pass


def raises(*_):
    raise Mine


for call in (lambda: vinci.run("matmul m=512 k=512 n=512", chip=chip, progress=raises),
             lambda: vinci.tune(chip, "softmax shape=17x260", evaluations=12, memory="flat",
                                progress=raises)):
    try:
        call()
    except Mine:
        continue
    raise AssertionError("Mine did not come out")
fails("interrupted", "E_LIMIT", vinci.run, "matmul m=512 k=512 n=512", chip=chip,
      progress=lambda *_: False)

# A search that is ended keeps what it has measured; what fails otherwise has nothing.
graph = """graph,version=1
tensor,name=x,dtype=fp16,shape=64x512,io=in
tensor,name=y,dtype=fp16,shape=64x512,io=out
kernel,name=act,op=relu,in=x,out=y,args=shape=64x512
"""
for wanted, levers in ((lambda done, all: all < 8 or done < all - 2, ["--host=sink", "--host=graph"]),
                       (lambda done, all: False, [])):
    try:
        vinci.net_levers(chip, graph, host="eager", memory="flat", progress=wanted)
        raise AssertionError("the search went on")
    except vinci.Error as error:
        assert error.status == "E_LIMIT" and [one.change for one in error.result] == levers, error.result
assert fails("graph:2", "E_INPUT", vinci.net_levers, chip, "graph,version=1\nnone\n").result is None

# So does Ctrl-C, which the call must not lose.
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    vinci.run("matmul m=8192 k=8192 n=8192", chip=chip)
    raise AssertionError("the run went on")
except KeyboardInterrupt:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

# Objects of this process are not copied, and live as long as those that need them.
for copied in (copy.copy, copy.deepcopy, pickle.dumps):
    fails("cannot be copied", "E_USAGE", copied, vinci.run("copy shape=64", chip=chip))
with vinci.compile("muls shape=64 alpha=2", chip=chip) as short:
    held = vinci.values(short)
for _ in range(3):
    vinci.compile("muls shape=64 alpha=2", chip=chip)
held.set("x", bytes(128)).run()
assert held.bytes("y") == bytes(128)
fails("the chip that it was made for", "E_USAGE", vinci.run, vinci.compile("copy shape=64", chip=chip), chip="Ascend910B1")
fails("cannot read", "E_IO", vinci.load_kernel, chip, library="none.so", name="k")
for wrong in ({"gears": {1: -5.0}}, {"gears": {-1: 5.0}}, {"requests": [(5, -1)]}, {"max_wait_us": -1}):
    fails("not a", "E_USAGE", vinci.serve, **{"gears": {1: 5.0}, "requests": [(5, 1)], **wrong})

# Steps: early leaving ends the call, a failure is raised.
steps = vinci.steps(vinci.run, "matmul m=1024 k=1024 n=1024", chip=chip)
for _ in steps:
    break
assert steps.result is None
with tempfile.TemporaryDirectory() as folder:
    steps = vinci.steps(vinci.sweep, op="copy shape=64x1024", chip="Ascend910B4", output=folder,
                        params={"hbm.bandwidth_scale": [1, 2, 4]})
    assert [all for _, all, failed in steps][-1] == 3 and len(steps.result.rows) == 3
fails("has no key", "E_USAGE", list, vinci.steps(vinci.run, "copy shap=64", chip=chip))

# Notebooks.
for shown in (vinci.run("copy shape=64", chip=chip), chip, vinci.compile("copy shape=64", chip=chip),
              vinci.check("copy shape=64", chip=chip)):
    page = shown._repr_html_()
    assert page.startswith("<b>") and page.count("<tr>") == page.count("</tr>") > 0, page
