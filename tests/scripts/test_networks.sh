#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The public networks of scripts/experiments/networks are those that were published: parameters, multiplications,
# launches.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
all=$srcdir/scripts/experiments/networks/all.lua

work_folder test_networks
plan 8

# Parameters and GFLOPS (of multiplications) as torchvision's pages of its models state them; BERT-base: parameters of
# bert-base-uncased, and 12 layers of 12 * 768^2 * 384 + 2 * 384^2 * 768 multiplications. ERFNet: 2.1 M as its authors say,
# 2.06 M and 26.9 G (of all layers) in comparisons of networks for segmentation. A layer of Llama-7B: 4 * 4096^2 +
# 3 * 4096 * 11008 + 2 * 4096 parameters, and 2 * 512^2 * 4096 multiplications besides those of 512 tokens by weights. No page
# states those of PP-OCR.
cat >"$work/published" <<'END'
alexnet 61100840 0.71
bert_base 109482240 35.33
densenet121 7978856 2.83
densenet169 14149480 3.36
efficientnet_b1 7794184 0.69
erfnet 2064256 26.61
googlenet 6624904 1.5
llama_7b_layer 202383360 105.76
lraspp_mobilenet_v3_large 3221538 2.086
mnasnet1_0 4383312 0.31
mobilenet_v2 3504872 0.3
mobilenet_v3_large 5483032 0.22
regnet_x_1_6gf 9190136 1.6
resnet101 44549160 7.8
resnet152 60192808 11.51
resnet18 11689512 1.81
resnet34 21797672 3.66
resnet50 25557032 4.09
resnext101_32x8d 88791336 16.41
resnext50_32x4d 25028904 4.23
squeezenet1_1 1235496 0.35
vgg16 138357544 15.47
vit_b_16 86567656 17.56
wide_resnet101_2 126886696 22.75
wide_resnet50_2 68883240 11.4
END
keep "$vinci" lua "$all"
report "parameters and multiplications are as published" "$(expect 0 ''
  awk 'NR == FNR { params[$1] = $2; macs[$1] = $3; left++; next }
    $1 ~ /^pp_ocr/ { next }
    $5 != params[$1] || $2 - macs[$1] > 0.0051 || macs[$1] - $2 > 0.0051 { print "not", params[$1], macs[$1] ":", $0 }
    { left-- }
    END { if (left) print left " networks missing" }' "$work/published" "$work/out")"

# 53 convolutions, a product; the sums of the 16 blocks are in the kernels of their convolutions.
"$vinci" lua "$all" resnet50 | sed 's/{batch}/2/g' >"$work/resnet50.csv"
keep "$vinci" net compile "$work/resnet50.csv" --soc-version=Ascend910B4 -o "$work/kernels.csv"
report "ResNet-50 has its layers, its launches and 4 089 184 256 multiplications for each image" "$(expect 0 '' ' 0 refused'
  "$PYTHON" - "$work/kernels.csv" <<'END'
import collections, sys
count, macs, residual = collections.Counter(), 0, 0
for line in open(sys.argv[1]):
    if not line.startswith("kernel,") or "offline=1" in line:
        continue
    fields = dict(f.split("=", 1) for f in line.strip().split(",")[1:])
    args = dict(a.split("=", 1) for a in fields["args"].split())
    op = fields["op"]
    count[op] += 1
    residual += "residual" in args
    if op == "conv2d":
        kernel, stride = [int(x) for x in args["kernel"].split("x")], int(args["stride"].split("x")[0])
        pad = int(args["pad"].split("x")[0])
        side = (int(args["h"]) + 2 * pad - kernel[0]) // stride + 1
        macs += int(args["n"]) * int(args["k"]) * int(args["c"]) * kernel[0] * kernel[1] * side * side // int(args["groups"])
    elif op == "matmul" or op == "batch_matmul": # a convolution of single pixels may be one
        macs += int(args.get("batch", 1)) * int(args["m"]) * int(args["k"]) * int(args["n"])
if macs != 2 * 4089184256:
    print(macs, "multiplications")
