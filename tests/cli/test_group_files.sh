#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files that vinci group exchanges with other programs: rank tables of HCCL, folders of the profiler, Chakra traces,
# baselines of gates.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_group_files
plan 20

# Two pairs of ranks exchange 0.5 GB at the same time; all but links takes no time.
free="--set memory.latency=0 --set memory.copy=0 --set memory.fresh=0 --set notify.latency=0 --set notify.issue=0
  --set notify.wait=0 --set hccs.latency=0 --set rdma.latency=0 --set hccs.copy=20GB/s --set rdma.copy=10GB/s
  --set rdma.send=10GB/s --set hccs.send=20GB/s --set collective.slice=1B --set collective.buffer=0"
cat >"$work/pairs.csv" <<'END'
job,version=1,name=pairs,system=atlas_a2_910b4,ranks=4
group,name=pair,ranks=0 1|2 3
program,ranks=0-3
collective,name=gather,op=all_gather,group=pair,bytes=1000000000
END

# ---- rank tables -----------------------------------------------------------------------------
# Servers of the table: devices of the ranks 0 1 | 2 3 as given, two servers.
table() {
  cat <<END
{
  "version": "1.0",
  "status": "completed",
  "server_count": "2",
  "server_list": [
    { "server_id": "node_0", "host_ip": "172.16.0.100", "colour": "red", "device": [
      { "device_id": "$1", "device_ip": "192.168.1.8", "rank_id": "0" } ] },
    { "server_id": "node_1", "device": [
      { "device_id": "3", "device_ip": "192.168.2.8", "rank_id": "1" },
      { "device_id": "2", "device_ip": "192.168.2.9", "rank_id": "$2" },
      { "device_id": "7", "device_ip": "192.168.2.10", "rank_id": "3" } ] }
  ]
}
END
}
table 5 2 >"$work/table.json"
# shellcheck disable=SC2086
keep "$vinci" group run "$work/pairs.csv" $free --rank-table="$work/table.json" --json
report "ranks on two servers use the slower link, those on one the faster" "$(
  expect 0 'warning: '"$work"'/table.json: not read: colour (line 6)' '"time_us": 50000.0'
  case $out in *'"rank": 3, "computing_us": 0.0, "exposed_us": 25000.0'*) ;; *) echo "$out" ;; esac)"

cat >"$work/pods.json" <<'END'
{ "status": "completed", "version": "1.2", "server_count": 3, "server_list": [
  { "server_id": "a", "device": [ { "device_id": "0", "super_device_id": "0", "rank_id": "0" } ] },
  { "server_id": "b", "device": [ { "device_id": "15", "super_device_id": "31", "rank_id": "1" } ] },
  { "server_id": "c", "device": [ { "device_id": "0", "super_device_id": "0", "rank_id": "2" },
                                  { "device_id": "1", "super_device_id": "1", "rank_id": "3" } ] } ],
  "super_pod_list": [ { "super_pod_id": "0", "server_list": [ { "server_id": "a" }, { "server_id": "b" } ] },
                      { "super_pod_id": "1", "server_list": [ { "server_id": "c" } ] } ] }
END
# shellcheck disable=SC2086
keep "$vinci" group run "$work/pairs.csv" -s atlas_a3 $free --set sio.latency=0 --set sio.copy=100GB/s \
  --rank-table="$work/pods.json" --json
report "servers of a super pod share its switch, dies of a package their link" "$(
  expect 0 '' '"rank": 0, "computing_us": 0.0, "exposed_us": 25000.0'
  case $out in *'"rank": 3, "computing_us": 0.0, "exposed_us": 5000.0'*) ;; *) echo "$out" ;; esac)"

# Each mistake of a table with its place and what was expected.
mistakes() {
  while IFS='|' read -r edit place message; do
    table 5 2 | sed "$edit" >"$work/bad.json"
    keep "$vinci" group run "$work/pairs.csv" --rank-table="$work/bad.json"
    case "$code $err" in "3 $work/bad.json$place error: $message"*) ;; *) echo "$edit: $code $err" ;; esac
  done <<'END'
