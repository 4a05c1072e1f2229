#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Texts as other systems write them: with a byte order mark first, with Windows line ends. And outputs that are no plain
# files: a pipe and a device are written into, of a link the file behind the link is replaced.
# $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4
unset CI GITHUB_ACTIONS GITLAB_CI JENKINS_URL TF_BUILD BUILDKITE TEAMCITY_VERSION

work_folder test_texts
plan 11

# ---- byte order marks and line ends ----
examples=$srcdir/traces/examples
cp "$examples/two_layers.graph.csv" "$work/graph"
cp "$examples/data_parallel.job.csv" "$work/job"
cp "$examples/gears.graph.csv" "$work/gears"
printf 'arrival_us,size\n0,1\n10,2\n' >"$work/requests"
printf 'op,args\nrelu,shape=4x512\n' >"$work/list"
printf 'type,mean_us\nRelu,3\n' >"$work/costs"
cat >"$work/profile" <<'END'
Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats
relu,Relu,AI_VECTOR_CORE,10,2,0,"""4,512""",FLOAT16,ND,"""4,512""",FLOAT16,ND
END
echo 'return { soc = "Ascend910B4", points = { { name = "r", op = "relu", shape = "4x512" } } }' >"$work/suite"
cat >"$work/ranks" <<'END'
{ "status": "completed", "version": "1.0", "server_count": "1", "server_list": [ { "server_id": "a", "device": [
  { "device_id": "0", "rank_id": "0" }, { "device_id": "1", "rank_id": "1" },
  { "device_id": "2", "rank_id": "2" }, { "device_id": "3", "rank_id": "3" } ] } ] }
END
"$vinci" tune relu shape=4x512 $soc --memory=flat --evaluations=2 --robust=0 -q -r "$work/tunings" >/dev/null

# as_well NAME WORDS...: the words run on $in, which is the file plain, with a mark, with Windows line ends, and with
# both: the output stays the same.
in=$work/in
as_well() {
  name=$1
  shift
  for form in plain mark ends both; do
    case $form in mark | both) printf '\357\273\277' ;; esac >"$in"
    case $form in ends | both) sed 's/$/\r/' "$work/$name" ;; *) cat "$work/$name" ;; esac >>"$in"
    keep "$vinci" "$@"
    [ $form = plain ] && plain=$out
    expect 0 -
    [ "$out" = "$plain" ] || echo "$form: another output"
  done
}
flat="$soc --memory=flat"
# shellcheck disable=SC2086 # two words
{
  report "graphs" "$(as_well graph net plan "$in")"
  report "families of graphs, and requests" "$(
    as_well gears net serve "$in" $flat --gears=1 --requests="$work/requests"
    as_well requests net serve "$work/gears" $flat --gears=1 --requests="$in")"
  report "jobs and rank tables" "$(as_well job group run "$in"
    as_well ranks group run "$work/job" --rank-table="$in")"
  report "lists and suites" "$(as_well list run --ops "$in" $flat
    as_well suite gate list "$in")"
  report "profiles and host costs" "$(as_well profile replay "$in" $flat
    as_well costs replay "$work/profile" $flat --host-costs="$in")"
  report "tunings" "$(as_well tunings run relu shape=4x512 $flat -r "$in")"
}

# ---- where results go ----
network() { "$vinci" net import "$work/graph" --output="$1"; }
network "$work/plain"
mkfifo "$work/pipe"
cat "$work/pipe" >"$work/read" &
network "$work/pipe"
problems=$([ -p "$work/pipe" ] || echo "the pipe is gone")
wait
report "a pipe is written into" "$problems$(cmp "$work/plain" "$work/read" 2>&1)"

echo old >"$work/behind"
ln -s behind "$work/link"
network "$work/link"
report "of a link the file behind is replaced" "$([ -L "$work/link" ] || echo "the link is gone"
  cmp "$work/plain" "$work/behind" 2>&1)"

ln -s later "$work/early"
network "$work/early"
report "of a link to nothing the file is made" "$([ -L "$work/early" ] || echo "the link is gone"
  cmp "$work/plain" "$work/later" 2>&1)"

report "nothing is left beside the results" "$(find "$work" -name '*.part')"

if mknod "$work/full" c 1 7 2>/dev/null && [ -c "$work/full" ]; then
  keep network "$work/full"
  report "a full device is an error, and stays a device" "$(
    expect 2 "$work/full: error: cannot write: No space left on device"
    [ -c "$work/full" ] || echo "the device is gone")"
else
  report "a full device is an error # SKIP devices are for root" ''
fi
