# SPDX-License-Identifier: Apache-2.0
"""Whole kernels with values against numpy: lowered operators, and traces written here.

    kernels.py VINCI FOLDER [--seed S]

Prints a line per kernel in TAP; FOLDER is for the files.
"""

import argparse
import os
import subprocess
import sys

import numpy as np

import reference as ref
from tap import plan, report

SOC = "Ascend910B4"


def to_file(kind, values):
    """How a tensor stands in a .npy file."""
    if kind == "bf16":
        return ref.encode("bf16", np.asarray(values, np.float64))
    return np.asarray(values).astype({"fp16": np.float16, "fp32": np.float32, "hf32": np.float32,
                                      "int8": np.int8, "uint8": np.uint8, "int16": np.int16,
                                      "int32": np.int32}[kind])


def as_numbers(kind, array):
    if kind == "bf16":
        return ref.decode("bf16", array)
    return array.astype(np.float64)


class Kernels:
    def __init__(self, options):
        self.options = options
        self.rng = np.random.Generator(np.random.PCG64(options.seed))
        self.failed = 0

    def numbers(self, kind, *shape):
        """Random values in their file form."""
        if kind.startswith(("int", "uint")):
            low = 0 if kind.startswith("u") else -8
            return to_file(kind, self.rng.integers(low, 8, shape))
        return to_file(kind, self.rng.standard_normal(shape))

    def path(self, name):
        return os.path.join(self.options.folder, name + ".npy")

    def check(self, name, words, inputs, expected, atol=0.0, rtol=0.0, soc=SOC):
        """Runs an operator or a trace and compares all of its results."""
        command = [self.options.vinci, "run"] + words + ["-s", soc, "-q"]
        for tensor, array in inputs.items():
            np.save(self.path(tensor), array)
            command += ["--input", "%s=%s" % (tensor, self.path(tensor))]
        for tensor, array in expected.items():
            np.save(self.path("want_" + tensor), array)
            command += ["--expect", "%s=%s" % (tensor, self.path("want_" + tensor))]
        command += ["--atol", repr(atol), "--rtol", repr(rtol)]
        result = subprocess.run(command, capture_output=True, text=True)
        good = result.returncode == 0
        self.failed += not good
        report(name, "" if good else [" ".join(command), "exit %d: %s" % (result.returncode, result.stderr.strip())])

    def trace(self, name, text):
        path = os.path.join(self.options.folder, name + ".csv")
        with open(path, "w") as out:
            out.write(text)
        return path


# ---- products ----


def matmul(kernels, m, k, n, kind, *more, soc=SOC):
    a, b = kernels.numbers(kind, m, k), kernels.numbers(kind, k, n)
    exact = as_numbers(kind, a) @ as_numbers(kind, b)
    bound = np.abs(as_numbers(kind, a)) @ np.abs(as_numbers(kind, b))
    out = dict(word.split("=") for word in more).get(
        "out_dtype", {"int8": "int32", "hf32": "fp32"}.get(kind, kind))
    # k sums of at most the bound, each rounded to fp32, and the rounding of the result; hf32 drops
    # bits of the factors besides.
    atol = float(bound.max()) * (k + 1) * 2.0**-24
    atol += float(bound.max()) * 2.0**-11 if kind == "hf32" else 0.0
    rtol = {"fp16": 2.0**-11, "bf16": 2.0**-8}.get(out, 2.0**-24)
    want = exact.astype(np.int32) if out == "int32" else exact
    if kind == "int8":
        atol = rtol = 0.0
    kernels.check("matmul %dx%dx%d %s %s on %s" % (m, k, n, kind, " ".join(more), soc),
                  ["matmul", "m=%d" % m, "k=%d" % k, "n=%d" % n, "dtype=" + kind] + list(more),
                  {"a": a, "b": b}, {"c": want}, atol, rtol, soc)


