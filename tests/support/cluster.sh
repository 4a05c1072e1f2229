# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2016,SC2034,SC2154 # srcdir comes from the test, which uses the rest
# A Slurm cluster of one node for tests, without systemd, cgroups, a resolvable host name or root:
# cluster_up FOLDER starts munged, slurmctld and slurmd, and sets SLURM_CONF; cluster_down ends them
# and all tasks, and so does a watchdog when the test is killed. The cluster believes only in its
# own key, listens on free ports, and keeps all of its files in the folder.

PATH=$PATH:/usr/sbin:/sbin
cluster='' cluster_problem='' controller='' node=''

# Prints a new folder for a cluster: sockets want a short name, tasks one that they may execute in.
cluster_folder() {
  for top in /tmp /var/tmp "$PWD"; do
    folder=$(mktemp -d "$top/slurm.XXXXXX" 2>/dev/null) || continue
    printf '#!/bin/sh\n' >"$folder/executes" && chmod 755 "$folder" "$folder/executes"
    if "$folder/executes" 2>/dev/null; then
      rm "$folder/executes"
      echo "$folder"
      return
    fi
    rm -rf "$folder"
  done
  return 1
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
  until_second=$(($(date +%s) + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt "$until_second" ] || return 1
    sleep 0.2
  done
}

# Kills whatever knows the configuration of the cluster in folder $1: daemons, tasks, their children.
# (A shell that has exported it since it was started does not count, nor does the watchdog.)
cluster_reap() {
  for round in 1 2 3 4 5; do
    found=
    for process in /proc/[0-9]*; do
      pid=${process#/proc/}
      [ "$pid" != "$$" ] || continue
      if tr '\0' '\n' <"$process/environ" | grep -qxF "SLURM_CONF=$1/slurm.conf"; then
        kill -9 "$pid" && found=$round
      fi
    done 2>/dev/null
    [ -n "$found" ] || return 0
    sleep 0.2
  done
}

# Ends the cluster when process $1 has gone, and process $1 after $3 seconds.
cluster_watch() {
  left=$3
  while kill -0 "$1" 2>/dev/null; do
    sleep 1
    left=$((left - 1))
    [ "$left" -ne 0 ] || kill -TERM "$1"
    [ "$left" -gt -20 ] || kill -KILL "$1"
  done
  cluster_reap "$2"
  rm -rf "$2"
}

free_port() {
  port=$1
  while grep -qi ":$(printf '%04X' "$port") " /proc/net/tcp /proc/net/tcp6 2>/dev/null; do
    port=$((port + 1))
  done
  echo "$port"
}

cluster_configure() {
  controller_port=$(free_port $((20000 + ($$ * 7 + $2 * 331) % 9000)))
  node_port=$(free_port $((controller_port + 1)))
  user=$(id -un)
  cat >"$1/slurm.conf" <<CONF
ClusterName=vinci
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$controller_port
SlurmdPort=$node_port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$1/munge.sock
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd.log
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
PropagateResourceLimits=NONE
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_min_interval=0,bf_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
KillWait=2
ReturnToService=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2
PartitionName=sim Nodes=ALL Default=YES
CONF
  # Nothing is done with cgroups, but slurmd wants to know which kind there would be.
  echo 'CgroupPlugin=cgroup/v1' >"$1/cgroup.conf"
}

cluster_controller() {
  slurmctld -D </dev/null >"$1/slurmctld.err" 2>&1 &
  controller=$!
  wait_for 30 sinfo
}

cluster_is_idle() { sinfo -h -o %t | grep -qx idle; }

# cluster_up FOLDER SECONDS: no test takes longer. Fails with the reason in $cluster_problem.
cluster_up() {
  for program in munged slurmctld slurmd sbatch; do
    command -v $program >/dev/null && continue
    cluster_problem="no $program: apt-get install slurm-wlm"
    return 1
  done
  # Nothing of a job that this test may itself be part of.
  for name in $(env | sed -n 's/^\(SLURM[A-Z]*_[A-Za-z0-9_]*\|SBATCH_[A-Za-z0-9_]*\)=.*/\1/p'); do
    unset "$name"
  done
  cluster=$1
  mkdir "$cluster/state" "$cluster/spool"
  (umask 077 && head -c 128 /dev/urandom >"$cluster/munge.key")
  setsid sh -c '. "$1"; cluster_watch "$2" "$3" "$4"' watch "$srcdir/tests/support/cluster.sh" $$ "$cluster" \
    "$2" </dev/null >/dev/null 2>&1 &
  export SLURM_CONF="$cluster/slurm.conf"
  munged --foreground --force --origin=127.0.0.1 --key-file="$cluster/munge.key" \
    --socket="$cluster/munge.sock" --pid-file="$cluster/munge.pid" --log-file="$cluster/munge.log" \
    --seed-file="$cluster/munge.seed" </dev/null >"$cluster/munge.err" 2>&1 &
  wait_for 10 test -S "$cluster/munge.sock"
  for attempt in 1 2 3; do
    cluster_configure "$cluster" "$attempt"
    : >"$cluster/slurmd.err"
    if cluster_controller "$cluster"; then
      slurmd -D </dev/null >"$cluster/slurmd.err" 2>&1 &
      node=$!
      wait_for 30 cluster_is_idle && return
    fi
    cluster_problem="the cluster does not answer: $(cat "$cluster"/munge.err "$cluster"/slurmctld.err \
      "$cluster"/slurmd.err | grep -iE 'error|fatal' | tail -n 3 | tr '\n' ' ')"
    kill -9 "$controller" ${node:+"$node"} 2>/dev/null
    rm -rf "$cluster"/state/* "$cluster"/spool/*
  done
  return 1
}

cluster_down() {
  [ -n "$cluster" ] || return 0
  kill "$controller" "$node" 2>/dev/null
  cluster_reap "$cluster"
  cluster=''
}
