#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Layers of networks for sound: frames of a row, rows that are longer by their own elements, bounds that the run
# computes. Values against numpy, on two chips.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_net_signals
"$PYTHON" -c 'import numpy' 2>/dev/null || skip_without "numpy"
plan 7

# Windows and steps are larger than the unfolding on the way into L0 takes.
cat >"$work/make.py" <<'END'
import sys
import numpy as np
folder = sys.argv[1]
rng = np.random.default_rng(5)
def graph(name, tensors, layers):
    with open("%s/%s.csv" % (folder, name), "w") as out:
        out.write("graph,version=1\n")
        for tensor in tensors:
            out.write("tensor,name=%s,dtype=fp32,shape=%s%s\n" % tensor)
        for layer in layers:
            out.write("layer," + layer + "\n")
def save(name, array):
    np.save("%s/%s.npy" % (folder, name), array.astype(np.float32))
def frames(name, count, length, kernel, stride, channels):
    wide = (length - kernel) // stride + 1
    x, w, b = rng.normal(size=(count, 1, length)), rng.normal(size=(channels, 1, kernel)) / kernel ** .5, rng.normal(size=channels)
    x, w, b = (a.astype(np.float16).astype(np.float64) for a in (x, w, b))
    y = np.array([[[row[0, t * stride:t * stride + kernel] @ w[k, 0] + b[k] for t in range(wide)] for k in range(channels)] for row in x])
    for key, value in (("x", x), ("w", w), ("b", b), ("y", y)):
        save(name + "_" + key, value)
    graph(name, [("x", "%dx1x%d" % (count, length), ",io=in"), ("w", "%dx1x%d" % (channels, kernel), ",io=weight"),
                 ("b", channels, ",io=weight"), ("y", "%dx%dx%d" % (count, channels, wide), ",io=out")],
          ["name=stft,op=Conv,in=x w b,out=y,args=kernel=%d strides=%d pads=0x0 dilations=1 group=1" % (kernel, stride)])
frames("frames", 1, 1700, 600, 160, 18)  # the last 100 numbers are in no frame
frames("batch", 3, 1000, 128, 70, 20)    # a window is no whole number of steps
x = rng.normal(size=(1, 40))
save("pad_x", x)
save("pad_y", np.pad(np.pad(x, ((0, 0), (7, 11)), mode="reflect"), ((0, 0), (3, 2)), mode="edge"))
graph("pad", [("x", "1x40", ",io=in"), ("m", "1x58", ""), ("y", "1x63", ",io=out")],
      ["name=mirror,op=Pad,in=x,out=m,args=pads=0x7x0x11 mode=reflect value=0",
       "name=edge,op=Pad,in=m,out=y,args=pads=0x3x0x2 mode=edge value=0"])
x = rng.normal(size=(5, 48)) * 4
save("clip_x", x)
save("clip_y", np.minimum(np.maximum(x, x.max() - 6), 3))
graph("clip", [("x", "5x48", ",io=in"), ("top", "1", ""), ("low", "1", ""), ("six", "1", ",io=weight,values=6"),
               ("high", "1", ",io=weight,values=3"), ("y", "5x48", ",io=out")],
      ["name=most,op=ReduceMax,in=x,out=top,args=axes=0x1 keepdims=0", "name=minus,op=Sub,in=top six,out=low",
       "name=clip,op=Clip,in=x low high,out=y,args=bounds=inputs"])
x = rng.normal(size=(1, 24, 20, 20))  # runs of 15 elements and 24 maps, neither of them whole blocks of 32 bytes
save("short_x", x)
save("short_y", np.concatenate([x.reshape(16, 40, 15).transpose(1, 0, 2).reshape(-1), x.mean((2, 3)).reshape(-1)]))
graph("short", [("x", "1x24x20x20", ",io=in"), ("v", "16x40x15", ""), ("t", "40x16x15", ""), ("r", "9600", ""),
                ("m", "1x24x1x1", ""), ("n", "24", ""), ("y", "9624", ",io=out")],
      ["name=view,op=Reshape,in=x,out=v", "name=turn,op=Transpose,in=v,out=t,args=perm=1x0x2",
       "name=flat,op=Reshape,in=t,out=r", "name=mean,op=GlobalAveragePool,in=x,out=m", "name=row,op=Reshape,in=m,out=n",
       "name=both,op=Concat,in=r n,out=y,args=axis=0"])
END
"$PYTHON" "$work/make.py" "$work" || exit 99

# agrees NAME SOC ATOL: problems of a network's values.
agrees() {
  set -- "$1" "$2" "$3" --input=x="$work/$1_x.npy"
  if [ -f "$work/$1_w.npy" ]; then
    set -- "$@" --input=w="$work/$1_w.npy" --input=b="$work/$1_b.npy"
  fi
  name=$1 chip=$2 atol=$3
  shift 3
  keep "$vinci" net run "$work/$name.csv" --soc-version="$chip" --memory=flat --repeat=1 "$@" \
    --expect=y="$work/${name}_y.npy" --atol="$atol"
  expect 0 '' ' 0 refused'
}
report "frames of a row are one product" "$(agrees frames Ascend910B4 0.02; agrees frames Ascend310P3 0.02)"
report "of several rows, in windows that are no whole number of steps" "$(agrees batch Ascend910B4 0.02)"
report "a row gets more elements by its own" "$(agrees pad Ascend910B4 0.002)"
report "bounds are computed in the run" "$(agrees clip Ascend910B4 0.02; agrees clip Ascend310P3 0.02)"
report "what some chips cannot copy in 16 bits goes another way" "$(agrees short Ascend910B4 0.01
  agrees short Ascend310P3 0.01)"

sed 's/pads=0x7x0x11/pads=0x40x0x0/; s/shape=1x58/shape=1x80/; s/shape=1x63/shape=1x85/' "$work/pad.csv" >"$work/far.csv"
keep "$vinci" net run "$work/far.csv" --soc-version=Ascend910B4
report "a mirror does not reach beyond the row" "$(expect 3 - 'refused: node mirror (Pad): 40 and 0 elements more at the ends of 40')"
sed 's/1x40/2x40/; s/1x58/2x58/; s/1x63/2x63/' "$work/pad.csv" >"$work/rows.csv"
keep "$vinci" net run "$work/rows.csv" --soc-version=Ascend910B4
report "several rows are refused by name" "$(expect 3 - 'refused: node mirror (Pad): mode reflect or edge but along one row')"
