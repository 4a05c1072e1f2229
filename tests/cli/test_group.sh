#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci group from the outside: systems as data, collectives, messages. Times are compared with sums by hand.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_group
plan 32

keep "$vinci" group show
report "systems are listed with their chips" "$(expect 0 '' 'atlas_a2_910b4  Ascend910B4  ')"
keep "$vinci" group show atlas_a2_910b4 --set hccs.copy=25GB/s
report "numbers have a source, or were set" "$(expect 0 '' 'Level    hccs     mesh of 8 devices'
  printf '%s\n' "$out" | grep -q '^hccs.copy  *25GB/s  set  ' || echo "$out"
  printf '%s\n' "$out" | grep -q '^hccs.reduce  *18.69GB/s  measured  *QWEN  ' || echo "$out")"

# Two transfers of 0.5 GB at 20 GB/s side by side, one each way; all else takes no time.
free="--set memory.latency=0 --set memory.copy=0 --set memory.fresh=0 --set notify.latency=0 --set notify.issue=0
  --set notify.wait=0 --set hccs.latency=0 --set collective.slice=1B --set collective.buffer=0"
# shellcheck disable=SC2086
keep "$vinci" group collective all_gather -s atlas_a2_910b4 -n 2 -b 1000000000 $free --set hccs.copy=20GB/s --json
report "a collective takes the time of its bytes" "$(expect 0 '' '"time_us": 25000.0, "gb_per_s": 40.000'
  case $out in *'"moved_bytes": 1000000000, "busiest": "hccs 0->1", "busiest_bytes": 500000000'*) ;; *) echo "$out" ;; esac)"
# shellcheck disable=SC2086
keep "$vinci" group collective broadcast -s atlas_a2_910b4 -n 16 --root=3 -b 1000000B,2000000B -a all $free
report "sizes and algorithms are lists" "$(expect 0 ''
  test "$(echo "$out" | awk 'NR > 1 && $1 != "summary:" { print $1, $2 }' | tr '\n' ',')" = \
    'mesh 1000000,star 1000000,ring 1000000,tree 1000000,mesh 2000000,star 2000000,ring 2000000,tree 2000000,' || echo "$out")"
# shellcheck disable=SC2086
keep "$vinci" group collective send_recv -s atlas_a2_910b4 -n 2 -b 3000000B $free --set hccs.send=10GB/s --steps
report "transfers are listed" "$(expect 0 '' '0 -> 1          3000000 B copy              0.0 us          300.0 us')"
report "below the header, before the row of their algorithm" "$(
  test "$(echo "$out" | awk '{ print $1 }' | tr '\n' ' ')" = 'algorithm 0 direct summary: ' || echo "$out")"
# shellcheck disable=SC2086
keep "$vinci" group collective all_reduce -s atlas_a2_910b4 -n 4 -b 4000000B,8000000B -a mesh,ring $free --steps --json
report "with --json the steps of each run are a list in its line" "$(expect 0 ''
  "$PYTHON" - "$work/out" <<'END'
import json, sys

lines = [json.loads(line) for line in open(sys.argv[1])]
print(*[] if len(lines) == 4 else [f"{len(lines)} lines"])
for line in lines:
    steps = line["steps"]
    if len(steps) != line["transfers"] or sum(step["bytes"] for step in steps) != line["moved_bytes"]:
        print(f"{line['algorithm']}: {len(steps)} steps of {line['transfers']}")
    if abs(max(step["start_us"] + step["duration_us"] for step in steps) - line["time_us"]) > 1e-6:
        print(f"{line['algorithm']}: steps do not end with the run")
    if {step["kind"] for step in steps} != {"copy", "reduce"} or any(step["from"] == step["to"] for step in steps):
        print(f"{line['algorithm']}: {steps[0]}")
END
)"

