#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rules of the source tree that no compiler checks: who includes whom, which library is seen
# where, length of files, file heads. ARCHITECTURE.md gives the reasons.
# shellcheck disable=SC2086 # file names of this tree hold no blanks
set -u
cd "${TESTS_SRCDIR:-.}" || exit 99
. tests/support/tap.sh

folders='core cube vector memhier noc traces lower networks devices studies tune kernels scripts cli acl include'
# What is generated where the tree is built in place is not of the tree.
code=$(find $folders tests \( -name '*.pb-c.[ch]' -o -name soc_made.c \) -prune -o \( -name '*.c' -o -name '*.h' \
  -o -name '*.cc' -o -name '*.def' \) -print | LC_ALL=C sort)
core=$(printf '%s\n' $code | grep '^core/')
product=$(printf '%s\n' $code | grep -v '^tests/')
others=$(find $folders tests -path scripts/build-aux -prune -o \
  \( -name '*.sh' -o -name '*.lua' -o -name local.mk \) -print | LC_ALL=C sort)
others="$others configure.ac Makefile.am scripts/m4/vinci.m4 scripts/quickstart scripts/check .ci/run"

plan 12

report "headers are included by their path from the top" "$(awk '
  FILENAME ~ "^core/vinci_(auto|energy|study|sensitivity|diff|gate|group|guest|systemc(_[a-z]+)?|evaluate|kernel|net|cuts|device|serving|tables|timeline|tune)\\.h$" && /"vinci(_study|_evaluate|_net|_guest|_tables|_systemc_[a-z]+)?\.h"/ { next }
  FILENAME ~ "^tests/python/(same|serving)[.]c$" { next } # users of the library, with the headers as they are installed
  FILENAME ~ "^include/" { next } # installed: found by the folder that `vinci cc` gives
  FILENAME ~ "^tests/kernels/library/" { next } # an operator library, which includes as such libraries do
  /^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    if (part[2] !~ /^(core|cube|vector|memhier|noc|traces|lower|networks|devices|studies|tune|kernels|scripts|cli|acl|include|tests)\//)
      print FILENAME ":" FNR ": \"" part[2] "\""
  }' $code)"

# Which room may see which: tests/tree/rooms.txt. `make check` compares the calls too (check_calls.sh).
report "rooms include the rooms that rooms.txt allows" "$(awk '
  function room(path, part) {
    return split(path, part, "/") > 2 ? part[1] "/" part[2] : part[1]
  }
  NR == FNR {
    if ($0 !~ /^#/)
      for (i = 1; i <= NF; i++) allowed[$1 " " $i] = 1
    next
  }
  FNR == 1 { from = room(FILENAME); known = (from " " from) in allowed }
  FNR == 1 && !known && FILENAME !~ "^(include|cli|tests)/" { print FILENAME ": " from " is not in rooms.txt" }
  /^[ \t]*#[ \t]*include[ \t]*"/ && known {
    split($0, part, "\"")
    to = part[2] ~ "^core/vinci[a-z_]*\\.h$" || part[2] !~ "/" || part[2] ~ "^include/" ? from : room(part[2])
    if (!((from " " to) in allowed) && !(from == "core" || from == "lower"))
      print FILENAME ":" FNR ": " from " includes \"" part[2] "\""
  }' tests/tree/rooms.txt $product)"

