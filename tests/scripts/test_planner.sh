#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci.planner: the best of a search with bounds is the best of all splits; bounds, scaled kernels and replicas against what
# is simulated whole. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
work_folder test_planner
plan 9

cat >"$work/head.lua" <<'END'
local vinci = require "vinci"
local T, P, B, O = vinci.transformer, vinci.planner, vinci.planner_bounds, vinci.transformer_operators
local chip, seed = vinci.soc "Ascend910B4", 5
local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 65536 % n + 1
end
local function model(more)
  local out = { layers = 4, hidden = 256, ffn = 640, heads = 6, kv_heads = 2, head_dim = 32, vocab = 1000, sequence = 128,
    global_batch = 8 }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end
local clock = T.clock(chip, { jobs = 1 })
END
check() {
  cat "$work/head.lua" - >"$work/check.lua"
  keep "$vinci" lua "$work/check.lua"
  report "$1" "$(expect 0 ''; printf '%s' "$out")"
}

check "a search that cuts finds the best of all splits" <<'END'
local cut = 0
for i = 1, 12 do
  local one = model { layers = 2 * random(4), hidden = 128 * random(3), sequence = 64 * random(4), vocab = 500 * random(4),
    global_batch = 8 * random(2), experts = i % 4 == 0 and 4 or 0, expert_ffn = i % 4 == 0 and 128 or 0 }
  local options = { clock = clock, devices = i % 3 == 0 and 8 or 4, system = "atlas_a2_910b4", memory = 32 << 30, buckets = false,
    launch_us = i % 5 == 0 and 2.0 or nil, faults = i % 4 == 1 and { "devices=1,speed=0.5" } or nil }
  local rows = P.plan(one, options)
  options.all = true
  local all = P.plan(one, options)
  if rows[1].us ~= all[1].us then print(i, rows[1].name, rows[1].us, all[1].name, all[1].us) end
  for _, row in ipairs(all) do
    if row.us and row.bound > row.us + 0.001 then print("bound", i, row.name, row.bound, row.us) end
  end
  for _, row in ipairs(rows) do cut = cut + (row.bound and not row.us and 1 or 0) end
end
if cut < 40 then print("cut", cut) end
END

check "estimates of kernels are no more than a twentieth above what is simulated" <<'END'
local time = B.by_estimates(clock)
for _, one in ipairs { { model(), { tp = 2 } }, { model { sequence = 1024, vocab = 4096 }, { cp = 2 } },
  { model { experts = 4, expert_ffn = 256 }, { dp = 2, ep = 2 } }, { model { hidden = 1024, ffn = 2816, gated = false }, {} } } do
  local lists = T.operators(T.model(one[1]), one[2])
  lists.optimizer = O.optimizer(T.model(one[1]), 3000000)
  for _, list in pairs(lists) do
    clock:learn { list }
    for _, operator in ipairs(list) do
      local us = clock.known[T.key_of(operator)]
      if time(operator) > us then print(T.key_of(operator), time(operator), us) end
    end
  end
end
END