2s/1.0/2.0/|:2:14:|version 2.0; 1.0 and 1.2 are read
3s/completed/initializing/|:3:13:|status is "initializing": the table is not finished
4s/2/3/|:4:19:|server_count is 3, but server_list has 2
8s/node_1/node_0/|:8:5:|server_id "node_0" is there twice
9s/"3"/"three"/|:9:22:|""three", "device_ip"" stands where a whole number is expected
9s/"device_id": "3", //|:9:7:|this device has no device_id
9s/, "rank_id": "1"//|:9:7:|this device has no rank_id
10s/"device_id": "2"/"device_id": "3"/|:10:7:|device_id 3 is in this server twice
10s/"rank_id": "2"/"rank_id": "4"/|:10:66:|rank_id 4: the table has ranks 0 to 3
10s/"rank_id": "2"/"rank_id": "1"/|:10:66:|rank_id 1 is there twice, first in line 9
11s/"device_id": "7"/"device_id": "9"/|:11:67:|rank 3 is device 9 of server "node_1", where hccs joins 8 devices of system 'atlas_a2_910b4'
11s/ },* \] }//|:12:3:|"]" stands where a comma or } is expected
9,11s/rank_id": "1/rank_id": "9/;s/rank_id": "0/rank_id": "1/;s/rank_id": "9/rank_id": "0/|:10:66:|rank 2 is on server "node_1" again: ranks of a server follow each other
5s/server_list/group_list/|:1:1:|the table has no server_list
END
}
report "mistakes of a table have their place" "$(mistakes)"
table 5 2 | sed '11s/"3"/"2"/; 10d' >"$work/three.json"
keep "$vinci" group run "$work/pairs.csv" --rank-table="$work/three.json"
report "a table of another number of ranks" "$(expect 3 "$work/three.json: error: the table has 3 ranks, the job 4")"

split='{"version": "1.0", "server_count": "1", "status": "completed",
 "prefill_device_list": [{"server_id": "10.0.0.1", "device_id": "0", "device_ip": "10.1.0.1", "cluster_id": "1"}],
 "decode_device_list": [{"server_id": "10.0.0.2", "device_id": "0", "device_ip": "10.1.0.2", "cluster_id": "2"}]}'
printf '%s\n' "$split" >"$work/split.json"
keep "$vinci" group run "$work/pairs.csv" --rank-table="$work/split.json"
report "a table of prefill and decode devices" "$(expect 3 -
  case $err in "$work/split.json:2:25: error: a rank table of prefill and decode devices: it has no rank_id"*) ;;
    *) echo "$err" ;; esac)"
keep "$vinci" group run "$work/split.json"
report "a rank table where a job is wanted" "$(expect 3 "$work/split.json: error: a rank table of prefill and decode \
devices, not a file that begins with \"job,version=1\"
hint: 'vinci group run --rank-table' takes the table of HCCL, with server_list")"

# ---- folders of the profiler -----------------------------------------------------------------
# Fields are those of profiles of level 1 and 2 (Ascend/msinsight, test data); sums are those of the run.
cat >"$work/profiler.py" <<'END'
import csv, json, sys
from fractions import Fraction
root, summary = sys.argv[1], json.load(open(sys.argv[2]), parse_float=Fraction)
links = ["RDMA", "HCCS", "PCIE", "SDMA", "SIO"]
time_keys = ["Start Timestamp(us)", "Elapse Time(ms)", "Transit Time(ms)", "Wait Time(ms)", "Synchronization Time(ms)",
             "Idle Time(ms)", "Wait Time Ratio", "Synchronization Time Ratio"]
link_keys = ["Transit Size(MB)", "Transit Time(ms)", "Bandwidth(GB/s)", "Large Packet Ratio", "Size Distribution"]
def same(what, a, b):
    if a != b: print(what, a, b)