QUANTISED = """trace,version=1
kernel,name=requant,arch=dav-c220,blocks=1
tensor,name=a,dtype=int8,shape={m}x{k},io=in
tensor,name=b,dtype=int8,shape={n}x{k},io=in
tensor,name=words,dtype=int64,shape={n},io=in
tensor,name=bias,dtype=int32,shape={n},io=in
tensor,name=c,dtype=int8,shape={m}x{n},io=out
tensor,name=s,dtype=uint8,shape={m}x{n},io=out
stream,core=AIC
copy_gm_to_cbuf_multi_nd2nz_b8,dst=0,src=a,n={m},d={k},src_d={k},dst_c0_stride={m}
copy_gm_to_cbuf_multi_nd2nz_b8,dst=65536,src=b,n={n},d={k},src_d={k},dst_c0_stride={n}
copy_gm_to_cbuf,dst=131072,src=words,len_burst={word_blocks}
copy_gm_to_cbuf,dst=196608,src=bias,len_burst={bias_blocks}
set_flag,src=MTE2,dst=MTE1,id=0
set_flag,src=MTE2,dst=FIX,id=0
wait_flag,src=MTE2,dst=MTE1,id=0
loop,i,{m}/16
  load_cbuf_to_ca,dst=i*{k}*16,src=i*512,repeat={k}/32,src_stride={m}/16
endloop
load_cbuf_to_cb,dst=0,src=65536,repeat={k}/32*{n}/16
copy_cbuf_to_bt,dst=0,src=196608,len_burst={bias_blocks}
set_flag,src=MTE1,dst=M,id=0
wait_flag,src=MTE1,dst=M,id=0
mad,c=0,a=0,b=0,m={m},k={k},n={n},init=0,source=bt,bias=0,type=int8
set_flag,src=M,dst=FIX,id=0
wait_flag,src=M,dst=FIX,id=0
wait_flag,src=MTE2,dst=FIX,id=0
copy_cbuf_to_fbuf,dst=256,src=131072,len_burst={word_blocks}
pipe_barrier,pipe=FIX
set_fpc,value=512
copy_matrix_cc_to_gm,dst=c,src=0,n={n},m={m},dst_stride={n},src_stride={m},quant=vreq8,nz2nd=1,type=int32
set_quant_pre,value={scalar}
copy_matrix_cc_to_gm,dst=s,src=0,n={n},m={m},dst_stride={n},src_stride={m},quant=req8,relu=1,nz2nd=1,type=int32
"""