keep "$vinci" group collective all_reduce -s atlas_a2 -b 1MiB
report "a base is not a system" "$(expect 2 "error: system 'atlas_a2' is only a base of others
hint: 'vinci group show' lists the systems")"
keep "$vinci" group collective all_reduce -s atlas_a2_910b -b 1MiB
report "an unknown system has a hint" "$(expect 2 "error: unknown system 'atlas_a2_910b'
hint: did you mean 'atlas_a2_910b2'?")"
keep "$vinci" group collective all_reduce -s atlas_a2_910b4 -b 1MiB -a rings
report "an unknown algorithm names those that can" "$(expect 2 "error: no algorithm 'rings' for all_reduce
hint: there are mesh, ring, nhr, nb, rhd, pipeline, mesh+nhr, mesh+ring, mesh+rhd, mesh+nb")"
keep "$vinci" group collective all_reduce -s atlas_a2_910b4 -b 1MiB --set hccs.coppy=1GB/s
report "an unknown number has a hint" "$(expect 2 "error: unknown number 'hccs.coppy' of system 'atlas_a2_910b4'
hint: did you mean 'hccs.copy'?")"
keep "$vinci" group collective reduce_scatter -s atlas_a2_910b4 -n 12 -b 1MiB -a rhd
report "a call that an algorithm cannot do" "$(expect 3 "error: reduce_scatter by rhd needs a power of two of ranks, not 12")"

# ---- jobs ------------------------------------------------------------------------------------
cat >"$work/job.csv" <<'END'
job,version=1,name=two,system=atlas_a2_910b4,ranks=2
group,name=all,ranks=0 1
program,ranks=0
work,us=100
collective,name=grads,op=all_gather,group=all,bytes=2000000
program,ranks=1
collective,name=grads,op=all_gather,group=all,bytes=2000000
work,us=50
END
# shellcheck disable=SC2086
keep "$vinci" group run "$work/job.csv" $free --set hccs.copy=20GB/s --output="$work/job"
report "ranks wait for each other" "$(expect 0 '' 'two on 2 devices of atlas_a2_910b4: 0.200 ms, 2 transfers, 2.0 MB moved'
  test "$(tail -n 2 "$work/job/step_trace_time.csv")" = "0,0,100.0,50.0,0.0,50.0,50.0,200.0,0.0,50.0
1,0,50.0,150.0,0.0,150.0,0.0,200.0,0.0,150.0" || cat "$work/job/step_trace_time.csv")"
report "collectives and a timeline are written" "$(
  test "$(tail -n 2 "$work/job/collectives.csv" | sort)" = "0,0,grads,all_gather,mesh,2000000,100.0,50.0
1,0,grads,all_gather,mesh,2000000,0.0,150.0" || cat "$work/job/collectives.csv"
  test "$(sort "$work/job/timeline.csv")" = "0,0,0,collective,grads,2000000,100.0,0.0,50.0,all_gather
0,0,0,work,work,0,0.0,0.0,100.0,
1,1,0,collective,grads,2000000,0.0,100.0,150.0,all_gather
1,1,0,work,work,0,150.0,0.0,50.0,
class,ranks,stream,kind,name,bytes,start_us,wait_us,duration_us,op" || cat "$work/job/timeline.csv"
  test "$(cat "$work/job/path.csv")" = "rank,kind,name,bytes,start_us,duration_us
0,work,work,0,0.0,100.0
1,collective,grads,2000000,100.0,50.0
1,work,work,0,150.0,50.0" || cat "$work/job/path.csv"
  ${PYTHON:-python3} - "$work/job" <<'END'
import csv, json, sys
loads = list(csv.DictReader(open(sys.argv[1] + "/links.csv")))
# Both links have 20 GB/s from 100 to 150 us, of 20.99 that a send could have, and nothing before and behind.
if sum(int(row["bytes"]) for row in loads) != 2000000 or float(loads[-1]["to_us"]) != 200:
    print(loads)
for row in loads:
    inside, outside = float(row["from_us"]) > 100 and float(row["to_us"]) < 150, float(row["to_us"]) < 100 or float(row["from_us"]) > 150
    if inside and abs(float(row["share"]) - 20 / 20.99) > 0.001 or outside and float(row["share"]) > 0:
        print(row)