check "the bound of all lists of layers is below each, and close to the least" <<'END'
local function lists(count, stages, out, list)
  if stages == 0 then
    if count == 0 then out[#out + 1] = list end
    return out
  end
  for n = 1, count - stages + 1 do
    local more = table.move(list, 1, #list, 1, {})
    more[#more + 1] = n
    lists(count - n, stages - 1, out, more)
  end
  return out
end
local sums, time = B.sums { system = "atlas_a2_910b4" }, B.by_products(chip)
local count, far = 0, 0
for i = 1, 24 do
  local pp = 1 << random(2)
  local one = T.model(model { layers = pp + random(4), vocab = 2000 * random(9), global_batch = 8 * random(2), heads = 8, kv_heads = 4,
    experts = i % 4 == 0 and 4 or 0, expert_ffn = i % 4 == 0 and 128 or 0 })
  local split = { tp = random(2), pp = pp, dp = 1 << random(3) - 1, recompute = i % 3 == 0, sharded = i % 2 == 0 }
  local function of(list, recompute)
    local all = { stage_layers = list }
    for key, value in pairs(split) do all[key] = value end
    all.recompute = split.recompute or recompute
    return T.split(one, all)
  end
  local function most(whole)
    local bytes = 0
    for stage = 0, pp - 1 do bytes = math.max(bytes, vinci.transformer_memory.of(one, whole, stage).device) end
    return bytes
  end
  local all = lists(one.layers, pp, {}, {})
  local limit = i % 2 == 0 and most(of(all[random(#all)])) or nil -- of lists that need more, layers are computed again
  for _, gradients in ipairs { false, true } do
    local least = math.huge
    for _, list in ipairs(all) do
      local whole = of(list, limit and most(of(list)) > limit)
      least = math.min(least, B.bound(one, whole, time, sums, gradients))
    end
    local bound = B.bound_of_layers(one, of(all[1]), time, sums, gradients, limit)
    if bound > least + 1e-6 then print(i, gradients, bound, least) end
    if gradients then count, far = count + 1, far + (bound < 0.98 * least and 1 or 0) end
  end
end
if far > 0 then print("far below the least", far, count) end
END

check "a plan of 1,024 devices simulates few kernels and sums" <<'END'
-- 27 kernels, which are those of the best split, and 141 sums; 1136 estimates of kernels, of some milliseconds each.
local clock, estimated, tiling = T.clock(chip, { jobs = 1, scaled = true }), 0, vinci.tiling
vinci.tiling = function(...)
  estimated = estimated + 1
  return tiling(...)
end
local rows, _, search = P.plan({ layers = 8, hidden = 4096, ffn = 14336, heads = 32, kv_heads = 8, vocab = 128256, sequence = 4096,
  global_batch = 1024 }, { clock = clock, devices = 1024, system = "atlas_a2_910b4", memory = 32 << 30 })
vinci.tiling = tiling
if not rows[1].name:find "^tp1 pp1 dp1024 sharded" then print(rows[1].name) end
if clock.simulated > 32 or search.sums.simulated > 160 or estimated > 1250 then print(clock.simulated, search.sums.simulated, estimated) end
END

check "large kernels are scaled from a part of them" <<'END'
local scaled, list = T.clock(chip, { jobs = 1, scaled = true }), {
  { "matmul", { m = 4096, k = 1024, n = 4096, dtype = "bf16", transpose_b = 1 } },
  { "matmul", { m = 4096, k = 4096, n = 1024, dtype = "bf16" } },
  { "flash_attention", { batch = 1, causal = 1, dtype = "bf16", head_dim = 128, heads = 16, kv_heads = 4, layout = "SBH", seq_q = 2048,
    statistics = 1 } },
  { "adamw", { shape = "14000000", dtype = "fp32" } }, { "add", { shape = "20000x4096", dtype = "fp32" } },
  { "rms_norm", { shape = "512x1024", dtype = "bf16" } },
}
scaled:learn { list }
clock:learn { list }
for i, operator in ipairs(list) do
  local key = T.key_of(operator)
  local got, wanted = scaled.known[key], clock.known[key]
  if math.abs(got / wanted - 1) > (i == #list and 0 or 0.12) then print(key, got, wanted) end
end
if scaled.scaled_count ~= #list - 1 then print("scaled", scaled.scaled_count) end
END

check "one replica takes what all of them take" <<'END'
local system = { system = "atlas_a2_910b4" }
local sums = B.sums(system)
for _, split in ipairs { { tp = 2, dp = 8, sharded = true }, { pp = 2, dp = 8 }, { tp = 4, pp = 2, dp = 2, sharded = true },
  { cp = 2, dp = 4, sharded = true }, { pp = 2, vpp = 2, dp = 4 } } do
  local one = model { kv_heads = 4, heads = 8, sequence = 512, global_batch = 32 }
  local all = T.run(clock, one, split, system)
  local alone = T.run(clock, one, split, { system = system.system, sums = sums })
  if math.abs(alone.us / all.us - 1) > 0.03 then print(P.name(setmetatable(split, { __index = { tp = 1, pp = 1, cp = 1, ep = 1, vpp = 1,
    stage_layers = {} } })), alone.us, all.us) end
  if alone.ranks >= all.ranks then print("ranks", alone.ranks) end
end
END

check "of many ranks one replica is simulated, and the job is that of all" <<'END'
local rows = P.plan(model(), { clock = clock, splits = { { tp = 2, dp = 4, sharded = true } }, system = "atlas_a2_910b4", memory = 32 << 30,
  ranks = 4, buckets = false })
if not rows[1].replica or not rows[1].job:find("ranks=8,", 1, true) then print(rows[1].job:match "[^\n]*") end
END

check "pieces of weights that ranks have" <<'END'
local largest = vinci.transformer_memory.largest
for _ = 1, 300 do
  local list, limit, ranks, most = {}, 40 * random(4), random(5), 0
  for i = 1, random(6) do list[i] = 5 * random(12) end
  local bucket = {}
  for i, elements in ipairs(list) do -- one element after the other
    for _ = 1, elements do bucket[#bucket + 1] = i end
    if #bucket >= limit or i == #list then
      for rank = 0, ranks - 1 do
        local have = {}
        for k = 1, #bucket do
          local first, last = math.max((k - 1) * ranks, rank * #bucket), math.min(k * ranks, (rank + 1) * #bucket)
          have[bucket[k]] = (have[bucket[k]] or 0) + math.max(last - first, 0)
        end
        for _, parts in pairs(have) do most = math.max(most, -(-parts // ranks)) end
      end
      bucket = {}
    end
  end
  if math.abs(largest(list, limit, ranks) - most) > 1 then print(table.concat(list, " "), limit, ranks, largest(list, limit, ranks), most) end
end
END

check "bounds of operators alone are not those of a clock with their sequence" <<'END'
local ok, why = pcall(P.plan, model(), { clock = T.clock(chip, { sequence = true }), devices = 2, system = "atlas_a2_910b4" })
if ok or not why:find("give a clock without `sequence`", 1, true) then print(ok, why) end
END
