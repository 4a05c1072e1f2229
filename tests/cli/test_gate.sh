#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci gate from the outside: seeded regressions, each with its verdict, exit code and an explanation
# whose parts sum to the whole; policies, bless, reports, messages. $VINCI is the program under test.
# shellcheck disable=SC2016 # awk programs
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
. "$srcdir/tests/support/await.sh"
vinci=${VINCI:?}

work_folder test_gate

# Two tiles in flight: y = x + x in 40 tiles a block.
cat >"$work/good.csv" <<'END'
trace,version=1
kernel,name=add,arch=dav-c220,blocks=4
tensor,name=x,dtype=fp16,shape=2097152,io=in
tensor,name=y,dtype=fp16,shape=2097152,io=out
buffer,name=xbuf,space=UB,address=0,size=32768
buffer,name=ybuf,space=UB,address=32768,size=32768
stream,core=AIV
loop,first,2
set_flag,src=V,dst=MTE2,id=first
endloop
loop,i,40
let,slot,i%2
let,at,blk*655360+i*16384
wait_flag,src=V,dst=MTE2,id=slot
copy_gm_to_ubuf,dst=xbuf+slot*16384,src=x+at,len_burst=512
set_flag,src=MTE2,dst=V,id=slot
wait_flag,src=MTE2,dst=V,id=slot
vadd,dst=ybuf+slot*16384,src0=xbuf+slot*16384,src1=xbuf+slot*16384,repeat=64,type=fp16
set_flag,src=V,dst=MTE3,id=slot
wait_flag,src=V,dst=MTE3,id=slot
copy_ubuf_to_gm,dst=y+at,src=ybuf+slot*16384,len_burst=512
set_flag,src=V,dst=MTE2,id=slot
endloop
loop,last,2
wait_flag,src=V,dst=MTE2,id=last
endloop
END
cat >"$work/suite.lua" <<'END'
return { soc = "Ascend910B4", memory = "flat", points = {
  { name = "add", trace = "add.csv" },
  { name = "copy", op = "copy", shape = 65536, dtype = "fp16" },
} }
END
cp "$work/good.csv" "$work/add.csv"
suite=$work/suite.lua
base=$work/base.csv

# gate COMMAND ARGUMENT...: keeps stdout, stderr and exit code in $out, $err, $code.
gate() { keep "$vinci" gate "$@"; }

check() { gate check "$suite" --baseline="$base" "$@"; }

# verdict POINT WORD: the verdict of a point.
verdict() {
  awk -v point="$1" -v word="$2" '
    $2 == point || $2 == point ":" || $2 == point "," { found = $1 }
    END { if (found != word) print point " is " found ", not " word }' "$work/out"
}

# Explanations sum: pipes to the whole, causes and instructions to their pipe, count and cost to each.
sums() {
  awk '
    function close_pipe() {
      if (items && of_items != pipe) print "instructions sum to " of_items ", pipe has " pipe
      if (causes && of_causes != pipe) print "causes sum to " of_causes ", pipe has " pipe
      items = of_items = causes = of_causes = 0
    }
    function close_all() {
      if (!open) return
      close_pipe()
      if (of_pipes != whole) print "pipes sum to " of_pipes ", whole is " whole
      open = of_pipes = 0
    }
    /^  change of total_cycles/ { close_all(); open = 1; seen++; whole = $4 + 0; next }
    open && /^    [A-Za-z0-9]+: [-+]/ { close_pipe(); pipe = $2 + 0; of_pipes += pipe; next }
    open && /^      cause / { causes++; of_causes += $3; next }
    open && /^      .* = count / {
      items++; of_items += $2
      for (i = 1; i < NF; i++) if ($i ~ /:$/ && $i != $1) parts[i] = $(i + 1) + 0
      n = split($0, half, /cost: /); cost = half[2] + 0
      split(half[1], left, /: /); count = left[3] + 0
      if (count + cost != $2 + 0) print "count " count " and cost " cost " are not " $2
      next
    }
    open { close_all() }
    END { close_all(); if (want && !seen) print "no explanation" }' want=1 "$work/out"
}

# seed NAME SED: the trace with a fault; the others as they were.
seed() { sed "$1" "$work/good.csv" >"$work/add.csv"; }

