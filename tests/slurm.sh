#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make check-slurm: vinci sweep submit on a real Slurm, brought up here on loopback without systemd: the
# same bytes as a local sweep, a task killed in the middle, a restart of the controller. Wants Debian's
# slurm-wlm and root; without Slurm it is skipped. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/tap.sh"
vinci=${VINCI:?}
case $vinci in /*) ;; *) vinci=$PWD/$vinci ;; esac
for program in slurmctld slurmd sbatch squeue; do
  PATH=$PATH:/usr/sbin command -v $program >/dev/null || skip_all "no $program: apt-get install slurm-wlm"
done
[ "$(id -u)" -eq 0 ] || skip_all "slurmd wants root"

work=$(mktemp -d /tmp/slurm.XXXXXX) || exit 99
host=$(hostname -s)
SLURM_CONF=$work/slurm.conf
PATH=$PATH:/usr/sbin
export SLURM_CONF PATH
mkdir "$work/state" "$work/spool"
# auth/none is for tests on loopback only: any local user can act as any other.
cat >"$SLURM_CONF" <<END
ClusterName=vinci
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/pgid
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_min_interval=0,bf_interval=1,batch_sched_delay=0
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=2
PartitionName=sim Nodes=ALL Default=YES
END

stop() {
  for daemon in slurmctld slurmd; do
    [ ! -e "$work/$daemon.pid" ] || kill "$(cat "$work/$daemon.pid")" 2>/dev/null
  done
}
trap 'scancel --user=root 2>/dev/null; stop; sleep 1; rm -rf "$work"' EXIT

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
  left=$(($1 * 5))
  shift
  until "$@" >/dev/null 2>&1; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || return 1
    sleep 0.2
  done
}
is_idle() { sinfo -h -o %t | grep -qx idle; }
is_empty() { [ -z "$(squeue -h)" ]; }
runs() { squeue -h -t R -n vinci-shards -o %i | grep -q .; }
slurmctld
wait_for 10 sinfo
slurmd
wait_for 30 is_idle || skip_all "the cluster does not come up: $(tail -n 2 "$work/slurmd.log" | tr '\n' ' ')"

# 40 points of the 2048 cube.
study() {
  "$vinci" sweep "$@" "$srcdir/traces/examples/matmul_2048_fp16.csv" --soc-version=Ascend910B1 \
    --param l2.size=8MiB,16MiB,64MiB,192MiB --param hbm.bandwidth_scale=0.25,0.5,0.75,1,2 \
    --param device.cube_cores=12,24 --quiet
}

plan 6
study run -j1 --output="$work/local"
study submit --slurm --shards=4 --wait --output="$work/array" 2>"$work/err"
code=$?
report "an array of shards: the same bytes as a local sweep" "$([ $code -eq 0 ] || cat "$work/err"
  diff "$work/local/results.csv" "$work/array/results.csv")"
report "scripts and logs are kept" "$(for name in canary.sh shards.sh collect.sh; do
  [ -s "$work/array/slurm/$name" ] || echo "no $name"
done)"

# A worker of a running task dies by kill -9 with all of its task.
study submit --slurm --shards=2 --output="$work/killed" >/dev/null
wait_for 60 runs
sleep 0.3
scancel --signal=KILL --full --name=vinci-shards
wait_for 120 is_empty
"$vinci" sweep collect "$work/killed" >"$work/out" 2>"$work/err"
code=$?
report "a task killed in the middle leaves gaps, which are not hidden" "$([ $code -eq 7 ] ||
  echo "exit code $code"; grep -q 'points are missing' "$work/err" || cat "$work/err"
  [ ! -e "$work/killed/results.csv" ] || echo "there is a table")"
study submit --slurm --shards=2 --wait --output="$work/killed" 2>"$work/err"
report "submitted again it goes on, to the same bytes" "$(cat "$work/err"
  diff "$work/local/results.csv" "$work/killed/results.csv")"

study submit --slurm --shards=4 --output="$work/restart" >/dev/null
wait_for 60 runs
kill "$(cat "$work/slurmctld.pid")"
sleep 2
slurmctld
wait_for 180 is_empty
report "the controller restarts in the middle: the same bytes" "$(
  diff "$work/local/results.csv" "$work/restart/results.csv")"

(SLURM_CONF=$work/none study submit --slurm --output="$work/none.out") >"$work/out" 2>"$work/err"
code=$?
report "no cluster" "$([ $code -eq 2 ] || echo "exit code $code"
  grep -q '^error: sbatch failed' "$work/err" || cat "$work/err")"