cubes = count["conv2d"] + count["matmul"] + count["batch_matmul"]
if cubes != 54 or residual != 16:
    print(cubes, "products, with", residual, "sums")
if sum(count.values()) != 54 + 2 + 1 + 1 + 1: # casts at the ends, the conversion of the input, two poolings
    print(count)
END
)"

sed 's/{batch}/2/g' >"$work/normed.csv" <<END
$("$vinci" lua - 2>/dev/null <<LUA
local all = dofile "$all"
io.write((all.family("resnet50", { norms = true })))
LUA
)
END
keep "$vinci" net compile "$work/normed.csv" --soc-version=Ascend910B4 -o "$work/folded.csv"
report "with batch norms it becomes the same kernels" "$(expect 0 ''
  for file in kernels folded; do
    grep '^kernel' "$work/$file.csv" | grep -v offline=1 | sed 's/.*,op=/op=/; s/,in=.*args=/,args=/; s/,origin.*//' >"$work/$file"
  done
  cmp "$work/kernels" "$work/folded")"

# Each network, on chips whose cores are cube and vector core in one, which lack the most instructions; encoders with a
# kernel of attention for each layer.
incomplete=
for network in $(awk '{ print $1 }' "$work/published"); do
  "$vinci" lua "$all" "$network" | sed 's/{batch}/1/g' >"$work/one.csv"
  for chip in Ascend310P3 Ascend910A; do
    "$vinci" net compile "$work/one.csv" --soc-version="$chip" -o "$work/of_chip.csv" >"$work/said" 2>&1
    case $(grep '^Layers' "$work/said") in *' 0 refused;'*) ;; *) incomplete="$incomplete $network on $chip" ;; esac
    case $network in
    bert_base | vit_b_16)
      [ "$(grep -c 'op=flash_attention' "$work/of_chip.csv")" -eq 12 ] || incomplete="$incomplete attention of $network on $chip"
      ;;
    llama_7b_layer)
      grep -q 'op=flash_attention.*causal=1' "$work/of_chip.csv" || incomplete="$incomplete causal attention of $network on $chip"
      ;;
    esac
  done
done
report "every network is complete on coupled cores" "$incomplete"

# Of layers that ask for more than matrices and points: every kernel can be lowered, and a result of the detector of text
# has one channel, which no copy of single elements stores: that alone took 7.5 ms on the 310P3.
unfinished=
for network in lraspp_mobilenet_v3_large pp_ocrv3_det pp_ocrv3_rec; do
  "$vinci" lua "$all" "$network" | sed 's/{batch}/1/g' >"$work/one.csv"
  for chip in Ascend310P3 Ascend910A; do
    keep "$vinci" net run "$work/one.csv" --soc-version="$chip" --memory=flat --repeat=1
    [ "$code" -eq 0 ] || unfinished="$unfinished $network on $chip: $err"
    printf '%s\n' "$out" | awk '$1 == "Time" && $2 < 4000 { fast = 1 } END { exit !fast }' ||
      unfinished="$unfinished $network on $chip takes more than 4 ms"
  done
done
report "networks of segmentation and text run on coupled cores" "$unfinished"

"$vinci" lua "$all" squeezenet1_1 >"$work/squeezenet.csv"
keep "$vinci" net serve "$work/squeezenet.csv" --soc-version=Ascend910B4 --memory=flat --gears=1,2 \
  --requests=poisson:rate=1000,count=10
report "a network is a family for vinci net serve" "$(expect 0 '' '10 requests')"

keep "$vinci" lua "$all" resnet51
report "an unknown network" "$(expect 2 - ; case $err in "error: no network 'resnet51'"*) ;; *) echo "$err" ;; esac)"

keep "$vinci" lua "$srcdir/tests/accuracy/gears.lua" --only=alexnet --most=4
report "make gears compares ratios to batch 1" "$(expect 0 '' 'alexnet                4       4324.0'
  printf '%s\n' "$out" | awk '$2 == 4 { error = (($4 / first) / ($3 / measured) - 1) * 100
      if (error - $7 > 1.5 || $7 - error > 1.5) print error, $0 }
    $2 == 1 { first = $4; measured = $3 }')"