def requantised(kernels):
    m, k, n = 48, 96, 64
    a, b = kernels.numbers("int8", m, k), kernels.numbers("int8", n, k)
    bias = kernels.rng.integers(-500, 500, n).astype(np.int32)
    scales = (kernels.rng.integers(1, 64, n) / 256.0).astype(np.float32)
    offsets = kernels.rng.integers(-20, 20, n)
    words = (scales.view(np.uint32).astype(np.uint64) | np.uint64(1 << 46) |
             (offsets & 511).astype(np.uint64) << np.uint64(37))
    total = a.astype(np.int64) @ b.astype(np.int64).T + bias
    want = np.clip(np.rint(total * scales.astype(np.float64)) + offsets, -128, 127)
    scalar = int(np.float32(0.125).view(np.uint32))
    unsigned = np.clip(np.rint(np.maximum(total, 0) * 0.125), 0, 255)
    text = QUANTISED.format(m=m, k=k, n=n, word_blocks=n // 4, bias_blocks=n // 8, scalar=scalar)
    kernels.check("int8 matmul with bias, requantised by column and by one scale",
                  [kernels.trace("requant", text)],
                  {"a": a, "b": b, "words": words.view(np.int64), "bias": bias},
                  {"c": want.astype(np.int8), "s": unsigned.astype(np.uint8)})


# ---- convolution ----

CONVOLUTION = """trace,version=1
kernel,name=conv,arch=dav-c220,blocks=1
tensor,name=x,dtype=fp16,shape={c1}x{h}x{w}x16,io=in,format=NC1HWC0
tensor,name=f,dtype=fp16,shape={k}x{n},io=in
tensor,name=y,dtype=fp32,shape={out}x{n},io=out
stream,core=AIC
copy_gm_to_cbuf,dst=0,src=x,len_burst={c1}*{h}*{w}
copy_gm_to_cbuf_multi_nd2nz_b16,dst=131072,src=f,n={k},d={n},src_d={n},dst_c0_stride={k}
set_flag,src=MTE2,dst=MTE1,id=0
wait_flag,src=MTE2,dst=MTE1,id=0
set_padding,value=0
img2colv2_cbuf_to_ca,dst=0,src=0,k_ext={k},m_ext={out},stride_w={s},stride_h={s},filter_w=3,filter_h=3,dilation_w={d},dilation_h={d},pad_left={p},pad_right={p},pad_top={p},pad_bottom={p},l1_w={w},l1_h={h},channels={c1}*16,type=fp16
loop,i,{k}/16
  load_cbuf_to_cb,dst=i*{n}*32,src=131072+i*512,repeat={n}/16,src_stride={k}/16,transpose=1
endloop
set_flag,src=MTE1,dst=M,id=0
wait_flag,src=MTE1,dst=M,id=0
mad,c=0,a=0,b=0,m={out},k={k},n={n},init=1,type=fp16
set_flag,src=M,dst=FIX,id=0
wait_flag,src=M,dst=FIX,id=0
copy_matrix_cc_to_gm,dst=y,src=0,n={n},m={out},dst_stride={n},src_stride={rows},nz2nd=1,type=fp32
"""


def convolution(kernels, c1, h, w, n, stride, dilation, pad):
    """A 3 x 3 filter over NC1HWC0, summed window by window in numpy."""
    x = kernels.numbers("fp16", c1, h, w, 16)
    k = c1 * 9 * 16
    f = kernels.numbers("fp16", k, n)
    filters = f.astype(np.float64).reshape(c1, 3, 3, 16, n)
    padded = np.pad(x.astype(np.float64), ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    out_h = (h + 2 * pad - 2 * dilation - 1) // stride + 1
    out_w = (w + 2 * pad - 2 * dilation - 1) // stride + 1
    want = np.zeros((out_h, out_w, n))
    for y in range(out_h):
        for z in range(out_w):
            window = padded[:, y * stride:y * stride + 2 * dilation + 1:dilation,
                            z * stride:z * stride + 2 * dilation + 1:dilation, :]
            want[y, z] = np.tensordot(window, filters, 4)
    out = out_h * out_w
    text = CONVOLUTION.format(c1=c1, h=h, w=w, n=n, k=k, out=out, rows=-(-out // 16) * 16, s=stride,
                              d=dilation, p=pad)
    kernels.check("convolution %dx%dx%d, stride %d, dilation %d, pad %d" %
                  (c1 * 16, h, w, stride, dilation, pad), [kernels.trace("conv", text)],
                  {"x": x, "f": f}, {"y": want.reshape(out, n)}, 1e-3)


# ---- layouts ----

TO_NZ = """trace,version=1
kernel,name=to_nz,arch=dav-c220,blocks=1
tensor,name=x,dtype={type},shape={m}x{n},io=in
tensor,name=y,dtype={type},shape={n1}x{m}x{c0},io=out,format=NZ
stream,core=AIC
copy_gm_to_cbuf_multi_nd2nz_b{bits},dst=0,src=x,n={m},d={n},src_d={n},dst_c0_stride={m}
set_flag,src=MTE2,dst=MTE3,id=0
wait_flag,src=MTE2,dst=MTE3,id=0
copy_cbuf_to_gm,dst=y,src=0,len_burst={m}*{n1}
"""

FROM_NZ = """trace,version=1
kernel,name=from_nz,arch=dav-c220,blocks=1
tensor,name=x,dtype=fp16,shape={n1}x{m}x16,io=in,format=NZ
tensor,name=y,dtype=fp16,shape={m}x{n},io=out
stream,core=AIV
copy_gm_to_ubuf,dst=0,src=x,len_burst={m}*{n1}
set_flag,src=MTE2,dst=V,id=0
wait_flag,src=MTE2,dst=V,id=0
loop,i,{n1}
  copy_ubuf_to_ubuf,dst=65536+i*32,src=i*{m}*32,n_burst={m},len_burst=1,dst_gap={n1}-1
endloop
set_flag,src=V,dst=MTE3,id=0
wait_flag,src=V,dst=MTE3,id=0
copy_ubuf_to_gm_align_b16,dst=y,src=65536,n_burst={m},len_burst={n}*2,src_gap={gap}
"""

TO_NC1HWC0 = """trace,version=1
kernel,name=nchw,arch=dav-c220,blocks=1
tensor,name=x,dtype=fp16,shape={c}x{hw},io=in,format=NCHW
tensor,name=y,dtype=fp16,shape={c1}x{hw}x16,io=out,format=NC1HWC0
stream,core=AIV
copy_gm_to_ubuf,dst=0,src=x,len_burst={c}*{hw}/16
set_flag,src=MTE2,dst=V,id=0
wait_flag,src=MTE2,dst=V,id=0
loop,i,{c1}
  scatter_vnchwconv_b16,dst=65536+i*{hw}*32,src=i*{hw}*32,repeat={hw}/16,dst_step=1,src_step={hw}/16,dst_repeat=16,src_repeat=1
endloop
set_flag,src=V,dst=MTE3,id=0
wait_flag,src=V,dst=MTE3,id=0
copy_ubuf_to_gm,dst=y,src=65536,len_burst={c}*{hw}/16
"""


def layouts(kernels):
    for kind, bits, m, n in (("fp16", 16, 33, 40), ("fp32", "32s", 20, 21), ("int8", 8, 17, 70)):
        c0 = {"fp16": 16, "fp32": 8, "int8": 32}[kind]
        n1 = -(-n // c0)
        x = kernels.numbers(kind, m, n)
        nz = np.zeros((m, n1 * c0), x.dtype)
        nz[:, :n] = x
        nz = nz.reshape(m, n1, c0).transpose(1, 0, 2)
        text = TO_NZ.format(type=kind, bits=bits, m=m, n=n, n1=n1, c0=c0)
        kernels.check("ND to NZ, %s %dx%d" % (kind, m, n), [kernels.trace("to_nz", text)], {"x": x},
                      {"y": np.ascontiguousarray(nz)})
        if kind == "fp16":
            gap = (n1 * 32 - -(-n * 2 // 32) * 32) // 32
            text = FROM_NZ.format(m=m, n=n, n1=n1, gap=gap)
            kernels.check("NZ to ND, fp16 %dx%d" % (m, n), [kernels.trace("from_nz", text)],
                          {"x": np.ascontiguousarray(nz)}, {"y": x})
    x = kernels.numbers("fp16", 48, 64)
    want = np.ascontiguousarray(x.reshape(3, 16, 64).transpose(0, 2, 1))
    text = TO_NC1HWC0.format(c=48, c1=3, hw=64)
    kernels.check("NCHW to NC1HWC0", [kernels.trace("nchw", text)], {"x": x}, {"y": want})


# ---- vector kernels ----

ADD = """trace,version=1
kernel,name=add,arch=dav-c220,blocks={blocks}
tensor,name=x,dtype=fp16,shape={size},io=in
tensor,name=bias,dtype=fp16,shape={size},io=in
tensor,name=y,dtype=fp16,shape={size},io=out
stream,core=AIV
loop,free,{buffers}
  set_flag,src=V,dst=MTE2,id=free
  set_flag,src=MTE3,dst=V,id=free
endloop
loop,i,{tiles}
  let,at,(blk*{tiles}+i)*{tile}*2
  let,slot,i%{buffers}
  let,base,slot*{tile}*6
  wait_flag,src=V,dst=MTE2,id=slot
  copy_gm_to_ubuf,dst=base,src=x+at,len_burst={tile}/16
  copy_gm_to_ubuf,dst=base+{tile}*2,src=bias+at,len_burst={tile}/16
  set_flag,src=MTE2,dst=V,id=slot
  wait_flag,src=MTE2,dst=V,id=slot
  wait_flag,src=MTE3,dst=V,id=slot
  vadd,dst=base+{tile}*4,src0=base,src1=base+{tile}*2,repeat={tile}/128,type=fp16
  set_flag,src=V,dst=MTE2,id=slot
  set_flag,src=V,dst=MTE3,id=slot
  wait_flag,src=V,dst=MTE3,id=slot
  copy_ubuf_to_gm,dst=y+at,src=base+{tile}*4,len_burst={tile}/16
  set_flag,src=MTE3,dst=V,id=slot
endloop
loop,taken,{buffers}
  wait_flag,src=V,dst=MTE2,id=taken
  wait_flag,src=MTE3,dst=V,id=taken
endloop
"""


def additions(kernels):
    """The forms of the add examples, with fewer tiles."""
    for blocks, tile, buffers in ((8, 2048, 1), (8, 10240, 2), (1, 2048, 1), (8, 20480, 1)):
        size = blocks * 3 * tile
        x, bias = kernels.numbers("fp16", size), kernels.numbers("fp16", size)
        text = ADD.format(blocks=blocks, size=size, tile=tile, tiles=3, buffers=buffers)
        kernels.check("add, %d blocks of tiles of %d, %d buffers" % (blocks, tile, buffers),
                      [kernels.trace("add", text)], {"x": x, "bias": bias}, {"y": x + bias})


ATOMIC = """trace,version=1
kernel,name=sum,arch=dav-c220,blocks=24
tensor,name=x,dtype=fp32,shape=24x64,io=in
tensor,name=y,dtype=fp32,shape=64,io=inout
stream,core=AIV
copy_gm_to_ubuf,dst=0,src=x+blk*256,len_burst=8
set_flag,src=MTE2,dst=MTE3,id=0
wait_flag,src=MTE2,dst=MTE3,id=0
set_atomic_add
set_atomic_f32
copy_ubuf_to_gm,dst=y,src=0,len_burst=8
set_atomic_none
"""


def atomics(kernels):
    x = kernels.rng.integers(-1000, 1000, (24, 64)).astype(np.float32) # sums in any order
    y = kernels.rng.integers(-1000, 1000, 64).astype(np.float32)
    kernels.check("atomic sum of 24 blocks", [kernels.trace("sum", ATOMIC)], {"x": x, "y": y},
                  {"y": x.sum(axis=0) + y})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vinci")
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    np.seterr(all="ignore")
    print("# seed %d" % options.seed)
    kernels = Kernels(options)
    for kind in ("fp16", "bf16", "fp32", "hf32", "int8"):
        matmul(kernels, 100, 70, 50, kind)
        matmul(kernels, 100, 70, 50, kind, soc="Ascend950PR_9589")
    matmul(kernels, 513, 300, 520, "fp16")
    matmul(kernels, 513, 300, 520, "int8")
    matmul(kernels, 1, 256, 96, "fp16", "out_dtype=fp32")
    matmul(kernels, 33, 129, 200, "fp16", "out_dtype=fp32")
    requantised(kernels)
    convolution(kernels, 2, 8, 9, 32, 1, 1, 1)
    convolution(kernels, 1, 9, 12, 16, 2, 2, 2)
    layouts(kernels)
    additions(kernels)
    atomics(kernels)
    plan()
    return 1 if kernels.failed else 0


if __name__ == "__main__":
    sys.exit(main())
