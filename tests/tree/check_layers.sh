#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rules of the source tree that no compiler checks: who includes whom, which library is seen
# where, length of files, file heads. ARCHITECTURE.md gives the reasons.
# shellcheck disable=SC2086 # file names of this tree hold no blanks
set -u
cd "${TESTS_SRCDIR:-.}" || exit 99
. tests/support/tap.sh

folders='core cube vector memhier noc traces scripts cli acl include'
# What is generated where the tree is built in place is not of the tree.
code=$(find $folders tests -name '*.pb-c.[ch]' -prune -o \( -name '*.c' -o -name '*.h' -o -name '*.cc' \
  -o -name '*.def' \) -print | LC_ALL=C sort)
core=$(printf '%s\n' $code | grep '^core/')
product=$(printf '%s\n' $code | grep -v '^tests/')
others=$(find $folders tests -path scripts/build-aux -prune -o \
  \( -name '*.sh' -o -name '*.lua' -o -name local.mk \) -print | LC_ALL=C sort)
others="$others configure.ac Makefile.am scripts/m4/vinci.m4 scripts/quickstart scripts/check .ci/run"

plan 12

# The installed headers lie side by side wherever they are.
report "folders include core/ and themselves only; cli/ and tests/ include anything" "$(awk '
  FILENAME ~ "^core/vinci_(study|sensitivity|diff|gate|group|evaluate|kernel|net|cuts|device|timeline|tune)\\.h$" && /"vinci(_study|_evaluate|_net)?\.h"/ { next }
  FILENAME ~ "^include/" { next } # installed: found by the folder that `vinci cc` gives
  /^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    to = part[2]; sub(/\/.*/, "", to)
    from = FILENAME; sub(/\/.*/, "", from)
    if (to != "core" && to != "include" && to != from && from != "cli" && from != "tests")
      print FILENAME ":" FNR ": " from "/ includes \"" part[2] "\""
  }' $code)"

report "headers are included by their path from the top" "$(awk '
  FILENAME ~ "^core/vinci_(study|sensitivity|diff|gate|group|evaluate|kernel|net|cuts|device|timeline|tune)\\.h$" && /"vinci(_study|_evaluate|_net)?\.h"/ { next }
  FILENAME ~ "^include/" { next } # installed: found by the folder that `vinci cc` gives
  /^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    if (part[2] !~ /^(core|cube|vector|memhier|noc|traces|scripts|cli|acl|include|tests)\//)
      print FILENAME ":" FNR ": \"" part[2] "\""
  }' $code)"

# The rooms of core/, each with those that it may include besides itself. core/local.mk says what
# lives in each; core/registry.c is in none.
report "rooms of core/ include the rooms below them only" "$(printf '%s\n' \
  'base' \
  'chip base' \
  'isa base chip' \
  'control base chip isa' \
  'result base chip isa control' \
  'sim base chip isa control result' \
  'machine base chip isa control' \
  'check base chip isa control machine' \
  'debug base chip isa control result sim machine' \
  'graph base chip' \
  'group base' \
  'study base chip' |
  awk '
    NR == FNR { for (i = 1; i <= NF; i++) allowed[$1 " " $i] = 1; next }
    FNR == 1 && split(FILENAME, file, "/") == 3 && !((file[2] " " file[2]) in allowed) {
      print FILENAME ": core/" file[2] " is not in the table of rooms"
    }
    /^[ \t]*#[ \t]*include[ \t]*"core\/.*\// {
      split($0, part, "\"")
      split(part[2], to, "/")
      if (split(FILENAME, from, "/") == 3 && !((from[2] " " to[2]) in allowed))
        print FILENAME ":" FNR ": core/" from[2] " includes \"" part[2] "\""
    }' - $core)"

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
# written, and the writer takes terms; a chip names its memory, whose file is read as that of a chip; the tiling of
# a matrix product asks what a convolution loads, which is a matrix product.
report "modules include each other in no circle but those named here" "$(circles 'core/sim/aicore core/sim/device
traces/lower/expr traces/lower/emit
scripts/host/soc scripts/host/mem
traces/lower/cube/matmul traces/lower/cube/conv' $product)"

# library NAME HEADERS PATHS TEXT: a library is seen in some places only; regular expressions.
library() {
  report "$1 is included in $4 only" "$(
    grep -nE "^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*[<\"]($2)" $product | grep -vE "^($3)"
  )"
}
library libcsv 'csv\.h' 'traces/' 'traces/'
library Lua '(lua|lauxlib|lualib)\.' '(scripts|cli)/' 'scripts/ and cli/'
library protobuf '(protobuf-c/|[^">]*\.pb-c\.h)' 'traces/graph/onnx/' 'traces/graph/onnx/'
library SystemC '(systemc|sysc|tlm)' 'core/sim/engine_systemc\.cc' 'core/sim/engine_systemc.cc'

report "the only C++ is core/sim/engine_systemc.cc, and what kernels are compiled with" "$(find $folders \
  -name '*.cc' -o -name '*.cpp' -o -name '*.cxx' -o -name '*.hpp' |
  grep -vx 'core/sim/engine_systemc\.cc' |
  grep -v '^traces/examples/source/\|^include/vinci/cce/library/platform\.cpp$')"

report "sources have at most 600 lines, headers 250" "$(for file in $code; do
  case $file in
  *.def) continue ;; # a table is as long as the hardware is rich
  include/*) limit=400 ;;    # one row for each intrinsic
  core/vinci.h) limit=400 ;; # installed: the whole interface of one run
  *.h) limit=250 ;;
  *) limit=600 ;;
  esac
  lines=$(awk 'END { print NR }' "$file")
  [ "$lines" -le "$limit" ] || echo "$file: $lines lines, limit $limit"
done)"

report "every source opens with its licence" "$(for file in $code $others; do
  head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$file"
done)"