load = lambda path: json.load(open(path), parse_float=Fraction)
moved, calls = Fraction(0), 0
for rank in summary["ranks"]:
    folder = "%s/%d_ascend_pt/" % (root, rank["rank"])
    output = folder + "ASCEND_PROFILER_OUTPUT/"
    same("info", load(folder + "profiler_info_%d.json" % rank["rank"])["rank_id"], rank["rank"])
    groups = load(folder + "profiler_metadata.json")["parallel_group_info"]
    step = load(output + "communication.json")["step0"]
    matrix = load(output + "communication_matrix.json")["step0"]
    row, = csv.DictReader(open(output + "step_trace_time.csv"))
    row = {key: Fraction(value) for key, value in row.items()}
    same("computing", row["Computing"], rank["computing_us"])
    same("exposed", row["Communication(Not Overlapped)"], rank["exposed_us"])
    same("overlapped", row["Overlapped"], rank["overlapped_us"])
    same("free", row["Free"], rank["idle_us"])
    same("stage", row["Stage"] + row["Bubble"], summary["time_us"])
    for kind in "p2p", "collective":
        ops = dict(step[kind])
        total = ops.pop("Total Op Info", None)
        by_link = {}
        for name, op in ops.items():
            t, b = op["Communication Time Info"], op["Communication Bandwidth Info"]
            same("keys", list(t), time_keys)
            same("links", list(b), links)
            same("elapse", t["Transit Time(ms)"] + t["Wait Time(ms)"] + t["Idle Time(ms)"], t["Elapse Time(ms)"])
            if not 0 <= t["Synchronization Time(ms)"] <= t["Wait Time(ms)"]: print("synchronization", t)
            for link in links:
                same("link keys", list(b[link]), link_keys)
                if link != "SDMA":
                    sizes = b[link]["Size Distribution"]
                    same("sizes", sum(Fraction(s) * n for s, (n, _) in sizes.items()), b[link]["Transit Size(MB)"])
                    same("times", sum(t for _, t in sizes.values()), b[link]["Transit Time(ms)"])
            for key in "Transit Size(MB)", "Transit Time(ms)":
                same("sdma", b["SDMA"][key], b["HCCS"][key] + b["SIO"][key] + b["PCIE"][key])
            moved += b["HCCS"]["Transit Size(MB)"] + b["RDMA"]["Transit Size(MB)"] + b["SIO"]["Transit Size(MB)"]
            hash = name.split("@")[1]
            if hash not in groups: print("no group", hash)
            same("tail", name.split("__")[1][:3], hash[-3:])
            calls += 1
        if ops:
            for key in "Elapse Time(ms)", "Transit Time(ms)", "Wait Time(ms)", "Idle Time(ms)":
                same(key, total["Communication Time Info"][key], sum(o["Communication Time Info"][key] for o in ops.values()))
            for link in links:
                same("total", total["Communication Bandwidth Info"][link]["Transit Size(MB)"],
                     sum(o["Communication Bandwidth Info"][link]["Transit Size(MB)"] for o in ops.values()))
            wires = Fraction(0)
            for key, cells in matrix[kind].items():
                me = groups[key.split("@")[1]]["group_rank"]
                for pair, cell in cells.items():
                    if pair.split("-")[0] != str(me): print("pair", pair, me)
                    if ("LOCAL" == cell["Transport Type"]) != (pair == "%d-%d" % (me, me)): print(pair, cell)
                    if "-total@" in key and cell["Transport Type"] != "LOCAL": wires += cell["Transit Size(MB)"]
                    if "-total@" not in key and cell["Op Name"] + "@" + key.split("@")[1] not in ops: print("op", cell)
            t = total["Communication Bandwidth Info"]
            same("matrix", wires, t["HCCS"]["Transit Size(MB)"] + t["RDMA"]["Transit Size(MB)"] + t["SIO"]["Transit Size(MB)"])
same("moved", moved * 1000000, summary["moved_bytes"])
same("calls", calls, int(sys.argv[3]))
END
keep "$vinci" group run "$srcdir/traces/examples/data_parallel.job.csv" --profiler="$work/profiler" --json
report "folders of the profiler have its fields and the sums of the run" "$(expect 0 ''
  "$PYTHON" "$work/profiler.py" "$work/profiler" "$work/out" 14)"