events = json.load(open(sys.argv[1] + "/trace.json"))["traceEvents"]
summary = json.load(open(sys.argv[1] + "/summary.json"))
if sorted((e["pid"], e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X") != [
        (0, "grads", 100, 50), (0, "work", 0, 100), (1, "grads", 0, 150), (1, "work", 150, 50)]:
    print(events)
if [e["args"]["name"] for e in events if e["name"] == "process_name"] != ["rank 0", "rank 1"]:
    print("tracks are not those of the ranks")
for rank in summary["ranks"]:
    if rank["computing_us"] + rank["exposed_us"] + rank["idle_us"] != summary["time_us"]:
        print(rank)
END
)"
# ---- memory over time ------------------------------------------------------------------------
# Rank 0 holds 40 GiB, more than the 32 GiB of its device; rank 1 takes and gives back in two streams.
cat >"$work/held.csv" <<'END'
job,version=1,name=held,system=atlas_a2_910b4,ranks=2
program,ranks=0
allocate,name=weights,bytes=34359738368
work,us=100
allocate,"name=activations, all",bytes=8589934592
work,us=50
free,"name=activations, all",bytes=8589934592
program,ranks=1
allocate,name=weights,bytes=1048576
work,us=20
record,event=e
wait,event=e,stream=1
free,name=weights,bytes=524288,stream=1
END
sed 's/^allocate,"name=act.*/allocate,name=more,bytes=1/; s/^free,"name=act.*/free,name=more,bytes=1/' "$work/held.csv" >"$work/fits.csv"
keep "$vinci" group run "$work/held.csv" --output="$work/held"
report "memory over time of ranks" "$(expect 0 '' 'Memory: rank 0 holds most, 40960.0 MiB at 0.100 ms: weights 32768.0, activations, all 8192.0 MiB
That is 8192.0 MiB more than the 32768.0 MiB of its device: the job does not fit'
  cat >"$work/levels" <<'END'
class,ranks,time_us,name,bytes,all_bytes
0,0,0.0,weights,34359738368,34359738368
0,0,100.0,"activations, all",8589934592,42949672960
0,0,150.0,"activations, all",0,34359738368
1,1,0.0,weights,1048576,1048576
1,1,20.0,weights,524288,524288
END
  diff "$work/levels" "$work/held/memory.csv"
  ${PYTHON:-python3} - "$work/held/summary.json" <<'END'
import json, sys
summary = json.load(open(sys.argv[1]))
memory = summary["memory"]
if [memory[key] for key in ("peak_bytes", "peak_rank", "peak_us", "device_bytes")] != [40 << 30, 0, 100, 32 << 30]:
    print(memory)
if memory["names"] != [{"name": "weights", "peak_bytes": 32 << 30, "most_bytes": 32 << 30},
                       {"name": "activations, all", "peak_bytes": 8 << 30, "most_bytes": 8 << 30}]:
    print(memory["names"])
if [(rank["peak_memory_bytes"], rank["peak_memory_us"]) for rank in summary["ranks"]] != [(40 << 30, 100), (1 << 20, 0)]:
    print(summary["ranks"])
END
)"
keep "$vinci" group run "$work/job.csv" --output="$work/held"
report "a job without rows of memory says nothing" "$(expect 0 ''
  case $out in *Memory*) printf '%s\n' "$out" ;; esac
  ! grep -q memory "$work/held/summary.json" || cat "$work/held/summary.json"
  ! [ -e "$work/held/memory.csv" ] || echo 'memory.csv of the job before is left over')"
sed '$s/524288/1048577/' "$work/fits.csv" >"$work/over.csv"
keep "$vinci" group run "$work/over.csv"
report "more than is held is given back" "$(expect 3 "error: rank 1 gives back 1 bytes of 'weights' more than it holds, at 20.0 us (free 'weights' in line 13)
hint: a row allocate,name=weights,bytes=N stands before, in the same stream or in one that this stream waits for")"
sed '5s/2000000/4/; 7s/2000000/8/' "$work/job.csv" >"$work/bad.csv"
keep "$vinci" group run "$work/bad.csv"
report "ranks that differ are told with both lines" "$(expect 3 "error: collective 0 of group 'all' differs: rank 1 has all_gather of 8 bytes ('grads' in line 7), rank 0 has all_gather of 4 bytes ('grads' in line 5)")"

