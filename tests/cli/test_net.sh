#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci net: runs of graphs, what they agree with, and what they refuse.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4
example=$srcdir/traces/examples/two_layers.graph.csv

work_folder test_net
plan 32

# column NAME: that column of nodes.csv, one line for each node.
column() {
  awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
    { print $at }' "$work/out.dir/nodes.csv"
}

keep "$vinci" net run "$example" $soc --output="$work/out.dir"
report "a network is simulated" "$(expect 0 '' 'Nodes     3 simulated'
  for file in nodes.csv kernel_details.csv step_trace_time.csv memory_record.csv trace.json; do
    [ -s "$work/out.dir/$file" ] || echo "no $file"
  done)"

# One run on an empty chip is what a profile in its order is, when nothing was written before: the same kernels find the
# same lines. The two weights differ in bytes, since a profile does not say which tensors are the same. Rows of a profile take as
# many cores as the vendor's library does: blocks=0.
sed 's/4096x1024/4096x512/; s/32x1024,io=out/32x512,io=out/; s/k=4096 n=1024/k=4096 n=512/; s/op=gelu.*args=shape=32x4096/& blocks=0/' "$example" >"$work/first.csv"
keep "$vinci" net run "$work/first.csv" $soc --repeat=1 --output="$work/out.dir"
report "a first run is simulated" "$(expect 0 '')"
column duration_us >"$work/durations"
keep "$vinci" run --ops "$work/out.dir/kernel_details.csv" $soc --set=l2.owed=0KiB --sequence --memory=cycle \
  --output="$work/ops"
report "kernel_details.csv is a profile for vinci run --ops --sequence, of the same durations" \
  "$(expect 0 ''
    "$PYTHON" - "$work/ops/op_summary.csv" "$work/durations" <<'END'
import csv, sys
rows = [r["Task Duration(us)"] for r in csv.DictReader(open(sys.argv[1]))]
own = open(sys.argv[2]).read().split()
for a, b in zip(rows, own):
    if abs(float(a) - float(b)) > 0.01 * float(b):
        print("durations %s and %s" % (a, b))
if len(rows) != len(own):
    print("%d and %d rows" % (len(rows), len(own)))
END
  )"

# Eight equal layers: from some layer on the context is the same.
{
  echo graph,version=1,name=deep
  echo tensor,name=x0,dtype=fp16,shape=64x512,io=in
  for i in 1 2 3 4 5 6 7 8; do
    echo "tensor,name=w$i,dtype=fp16,shape=512x512,io=weight"
    echo "tensor,name=x$i,dtype=fp16,shape=64x512$([ $i -lt 8 ] || echo ,io=out)"
    echo "kernel,name=fc$i,op=matmul,in=x$((i - 1)) w$i,out=x$i,args=m=64 k=512 n=512"
  done
} >"$work/deep.csv"
keep "$vinci" net run "$work/deep.csv" $soc --set l2.size=1MiB --repeat=1 --output="$work/out.dir"
column duration_us >"$work/some"
report "what met the same context is remembered" "$(expect 0 '' remembered
  column from | grep -c remembered | awk '$1 < 2 { print "only " $1 " nodes are remembered" }')"
keep "$vinci" net run "$work/deep.csv" $soc --set l2.size=1MiB --repeat=1 --exact --output="$work/out.dir"
column duration_us >"$work/all"
report "and differs from what is simulated by at most 1 per cent" "$(expect 0 ''
  column from | grep -v simulated
  paste "$work/some" "$work/all" | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 0.01 * $2) print }')"

sed 's/op=gelu/op=guelu/' "$example" >"$work/bad.csv"
keep "$vinci" net run "$work/bad.csv" $soc
report "a kernel that cannot be lowered is named, and the rest runs" \
  "$(expect 3 'error: 1 of 3 nodes could not be lowered' 'refused: node act (guelu)')"

keep "$vinci" net run "$example" $soc --plan=pak
report "an unknown plan has a hint" "$(expect 2 "error: unknown plan 'pak'
hint: did you mean pack?")"