# regresses NAME SED VERDICT CODE [METRIC]: a seeded fault of the trace.
regresses() {
  seed "$2"
  check
  report "$1" "$(expect "$4" '' "${5--}"; verdict add "$3"; verdict copy PASS; sums)"
}

plan 103

# ---- usage, and the way to a baseline ---------------------------------------------------
gate
report "no command: help on stderr" "$(expect 2 -; [ -z "$out" ] || echo "stdout: $out")"
gate chekc
report "misspelt command" "$(expect 2 "error: unknown command 'chekc' of gate
hint: did you mean 'vinci gate check'?")"
gate check "$suite"
report "no baseline named" "$(expect 2 'error: which baseline? --baseline=FILE is missing')"
gate check --baseline="$base"
report "no suite named" "$(expect 2 'error: one suite is wanted, not 0')"
check
report "a missing baseline" "$(expect 3 "$base: error: cannot read the baseline: No such file or \
directory
hint: 'vinci gate bless SUITE --baseline=FILE --reason=TEXT' makes a baseline of a suite")"
gate bless "$suite" --baseline="$base"
report "bless without a reason" "$(expect 2 \
  'error: a reason is needed: why are the numbers right?
hint: --reason=TEXT goes into the log beside the baseline'; ls "$base" 2>/dev/null)"
gate bless "$suite" --baseline="$base" --reason='first numbers'
report "bless makes a baseline" "$(expect 0 '' "blessed 2 points in $base"
  [ "$(head -n 1 "$base")" = '# vinci gate baseline' ] || head -n 1 "$base")"
report "its rows are sorted" "$(grep -v '^#' "$base" | tail -n +2 | cut -d, -f1,2 >"$work/keys"
  LC_ALL=C sort -u -t, -k1,1 -k2,2 "$work/keys" | diff "$work/keys" -)"
report "the log has the reason" "$(grep -q '^== first numbers$' "$base.changes" || cat "$base.changes")"
check
report "unchanged code passes" "$(expect 0 '' '2 points: 2 PASS; the gate passes')"
cp "$base" "$work/first.csv"
gate bless "$suite" --baseline="$base" --reason='again'
report "nothing to bless" "$(expect 0 '' 'nothing to bless'; diff "$base" "$work/first.csv"
  grep again "$base.changes")"
check --repeat=3 -j8
report "repetitions agree, with parts shuffled" "$(expect 0 '' '2 PASS')"
# bless_with VARIABLE=VALUE ARGUMENT...
bless_with() {
  env "$1" "$vinci" gate bless "$suite" --baseline="$base" --reason=again ${2+"$2"} >"$work/out" 2>"$work/err"
  code=$?
  err=$(cat "$work/err")
}
for name in CI GITHUB_ACTIONS; do
  bless_with $name=true
  report "bless refuses where $name is set" "$(expect 2 \
    "error: bless is not for continuous integration ($name is set)
hint: --allow-ci blesses nevertheless; better bless where the change is made, and commit the baseline")"
done
bless_with CI=true --allow-ci
report "but for --allow-ci" "$(expect 0 '')"
bless_with CI=false
report "and where CI is false" "$(expect 0 '')"
sed 's/$/\r/' "$work/first.csv" >"$base"
check
report "a baseline with line ends of Windows" "$(expect 0 '' '2 PASS')"
cp "$work/first.csv" "$base"
gate list "$suite"
report "list" "$(expect 0 '' "add: $work/add.csv on Ascend910B4
copy: copy dtype=fp16 shape=65536 on Ascend910B4")"

# ---- seeded faults of a program ------------------------------------------------------------
regresses "one instruction more" '/^vadd/p' REGRESSED 1 'instructions '
regresses "one scalar instruction more, in one block" \
  's/^loop,last,2/loop,odd,blk==3\nscalar,cycles=1\nendloop\nloop,last,2/' REGRESSED 1 'instructions'
regresses "scalar work in the loop" 's/^let,slot/scalar,cycles=5000\nlet,slot/' REGRESSED 1 'S: +'
regresses "an instruction that takes longer" 's/^vadd,.*/&\nvdiv,dst=ybuf,src0=xbuf,src1=xbuf,repeat=128,type=fp16/' \
  REGRESSED 1 'vdiv: +'