# 24 ranks on three servers: an all-reduce in parts, one within servers, and pairs between servers.
cat >"$work/servers.csv" <<'END'
job,version=1,name=servers,system=atlas_a2_910b2,ranks=24
group,name=all,ranks=0-23
group,name=server,ranks=0-7|8-15|16-23
group,name=there,ranks=0 8|1 9|2 10
program,ranks=0-2 8-10
work,us=90,memory=0.5
collective,op=send_recv,group=there,bytes=999999
collective,op=all_reduce,group=all,bytes=300000007,stream=1
collective,op=all_to_all,group=server,bytes=77777777,stream=2
program,ranks=3-7 11-23
collective,op=all_reduce,group=all,bytes=300000007,stream=1
collective,op=all_to_all,group=server,bytes=77777777,stream=2
END
keep "$vinci" group run "$work/servers.csv" --profiler="$work/many" --json
report "links of servers are told apart, and collectives side by side" "$(expect 0 ''
  "$PYTHON" "$work/profiler.py" "$work/many" "$work/out" 54)"

# Rank 1 receives while rank 0 works for 100 us, then both work: the receive is a bubble, the host's 30 us are none.
cat >"$work/stages.csv" <<'END'
job,version=1,name=stages,system=atlas_a2_910b4,ranks=2
group,name=next,ranks=0 1
program,ranks=0
work,us=100
collective,op=send_recv,group=next,bytes=2000000
program,ranks=1
collective,op=send_recv,group=next,bytes=2000000
host,us=30
work,us=50
END
# shellcheck disable=SC2086
keep "$vinci" group run "$work/stages.csv" $free --output="$work/stages" --profiler="$work/stages" -q
cells() { sed -n "$1p" "$2/step_trace_time.csv" | cut -d, -f"$3"; }
report "both tables of a step have the same bubble" "$(expect 0 ''
  for rank in 0 1; do
    [ "$(cells $((rank + 2)) "$work/stages" 3-10)" = \
      "$(cells 2 "$work/stages/${rank}_ascend_pt/ASCEND_PROFILER_OUTPUT" 2-9)" ] || echo "rank $rank differs"
  done
  [ "$(cells 3 "$work/stages" 8-10)" = 80.0,200.0,0.0 ] || cat "$work/stages/step_trace_time.csv")"

# ---- Chakra traces ---------------------------------------------------------------------------
# An encoder and a decoder of their own, with the numbers of mlcommons/chakra, schema/protobuf/et_def.proto.
cat >"$work/chakra.py" <<'END'
def varint(n):
    out = b""
    while n > 127: out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])
def number(field, n): return varint(field << 3) + varint(n)
def data(field, b): return varint(field << 3 | 2) + varint(len(b)) + b
def text(field, s): return data(field, s.encode())
TYPES = dict(META=1, LOAD=2, STORE=3, COMP=4, SEND=5, RECV=6, COLL=7)
def attr(name, value):
    if isinstance(value, bool): v = number(27, value)
    elif isinstance(value, str): v = text(29, value)
    elif isinstance(value, tuple): v = number(value[0], value[1])  # of another type of integers
    else: v = number(9, value)
    return data(10, text(1, name) + v)
def node(id, name, type, deps=(), us=0, ctrl=(), **attrs):
    b = number(1, id) + text(2, name) + number(3, TYPES.get(type, type))
    b += b"".join(number(4, d) for d in ctrl) + (data(5, b"".join(map(varint, deps))) if deps else b"")
    return b + (number(7, us) if us else b"") + data(8, text(1, "[]")) + b"".join(attr(*a) for a in attrs.items())
def write(path, nodes, version="0.0.4", metadata=None):
    messages = [text(1, version) if metadata is None else metadata] + nodes
    open(path, "wb").write(b"".join(varint(len(m)) + m for m in messages))
def fields(b):
    at, out = 0, {}
    def take():
        nonlocal at
        n = shift = 0
        while True:
            byte = b[at]; at += 1
            n |= (byte & 127) << shift; shift += 7
            if byte < 128: return n
    while at < len(b):
        key = take(); value = take()
        if key & 7 == 2: at += value; value = b[at - value:at]
        out.setdefault(key >> 3, []).append(value)
    return out
