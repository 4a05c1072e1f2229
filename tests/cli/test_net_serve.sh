#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci net serve: gears are the graphs of their batch, and requests are served as a second program
# says; requests that are drawn are those of the formula.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4
family=$srcdir/traces/examples/gears.graph.csv
unset LC_ALL

work_folder test_net_serve
plan 17

serve() { # FAMILY GEARS REQUESTS OPTIONS...
  file=$1 gears=$2 requests=$3
  shift 3
  keep "$vinci" net serve "$file" $soc --memory=flat --gears="$gears" --requests="$requests" "$@"
}

# Serves arrivals by another program: it looks at each moment at which something happens.
cat >"$work/serve.py" <<'END'
import csv, json, sys
folder, wait = sys.argv[1], round(float(sys.argv[2]) * 1e6)
read = lambda name: list(csv.DictReader(open(folder + "/" + name)))
ps = lambda text: round(float(text) * 1e6)
gears = [(int(r["gear"]), ps(r["us"])) for r in read("gears.csv")]
rows = read("requests.csv")
coming = [(ps(r["arrival_us"]), i) for i, r in enumerate(rows) for _ in range(int(r["size"]))]
free, queue, done, batches = 0, [], {}, []
while coming or queue:
    moments = {free} | {t for t, _ in coming[:400]} | ({queue[0][0] + wait} if queue else {coming[0][0] + wait})
    for now in sorted(m for m in moments if m >= free):
        there = queue + [c for c in coming[:4000] if c[0] <= now]
        if there and (len(there) >= gears[-1][0] or now >= there[0][0] + wait):
            break
    else:
        sys.exit("nothing begins")
    size, duration = next((g for g in gears if g[0] >= len(there)), gears[-1])
    batch, queue, coming = there[:size], there[size:], [c for c in coming if c[0] > now]
    free = now + duration
    batches.append((now, free, size, len(batch)))
    for _, i in batch:
        done[i] = free
wrong = 0
for i, row in enumerate(rows):
    latency = done[i] - ps(row["arrival_us"])
    if latency != ps(row["latency_us"]):
        print("request %d takes %s us, not %d ps" % (i, row["latency_us"], latency))
        wrong += 1
        if wrong > 3:
            break
if batches != [(ps(r["start_us"]), ps(r["end_us"]), int(r["gear"]), int(r["samples"])) for r in read("batches.csv")]:
    print("other batches")
summary = json.load(open(folder + "/summary.json"))
slots, samples = sum(b[2] for b in batches), sum(b[3] for b in batches)
if abs(summary["waste"] - (slots - samples) / slots) > 0.00006 or summary["batches"] != len(batches):
    print("waste %s of %d batches" % (summary["waste"], summary["batches"]))
span = batches[-1][1] - ps(rows[0]["arrival_us"])
if abs(summary["busy_share"] - sum(b[1] - b[0] for b in batches) / span) > 0.00006:
    print("busy_share", summary["busy_share"])