regresses "a bank conflict" 's/src1=xbuf+slot\*16384,repeat=64/src1=ybuf+slot*16384,repeat=64,src1_block=8/' \
  REGRESSED 1 'vector.bank'
regresses "lower overlap: one buffer instead of two" 's/^let,slot,i%2/let,slot,0/; s/^loop,first,2/loop,first,1/; s/^loop,last,2/loop,last,1/' \
  REGRESSED 1 'total_cycles'
regresses "lower overlap: a barrier in the loop" 's/^let,slot/pipe_barrier,pipe=ALL\nlet,slot/' \
  REGRESSED 1 'total_cycles'
regresses "a larger tile tail" 's/^loop,i,40/loop,i,blk==3)*8+40/; s/^loop,i,blk/loop,i,(blk/; s/let,at,blk\*655360/let,at,blk*524288/' \
  REGRESSED 1 'bytes.GM_UB'
regresses "one tile more" 's/^loop,i,40/loop,i,41/; s/let,at,blk\*655360/let,at,blk*524288/' \
  REGRESSED 1 'total_cycles'
regresses "more bytes a copy" 's/^copy_gm_to_ubuf.*len_burst=512/&0/; s/len_burst=5120/len_burst=520/' \
  REGRESSED 1 'bytes.GM_UB'
regresses "everything read twice" '/^copy_gm_to_ubuf/p' REGRESSED 1 'bytes.GM_UB'
regresses "copies cut in two" 's/^copy_gm_to_ubuf,\(.*\),len_burst=512/copy_gm_to_ubuf,\1,len_burst=256\n&/; s/^\(copy_gm_to_ubuf,dst=xbuf+slot\*16384\),src=x+at,len_burst=512/\1+8192,src=x+at+8192,len_burst=256/' \
  REGRESSED 1 'pipe.MTE2.instructions'
regresses "fewer blocks with more work each" 's/blocks=4/blocks=2/; s/^loop,i,40/loop,i,80/; s/blk\*655360/blk*1310720/' \
  REGRESSED 1 'total_cycles'
regresses "strided access to device memory" 's/src=x+at,len_burst=512/src=x+at,n_burst=512,len_burst=1,src_gap=1/' \
  REGRESSED 1 'total_cycles'
regresses "an extra flag" 's/^vadd.*/&\nset_flag,src=V,dst=S,id=0\nwait_flag,src=V,dst=S,id=0/' \
  REGRESSED 1 'pipe.S.instructions'
seed 's/dst=y+at/dst=y+(39-i)*16384+blk*655360/'
check
report "another order of the same work" "$(expect 0 ''; verdict copy PASS)"
seed 's/^loop,i,40/loop,i,39/'
check
report "one tile less is an improvement" "$(expect 0 '' 'IMPROVED  total_cycles'; verdict add IMPROVED; sums)"
check --strict
report "and fails under --strict" "$(expect 1 ''; verdict add IMPROVED)"
seed 's/^# nothing//; 1s/$/\n# only a comment/'
check
report "a comment more is nothing" "$(expect 0 '' '2 PASS')"
cp "$work/good.csv" "$work/add.csv"

# ---- seeded faults of the chip ---------------------------------------------------------------
slower() {
  check "$2"
  report "$1" "$(expect 1 '' "config: $3"; verdict add REGRESSED; sums
    case $out in *'first difference: '*) ;; *) echo "no event: $out" ;; esac)"
}
slower "slower device memory" --set=hbm.bandwidth_scale=0.05 'hbm.bandwidth_scale 1 -> 0.05'
slower "a longer start-up" --set=path.GM_UB.startup_cycles=900 'path.GM_UB.startup_cycles '
slower "a slower launch" --set=launch.base=9us 'launch.base '
cp -r "$base.inputs" "$work/inputs"
for config in "$base.inputs"/config-*.csv; do echo 'soc,Ascend910B4' >>"$config"; done
check --set=launch.base=9us
report "inputs that name two chips" "$(expect 1 '' 'no comparison of events: the chip of the baseline is not in')"
rm -r "$base.inputs"
mv "$work/inputs" "$base.inputs"
cp -r "$srcdir/scripts" "$work/data" && chmod -R u+w "$work/data"
cat >"$work/data/soc/Ascend910B4.lua.new" <<'END'
END
rm "$work/data/soc/Ascend910B4.lua.new"
sed -i 's/^return soc {/launch_base_is_changed = true\nreturn soc {/' "$work/data/soc/Ascend910B4.lua"
check --data="$work/data"
report "a description with another text but the same numbers" "$(expect 0 '' '2 PASS')"
check --soc-version=Ascend910B1
report "another chip" "$(case $code in 0 | 1) ;; *) echo "exit code $code" ;; esac
  case $out in *'config: soc Ascend910B4 -> Ascend910B1'*) ;; *) echo "$out" ;; esac; sums)"