def read(path):
    b, out, at = open(path, "rb").read(), [], 0
    while at < len(b):
        n = shift = 0
        while True:
            byte = b[at]; at += 1
            n |= (byte & 127) << shift; shift += 7
            if byte < 128: break
        out.append(fields(b[at:at + n])); at += n
    return out
END
export PYTHONPATH="$work" PYTHONDONTWRITEBYTECODE=1

"$vinci" group run "$srcdir/traces/examples/data_parallel.job.csv" --json | sed 's/data_parallel/step/' >"$work/direct.json"
keep "$vinci" group convert "$srcdir/traces/examples/data_parallel.job.csv" --output="$work/new/folder/step"
mv "$work"/new/folder/step* "$work" # the folder was made
report "a job that is written as Chakra and read back gives the same result" "$(expect 0 ''
  "$vinci" group convert "$work/step" -s atlas_a2_910b4 | "$vinci" group run - --json | cmp - "$work/direct.json" 2>&1)"
report "other readers find version, durations, dependencies and groups" "$("$PYTHON" - "$work/step" <<'END'
import json, sys
from chakra import read, fields
head, *nodes = read(sys.argv[1] + ".2.et")
if head != {1: [b"0.0.4"]}: print(head)
groups = json.load(open(sys.argv[1] + ".groups.json"))
found = []
for n in nodes:
    attrs = {f[1][0].decode(): f for f in map(fields, n[10])}
    pg = attrs["pg_name"][29][0].decode() if "pg_name" in attrs else None
    found.append((n[2][0].decode(), n[3][0], n.get(7, [0])[0], len(n.get(5, [])), pg and groups[pg],
                  attrs["comm_size"][9][0] if "comm_size" in attrs else None))
want = [("activations", 6, 0, 0, [0, 2], 8388608), ("layers.fwd", 4, 2600, 1, None, None), ("head.bwd", 4, 1100, 1, None, None),
        ("layers.bwd", 4, 4100, 1, None, None), ("gradients of activations", 5, 0, 1, [2, 0], 8388608),
        ("optimizer", 4, 700, 2, None, None), ("gradients of the head", 7, 0, 1, [2, 3], 62914560),
        ("gradients", 7, 0, 2, [2, 3], 94371840)]
if found != want: print(*found, sep="\n")
END
)"

# Two ranks without streams: what is left out passes on what it waits for, and is counted.
"$PYTHON" - "$work" <<'END'
import sys
from chakra import *
for rank in 0, 1:
    pair = [node(6, "activations", "SEND", [2], comm_size=1000000, comm_dst=(11, 1)) if rank == 0 else
            node(6, "activations", "RECV", [2], comm_size=1000000, comm_src=(13, 0))]
    write("%s/foreign.%d.et" % (sys.argv[1], rank), [
        node(1, "init", "META"), node(7, "host", "COMP", [1], us=900, is_cpu_op=True),
        node(2, "a, \"b\"", "COMP", [7], us=100 + 50 * rank, is_cpu_op=False), node(3, "load", "LOAD", [2], tensor_size=5),
        node(4, "sum", "COLL", [3], comm_type=(7, 0), comm_size=4000000, pg_name="7"), node(8, "new", 42, [4]), node(9, "new", 42),
        node(5, "after", "COMP", [8, 2], us=10, ctrl=[6])] + pair, metadata=data(2, text(1, "schema") + text(29, "1.1.1-chakra.0.0.4")))
open(sys.argv[1] + "/foreign.json", "w").write('{"7": [1, 0], "8": [0]}')
END
keep "$vinci" group convert "$work/foreign" --groups="$work/foreign.json"
report "nodes that a job has no place for are counted, and pass dependencies on" "$(
  expect 0 "warning: $work/foreign: left out: 2 COMP_NODE of the host (is_cpu_op)