sed 's/^kernel,name=act.*/layer,name=act,op=Gelu,in=h,out=a/' "$example" >"$work/layer.csv"
keep "$vinci" net run "$work/layer.csv" $soc
report "a layer becomes a kernel" "$(expect 0 '' 'Layers    1: 1 lowered')"

sed 's/^kernel,name=act.*/layer,name=act,op=Geelu,in=h,out=a/' "$example" >"$work/layer.csv"
keep "$vinci" net run "$work/layer.csv" $soc
report "a layer without a kernel is refused by name" \
  "$(expect 3 'error: 1 of 3 nodes could not be lowered' 'refused: node act (Geelu): no kernel of this type')"
keep "$vinci" net run "$work/layer.csv" $soc --unknown-us=500
report "or takes the time that is given" "$(expect 0 '' '1 given')"

keep "$vinci" net run "$work/layer.csv" $soc --passes=chian
report "an unknown pass has a hint" "$(expect 2 "error: unknown pass 'chian'
hint: did you mean 'chain'?")"

cnn=$srcdir/traces/examples/small_cnn.graph.csv
keep "$vinci" net compile "$cnn" $soc -o "$work/kernels.csv"
report "passes tell what they change" "$(expect 0 '' 'layout ')"
keep "$vinci" net run "$work/kernels.csv" $soc --fill random:1 --output="$work/one"
report "the kernels run with values" "$(expect 0 - )"
for passes in none -layout -chain,-residual; do
  keep "$vinci" net run "$cnn" $soc --fill random:1 --passes=$passes --output="$work/other"
  report "values without passes: $passes" "$(expect 0 - )"
done
keep "$vinci" net run "$cnn" $soc --ablate --memory=flat --repeat=1
report "an ablation has a row for each pass" "$(expect 0 '' 'all - dtype')"


for option in passes=none dtype=fp8 half-ends winograd memory-limit=1 unknown-us=5; do
  keep "$vinci" net run "$example" $soc --$option
  expect 2 "error: --${option%=*} is for networks of layers; this graph has kernels alone
hint: leave the option out, or run what 'vinci net compile' with the option writes"
done >"$work/problems"
report "options that say how layers become kernels are refused for kernels" "$(cat "$work/problems")"
keep "$vinci" net run "$work/kernels.csv" $soc --memory=flat --repeat=1
report "what is computed offline is not launched" "$(expect 0 - 'Launches  12, 12 of them kernels')"
sed /name=fc1/d "$example" >"$work/gap.csv"
keep "$vinci" net plan "$work/gap.csv"
report "a graph that cannot run is named" "$(expect 3 "$work/gap.csv: error: node \"act\" (gelu) reads, before any node has written, tensor \"h\"
hint: put the node that writes the tensor first, or declare io=in or io=weight")"

keep "$vinci" net plan "$example"
report "plans are compared" "$(expect 0 '' 'pack   16.375')"

keep "$vinci" net run "$example" $soc --host=eager --repeat=1
report "a framework that launches operator by operator waits for the host" \
  "$(expect 0 ''
    printf '%s\n' "$out" | awk '/us busy/ { if ($8 < 250) print "only " $8 " us for the host"; seen = 1 }
      END { if (!seen) print "no line of the cores" }')"

# A whole training step of silicon: the sums are compared, and each part of the account is printed.
step=$srcdir/tests/reference/qwen_step_910b4.csv
costs=$srcdir/tests/reference/host_interval_910b4.csv
keep "$vinci" replay "$step" $soc --memory=flat --host-costs="$costs" --graph="$work/step.csv" --output="$work/out.dir"
report "a training step computes and idles as long as measured: 6 and 10 per cent at most" "$(expect 0 ''
  printf '%s\n' "$out" | awk '
    $1 == "computing" { limit = 6 } $1 == "idle" { limit = 10 } $1 == "span" { limit = 5 }
    limit { seen++; apart = $8; sub(/^[-+]/, "", apart); if (apart == "" || apart + 0 > limit) print }
    { limit = 0 }
    END { if (seen != 3) print seen + 0 " of 3 lines" }')"
