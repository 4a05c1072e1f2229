#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Passes that change where tensors lie and when they are there: split, in-place, recompute, swap. The values stay, what
# each promises holds, what cannot be is refused.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_net_memory
plan 19

# run NAME NETWORK OPTION...: a run with values in the folder NAME.
run() {
  folder=$1 file=$2
  shift 2
  keep "$vinci" net run "$work/$file" --memory=flat --repeat=1 --fill random:7 --output="$work/$folder" "$@"
}
# A number of summary.json; FOLDER KEY.
number() { sed -n "s/^ *\"$2\": *\([0-9.]*\),*\$/\1/p" "$work/$1/summary.json"; }
# same ONE OTHER TENSOR: problems unless both runs have the same bytes.
same() { cmp "$work/$1/tensors/$3.npy" "$work/$2/tensors/$3.npy" 2>&1; }
holds() { [ "$2" "$3" "$4" ] || echo "$1: not $2 $3 $4"; }

# ---- split: rows of products and elementwise kernels, images of convolutions ----
# Rows of 128 bytes: parts have a multiple of 4, the last part of 4103 rows has another size.
cat >"$work/dense.csv" <<'END'
graph,version=1
tensor,name=x,dtype=fp16,shape=4103x64,io=in
tensor,name=w1,dtype=fp16,shape=64x512,io=weight
tensor,name=w2,dtype=fp16,shape=512x64,io=weight
tensor,name=h,dtype=fp16,shape=4103x512
tensor,name=g,dtype=fp16,shape=4103x512
tensor,name=z,dtype=fp16,shape=4103x64
tensor,name=y,dtype=fp16,shape=4103x64,io=out
layer,name=up,op=MatMul,in=x w1,out=h
layer,name=act,op=Sigmoid,in=h,out=g
layer,name=down,op=MatMul,in=g w2,out=z
layer,name=sum,op=Add,in=z x,out=y
END
conv='args=kernel=3x3 strides=1x1 pads=1x1x1x1 dilations=1x1 group=1'
cat >"$work/maps.csv" <<END
graph,version=1
tensor,name=x,dtype=fp16,shape=5x32x32x32,io=in
tensor,name=w1,dtype=fp16,shape=32x32x3x3,io=weight
tensor,name=w2,dtype=fp16,shape=32x32x3x3,io=weight
tensor,name=a,dtype=fp16,shape=5x32x32x32
tensor,name=b,dtype=fp16,shape=5x32x32x32
tensor,name=d,dtype=fp16,shape=5x32x32x32
tensor,name=y,dtype=fp16,shape=5x32x16x16,io=out
layer,name=one,op=Conv,in=x w1,out=a,$conv
layer,name=act,op=Relu,in=a,out=b
layer,name=two,op=Conv,in=b w2,out=d,$conv
layer,name=pool,op=MaxPool,in=d,out=y,args=kernel=2x2 strides=2x2 pads=0x0x0x0 dilations=1x1 ceil_mode=0
END
# A small L2, slow memory, cheap launches and first reads: what is large for a chip is large in bytes, too.
large='--set hbm.bandwidth=100GB/s --set launch.base=1ns --set launch.per_cluster=0ns --set l2.miss_cycles=0'
for soc in Ascend910B4 Ascend950PR_9589; do
  for network in dense maps; do
    size=$([ $network = dense ] && echo 1MiB || echo 640KiB)
    # shellcheck disable=SC2086
    run split $network.csv --soc-version=$soc $large --set l2.size=$size --passes=layout,residual,chain,split
    split=$(expect 0 '')
    # shellcheck disable=SC2086
    run whole $network.csv --soc-version=$soc $large --set l2.size=$size --passes=layout,residual,chain
    report "$soc: $network in parts has the values of the whole" "$(
      expect 0 ''
      echo "$split" | sed '/^$/d'
      same split whole y
      holds launches "$(number split launches)" -gt "$(number whole launches)"
    )"
  done
done
keep "$vinci" net compile "$work/dense.csv" --soc-version=Ascend910B4 -o "$work/kernels.csv"
report "a chain that fits into L2 stays whole" "$(expect 0 ''
  echo "$out" | grep -q '^split  *0  *[1-9]' || echo "the pass did not refuse: $out")"