# ---- faults ----------------------------------------------------------------------------------
# Without faults rank 0 works 100 us, both send 1 MB at 20 GB/s (50 us), rank 1 works 50 us: 200 us.
# fault NAME FAULT MS ROW: the time of the job, and the row of a rank with what its time is made of.
fault() {
  # shellcheck disable=SC2086
  keep "$vinci" group run "$work/job.csv" $free --set hccs.copy=20GB/s --fault="$2" --output="$work/fault"
  report "$1" "$(expect 0 '' "two on 2 devices of atlas_a2_910b4: $3 ms"
    grep -qx "$4" "$work/fault/step_trace_time.csv" || cat "$work/fault/step_trace_time.csv")"
}
fault "a slow device works longer, and its peer waits" devices=0,speed=0.5 0.300 "1,0,50.0,250.0,0.0,250.0,0.0,300.0,0.0,250.0"
fault "a device that is down for a time stops its work" devices=0,from_us=40,to_us=60 0.220 "0,0,120.0,50.0,.*"
fault "and the transfers of both" devices=1,from_us=110,to_us=120 0.210 "0,0,100.0,60.0,.*"
fault "and whatever it would begin" devices=1,to_us=170 0.270 "0,0,100.0,120.0,.*"
fault "a slow link" "link=hccs 0->1,speed=0.25" 0.350 "1,0,50.0,300.0,.*"
fault "a link that is slow from a time on" "link=hccs 1->0,speed=0.5,from_us=125" 0.225 "0,0,100.0,75.0,.*"
keep "$vinci" group run "$work/job.csv" --fault=devices=1,from_us=120
report "peers of a device that is down give up" "$(expect 6 "error: rank 0 gives up 'grads' in line 5 at 1836000100.0 us, after 1836000000.0 us: device 1 is down from 120.0 us on
hint: ranks wait for collective.timeout; 'vinci group train' tells what failures cost a training that restarts from checkpoints")"
{ cat "$work/job.csv"; echo "fault,devices=0,from_us=30"; } >"$work/down.csv"
keep "$vinci" group run "$work/down.csv" --set collective.timeout=0
report "without a timeout they wait for ever" "$(expect 6 "error: 2 streams never end: rank 0 stands still at 'work' in line 4; rank 1 waits in 'grads' in line 7 of group 'all' for rank 0; device 0 is down from 30.0 us on (line 9)")"
keep "$vinci" group run "$work/job.csv" --fault="link=hccs 0-1"
report "an unknown link" "$(expect 3 "error: system 'atlas_a2_910b4' has no link 'hccs 0-1', which a fault names
hint: links have names such as 'hccs 0->1'; 'vinci group collective' prints others")"
keep "$vinci" group run "$work/job.csv" --fault=devices=0,from_us=3,to_us=2
report "a fault that ends before it begins" "$(expect 2 "error: --fault=devices=0,from_us=3,to_us=2: the fault ends before it begins
hint: a fault is written as devices=3,from_us=100,to_us=200,speed=0.5")"

# ---- many ranks --------------------------------------------------------------------------------
{
  echo 'job,version=1,ranks=64,system=atlas_a2_910b4'
  echo 'group,name=dp,ranks=0-63'
  echo 'program,ranks=0-63'
  for _ in 1 2 3; do
    echo 'work,us=100'
    echo 'collective,op=all_reduce,group=dp,bytes=10000000'
  done
} >"$work/many.csv"
keep "$vinci" group run "$work/many.csv" --json --unfolded
all=$out
keep "$vinci" group run "$work/many.csv" --json
report "equal collectives are folded with the same result" "$(expect 0 '' '"time_us"'; [ "$out" = "$all" ] || echo "$out")"
keep "$vinci" group run "$work/many.csv"
report "the report says so" "$(expect 0 '' '3 collectives were folded (GROUP.md); --unfolded simulates all of their steps')"
keep "$vinci" group run "$work/many.csv" --unfolded
report "nothing is folded with --unfolded" "$(expect 0 ''; case $out in *folded*) echo "$out" ;; esac)"
keep "$vinci" group run "$work/many.csv" -q --output="$work/many"
report "a collective without a name has that of its group" "$(expect 0 ''
  grep -q '^0,0,all_reduce dp,all_reduce,mesh+nhr,10000000,100.0,' "$work/many/collectives.csv" || head -n 3 "$work/many/collectives.csv"
  [ "$(sed 1d "$work/many/timeline.csv" | cut -d , -f 1-2 | sort -u | wc -l)" -le 16 ] || cut -d , -f 1-2 "$work/many/timeline.csv" | sort -u
  awk -F , 'NR > 1 { if ($5 + 0 < at - 0.001 || $5 + 0 > at + 0.001) print; at = $5 + $6 }' "$work/many/path.csv")"