# ---- inputs, points ---------------------------------------------------------------------------
stale() {
  check
  report "$1" "$(expect 3 ''; verdict "$2" STALE)"
  cp "$work/good.csv" "$work/add.csv"
  cp "$work/suite.good" "$suite"
}
cp "$suite" "$work/suite.good"
seed 's/shape=2097152,io=in/shape=2097168,io=in/'
stale "a changed input: shape" add
seed 's/dtype=fp16,shape=2097152,io=in/dtype=bf16,shape=2097152,io=in/'
stale "a changed input: type" add
sed -i 's/shape = 65536/shape = 65552/' "$suite"
stale "a changed input: argument of an operator" copy
sed -i 's/^} }/  { name = "more", op = "copy", shape = 1024 },\n} }/' "$suite"
check
report "a new point" "$(expect 3 '' 'the baseline does not have the point'; verdict more NEW)"
sed '/name = "copy"/d' "$work/suite.good" >"$suite"
check
report "a missing result" "$(expect 3 '' 'the suite does not have the point'; verdict copy MISSING)"
cp "$work/suite.good" "$suite"
check --only='a*'
report "--only" "$(expect 0 '' '1 points: 1 PASS')"
check --only='z*'
report "--only that names nothing" "$(expect 2 "error: no point of $suite matches 'z*'")"

