#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Energy in all verbs: the same account everywhere, closed forms of what is added to it, nothing of it
# without being asked. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_energy
plan 13

product="matmul m=256 k=512 n=256 dtype=fp16"
# shellcheck disable=SC2086 # words
run() { "$vinci" run $product -s Ascend910B4 --memory=flat "$@"; }

run --json >"$work/plain.json"
run --json --energy >"$work/energy.json"
report "only the key energy is added, and host may differ" "$(python3 - "$work" 2>&1 <<'END'
import json, sys
plain, energy = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("plain", "energy"))
if "energy" in plain:
    print("energy without being asked")
account = energy.pop("energy")
del plain["host"], energy["host"]
if plain != energy:
    print("other keys changed")
total = 0
for key, event in account["events"].items():
    if "count" in event:
        total += event["count"] * event["fj"]
    else:
        total += event["ps"] * round(event["w"] * 1000)
if abs(total / 1e9 - account["uj"]) > 1e-4:
    print("events are", total / 1e9, "not", account["uj"])
if account["macs"] != 256 * 512 * 256 or account["events"]["mac.fp16"]["count"] != account["macs"]:
    print("macs", account["macs"])
parts = sum(round(part["uj"] * 1e6) for part in account["parts"].values())
if parts != round(account["uj"] * 1e6):
    print("parts", parts)
if not account["low_uj"] < account["uj"] < account["high_uj"]:
    print("interval", account)
time = account["events"]["static.chip"]["ps"]
if abs(account["average_w"] - account["uj"] * 1e6 / time) > 1e-3 or time != round(plain["duration_us"] * 1e6):
    print("average", account["average_w"], time)
END
)"

report "the report has a table of parts and what is open" "$(run --energy >"$work/text"
  grep -q '^Energy    .* W on average, between .* pJ a multiply-accumulate$' "$work/text" || cat "$work/text"
  for part in cube buffers scalar l2 network memory active idle static; do
    grep -q "^          $part .*%.*\\.\\. " "$work/text" || echo "no $part"
  done
  grep -q 'the ranges that leave most open: energy\.' "$work/text" || echo "nothing open"
  run | grep -i energy)"

report "an override asks for the account, and is told" "$(run --set energy.mac.fp16=1pJ >"$work/text"
  grep -q '^Changed   energy.mac.fp16 = 1pJ$' "$work/text" || cat "$work/text")"

keep "$vinci" run add shape=64 -s Ascend310P3 --energy
report "a chip without energies is refused, with what to write" "$(expect 2 "error: Ascend310P3: no energies are known of this chip (none are published of 910A, 310P and 950)
hint: write a file energy/NAME.lua of all numbers, and energy = \"NAME\" in the chip's own, or --set energy.name=NAME; energy.name=davinci_7nm takes those of the 910B family")"
keep "$vinci" run add shape=64 -s Ascend310P3 --set energy.name=davinci_7nm --energy -q
report "another chip takes those that are named" "$(expect 0 '')"
keep "$vinci" run add shape=64 -s Ascend910B4 --energy --set energy.idle.cube_core=1pJ -q
report "a unit of another kind is refused" "$(expect 2 "error: energy.idle.cube_core: unknown unit 'pJ' in '1pJ'
hint: power, suffixes mW W, to a milliwatt")"

printf 'op,args\nadd,shape=64\n' >"$work/list.csv"
keep "$vinci" run --ops "$work/list.csv" -s Ascend910B4 --energy
report "a list has no account, and says so" "$(expect 2 'error: a list of operators has no account of energy
hint: run its operators one by one, or a network: vinci net run --energy'
  "$vinci" sweep run --ops "$work/list.csv" -s Ascend910B4 --energy -o "$work/ops" 2>&1 |
    grep -v 'a list of operators has no account\|^hint')"

# ---- descriptions ------------------------------------------------------------------------------

