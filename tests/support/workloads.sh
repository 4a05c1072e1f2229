# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The workloads of tests/python/workloads.txt by the program: what test_same.sh compares with the library and its
# modules, and hosts.sh with builds for other hosts.

# shellcheck disable=SC2154 # $work is the folder of the test that calls
workloads_soc=Ascend910B4

# workload PROGRAM FOLDER NUMBER KIND ARGUMENT...: runs one line of the list. What is a text goes to stdout, what is a
# file to FOLDER/NUMBER*. Paths are those of the sources, where this has to be called; $work is for scratch.
workload() {
  program=$1 kept=$2/$3 kind=$4
  shift 4
  case $kind in
    run | trace) "$program" run "$@" -s $workloads_soc --json ;;
    check) "$program" check "$@" -s $workloads_soc 2>"$work/said" || [ $? -eq 5 ] ;;
    values)
      "$program" run "$@" -s $workloads_soc --fill=random:7 -q --output="$work/run" >"$work/said" || return
      for file in "$work"/run/tensors/*.npy; do
        mv "$file" "$kept.${file##*/}"
      done
      rm -r "$work/run"
      ;;
    list) "$program" run --ops "$1" -s $workloads_soc -q --output="$kept" >"$work/said" || [ $? -eq 3 ] ;;
    net) "$program" net run "$1" -s $workloads_soc --json | awk -F '[:,]' '
      { gsub(/[" ]/, "", $1); is[$1] = $2 + 0 }
      END { printf "net %.6f %.6f %d %d %d\n", is["time_us"], is["first_time_us"], is["kernels"], is["hbm_bytes"],
              is["memory_bytes"] }' ;;
    group) "$program" group run "$1" --json | awk -F '[:,]' '
      /"rank":/ { printf "%.6f %.6f %.6f\n", $4, $6, $10; next }
      { gsub(/[" ]/, "", $1); is[$1] = $2 + 0 }
      END { printf "group %.6f %d\n", is["time_us"], is["moved_bytes"] }' ;;
  esac
}

# What was printed, without the part about the machine, and without what the program alone says: a line of a check
# without findings, summary lines, its command. Then the sums of the files in a folder: workload_results PRINTED FOLDER
workload_results() {
  sed '/"host": {/,/}/d; /^ok: /d; /^summary: /d' "$1"
  (cd "$2" && find . -type f ! -name command.json | sort | xargs cksum)
}