report "and says how many types of at least 1 per cent of its time are within 12 per cent" "$(
  "$PYTHON" - "$work/out.dir/nodes.csv" "$work/out" <<'END'
import csv, re, sys
types = {}
for row in csv.DictReader(open(sys.argv[1])):
    measured = float(row["measured_us"] or 0)
    if row["from"] in ("simulated", "remembered") and measured > 0:
        types.setdefault(row["origin"], []).append((measured, float(row["duration_us"])))
computing = float(re.search(r"computing .* ([0-9.]+) ms measured", open(sys.argv[2]).read()).group(1)) * 1000
types = [rows for rows in types.values() if sum(m for m, s in rows) >= 0.01 * computing]
near = lambda measured, simulated: abs(simulated - measured) <= 0.12 * measured
whole = sum(m for rows in types for m, s in rows)
good = [rows for rows in types if near(sum(m for m, s in rows), sum(s for m, s in rows))]
told = re.search(r"within 12 %: (\d+) of (\d+) types .* which are ([0-9.]+) %.* rows: ([0-9.]+) %", open(sys.argv[2]).read())
own = (len(good), len(types), 100 * sum(m for rows in good for m, s in rows) / whole,
       100 * sum(m for rows in types for m, s in rows if near(m, s)) / whole)
if not told or any(abs(float(a) - b) > 0.06 for a, b in zip(told.groups(), own)):
    print("told", told and told.groups(), "own", own)
END
)"
report "most of its kernels have met their context before" "$(column from | sort | uniq -c |
  awk '{ n[$2] = $1 } END { if (n["remembered"] < 3 * n["simulated"] || n["simulated"] < 100) print n["simulated"], n["remembered"] }')"
column duration_us >"$work/some"
keep "$vinci" net run "$work/step.csv" $soc --memory=flat --repeat=1 --host=eager --output="$work/out.dir"
column duration_us >"$work/all"
report "the graph of a profile runs as the profile" "$(expect 0 ''; cmp "$work/some" "$work/all" 2>&1)"

cat >"$work/tiny.csv" <<END
Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats
a,Relu,AI_VECTOR_CORE,100,5,"4096",FLOAT16,ND,"4096",FLOAT16,ND
b,QuiltPatchwork,AI_VECTOR_CORE,106,70,"4096",FLOAT16,ND,"4096",FLOAT16,ND
c,Where,AI_CPU,176,40,"4096",FLOAT16,ND,"4096",FLOAT16,ND
d,Relu,AI_VECTOR_CORE,5000,5,"4096",FLOAT16,ND,"4096",FLOAT16,ND
END
keep "$vinci" replay "$work/tiny.csv" $soc --output="$work/out.dir"
report "what is not modelled has the measured duration on its unit; a long gap is the host's" \
  "$(expect 0 '' '2 rows are simulated, 2 have the measured duration, 1 waits of the host'
    column duration_us | sed -n '2p;3p;4p' | tr '\n' ' ' | grep -vx '70.000 40.000 4824.000 ')"

cat >"$work/tiny.lua" <<END
local vinci = require "vinci"
local soc = vinci.soc "Ascend910B4"
print((select(2, vinci.net_profile(soc, "$work/tiny.csv"):gsub("unit=HOST", ""))))
print((select(2, vinci.net_profile(soc, "$work/tiny.csv", { host_wait_us = 1000 }):gsub("unit=HOST", ""))))
print(vinci.net(soc, vinci.net_profile(soc, "$work/tiny.csv"), { memory = "flat" }).nodes[2].us)
print((select(2, pcall(vinci.net_profile, soc, "$work/none.csv"))))
END
keep "$vinci" lua "$work/tiny.lua"
report "a script gets the graph of a profile; a file that is not there is named" \
  "$(expect 0 '' "0
1
70.0
$work/none.csv: cannot read the list: No such file or directory")"