warning: $work/foreign: left out: 2 MEM_LOAD_NODE
warning: $work/foreign: left out: 4 nodes of the unknown type 42" "program,ranks=0
work,name=a_ _b_,us=100.0
record,event=e0,stream=0
record,event=e1,stream=0
wait,event=e0,stream=1
collective,name=sum,op=all_reduce,group=group0,bytes=4000000,stream=1
record,event=e3,stream=1
wait,event=e1,stream=2
collective,name=activations,op=send_recv,group=pair2,bytes=1000000,stream=2
record,event=e2,stream=2
wait,event=e2,stream=0
wait,event=e3,stream=0
work,name=after,us=10.0
program,ranks=1
")"
# shellcheck disable=SC2086
report "such a job runs" "$(cp "$work/out" "$work/foreign.csv"; keep "$vinci" group run "$work/foreign.csv" -s atlas_a2_910b4 $free --json
  expect 0 '' '"rank": 1, "computing_us": 160.0')"

# One trace for any number of ranks: each rank finds its own group in the family.
"$PYTHON" - "$work" <<'END'
import sys
from chakra import *
write(sys.argv[1] + "/one.0.et", [node(0, "fwd", "COMP", us=30), node(1, "g", "COLL", [0], comm_type=2, comm_size=500000000, pg_name="tp")])
open(sys.argv[1] + "/families.json", "w").write('{"tp": [[0, 1, 2, 3], [4, 5, 6, 7]]}')
END
keep "$vinci" group convert "$work/one" -n 8 --groups="$work/families.json"
report "one trace serves any number of ranks" "$(expect 0 "" "group,name=group0,ranks=0-3|4-7
program,ranks=0-7
work,name=fwd,us=30.0
record,event=e0,stream=0
wait,event=e0,stream=1
collective,name=g,op=all_gather,group=group0,bytes=2000000000,stream=1")"

# Each mistake: nodes as Python, what the message says.
mistakes_of_traces() {
  while IFS='|' read -r nodes message; do
    "$PYTHON" -c "from chakra import *; write('$work/bad.0.et', $nodes)"
    keep "$vinci" group convert "$work/bad" -n 2
    case "$code $err" in "3 $work/bad.0.et: error: $message"*) ;; *) echo "$nodes: $code $err" ;; esac
  done <<'END'
[node(1, "a", "COMP", [2])]|node 1 ("a") depends on node 2, which the trace does not have
[node(1, "a", "COMP", [2]), node(2, "b", "COMP", [1])]|node 2 ("b") depends on node 1, and that depends on it
[node(1, "a", "COMP"), node(1, "b", "COMP")]|node 1 ("b") has the id of another node
[node(1, "a", "COLL", comm_size=4)]|node 1 ("a") has no attribute comm_type
[node(1, "a", "COLL", comm_type=0)]|node 1 ("a") has no attribute comm_size
[node(1, "a", "COLL", comm_type=10, comm_size=4)]|node 1 ("a") has comm_type 10; 0 to 9 are known
[node(1, "a", "COLL", comm_type=0, comm_size=4, pg_name="x")]|node 1 ("a") is of process group "x", which no file of groups has
[node(1, "a", "SEND", comm_size=4)]|node 1 ("a") says neither comm_dst nor a group of two ranks
[node(1, "a", "SEND", comm_size=4, comm_dst=1)]|node 1 ("a") names a rank, and the trace is that of all ranks
[node(1, "a", "COMP", us=10**13)]|node 1 ("a") lasts longer than a job may
[], "0.0.9"|schema version "0.0.9"; 0.0.4 is read
[b"\\x0a\\xff"]|byte 9: a node is damaged
END
  printf 'PK' >"$work/bad.0.et"
  keep "$vinci" group convert "$work/bad"
  expect 3 "$work/bad.0.et: error: byte 0: the file does not begin as a Chakra trace does"
  keep "$vinci" group convert "$work/none"
  expect 2 "error: no trace '$work/none.0.et'
hint: give what stands before the number of the rank"
  cp "$work/step.0.et" "$work/two.0.et"
  cp "$work/step.0.et" "$work/two.1.et"
  keep "$vinci" group convert "$work/two" -n 4
  expect 2 "error: 2 traces of '$work/two', and 4 ranks: give one trace for all, or one for each"
  echo '{"tp": [0, 2]}' >"$work/bad.json"
  keep "$vinci" group convert "$work/two" -g "$work/bad.json"
  case $err in "$work/bad.json:1:12: error: rank 2: the traces have 2 ranks"*) ;; *) echo "$err" ;; esac
}
report "mistakes of traces are named" "$(mistakes_of_traces)"