cp -r "$srcdir/scripts/soc" "$srcdir/scripts/mem" "$srcdir/scripts/noc" "$srcdir/scripts/energy" "$work"
chmod -R u+w "$work"
# broken PATTERN REPLACEMENT MESSAGE: a description with a mistake, and what is said of that.
broken() {
  sed "s|$1|$2|" "$srcdir/scripts/energy/davinci_7nm.lua" >"$work/energy/davinci_7nm.lua"
  "$vinci" run add shape=64 -s Ascend910B4 --data="$work" --energy -q >"$work/out" 2>&1 && echo "accepted: $2"
  grep -q "$3" "$work/out" || cat "$work/out"
}
report "descriptions with mistakes are refused" "$(
  broken 'tree, 200, 340 + 380)' 'tree)' 'mac.fp16: an energy needs a range'
  broken 'tree, 200, 340' 'tree, 500, 340' 'mac.fp16: the value is outside its own range'
  broken 'tree, 200, 340 + 380' 'tree, "a", 3' 'num: low and high must be numbers'
  broken 'fp8 = num' 'fp9 = num' "unknown energy 'mac.fp9'"
  broken '^    fp8 = .*' '' "the number 'mac.fp8' is missing"
  broken '"fJ", "TPU4", "derived", tree, 200' '"B", "TPU4", "derived", tree, 200' 'the unit must be "fJ", not "B"'
  broken '"TPU4", "derived", tree, 200' '"TPU5", "derived", tree, 200' "unknown source 'TPU5'")"

keep "$vinci" soc show Ascend910B4 --energy
report "soc show has the ranges and the sources" "$(
  grep -q 'energy.mac.fp16 .*370fJ .*TPU4 .*\[200fJ .. 720fJ\]' "$work/out" || echo "no range"
  grep -q '^Sources of energy' "$work/out" || echo "no sources"
  "$vinci" soc show Ascend910B4 | grep 'energy\.mac')"

# ---- networks and jobs ---------------------------------------------------------------------------

graph=$srcdir/traces/examples/two_layers.graph.csv
net() { "$vinci" net run "$graph" -s Ascend910B4 --json "$@"; }
net --energy >"$work/net.json"
net --energy --results="$work/results" >"$work/first.json"
net --energy --results="$work/results" >"$work/second.json"
report "a network: time is time times power; results of a folder give the same" "$(python3 - "$work" 2>&1 <<'END'
import json, os, sys
net, first, second = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("net", "first", "second"))
if not net["energy"] == first["energy"] == second["energy"]:
    print("kept results have another energy")
if not any(name.endswith(".energy") for name in os.listdir(sys.argv[1] + "/results")):
    print("nothing was kept")
event = net["energy"]["events"]["static.chip"]
if event["ps"] != round(net["time_us"] * 1e6):
    print("static power for", event["ps"])
if net["energy"]["events"]["idle.cube_core"]["ps"] != 20 * event["ps"]:
    print("idle cores", net["energy"]["events"]["idle.cube_core"])
END
net | grep energy)"

cp "$graph" "$work/layers.csv"
cat >"$work/job.csv" <<'END'
job,version=1,name=layers,system=atlas_a2_910b4,ranks=3
group,name=all,ranks=0-2
program,ranks=0 2
work,op=matmul m=256 k=512 n=256 dtype=fp16
collective,op=all_reduce,group=all,bytes=1048576
program,ranks=1
work,net=layers.csv
work,us=12.5
collective,op=all_reduce,group=all,bytes=1048576
END
"$vinci" group run "$work/job.csv" --energy --json >"$work/job.json"
"$vinci" group run "$work/job.csv" --energy >"$work/job.text"
report "a job: work as of runs, links, and time of each device" "$(python3 - "$work" 2>&1 <<'END'
import json, sys
job, run, net = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("job", "energy", "net"))
energy = job["energy"]
def work(account):  # without what the chip takes all the time
    uj = sum(part["uj"] for name, part in account["energy"]["parts"].items() if name not in ("idle", "static"))
    refresh = account["energy"]["events"].get("dram.refresh", {"count": 0, "fj": 0})
    return uj - refresh["count"] * refresh["fj"] / 1e9