ordered = sorted(float(r["latency_us"]) for r in rows)
for percent, key in ((50, "p50_us"), (90, "p90_us"), (99, "p99_us"), (100, "max_us")):
    if ordered[-(-len(rows) * percent // 100) - 1] != summary[key]:
        print(key, summary[key])
END

serve "$family" 1,4,8,16 poisson:rate=300000,count=400,seed=5 --max-wait=40 --output="$work/out.dir"
report "requests are served" "$(expect 0 '' 'Latency   50 %')"
report "latencies, batches and waste are those of another program" "$("$PYTHON" "$work/serve.py" "$work/out.dir" 40)"
serve "$family" 2,3 poisson:rate=100000,count=127,seed=9,size=5 --output="$work/big.dir"
# 90 % of 127 is 114.3: the 115th.
report "requests larger than every gear are served in parts" "$(expect 0 ''; "$PYTHON" "$work/serve.py" "$work/big.dir" 0)"

# Arrivals of the formula: splitmix64, and -ln(u) / rate.
report "drawn requests are those of the formula" "$("$PYTHON" - "$work/out.dir/requests.csv" <<'END'
import csv, math, sys
state, now, mask = 5, 0.0, 2**64 - 1
for row in csv.DictReader(open(sys.argv[1])):
    state = (state + 0x9E3779B97F4A7C15) & mask
    x = state
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
    x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
    x ^= x >> 31
    now += -math.log(((x >> 11) + 1) / 2**53) / 0.3
    if abs(now - float(row["arrival_us"])) > 0.00001:
        print(now, row["arrival_us"])
        break
END
)"

# A gear is the graph of its batch; its files have no command of their own.
sed 's/{batch}/8/g' "$family" >"$work/eight.csv"
keep "$vinci" net run "$work/eight.csv" $soc --memory=flat --output="$work/eight.dir"
report "a gear is the graph of its batch" "$(expect 0 ''; diff -r -x command.json "$work/eight.dir" "$work/out.dir/gear_8" 2>&1)"
sed 's/m={batch} /m={(batch + 3)*2 - batch - 6} /; s/{batch}x4096$/{batch*8\/8}x4096/' "$family" >"$work/sums.csv"
serve "$work/sums.csv" 1,4,8,16 poisson:rate=300000,count=400,seed=5 --max-wait=40 --output="$work/sums.dir"
report "expressions are numbers" "$(expect 0 ''; cmp "$work/sums.dir/requests.csv" "$work/out.dir/requests.csv" 2>&1)"

printf 'arrival_us,size\n0,3\n10.5\n10.5,2\n' >"$work/own.csv"
serve "$family" 4 "$work/own.csv" --max-wait=1000 --json
report "requests of a file; all that wait fit two batches" "$(expect 0 '' '"waste": 0.2500')"

serve "$family" 4,1 "$work/own.csv"
report "gears grow" "$(expect 2 'error: --gears=4,1 is not a list of growing batches
hint: up to 64 of them, each at most 1048576, such as 1,4,8,16')"
serve "$family" 4 poisson:rate=5,counts=3
report "a field of poisson that is none" "$(expect 2 "error: 'counts=3' is not a field of poisson:
hint: such as poisson:rate=2000,count=1000,seed=1,size=1")"
printf 'arrival_us,size\n10,3\n5,1\n' >"$work/bad.csv"
serve "$family" 4 "$work/bad.csv"
report "requests have an order" "$(expect 3 "$work/bad.csv:3:1: error: comes before the request before
hint: a row is such as 120.5,4 behind the header arrival_us,size")"
printf 'arrival_us,size\n10,0\n' >"$work/bad.csv"
serve "$family" 4 "$work/bad.csv"
report "a request without samples is none" "$(expect 3 "$work/bad.csv:2:1: error: not a time in microseconds and a number of samples
hint: a row is such as 120.5,4 behind the header arrival_us,size")"
sed 's/args=m={batch}/args=m={bitch}/' "$family" >"$work/bad.csv"
serve "$work/bad.csv" 4 "$work/own.csv"
report "an expression that is none has its place" "$(expect 3 "$work/bad.csv:9:48: error: not an expression in batch
hint: such as shape={batch}x1024 or args=m={batch*32}")"
serve "$work/eight.csv" 4 "$work/own.csv"
report "a graph that depends on no batch is not a family" "$(expect 3 "$work/eight.csv:1:1: error: nothing in the graph depends on {batch}
hint: such as shape={batch}x1024 or args=m={batch*32}")"
keep "$vinci" net serve "$family" $soc --gears=1
report "gears and requests are needed" "$(expect 2 'error: give --gears and --requests
hint: such as --gears=1,4,8,16 --requests=poisson:rate=2000,count=1000')"
keep "$vinci" net serve "$family" $soc --gears=1 --requests=poisson:rate=1000,count=1 --passes=none
report "kernels have no passes" "$(expect 2 "error: --passes is for networks of layers; this graph has kernels alone
hint: leave the option out, or run what 'vinci net compile' with the option writes")"
keep "$vinci" net plan "$family"
report "a family that is read as one graph has a hint" "$(expect 3 - | grep 'exit code'
  case $err in *"hint: 'vinci net serve --gears=1,4' runs a family of graphs"*) ;; *) echo "$err" ;; esac)"
printf 'arrival_us,size\n0,1000000000\n' >"$work/large.csv"
keep "$vinci" net serve "$family" $soc --gears=1 --requests="$work/large.csv"
report "a request of more samples than can be kept" "$(expect 3 - | grep 'exit code'
  case $err in "$work/large.csv:2:1: error: not a time in microseconds and a number of samples"*) ;; *) echo "$err" ;; esac)"
