# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# For tests that act on a process while the process runs: waiting for a state of the process in place of
# sleeping, so that a slow host gives the process all the time it needs, and a fast one waits no longer.

# await COMMAND...: until the command succeeds. After some minutes the test goes on, and its assertions
# say what is wrong.
await() {
  tries=0
  until "$@" 2>/dev/null || [ $tries -ge 4000 ]; do
    tries=$((tries + 1))
    sleep 0.05
  done
}

# Whether process $1 has gone. A child that has ended is a zombie until the shell takes notice, which may be
# while grep runs.
has_ended() {
  ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null ||
    ! kill -0 "$1" 2>/dev/null
}

# Waits for the end of process $1; says so and kills it when it does not end.
ends() {
  await has_ended "$1"
  has_ended "$1" || { echo "still runs"; kill -KILL "$1"; }
}

# Kills process $1 and waits for the processes that it had started, which the kernel ends a little later.
kill_at_once() {
  workers=$(cat "/proc/$1/task/$1/children")
  kill -KILL "$1"
  for worker in $workers; do
    await has_ended "$worker"
  done
}

# The states below are those of a process that runs; one that has gone is waited for no longer.

# Process $1 handles SIGINT and sleeps. A process of ours sleeps only in the call that the test has made
# last for ever: opening or reading a pipe. Several looks, as reading a file may be a short sleep.
is_stuck() {
  for _ in 1 2 3 4; do
    has_ended "$1" || awk '/^State:/ { sleeps = $2 == "S" }
      /^SigCgt:/ { handles = $2 ~ /[2367abef]$/ }
      END { exit !(sleeps && handles) }' "/proc/$1/status" || return 1
    sleep 0.02
  done
}

# Process $1 has used $2 seconds of CPU. On any host that is more than a start takes.
has_used() {
  has_ended "$1" || awk -v hz="$(getconf CLK_TCK)" -v seconds="$2" \
    '{ exit !(($14 + $15) / hz >= seconds) }' "/proc/$1/stat"
}

# Process $1 holds $2 KiB of memory.
holds_kib() {
  has_ended "$1" || awk -v least="$2" '/^VmRSS:/ { held = $2 } END { exit !(held >= least) }' \
    "/proc/$1/status"
}
