#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci.serving: times of steps against their kernels one by one, and streams of requests by hand. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
work_folder test_serving

# check NAME: the Lua text on stdin runs, and prints nothing but what is wrong.
cat >"$work/head.lua" <<'END'
local vinci = require "vinci"
local V = vinci.serving
local function same(what, got, wanted, share)
  if math.abs(got - wanted) > (share or 1e-9) * math.abs(wanted) then print(what, got, wanted) end
end
local function refused(text, f, ...)
  local good, err = pcall(f, ...)
  if good or not tostring(err):find(text, 1, true) then print("not refused with: " .. text, tostring(err)) end
end
-- A step takes 100 us and a microsecond for each token of a prompt; a cache takes 1000 us to another device.
local plain = { block = 16, tp = 1, step = function(_, prompts)
  local us = 100
  for _, prompt in ipairs(prompts) do us = us + prompt[1] end
  return { us = us }
end, cache_us = function() return 1000 end }
local function requests(...)
  local list = {}
  for i, one in ipairs { ... } do list[i] = { at_us = one[1], prompt = one[2], tokens = one[3] } end
  return list
end
local small = { layers = 2, hidden = 256, ffn = 512, heads = 4, kv_heads = 2, vocab = 1000 }
local chip = vinci.soc "Ascend910B4"
END
check() {
  cat "$work/head.lua" - >"$work/check.lua"
  keep "$vinci" lua "$work/check.lua"
  report "$1" "$(expect 0 ''; printf '%s' "$out")"
}

plan 8

check "a request alone, whole and in parts" <<'END'
local run = V.run(plain, requests { 0, 50, 3 }, { blocks = 100 })
same("first token", run.ttft_ms.p50, 0.150)
same("each further one", run.tpot_ms.p50, 0.100)
same("steps", run.steps, 3)
same("tokens a second", run.tokens_s, 3 / 350e-6)
local parts = V.run(plain, requests { 0, 50, 3 }, { blocks = 100, tokens = 32 })
same("first token in parts", parts.ttft_ms.p50, 0.100 + 0.032 + 0.100 + 0.018)
END

check "requests share steps, and wait for a place" <<'END'
-- The second is read in a step in which the first gets a token.
local two = V.run(plain, requests({ 0, 50, 3 }, { 10, 40, 1 }), { blocks = 100 })
same("gaps", two.itl_ms.p99, 0.140)
same("its first", two.ttft_ms.p99, 0.150 + 0.140 - 0.010)
local one = V.run(plain, requests({ 0, 50, 3 }, { 10, 40, 1 }), { blocks = 100, batch = 1 })
same("one at a time", one.ttft_ms.p99, 0.350 + 0.140 - 0.010)
same("nobody is there", V.run(plain, requests({ 0, 50, 1 }, { 5000, 50, 1 }), { blocks = 100 }).seconds, 5150e-6)
END

check "pages run out, and the last one begins anew" <<'END'
-- Prompts of 16 tokens take a page each; with the next token both need a second, and there are three.
local run = V.run(plain, requests({ 0, 16, 4 }, { 0, 16, 4 }), { blocks = 3 })
same("given up", run.preempted, 1)
-- Both are read (132); the first makes three tokens (100 each); the second is read again with the token that it had.
same("end", run.seconds, (132 + 300 + 117 + 200) / 1e6)
refused("needs more than the 2 pages", V.run, plain, requests { 0, 40, 1 }, { blocks = 2 })
END

check "prompts on devices of their own" <<'END'
local run = V.run(plain, requests({ 0, 50, 3 }, { 10, 40, 2 }), { blocks = 100, prefill = 1, decode = 1 })
same("devices", run.devices, 2)
same("first token", run.ttft_ms.p50, 0.150)
same("second first token", run.ttft_ms.p99, 0.150 + 0.140 - 0.010)
-- The cache takes 1000 us; then the first makes a token every 100 us, undisturbed; the second comes during its last step.
same("gaps", run.itl_ms.p50, 1.100)
same("end", run.seconds, (150 + 1000 + 200 + 100) / 1e6)
refused("prefill and decode are given together", V.run, plain, requests { 0, 1, 1 }, { prefill = 1 })
END

check "a step is the sum of its kernels" <<'END'
local costs = V.costs(chip, small, { jobs = 1 })
local step = costs:step({}, 4, 256, 0)
local function sum(list)
  local us = 0
  for _, one in ipairs(list) do
    us = us + vinci.evaluate(chip, { { op = one[1], args = one[2] } }, { memory = "flat", jobs = 1, l2 = one.l2 })[1].us
  end
  return us