# ---- runs that do not end well ------------------------------------------------------------------
seed 's/^vadd/vaddd/'
check
report "a program that is rejected" "$(expect 3 ''; verdict add CRASHED; verdict copy PASS)"
seed 's/^wait_flag,src=MTE2,dst=V,id=slot/wait_flag,src=MTE2,dst=V,id=slot+2/'
check
report "a program that hangs" "$(expect 6 ''; verdict add CRASHED)"
cp "$work/good.csv" "$work/add.csv"
sed -i 's/trace = "add.csv"/trace = "add.csv", max_cycles = 1000/' "$suite"
check
report "a limit" "$(expect 7 ''; verdict add CRASHED)"
cp "$work/suite.good" "$suite"
mv "$work/add.csv" "$work/away.csv"
check
report "a program that is gone" "$(expect 2 '' 'No such file'; verdict add CRASHED)"
mkfifo "$work/add.csv"
"$vinci" gate check "$suite" --baseline="$base" --only=add >"$work/out" 2>"$work/err" &
parent=$!
# The process of the only point, which waits for the pipe.
point() { tr -d ' ' <"/proc/$parent/task/$parent/children"; }
has_point() { has_ended $parent || [ -n "$(point)" ]; }
await has_point
kill -KILL "$(point)"
wait $parent
code=$? out=$(cat "$work/out") err=$(cat "$work/err")
report "a process that dies" "$(expect 8 '' 'ended by signal 9'; verdict add CRASHED)"
# The second text is for the second run: the first has read to the end when nobody has the pipe open.
# (Who waits in open() does not have it open yet.)
is_left() { [ -z "$(find /proc/[0-9]*/fd -lname "*/${work##*/}/add.csv")" ]; }
(cat "$work/good.csv" >"$work/add.csv"; await is_left; sed '/^vadd/p' "$work/good.csv" >"$work/add.csv") &
check --repeat=2 -j1
wait
report "results that differ from run to run" "$(expect 9 '' 'two runs of the point gave different';
  verdict add UNEXPLAINED)"
rm "$work/add.csv"
cp "$work/good.csv" "$work/add.csv"

# ---- baselines that are none -------------------------------------------------------------------
corrupt() {
  check
  report "a corrupt baseline: $1" "$(expect 3 "$base:$2
hint: restore the file, or remove it and make it anew with 'vinci gate bless'")"
  cp "$work/first.csv" "$base"
}
total=$(sed -n '/^add,total_cycles,/{s/.*cycles,\([0-9]*\),.*/\1/p}' "$base")
lines=$(awk 'END { print NR }' "$base")
head -c -9 "$work/first.csv" >"$base"
corrupt torn "$lines: error: the file ends in the middle of a line"
sed -i "s/^add,total_cycles,.*/add,total_cycles,1e6,cycle,metric/" "$base"
corrupt "no number" "$(grep -n '^add,total_cycles' "$base" | cut -d: -f1): error: is not a row of a \
baseline: its value or its kind is wrong"
sed -i "s/^add,total_cycles.*/&\n&/" "$base"
corrupt "a row twice" "$(($(grep -n '^add,total_cycles' "$work/first.csv" | cut -d: -f1) + 1)): error: \
the metric is there twice"
printf '<<<<<<< HEAD\n' >>"$base"
corrupt "an unfinished merge" "$((lines + 1)): error: is not a row of a baseline: \
point,metric,value,unit,kind"
sed -i 's/^# schema: 1/# schema: 99/' "$base"
corrupt "another schema" "2: error: a schema that this version of vinci does not know"
: >"$base"
corrupt empty " error: is not a baseline of vinci gate"
sed -i '/^add,digest.input/d' "$base"
corrupt "a row gone" " error: point 'add' has no row digest.input"
sed -i "s/^add,total_cycles,$total/add,total_cycles,$((total - 1))/" "$base"
check
report "an edited number" "$(expect 1 ''; verdict add UNEXPLAINED; sums)"
cp "$work/first.csv" "$base"

# ---- policies --------------------------------------------------------------------------------------
policy() {
  printf '%s\n' "$2" >"$work/policy"
  check --policy="$work/policy"
  report "policy: $1" "$(expect "$3" "${4-}"; [ -z "${5-}" ] || verdict add "$5")"
}
seed 's/^vadd,.*/&\nscalar,cycles=3/'
policy "within a share" '* * rel 90%' 0 '' PASS
policy "beyond a share" '* * ignore
add instructions rel 0.1% lower' 1 '' REGRESSED
policy "all ignored" '* * ignore # for now' 0 '' PASS
policy "neutral made exact" '* * ignore
* pipe.S.busy_cycles exact' 1 '' DRIFTED
policy "the other direction" '* * ignore
* instructions exact higher
* pipe.S.instructions exact higher' 1 '' IMPROVED
policy "a budget" "* * ignore
add total_cycles budget 100" 1 '' REGRESSED
policy "a floor" '* * ignore
add utilization.V floor 99.5%' 1 '' REGRESSED
policy "a kind that is none" 'add * maybe' 2 "$work/policy:1: error: 'maybe' is not a kind of rule
hint: POINT METRIC exact | rel N% | ignore | budget N | floor N[%]"
policy "a share without per cent" '
add * rel 3' 2 "$work/policy:2: error: rel wants a limit such as 2%
hint: POINT METRIC exact | rel N% | ignore | budget N | floor N[%]"
policy "a share of cycles" 'add total_cycles floor 50%' 2 "$work/policy:1: error: a limit in % is for \
utilization.PIPE; total_cycles counts otherwise
hint: POINT METRIC exact | rel N% | ignore | budget N | floor N[%]"
policy "a misspelt metric" '* * ignore
add total_cycels budget 100' 2 "$work/policy:2: error: no point of the suite has a number that the rule is for: \
add total_cycels
hint: 'vinci gate list SUITE' names the points, a baseline the metrics"
sed -i '/^add,/s/metric$/detail/' "$base"
check
report "a baseline does not say what counts" "$(expect 1 ''; verdict add REGRESSED)"
cp "$work/first.csv" "$base"
seed 's/^loop,i,40/loop,i,39/'
policy "improvement fails" 'improvement fail' 1 '' IMPROVED
cp "$work/good.csv" "$work/add.csv"

# ---- suites ------
cat >"$work/other.lua" <<'END'
return { soc = "Ascend910B4", retries = 2, points = { { name = "a", op = "copy", shape = 64 } } }
END
gate list "$work/other.lua"
report "a field that no suite has" "$(expect 2 "$work/other.lua: error: unknown field 'retries' of the suite")"
sed -i 's/retries = 2/memry = "flat"/' "$work/other.lua"
gate list "$work/other.lua"
report "a field of the suite that is misspelt" "$(expect 2 "$work/other.lua: error: unknown field 'memry' of the suite
hint: did you mean 'memory'?")"
sed -i 's/memry/point/' "$work/other.lua"
gate list "$work/other.lua"
report "the field with the points" "$(expect 2 - ''; case $err in *"hint: did you mean 'points'?") ;; *) echo "$err" ;; esac)"
sed -i 's/point = "flat", //; s/name = "a"/nme = "a"/' "$work/other.lua"
gate list "$work/other.lua"
report "a name that is misspelt" "$(expect 2 "$work/other.lua: error: points: entry 1 has no name
hint: did you mean 'name' by 'nme'?")"
sed -i 's/nme/name/; s/shape = 64/shap = 64/' "$work/other.lua"
gate bless "$work/other.lua" --baseline="$work/other.csv" --reason=x
report "what cannot run is not blessed, and how to mend that" "$(expect 2 "error: point 'a' has no result to bless: copy has no \
key 'shap' (did you mean 'shape'?)")"
sed -i 's/shap = 64/shape = 64/; s/points = /set = { ["l2.size"] = "8MiB" }, points = /' "$work/other.lua"
gate list "$work/other.lua"
report "overrides that are no list" "$(expect 2 "$work/other.lua: error: set is not a list: write { \"key=value\", ... }")"

# ---- bless -------------------------------------------------------------------------------------------
seed 's/shape=2097152,io=in/shape=2097168,io=in/'
gate bless "$suite" --baseline="$base" --reason='new shape'
report "bless refuses another input" "$([ "$code" -eq 3 ] || echo "exit code $code"
  diff "$base" "$work/first.csv")"
gate bless "$suite" --baseline="$base" --reason='new shape' --rebase-inputs
report "but for --rebase-inputs" "$(expect 0 ''; grep -q '^add: digest.input ' "$base.changes" ||
  cat "$base.changes"; check; expect 0 '')"