# Any damage ends in a message or in a job that is read; never in a crash.
report "damaged traces harm nobody" "$(
  "$PYTHON" - "$work" <<'END'
import random, sys
from chakra import *
random.seed(7)
good = sys.argv[1] + "/good.0.et"
write(good, [node(i, "n%d" % i, "COMP", [i - 1] if i else [], us=5 * i, stream=i % 3) if i % 4 else
             node(i, "c%d" % i, "COLL", [i - 1] if i else [], comm_type=i % 9, comm_size=1000 * i + 8, pg_name="tp", stream=3)
             for i in range(16)])
good = open(good, "rb").read()
for i in range(120):
    b = bytearray(good)
    for _ in range(random.choice([1, 1, 2, 8])): b[random.randrange(len(b))] = random.choice([0, 1, 127, 128, 255, random.randrange(256)])
    open("%s/damaged%d.0.et" % (sys.argv[1], i), "wb").write(b[:random.choice([len(b), len(b), random.randrange(len(b))])])
END
  read_again=0
  for i in good $(seq -f damaged%g 0 119); do
    "$vinci" group convert "$work/$i" -n 8 --groups="$work/families.json" >"$work/damaged.csv" 2>"$work/err"
    code=$?
    case $code in
      0)
        read_again=$((read_again + 1))
        "$vinci" group convert "$work/damaged.csv" --output="$work/again" 2>"$work/err"
        case $? in 0 | 3) ;; *) echo "$i: again: $(cat "$work/err")" ;; esac
        ;;
      3) grep -q "^$work/$i.0.et: error: " "$work/err" || cat "$work/err" ;;
      *) echo "$i: $code $(cat "$work/err")" ;;
    esac
  done
  [ $read_again -gt 10 ] && [ $read_again -lt 110 ] || echo "$read_again were read"
)"

# ---- gates -----------------------------------------------------------------------------------
cat >"$work/suite.lua" <<'END'
return { set = { "hccs.copy=20GB/s" }, points = {
  { name = "step", job = "gated.csv" },
  { name = "other", job = "gated.csv", system = "atlas_a2_910b2" } } }
END
cp "$work/pairs.csv" "$work/gated.csv"
keep "$vinci" gate bless "$work/suite.lua" --baseline="$work/gate.csv" --reason=first
report "a job is a point of a gate" "$(expect 0 -
  grep -q '^step,job.bytes.hccs.2->3,500000000,byte,metric' "$work/gate.csv" || cat "$work/gate.csv"
  "$vinci" group run "$work/gated.csv" --set hccs.copy=20GB/s --json >"$work/step.json"
  "$PYTHON" - "$work" <<'END'
import csv, json, sys
rows = {r[1]: r[2] for r in csv.reader(open(sys.argv[1] + "/gate.csv")) if r and r[0] == "step"}
summary = json.load(open(sys.argv[1] + "/step.json"))
us = lambda key: round(sum(r[key] for r in summary["ranks"]) * 1e6)
for key, value in {"time_ps": round(summary["time_us"] * 1e6), "exposed_ps": us("exposed_us"), "idle_ps": us("idle_us"),
                   "moved_bytes": summary["moved_bytes"]}.items():
    if int(rows["job." + key]) != value: print(key, rows["job." + key], value)
END
)"
keep "$vinci" gate check "$work/suite.lua" --baseline="$work/gate.csv"
report "the same job passes" "$(expect 0 -)"
sed 's/bytes=1000000000/bytes=1000000002/' "$work/pairs.csv" >"$work/gated.csv"
keep "$vinci" gate check "$work/suite.lua" --baseline="$work/gate.csv"
report "bytes more on a link are a regression" "$(expect 1 - 'job.bytes.hccs.0->1 500000000 -> 500000003 byte')"
cat >"$work/study.lua" <<'END'
return { job = "gated.csv", params = { { "hccs.copy", "20GB/s", "25GB/s" } } }
END
keep "$vinci" sweep run "$work/study.lua" --output="$work/sweep"
report "a sweep varies the links of a job" "$(expect 0 - '2 points: 2 ok')"