# shellcheck disable=SC2086
keep "$vinci" net compile "$work/dense.csv" --soc-version=Ascend910B4 $large --set l2.size=1MiB -o "$work/parts.csv"
run text parts.csv --soc-version=Ascend910B4
report "parts can be written and read" "$(expect 0 ''
  grep -q '^view,.*in=[^ ]* [^ ]* ' "$work/parts.csv" || echo "no view of several tensors")"

# ---- in place: the bytes of a kernel whose result lies where its first input lies ----
problems=
for soc in Ascend910B4 Ascend310P3 Ascend950PR_9589; do
  for spec in 'relu shape=1001' 'add shape=33x101 shape1=101' 'add shape=64x33 shape1=64x1' 'sigmoid shape=5001 dtype=fp32' \
    'chain steps=add:x:x1,relu,mul:x1 shape=3x1003 shape1=3x1003'; do
    # shellcheck disable=SC2086
    "$vinci" compile $spec -s $soc -o "$work/two.csv" >"$work/out" 2>&1 || problems="$problems$(cat "$work/out")"
    sed -e '/^tensor,name=y,/d' -e 's/^\(tensor,name=x,.*\)io=in/\1io=inout/' -e 's/dst=y\([,+-]\|$\)/dst=x\1/' \
      "$work/two.csv" >"$work/one.csv"
    for form in two one; do
      "$vinci" run "$work/$form.csv" -s $soc --memory=flat --fill random:5 -q --output="$work/$form" >"$work/out" 2>&1 ||
        problems="$problems$(cat "$work/out")"
    done
    cmp -s "$work/two/tensors/y.npy" "$work/one/tensors/x.npy" || problems="$problems $soc $spec has other values in place."
  done
done
report "elementwise kernels read each tile before they write there" "$problems"

cat >"$work/copies.csv" <<'END'
graph,version=1
tensor,name=x,dtype=fp16,shape=64x128,io=in
tensor,name=c,dtype=fp16,shape=64x128
tensor,name=a,dtype=fp16,shape=64x128
tensor,name=b,dtype=fp16,shape=64x128
tensor,name=d,dtype=fp16,shape=64x128
tensor,name=y,dtype=fp16,shape=64x128,io=out
copy,name=in,way=d2d,in=x,out=c
layer,name=soft,op=Softmax,in=c,out=a,args=axis=1
layer,name=act,op=Sigmoid,in=a,out=b
layer,name=again,op=Softmax,in=b,out=d,args=axis=1
copy,name=out,way=d2d,in=d,out=y
END
run placed copies.csv --soc-version=Ascend910B4 --passes=in-place
placed=$(expect 0 '')
run apart copies.csv --soc-version=Ascend910B4 --passes=none
report "copies of what nobody overwrites are gone, the values are the same" "$(expect 0 ''
  echo "$placed" | sed '/^$/d'
  same placed apart y
  holds "copied without" "$(number apart d2d_bytes)" -eq $((2 * 64 * 128 * 2))
  holds "copied with" "$(number placed d2d_bytes)" -eq 0)"
keep "$vinci" net compile "$work/copies.csv" --soc-version=Ascend910B4 --passes=in-place
report "the table of passes has copied bytes" "$(expect 0 '' 'copied MiB')"
# An input that is an output as well, and one that is read later, keep their memory.
sed 's/in=b,out=d/in=a,out=d/; s/^tensor,name=b,.*/&,io=out/' "$work/copies.csv" >"$work/later.csv"
run placed later.csv --soc-version=Ascend910B4 --passes=in-place
placed=$(expect 0 '')
run apart later.csv --soc-version=Ascend910B4 --passes=none
report "what is read later is not overwritten" "$(expect 0 ''
  echo "$placed" | sed '/^$/d'
  same placed apart y
  same placed apart b)"