seed 's/^wait_flag,src=MTE2,dst=V,id=slot/wait_flag,src=MTE2,dst=V,id=slot+2/'
cp "$base" "$work/before.csv"
gate bless "$suite" --baseline="$base" --reason='hangs' --rebase-inputs
report "a point that hangs is not blessed" "$(expect 6 -; diff "$base" "$work/before.csv")"
seed '/^vadd/p'
sed -i 's/shape = 65536/shape = 32768/' "$suite"
echo 'add total_cycles rel 1%' >"$work/policy"
cp "$work/policy" "$work/policy.before"
gate bless "$suite" --baseline="$base" --reason='only add' --rebase-inputs --only=add
report "--only leaves the others alone, and no policy is touched" "$(expect 0 ''
  grep '^copy,' "$base" >"$work/new"; grep '^copy,' "$work/before.csv" | diff - "$work/new"
  diff "$work/policy" "$work/policy.before"
  find "$work" -name "*.part*")"
cp "$work/suite.good" "$suite"
cp "$work/good.csv" "$work/add.csv"
cp "$work/first.csv" "$base"

sed 's/name = "copy",/name = "copy", soc = "Ascend910B99",/' "$suite" >"$work/chip.lua"
gate check "$work/chip.lua" --baseline="$base"
report "a point whose chip is unknown" "$(expect 2 '' "unknown SoC 'Ascend910B99'"; verdict copy CRASHED; verdict add PASS)"
sed 's/^add,total_cycles,[0-9]*/add,total_cycles,18446744073709551615/' "$work/first.csv" >"$base"
check
report "a number beyond those that can be subtracted" "$(expect 3 -)"
cp "$work/first.csv" "$base"

# ---- models ---------------------------------------------------------------------------------------------
for model in memory=cycle l2=dirty; do
  check --$model
  report "--$model is another configuration" "$(case $code in 0 | 1) ;; *) echo "exit code $code" ;; esac
    case $out in *UNEXPLAINED*) echo "$out" ;; *'config: models flat packet 0'*) ;; *) echo "$out" ;; esac; sums)"
done
check --l2=hot
report "a state of L2 that is none" "$(expect 2 "error: l2 is empty, warm, streaming, used or dirty, not 'hot'")"