want = [work(run), work(net), work(run)]
for rank, uj in enumerate(energy["work_of_ranks_uj"]):
    # A job takes the flat model, as the run; of the network's kernels single requests differ.
    if abs(uj - want[rank]) > (1e-3 if rank != 1 else 0.3 * want[rank]):
        print("rank", rank, uj, "not", want[rank])
if abs(energy["links"]["uj"] - job["moved_bytes"] * 80000 / 1e9) > 1e-5:
    print("links", energy["links"], job["moved_bytes"])
if abs(energy["time"]["uj"] - 3 * energy["time_of_a_device"]["uj"]) > 1e-5:
    print("time", energy["time"])
# 52.7 W, 32 channels of 0.25 W, 20 cores of 0.6 W and 40 of 0.3 W; refreshes are less than a watt.
watts = energy["time_of_a_device"]["uj"] / job["time_us"]
if not 84.7 <= watts < 85.7:
    print("a device takes", watts)
if abs(energy["whole"]["uj"] - sum(energy[key]["uj"] for key in ("work", "links", "time"))) > 1e-5:
    print("the sum", energy["whole"])
if energy["operations_without_energy"] != 1:
    print("given", energy["operations_without_energy"])
END
grep -q '^rank  .* of it waits' "$work/job.text" || cat "$work/job.text"
"$vinci" group run "$work/job.csv" --json | grep energy)"

# ---- sweeps and comparisons ----------------------------------------------------------------------

# shellcheck disable=SC2086 # words
"$vinci" sweep run $product -s Ascend910B4 --memory=flat -p energy.mac.fp16=370fJ,740fJ --energy -o "$work/sweep" -q
# shellcheck disable=SC2086
"$vinci" sweep run $product -s Ascend910B4 --memory=flat -p device.cube_cores=20 -o "$work/without" -q
report "a sweep has energy, power and their product with time" "$(python3 - "$work" 2>&1 <<'END'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/sweep/results.csv")))
run = json.load(open(sys.argv[1] + "/energy.json"))["energy"]
if [float(row["energy.uj"]) for row in rows][0] != run["uj"]:
    print("first point", rows[0]["energy.uj"], "not", run["uj"])
step = float(rows[1]["energy.uj"]) - float(rows[0]["energy.uj"])
if abs(step - run["macs"] * 370 / 1e9) > 1e-5:
    print("twice the price is", step, "more")
for row in rows:
    if abs(float(row["energy.edp_uj_us"]) - float(row["energy.uj"]) * float(row["duration_us"])) > 1e-3:
        print("edp", row)
    if abs(float(row["energy.average_w"]) - float(row["energy.uj"]) / float(row["duration_us"])) > 1e-3:
        print("average", row)
if any("energy" in key for key in next(csv.DictReader(open(sys.argv[1] + "/without/results.csv")))):
    print("columns without being asked")
END
)"

run --energy -o "$work/a" -q
run --set energy.l2.byte=10pJ -o "$work/b" -q
report "diff compares energies of runs and of folders" "$("$vinci" diff "$work/a" "$work/b" >"$work/folders"
  # shellcheck disable=SC2086
  "$vinci" diff $product -s Ascend910B4 --memory=flat --energy --set-b energy.l2.byte=10pJ >"$work/runs"
  for file in folders runs; do
    grep -q '^  energy.l2_pj ' "$work/$file" || cat "$work/$file"
    grep -q '^  energy.cube_pj ' "$work/$file" && echo "cube differs in $file"
  done
  # shellcheck disable=SC2086
  "$vinci" diff $product -s Ascend910B4 --memory=flat --set-b l2.size=48MiB --all | grep energy)"