# circles EXCEPTIONS FILES...: the includes that are part of a circle. What includes nothing that is left, or is
# included by nothing that is left, is in no circle and is taken away. With headers=1 of files as they are,
# otherwise of modules: the files of a room whose names begin with the same word. A table (.def) is data.
circles() {
  exceptions=$1
  shift
  awk -v headers="${headers:-0}" -v exceptions="$exceptions" '
  function module(path) {
    if (headers)
      return path
    sub(/\.[a-z]*$/, "", path)
    sub(/_[a-z0-9_]*$/, "", path)
    return path
  }
  /^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    if (part[2] !~ /\.def$/ && module(FILENAME) != module(part[2]))
      edges[module(FILENAME) " " module(part[2])] = 1
  }
  END {
    count = split(exceptions, exception, "\n")
    for (i = 1; i <= count; i++) {
      if (exception[i] != "" && !(exception[i] in edges))
        print "no longer so: " exception[i]
      delete edges[exception[i]]
    }
    do {
      split("", includes)
      split("", included)
      for (edge in edges) {
        split(edge, end, " ")
        includes[end[1]] = included[end[2]] = 1
      }
      removed = 0
      for (edge in edges) {
        split(edge, end, " ")
        if (!(end[2] in includes) || !(end[1] in included)) {
          delete edges[edge]
          removed = 1
        }
      }
    } while (removed)
    for (edge in edges) {
      sub(/ /, " includes ", edge)
      print edge
    }
  }' "$@" | LC_ALL=C sort
}
header_files=$(printf '%s\n' $code | grep '\.h$')
report "headers include each other in no circle" "$(headers=1 circles '' $header_files)"

# Those that are: a core is part of the device that holds the core; terms live in the arena of the text that is
# written, and the writer takes terms; a chip names its memory and energies, whose files are read as that of a chip; the tiling of
# a matrix product asks what a convolution loads, which is a matrix product.
report "modules include each other in no circle but those named here" "$(circles 'core/sim/aicore core/sim/device
lower/kernel/expr lower/kernel/emit
scripts/host/soc scripts/host/mem
scripts/host/soc scripts/host/energy
lower/cube/matmul lower/cube/conv' $product)"

# library NAME HEADERS PATHS TEXT: a library is seen in some places only; regular expressions.
library() {
  report "$1 is included in $4 only" "$(
    grep -nE "^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*[<\"]($2)" $product | grep -vE "^($3)"
  )"
}
library libsqlite3 'sqlite3\.h' 'traces/format/known_database' traces/format/known_database.c
library libcsv 'csv\.h' '(traces|lower/calls)/' 'traces/ and lower/calls/'
library Lua '(lua|lauxlib|lualib)\.' '(scripts|cli|studies)/' 'scripts/, studies/ and cli/'
library protobuf '(protobuf-c/|[^">]*\.pb-c\.h)' 'networks/onnx/' 'networks/onnx/'
library SystemC '(systemc|sysc|tlm)' 'core/(sim/engine_systemc\.cc|vinci_systemc(_[a-z]+)?\.h)' 'core/sim/engine_systemc.cc and core/vinci_systemc*.h'

report "the only C++ is core/sim/engine_systemc.cc, examples, and what kernels are compiled with" "$(find $folders \
  -name '*.cc' -o -name '*.cpp' -o -name '*.cxx' -o -name '*.hpp' |
  grep -vx 'core/sim/engine_systemc\.cc' |
  grep -v '^traces/examples/\(source\|systemc\)/\|^include/vinci/cce/library/\(platform\.cpp\|nlohmann/json\.hpp\)$\|^include/vinci/library/\(main\|template\|trials\)\.cpp$')"

# Tables (.def) are as long as the hardware is rich; include/ has one row for each intrinsic; core/vinci.h is
# installed, the whole interface of one run.
report "sources have at most 600 lines, headers 250" "$(awk '
  function check() { if (last != "" && lines > limit) print last ": " lines " lines, limit " limit }
  FNR == 1 {
    check()
    last = FILENAME ~ /\.def$/ ? "" : FILENAME
    limit = FILENAME ~ /^include\/|^core\/vinci\.h$/ ? 400 : FILENAME ~ /\.h$/ ? 250 : 600
  }
  { lines = FNR }
  END { check() }' $code)"

report "every source opens with its licence" "$(awk '
  function check() { if (last != "" && !found) print last }
  FNR == 1 { check(); last = FILENAME; found = 0 }
  FNR <= 2 && /SPDX-License-Identifier: Apache-2\.0/ { found = 1 }
  END { check() }' $code $others
  find $code $others -size 0)"