# ---- import ---------------------------------------------------------------------------------------------
cat >"$work/profile.csv" <<'END'
Op Name,OP Type,Task Type,Task Duration(us),Block Num,Output Shapes,Output Data Types,Output Formats,Input Shapes,Input Data Types,Input Formats
MatMul 1,MatMul,AI_CORE,20.75,4,"""64,128""",DT_FLOAT16,FORMAT_ND,"""64,32;32,128""",DT_FLOAT16;DT_FLOAT16,FORMAT_ND;FORMAT_ND
Muls_1,Muls,AI_VECTOR_CORE,2.5,1,"""4096""",float16,ND,"""4096""",float16,ND
Muls_1,Muls,AI_VECTOR_CORE,3.5,1,"""4096""",float16,ND,"""4096""",float16,ND
Muls_1,Muls,AI_VECTOR_CORE,5.5,1,"""8192""",float16,ND,"""8192""",float16,ND
Cast_1,Cast,AI_CPU,5.5,1,"""8192""",float16,ND,"""8192""",float16,ND
END
gate import "$work/profile.csv" --soc-version=Ascend910B4 --memory=flat --output="$work/made.lua"
report "import makes a suite of a profile" "$(expect 0 '' '3 points of 5 rows, 1 rows left out'
  grep -q 'name = "MatMul_1", l2 = "used", op = "matmul", m = 64, k = 32, n = 128,.*measured 20.75 us$' \
    "$work/made.lua" || cat "$work/made.lua"
  grep -q 'name = "Muls_1".* -- line 3 and 1 more, measured 3.0 us$' "$work/made.lua" || cat "$work/made.lua"
  grep -q 'name = "Muls_1~2"' "$work/made.lua" || cat "$work/made.lua"
  grep -q '^-- left out: line 6, "Cast_1": ' "$work/made.lua" || cat "$work/made.lua")"
gate bless "$work/made.lua" --baseline="$work/made.csv" --reason=imported
gate check "$work/made.lua" --baseline="$work/made.csv"
report "which can be gated" "$(expect 0 '' '3 points: 3 PASS')"
gate import "$work/profile.csv"
report "import without a chip" "$(expect 2 "error: which chip? Its name is missing
hint: --soc-version=NAME names the chip; 'vinci soc list' shows the names")"
gate import
report "import of nothing" "$(expect 2 'error: one list is wanted, not 0')"
printf 'op,args\nmatmull,m=4 k=4 n=4\n' >"$work/profile.csv"
gate import "$work/profile.csv" --soc-version=Ascend910B4
report "import of a list without any row that compiles" "$(expect 3 "$work/profile.csv: error: no row \
can be compiled; the first: no operator is called matmull")"

printf 'op,args\nmatmul,m=16\nmatmul,m=16 k=16 n=16\n' >"$work/profile.csv"
gate import "$work/profile.csv" --soc-version=Ascend910B4
report "import leaves out what cannot be compiled" "$(expect 0 - '
-- left out: line 2, "matmul": "')"

# ---- reports ------------------------------------------------------------------------------------------
seed '/^vadd/p'
check --junit="$work/junit.xml" --markdown="$work/summary.md" --tap=-
report "TAP" "$(expect 1 '' 'not ok 1 - add REGRESSED'
  [ "$(head -n 1 "$work/out")" = 1..2 ] || echo "$out")"
report "JUnit names what it is of" "$(grep -q '<property name="vinci.model_revision" value="[0-9]*"/>' "$work/junit.xml" &&
  grep -q '<property name="vinci.commit" value="[^"]*"/>' "$work/junit.xml" || cat "$work/junit.xml")"
report "JUnit" "$(grep -q '<testsuite name="suite" tests="2" failures="1" errors="0"' "$work/junit.xml" ||
  cat "$work/junit.xml"
  if command -v xmllint >/dev/null; then xmllint --noout "$work/junit.xml" 2>&1; fi
  [ "$(grep -c '</testcase>' "$work/junit.xml")" -eq 2 ] || echo "not two cases")"
report "Markdown" "$(grep -q '^| add | REGRESSED | ' "$work/summary.md" || cat "$work/summary.md")"
gate explain "$suite" --baseline="$base"
report "explain is not a gate" "$(expect 0 '' 'change of total_cycles +'; sums)"