printf 'type,mean_us\nRelu,12\nAdd\n' >"$work/costs.csv"
keep "$vinci" replay "$work/tiny.csv" $soc --host-costs="$work/costs.csv"
report "a row of host costs that is none is named" "$(expect 3 "$work/costs.csv:3:1: error: not a type and microseconds
hint: a row is such as Add,119.2 behind the header type,mean_us")"

printf 'op,args\nrelu,shape=8\n' >"$work/list.csv"
keep "$vinci" replay "$work/list.csv" $soc
report "a list without tensors is not a profile" \
  "$(expect 3 "error: $work/list.csv is not a profile: it has no input shapes
hint: the profiler's kernel_details.csv has all that a replay needs")"

# A copy within device memory beside a kernel that streams: 2.3 us and 64 MiB at 317 GB/s; of 819.2 GB/s (hbm.bandwidth, hbm.pin_share) the copy takes
# twice its rate.
cat >"$work/copies.csv" <<END
graph,version=1
tensor,name=x,dtype=fp16,shape=33554432,io=in
tensor,name=y,dtype=fp16,shape=33554432,io=out
tensor,name=a,dtype=fp16,shape=67108864,io=in
tensor,name=b,dtype=fp16,shape=67108864,io=out
copy,name=c,way=d2d,in=x,out=y,stream=1
kernel,name=k,op=relu,in=a,out=b,args=shape=67108864
END
keep "$vinci" net run "$work/copies.csv" $soc --memory=flat --output="$work/out.dir"
report "copies within device memory slow kernels by the bytes that they move meanwhile" "$(expect 0 '' 'Copies    take'
  "$PYTHON" - "$work/out.dir/nodes.csv" <<'END'
import csv, sys
copy, kernel = csv.DictReader(open(sys.argv[1]))
copied, end = float(copy["duration_us"]), float(kernel["start_us"]) + float(kernel["duration_us"])
if abs(copied - 2.3 - 2**26 / 317e3) > 0.01:
    print("the copy takes %s us" % copied)
share = 1 if end > float(copy["start_us"]) + copied else (end - float(copy["start_us"])) / copied
if abs(float(kernel["slowed_us"]) - share * 2**27 / 819.2e3) > 0.01:
    print("the kernel is %s us longer" % kernel["slowed_us"])
END
)"

# The parts of the time add up to the time, and the bytes to those of the nodes.
report "the summary is what its nodes add up to" "$(for file in "$work/copies.csv" "$work/step.csv" "$work/deep.csv"; do
    keep "$vinci" net run "$file" $soc --memory=flat --repeat=1 --host=eager --json --output="$work/out.dir"
    expect 0 ''
    cmp "$work/out" "$work/out.dir/summary.json" 2>&1
    "$PYTHON" - "$work/out.dir" <<'END'
import csv, json, sys
summary = json.load(open(sys.argv[1] + "/summary.json"))
nodes = list(csv.DictReader(open(sys.argv[1] + "/nodes.csv")))
parts = ["cube", "vector", "memory", "latency", "scalar", "task", "host", "gap", "wait", "tail"]
if abs(sum(summary[p + "_us"] for p in parts) - summary["time_us"]) > 1e-5:
    print("parts do not add up:", summary)
end = max(float(n["start_us"]) + float(n["duration_us"]) for n in nodes)
if abs(end - summary["time_us"]) > 0.002:
    print("ends at", end)
if max(parts, key=lambda p: summary[p + "_us"]) != summary["bound"]:
    print("bound", summary["bound"])
kernels = [n for n in nodes if n["kind"] == "kernel"]
for key in ("input_bytes", "l2_found_bytes", "hbm_bytes"):
    if sum(int(n[key]) for n in kernels) != summary[key]:
        print(key, summary[key])
memory = sum(float(n["duration_us"]) for n in kernels if n["bound"] == "memory")
if abs(memory - summary["memory_us"]) > 0.001 * len(kernels) or summary["kernels"] != len(kernels):
    print("memory", memory, summary["memory_us"])
END
  done)"