cat >"$work/stale.csv" <<'END'
graph,version=1
tensor,name=x,dtype=fp16,shape=64,io=in
tensor,name=a,dtype=fp16,shape=64
tensor,name=b,dtype=fp16,shape=64,memory=a
tensor,name=y,dtype=fp16,shape=64,io=out
kernel,name=one,op=relu,in=x,out=a,args=shape=64
kernel,name=two,op=abs,in=a,out=b,args=shape=64
kernel,name=three,op=add,in=a b,out=y,args=shape=64
END
keep "$vinci" net run "$work/stale.csv" --soc-version=Ascend910B4
report "a read of what has been overwritten is named" "$(expect 3 \
  "$work/stale.csv: error: node \"three\" (add) reads tensor \"a\", over which node \"two\" has written
hint: give the result of that node memory of its own, or read the result")"

# ---- a limit of memory: activations of a forward pass wait for the backward pass ----
{
  echo graph,version=1
  for i in 0 1 2 3 4 5; do
    [ $i = 0 ] || echo "tensor,name=w$i,dtype=fp16,shape=64x64,io=weight"
    for name in s f p g; do
      io=
      [ $name$i = f0 ] && io=,io=in
      [ $name$i = g1 ] && io=,io=out
      echo "tensor,name=$name$i,dtype=fp16,shape=96x64$io"
    done
  done
  for i in 1 2 3 4 5; do
    echo "layer,name=mm$i,op=MatMul,in=f$((i - 1)) w$i,out=s$i"
    echo "layer,name=act$i,op=$([ $((i % 2)) = 0 ] && echo Relu || echo Sigmoid),in=s$i,out=f$i"
  done
  for i in 5 4 3 2 1; do
    echo "layer,name=mul$i,op=Mul,in=$([ $i = 5 ] && echo f5 || echo g$((i + 1))) f$i,out=p$i"
    echo "layer,name=back$i,op=MatMul,in=p$i w$i,out=g$i"
  done
} >"$work/steps.csv"
run free steps.csv --soc-version=Ascend910B4
for passes in -recompute -swap all; do
  limit=$([ $passes = all ] && echo 118 || echo 130)
  run limited steps.csv --soc-version=Ascend910B4 --passes=$passes --memory-limit=${limit}KiB
  report "a limit is met with the same values: $passes" "$(expect 0 ''
    same free limited g1
    holds "memory without" "$(number free memory_bytes)" -gt $((limit * 1024))
    holds memory "$(number limited memory_bytes)" -le $((limit * 1024))
    copied=$(number limited d2h_bytes)
    case $passes in
      -recompute) holds "copies of swap" "$copied" -gt 0 ;;
      -swap) holds "copies of recompute" "$copied" -eq 0 ;;
    esac)"
done
run limited steps.csv --soc-version=Ascend910B4 --memory-limit=60KiB
report "a limit that cannot be met says what is reached" "$(expect 3 - | sed '/^$/d'
  case $err in
    *'the limit of memory, 61440 bytes, cannot be met: at least '*' bytes are alive at once, '*' of them weights, inputs and results, and the plan needs '*) ;;
    *) echo "$err" ;;
  esac)"
run limited steps.csv --soc-version=Ascend910B4 --memory-limit=much
report "a limit that is not a size is refused" "$(expect 2 - | sed '/^$/d')"
keep "$vinci" net run "$srcdir/traces/examples/two_layers.graph.csv" --soc-version=Ascend910B4 --memory-limit=1MiB
report "a limit for kernels that are given is refused" "$(expect 2 "error: --memory-limit is for networks of layers; this graph has kernels alone
hint: leave the option out, or run what 'vinci net compile' with the option writes")"
keep "$vinci" net compile "$work/steps.csv" --soc-version=Ascend910B4 --passes=-recompute --memory-limit=130KiB -o "$work/swapped.csv"
run text swapped.csv --soc-version=Ascend910B4
report "tensors on the host can be written and read" "$(expect 0 ''
  grep -q 'io=host' "$work/swapped.csv" || echo "no tensor lies on the host"
  same free text g1)"

sed 's/^tensor,name=a,.*/&,io=host/; s/,memory=a//' "$work/stale.csv" >"$work/host.csv"
keep "$vinci" net run "$work/host.csv" --soc-version=Ascend910B4
report "kernels do not write memory of the host" "$(expect 3 "$work/host.csv: error: node \"one\" (relu) writes, in the host's memory, tensor \"a\"
hint: copy with way=h2d or way=d2h what has io=host")"