end
same("products", step.products, 2 * sum(costs:attention(4)))
same("scores", step.scores, 2 * sum(costs:made(4, 256)))
same("mlp", step.mlp, 2 * sum(costs:mlp(4, 1024, 512)))
same("all", step.us, step.products + step.scores + step.mlp + step.head)
same("between", costs:step({}, 3, 256, 0).mlp, (step.mlp + costs:step({}, 2, 256, 0).mlp) / 2)
local read = costs:step({ { 64, 128 } }, 0, 0, 1)
same("scores of prompts", read.scores, 2 * sum(costs:read(64, 128)))
same("a slow host", V.costs(chip, small, { jobs = 1, launch_us = 1000 }):step({}, 1, 16, 0).us % 1000, 0)
local most = V.most(costs, 256, step.us / 1000)
if most.batch < 4 then print("batch", most.batch) end
END

check "experts and latent attention on several devices" <<'END'
local model = { layers = 3, hidden = 256, ffn = 512, expert_ffn = 128, experts = 16, top_k = 2, shared_experts = 1, dense_layers = 1, heads = 4,
  head_dim = 32, kv_rank = 64, q_rank = 96, rope_dim = 16, vocab = 1000 }
local costs = V.costs(chip, model, { jobs = 1, system = "atlas_a2_910b4", ep = 8 })
same("cache of a token", costs:memory().token, 3 * (64 + 16) * 2)
local step = costs:step({}, 8, 128, 0)
local function wait(bytes)
  return vinci.group_run("job,version=1,ranks=8\ngroup,name=g,ranks=0-7\nprogram,ranks=0-7\ncollective,op=all_to_all,group=g,bytes=" .. bytes ..
    ",algorithm=mesh\n", { system = "atlas_a2_910b4", set = { ["notify.issue"] = "0us", ["notify.wait"] = "0us" } }).us
end
same("there and back", step.exchange, 2 * 2 * wait(8 * 2 * 256 * 2), 1e-6)
for _, one in ipairs(costs:experts(8)) do
  if one[1] == "grouped_matmul" and one[2].rows ~= "8x8" then print("experts of a device", one[2].rows) end
end
local bytes = V.costs(chip, model, { jobs = 1, system = "atlas_a2_910b4", ep = 8, weights = "int8" })
same("half of the bytes there", bytes:step({}, 8, 128, 0).exchange, 2 * (wait(8 * 2 * 256) + wait(8 * 2 * 256 * 2)), 1e-6)
refused("need a system of devices", V.costs, chip, model, { ep = 8 })
refused("cannot split 16 experts over ep=5", V.costs, chip, model, { ep = 5, system = "atlas_a2_910b4" })
refused("there is no option 'eps'", V.costs, chip, model, { eps = 5 })
refused("weights are int4", V.costs, chip, model, { weights = "int4" })
END

check "a stream is the same each time, and has its rate" <<'END'
local what = { rate = 100, count = 2000, prompt = { 10, 20 }, tokens = 5, seed = 3 }
local a, b = V.stream(what), V.stream(what)
for i = 1, #a do
  if a[i].at_us ~= b[i].at_us or a[i].prompt ~= b[i].prompt or a[i].prompt < 10 or a[i].prompt > 20 then print("differs", i) break end
end
same("rate", a[2000].at_us / 2000, 10000, 0.05)
refused("prompt is not a whole number from 1", V.stream, { tokens = 5 })
refused("there is no request", V.run, plain, {})
refused("there is no option 'bacth'", V.run, plain, requests { 0, 1, 1 }, { bacth = 1 })
END

check "engines alone: their mistakes, and those of the functions" <<'END'
local list = requests { 0, 50, 3 }
local function run(more)
  local given = { requests = list, pages = 100, page = 16, step = function() return 100 end }
  for key, value in pairs(more) do given[key] = value end
  return vinci.serving_run(given)
end
same("end", run({}).end_us, 300)
same("count of gaps", run({}).itl_us.count, 2)
-- Pages for two sequences of 2 tokens, or for one of 4: the second gives its page up for the first, and then ends.
local tight = run { requests = requests({ 0, 1, 3 }, { 0, 1, 4 }), pages = 2, page = 2, prefill = 1, decode = 1, step = function() return 1 end }
same("end of engines for tokens with pages that are just enough", tight.end_us, 5)
same("sequences that gave up their pages", tight.preempted, 1)
refused("prefill and decode are up to 1000000 engines each", run, { prefill = 1000001, decode = 1 })
refused("'step' is not a function", run, { step = 5 })
refused("step gives no time", run, { step = function() return "soon" end })
refused("out of luck", run, { step = function() error "out of luck" end })
refused("out of caches", run, { prefill = 1, decode = 1, send = function() error "out of caches" end })
refused("there is no request", run, { requests = {} })
refused("comes before the request before", run, { requests = requests({ 5, 1, 1 }, { 4, 1, 1 }) })
refused("has no whole prompt of at least 1", run, { requests = requests { 0, 0, 1 } })
refused("the options have no pages", vinci.serving_run, { requests = list, step = function() return 1 end })
END
