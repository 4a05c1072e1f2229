#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci.transformer and vinci.group_run: order of a pipeline, bytes, times and memory of a step against what follows
# from the extents by hand; errors. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
work_folder test_transformer

# check NAME: the Lua text on stdin runs, and prints nothing but what is wrong.
cat >"$work/head.lua" <<'END'
local vinci = require "vinci"
local T = vinci.transformer
local system = { system = "atlas_a2_910b4" }
local function same(what, got, wanted, share)
  if math.abs(got - wanted) > (share or 0) * math.abs(wanted) then print(what, got, wanted) end
end
-- 6 heads of 32, 2 for K and V: 256 x (6 + 4) x 32 and 192 x 256, MLP 3 x 256 x 640, two norms.
local LAYER = 256 * 320 + 192 * 256 + 3 * 256 * 640 + 2 * 256
local function model(more)
  local out = { layers = 4, hidden = 256, ffn = 640, heads = 6, kv_heads = 2, head_dim = 32, vocab = 1000, sequence = 128,
    global_batch = 8 }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end
local clock = T.clock(vinci.soc "Ascend910B4", { jobs = 1 })
local function refused(text, f, ...)
  local good, err = pcall(f, ...)
  if good or not tostring(err):find(text, 1, true) then print("not refused with: " .. text, tostring(err)) end
end
END
check() {
  cat "$work/head.lua" - >"$work/check.lua"
  keep "$vinci" lua "$work/check.lua"
  report "$1" "$(expect 0 ''; printf '%s' "$out")"
}

plan 25

check "stages run one forward, one backward in turn" <<'END'
local text = T.step(clock, model(), { pp = 2, dp = 2 }).job
local order = {}
for line in text:match("program,name=stage0.-\nprogram"):gmatch "[^\n]+" do
  if line:find "send_recv" then order[#order + 1] = line:find "forward" and "F" or "B" end
end
if table.concat(order) ~= "FFBFBFBB" then print(table.concat(order)) end
for _, group in ipairs { "ranks=0 1|2 3", "name=forward0,ranks=0 2|1 3", "name=backward0,ranks=2 0|3 1" } do
  if not text:find(group, 1, true) then print("no " .. group) end
end
END

check "gradients of all weights are summed once" <<'END'
for _, bucket in ipairs { 1 << 20, 1 << 40 } do
  local text, bytes, count = T.step(clock, model(), { dp = 4, bucket_bytes = bucket }).job, 0, 0
  for one in text:gmatch "op=all_reduce,group=data,bytes=(%d+)" do bytes, count = bytes + one, count + 1 end
  same("bytes", bytes, 4 * (4 * LAYER + 2 * 1000 * 256 + 256))
  same("sums", count, bucket == 1 << 20 and 5 or 1) -- the head's share a bucket with the last layer's
end
END

check "bytes that are sent, with and without sequence parallelism" <<'END'
local part = 128 * 256 * 2 -- a sum over two ranks sends these bytes from each of both ranks, half of a sum half of it
local plain = T.run(clock, model(), { tp = 2 }, system)
same("sums", plain.moved_bytes, 2 * part * 8 * (4 * 4 + 2))
local shared = T.run(clock, model(), { tp = 2, sequence_parallel = true }, system)
-- Of halves: four in the forward pass of a layer, six in the backward pass; embedding, head, gradient of the head.
same("halves", shared.moved_bytes, part * 8 * (10 * 4 + 3))
END

check "a device computes what the operators take" <<'END'
local run = T.run(clock, model(), {}, system)
local lists, us = T.operators(model(), {}), 0
for part, list in pairs(lists) do
  local times = ({ norm_grad = 2 * 4, embedding = 1, embedding_grad = 1, head = 1, head_grad = 1 })[part] or 4
  for _, operator in ipairs(list) do us = us + 8 * times * vinci.evaluate(clock.soc, { { op = operator[1], args = operator[2] } },
    { memory = "flat", jobs = 1 })[1].us end
end
same("us", run.ranks_us[1].computing_us, us + run.times.optimizer[0].us, 1e-5)
same("step", run.us, run.ranks_us[1].computing_us, 1e-6)
same("recomputed", T.run(clock, model(), { recompute = true }, system).us - run.us,
  8 * 4 * (run.times.attention.us + run.times.mlp.us + run.times.residual.us), 1e-5)
END

check "the last stage of a pipeline waits for one forward pass" <<'END'
local big = model { sequence = 1024 }
local run = T.run(clock, big, { pp = 2 }, { system = "atlas_a2_910b4" })
local t = run.times
local first = t.embedding.us + 2 * (t.attention.us + t.mlp.us + t.residual.us)
local layers = 2 * (t.mlp_grad.us + t.attention_grad.us + 2 * t.norm_grad.us)
local last = first - t.embedding.us + t.head.us + t.head_grad.us + layers
local tail = math.max(layers + t.embedding_grad.us + t.optimizer[0].us, t.optimizer[1].us)
local transfer = vinci.group_run("job,version=1,ranks=2\ngroup,name=a,ranks=0-1\nprogram,ranks=0-1\n" ..
  "collective,op=send_recv,group=a,bytes=" .. 1024 * 256 * 2 .. "\n", system).us
-- The last stage receives when it has done the backward pass before, so that each transfer is seen.
same("step", run.us, first + 8 * (last + transfer) + transfer + tail, 0.001)
same("parts", run.computing_us + run.bubble_us + run.exposed_us, run.us, 1e-9)
END

check "memory of a device" <<'END'
local own, weights = T.memory(model(), { pp = 2, tp = 1, dp = 2 }, 0), 2 * LAYER + 1000 * 256
same("weights", own.weights, 2 * weights)
same("gradients", own.gradients, 4 * weights)
same("optimizer", own.optimizer, 12 * weights)
local layer = 128 * (2 * (4 * 256 + 320 + 192 + 1280 + 640) + 6 * 64)
same("activations", own.activations, 2 * 2 * layer) -- two micro batches in flight, two layers
local sharded = T.memory(model(), { pp = 2, tp = 1, dp = 2, sharded = true, recompute = true }, 0)
same("sharded", sharded.optimizer, 6 * weights)
same("recompute", sharded.activations, 2 * 2 * 128 * 256 * 2)
-- One layer at a time is computed again, and has gradients of the widest part.
same("a layer again", sharded.working, layer + 128 * (1280 + 640) * 2)
same("one of two layers", T.memory(model(), { pp = 2, dp = 2, recompute = true, recompute_layers = 1 }, 0).activations,
  2 * (128 * 256 * 2 + layer))
same("no result of the activation", T.memory(model(), { pp = 2, dp = 2, recompute_activation = true }, 0).activations,
  2 * 2 * (layer - 128 * 640 * 2))
-- The last stage has logits in two bytes, in fp32, and their softmax.
local last = T.memory(model(), { pp = 2, dp = 2 }, 1)
same("loss", last.working, 128 * 1000 * (2 + 4 + 4) + 2 * 128 * 256 * 2)
-- The update has one weight at a time, here that of gate and up, of which each of two ranks has a half. The first makes the moments.
same("update", T.memory(model(), { dp = 2, sharded = true, bucket_bytes = 4 }, 0).update, 4 * 256 * 1280 // 2)
same("moments", T.memory(model(), { pp = 2, dp = 2, moments = "bf16", reuse_weights = true }, 0).optimizer, (2 + 2 + 2) * weights)
same("peak", last.bytes, last.weights + last.gradients + last.optimizer + math.max(last.update, last.activations + last.working + last.communication))
same("first step", last.first_step, math.max(last.weights + last.gradients + last.copy + last.activations + last.working +
  last.communication, last.static + last.update))
same("groups", last.library, 2 * 2 * (200 << 20)) -- data parallel ranks, and the stage before
same("device", last.device, last.bytes + last.rounding + last.library)
-- In turn, stage 0 is four passes ahead, each of one layer; in a ring each rank has half of the tokens.
same("in turn", T.memory(model(), { pp = 2, vpp = 2 }, 0).activations, 5 * layer)
same("ring", T.memory(model(), { pp = 2, cp = 2 }, 0).activations, 2 * 2 * layer // 2)
END

check "memory over time of a run has the peak of the split" <<'END'
-- What the rows of the job hold at most, on a rank of each stage, is what T.memory counts for that stage.
local long = model { layers = 8, vocab = 50 }
for _, one in ipairs { { model(), {} }, { model(), { tp = 2 } }, { model(), { pp = 2, dp = 2 } }, { model(), { pp = 4 } },
  { model(), { dp = 2, sharded = true } }, { model(), { tp = 2, sequence_parallel = true, recompute = true } },
  { model(), { pp = 2, cp = 2 } }, { model(), { pp = 2, vpp = 2 } }, { model(), { pp = 2, swap_optimizer = true } },
  { long, { pp = 2, vpp = 4 } }, { long, { pp = 2, swap = "all" } }, { long, { pp = 4, recompute = true } },
  { long, { pp = 2, recompute = true, recompute_layers = 2 } }, { long, { pp = 2, tp = 2, sharded = true, recompute_activation = true } },
  { model { global_batch = 2, vocab = 50 }, { pp = 4 } } } do
  local model, split = one[1], one[2]
  local run = T.run(clock, model, split, system)
  local per_stage = #run.ranks_us // (split.pp or 1)
  for stage = 0, (split.pp or 1) - 1 do
    local rank, wanted = run.ranks_us[stage * per_stage + per_stage], T.memory(model, split, stage)
    local name = ("stage %d of pp %d vpp %d: "):format(stage, split.pp or 1, split.vpp or 1)
    same(name .. "peak", rank.peak_bytes, wanted.bytes)
    for _, part in ipairs { "weights", "gradients", "optimizer", "update" } do same(name .. part, rank.held[part].most_bytes, wanted[part]) end
    local held = rank.held
    local swap = held.swap and held.swap.most_bytes or 0
    local kept = held.activations and held.activations.most_bytes or 0 -- with swap = "all", none
    same(name .. "activations", kept + swap, wanted.activations)
    local loss = stage == (split.pp or 1) - 1 and held.loss.most_bytes or 0
    same(name .. "working", math.max(held.working.most_bytes, loss), wanted.working)
    if split.pp then same(name .. "communication", held.communication.most_bytes, wanted.communication) end
  end
end
END

check "memory over time where parts of a stage differ, and of a replica alone" <<'END'
-- T.memory takes the largest part for all in flight; rows have each part's own.
local split = { pp = 2, vpp = 2, stage_layers = { 2, 1, 4, 1 } }
local run = T.run(clock, model { layers = 8 }, split, system)
for stage = 0, 1 do
  local found, most = run.ranks_us[stage + 1].peak_bytes, T.memory(model { layers = 8 }, split, stage).bytes
  if found > most or found < most // 2 then print("stage " .. stage, found, most) end
end
-- Rows take no time.
local text, options = T.step(clock, model(), { pp = 2, dp = 2 }).job, { system = "atlas_a2_910b4" }
local bare = text:gsub("allocate,[^\n]*\n", ""):gsub("free,[^\n]*\n", "")
same("time", vinci.group_run(text, options).us, vinci.group_run(bare, options).us)
if #bare == #text or vinci.group_run(bare, options).ranks[1].held then print "rows are not left out" end
END

check "layers are computed again, all or some, or their activation alone" <<'END'
local t = T.run(clock, model(), { recompute_activation = true }, system)
local plain = T.run(clock, model(), {}, system)
same("activation", t.us - plain.us, 8 * 4 * t.times.activation.us, 1e-4)
local one = T.run(clock, model(), { recompute = true, recompute_layers = 1 }, system)
same("one layer", one.us - plain.us, 8 * (one.times.attention.us + one.times.mlp.us + one.times.residual.us), 1e-4)
refused("recompute_layers of the split without recompute", T.step, clock, model(), { recompute_layers = 1 })
refused("moments of the split are fp8", T.step, clock, model(), { moments = "fp8" })
END

check "a host that issues slowly sets the pace" <<'END'
local text = T.step(clock, model(), { launch_us = 1000.0 }).job
local run = vinci.group_run(text, system)
local counted = 0
for part, list in pairs(T.operators(model(), {})) do
  counted = counted + #list * 8 * (({ norm_grad = 8, embedding = 1, embedding_grad = 1, head = 1, head_grad = 1 })[part] or 4)
end
same("us", run.us, counted * 1000, 0.01)
END

check "stages with parts in turn have a part of the bubble" <<'END'
-- Only layers take time: a stage has 12000 us of them, forward and backward, for each micro batch.
for _, case in ipairs { { 2, 1, 8 }, { 4, 2, 8 }, { 4, 4, 4 }, { 2, 2, 2 } } do
  local pp, vpp, count = table.unpack(case)
  local us = { attention = 750, mlp = 250, ["attention gradient"] = 1500, ["mlp gradient"] = 500 }
  local text = T.step(clock, model { layers = 16, global_batch = count }, { pp = pp, vpp = vpp }).job
  text = text:gsub("work,name=([^,]+),us=[%d.]+,memory=[%d.]+", function(name)
    return ("work,name=%s,us=%d"):format(name, (us[name] or 0) * pp)
  end)
  local ideal, run = count * 48000, vinci.group_run(text, system)
  -- Transfers of 64 KiB, about 12 us each, are not in the closed form.
  same(("pp %d vpp %d"):format(pp, vpp), run.us / ideal - 1, (pp - 1) / (vpp * count), 0.01)
  for i, rank in ipairs(run.ranks) do same("work of rank " .. i, rank.computing_us, ideal) end
end
local order = {}
local text = T.step(clock, model { layers = 4, global_batch = 4 }, { pp = 2, vpp = 2 }).job
for line in text:match("program,name=stage1.*$"):gmatch "[^\n]+" do
  local op = line:match "^collective,op=send_recv,group=(%a+%d)" or line:match "^work,name=(head)" -- receives and sends
  order[#order + 1] = ({ forward0 = "f", forward1 = "F", backward0 = "B", backward1 = "b", head = "h" })[op]
end
-- Ahead: both micro batches of the first part, then one forward, one backward. Small letters: what comes in.
if table.concat(order) ~= "fFfFfhhBfhhBfFbBfFbBfhhBfhhBbBbB" then print(table.concat(order)) end
END

check "K and V go around a ring, and their gradients" <<'END'
for _, cp in ipairs { 2, 4 } do
  local run = T.run(clock, model(), { cp = cp }, system)
  local block = 2 * 128 // cp * 2 * 32 * 2 -- K and V of a part of the sequence: 2 heads of 32 in 2 bytes
  local gradients = 2 * (cp - 1) * 4 * (4 * LAYER + 2 * 1000 * 256 + 256) -- of the weights, on all ranks
  same("bytes cp " .. cp, run.moved_bytes, cp * 8 * 4 * (cp - 1 + cp - 1 + cp) * block + gradients)
  local lists = T.operators(model(), { cp = cp })
  if lists.attention or lists.attention_own[1][2].seq_q ~= 128 // cp or lists.attention_ring[1][2].seq_k ~= 64 // cp then
    print "scores of a ring"
  end
end
-- Half of all scores count in all: a causal part of its own for each rank, half of each part of the others.
for _, cp in ipairs { 2, 4, 8 } do
  local parts = T.operators(model(), { cp = cp })
  local own, ring = parts.attention_grad_own[1][2], parts.attention_grad_ring[1][2]
  same("scores", cp * (own.seq_q * own.seq_q / 2 + (cp - 1) * ring.seq_q * ring.seq_k), 128 * 128 / 2)
  if own.causal ~= 1 or ring.causal then print "what is causal" end
end
END

local_moe='{ experts = 8, top_k = 2, expert_ffn = 128, imbalance = 1.25 }'
check "tokens go to experts and back" <<END
local moe = model $local_moe
local run = T.run(clock, moe, { dp = 4, ep = 4 }, system)
local dense = 4 * (256 * 320 + 192 * 256 + 2 * 256 + 256 * 8) + 2 * 1000 * 256 + 256
-- Each of four ranks sends three quarters of 128 x 2 x 1.25 rows: there and back, forward and backward, 2 micro batches.
same("bytes", run.moved_bytes, 4 * 2 * 4 * 4 * 320 * 256 * 2 * 3 // 4 + 2 * 3 * 4 * dense)
same("weights", T.memory(moe, { dp = 4, ep = 4 }, 0).weights, 2 * (dense + 4 * 2 * 3 * 256 * 128))
same("optimizer", T.memory(moe, { dp = 4, ep = 2, sharded = true }, 0).optimizer, 12 * (dense // 4 + 4 * 4 * 3 * 256 * 128 // 2))
for _, operator in ipairs(run and T.operators(moe, { dp = 4, ep = 4 }).experts) do
  if operator[1] == "grouped_matmul" then same("rows of an expert", tonumber(operator[2].rows), 160) end
end
local text = T.step(clock, moe, { dp = 4, ep = 2, cp = 2, tp = 2 }).job
for _, group in ipairs { "name=expert,ranks=0 4|1 5|2 6|3 7|8 12|", "name=expert_data,ranks=0 2 8 10|1 3 9 11|4 6 12 14|" } do
  if not text:find(group, 1, true) then print("no " .. group, text:match "group,name=expert,[^\n]*", text:match "group,name=expert_d[^\n]*") end
end
END

check "ranks exchange heads, alone or in rings" <<'END'
-- Q, K, V and the result there and back, forward and backward: (6 + 2 x 2) + 6 heads of 32 in two bytes, twice.
local function heads(u, cp) return 2 * (6 + 2 * math.max(2, u) + 6) * 32 * 2 * (128 // cp) * (u - 1) // u end
local gradients = function(cp) return 2 * (cp - 1) * 4 * (4 * LAYER + 2 * 1000 * 256 + 256) end
local all = T.run(clock, model(), { cp = 2, cp_heads = 2 }, system)
same("bytes", all.moved_bytes, 2 * 8 * 4 * heads(2, 2) + gradients(2))
local both = T.run(clock, model(), { cp = 4, cp_heads = 2 }, system)
-- A ring of two, whose ranks have one of two heads of K and V of half of the sequence each: 1 + 1 + 2 blocks.
same("bytes of both", both.moved_bytes, 4 * 8 * 4 * (heads(2, 4) + 4 * 2 * 64 * 32 * 2) + gradients(4))
local lists = T.operators(model(), { cp = 4, cp_heads = 2 })
local own = lists.attention_own[1][2]
if own.seq_q ~= 64 or own.heads ~= 3 or own.kv_heads ~= 1 then print("scores", own.seq_q, own.heads, own.kv_heads) end
local text = T.step(clock, model(), { cp = 4, cp_heads = 2, dp = 2 }).job
for _, group in ipairs { "name=heads,ranks=0 1|2 3|4 5|6 7", "name=ring0,ranks=0 2|1 3|4 6|5 7", "name=stage0_1,ranks=2-3 6-7" } do
  if not text:find(group, 1, true) then print("no " .. group) end
end
refused("cannot split cp=4 over cp_heads=3", T.step, clock, model(), { cp = 4, cp_heads = 3 })
refused("cannot split 6 heads over cp_heads=4", T.step, clock, model(), { cp = 4, cp_heads = 4 })
END

check "stages with parts in turn may have uneven layers" <<'END'
local split = { pp = 2, vpp = 2, stage_layers = { 2, 1, 1, 3 } }
local text, counts = T.step(clock, model { layers = 7 }, split).job, {}
for stage = 0, 1 do
  local program = text:match("program,name=stage" .. stage .. ",.*"):gsub("\nprogram.*", "")
  counts[stage] = select(2, program:gsub("work,name=attention,", ""))
end
same("layers of stage 0", counts[0], 8 * 3)
same("layers of stage 1", counts[1], 8 * 4)
same("weights", T.memory(model { layers = 7 }, split, 1).weights, 2 * (4 * LAYER + 1001 * 256))
refused("cannot split stage_layers of 2 stages over pp=2 times vpp=2", T.step, clock, model(), { pp = 2, vpp = 2, stage_layers = { 2, 2 } })
END

check "experts with sequence parallelism, a capacity, shared experts and dense layers" <<'END'
local moe = model { experts = 8, top_k = 2, expert_ffn = 128, imbalance = 1.25, capacity = 1.0, shared_experts = 1, dense_layers = 1 }
same("dropped", tonumber(T.operators(moe, { dp = 4, ep = 4 }).experts[1][2].rows), 128)
moe.pad_experts, moe.capacity = true, 1.5
same("padded", tonumber(T.operators(moe, { dp = 4, ep = 4 }).experts[1][2].rows), 192)
moe.pad_experts, moe.capacity = nil, nil
local function layer(experts) return 256 * 320 + 192 * 256 + 2 * 256 + 256 * 8 + 3 * 256 * 128 * (experts + 1) end
local weights = LAYER + 3 * layer(2) + 2 * 1000 * 256 + 256
same("weights", T.memory(moe, { dp = 4, ep = 4 }, 0).weights, 2 * weights)
local run = T.run(clock, moe, { tp = 2, dp = 2, ep = 2, sequence_parallel = true }, system)
-- Rows of a rank: 64 tokens x 2 x 1.25. There and back to another rank, and all rows of both tensor parallel ranks together,
-- forward and backward; the dense layer, attention and shared experts as halves of sums (see above).
local rows, part = 160 * 256 * 2, 128 * 256 * 2
local held = LAYER // 2 + 3 * (layer(4) - 256 * 8 - 2 * 256) // 2 + 3 * (256 * 8 + 2 * 256) + 1000 * 256 + 256
local of_layer = 4 * rows * 4 // 2 + 4 * rows * 4
local halves = (10 + 3 * (5 + 5)) + 3
local sums = 0
for op, bytes in T.step(clock, moe, { tp = 2, dp = 2, ep = 2, sequence_parallel = true }).job:gmatch "op=(%a+_%a+),group=data,bytes=(%d+)" do
  sums = sums + 2 * bytes
end
same("bytes", run.moved_bytes, 4 * 3 * of_layer + part * halves * 4 * 2 + 2 * sums, 1e-3)
-- Two data parallel ranks of which each has two parts of a sequence share four times as many experts.
local text = T.step(clock, moe, { dp = 1, ep = 2, cp = 2 }).job
if not text:find("name=expert,ranks=0 1", 1, true) then print "no group of experts over parts of a sequence" end
refused("capacity of a model without experts", T.model, model { capacity = 1.0 })
refused("pad_experts of the model without capacity", T.model, model { experts = 2, pad_experts = true })
refused("dense_layers is 5 of 4 layers", T.model, model { experts = 2, dense_layers = 5 })
END

check "latent attention" <<'END'
local latent = model { kv_rank = 64, q_rank = 96, rope_dim = 16 }
-- Queries through 96 elements, keys and values through 64, a key of 16 by position; 6 heads of 32 by content.
local attention = 256 * 96 + 96 * (6 * 48 + 1) + 256 * (64 + 16) + 64 * (2 * 192 + 1) + 192 * 256
same("weights", T.memory(latent, {}, 0).weights, 2 * (4 * (attention + 3 * 256 * 640 + 2 * 256) + 2 * 1000 * 256 + 256))
local scores, products = nil, 0
for _, operator in ipairs(T.operators(latent, {}).attention) do
  if operator[1] == "flash_attention" then scores = operator[2] end
  if operator[1] == "matmul" then products = products + operator[2].k * operator[2].n end
end
same("products", products, attention - 96 - 64)
if scores.head_dim ~= 48 or scores.kv_heads ~= 6 then print("scores", scores.head_dim, scores.kv_heads) end
refused("q_rank of the model without kv_rank", T.model, model { q_rank = 8 })
END

check "adapters are trained beside weights that are not" <<'END'
local adapters = 4 * 8 * ((256 + 320) + (192 + 256) + (256 + 1280) + (640 + 256))
local own = T.memory(model(), { lora_rank = 8, dp = 2 }, 0)
same("weights", own.weights, 2 * (4 * LAYER + 2 * 1000 * 256 + 256 + adapters))
same("gradients", own.gradients, 4 * adapters)
same("optimizer", own.optimizer, 12 * adapters)
local run, whole = T.run(clock, model(), { lora_rank = 8, dp = 2 }, system), T.run(clock, model(), { dp = 2 }, system)
same("bytes", run.moved_bytes, 2 * 4 * adapters)
local function flops(list)
  local sum = 0
  for _, operator in ipairs(list) do
    if operator[1] == "matmul" then sum = sum + operator[2].m * operator[2].k * operator[2].n end
  end
  return sum
end
local plain, thin = T.operators(model(), {}), T.operators(model(), { lora_rank = 8 })
same("no gradient of weights", flops(thin.mlp_grad), flops(plain.mlp_grad) // 2 + 2 * 128 * 8 * ((256 + 1280) + (640 + 256)))
refused("cannot split adapters of experts or of latent attention", T.step, clock, model { experts = 2 }, { lora_rank = 8 })
refused("lora_rank of the split is -1", T.step, clock, model(), { lora_rank = -1 })
END

check "products run in pieces with their sums" <<'END'
local function sum(bytes)
  return vinci.group_run("job,version=1,ranks=2\ngroup,name=a,ranks=0-1\nprogram,ranks=0-1\ncollective,op=all_reduce,group=a,bytes=" ..
    bytes .. "\n", system).us
end
local text = T.step(clock, model(), { tp = 2, fused = 4 }).job
same("bytes", vinci.group_run(text, system).moved_bytes, T.run(clock, model(), { tp = 2 }, system).moved_bytes)
-- Where a piece of a product takes longer than that of its sum, the last piece of each sum alone is seen.
text = text:gsub("us=[%d.]+,memory=[%d.]+", "us=500")
local whole = 128 * 256 * 2
same("seen", vinci.group_run(text, system).ranks[1].exposed_us, 8 * (4 * 4 * sum(whole // 4) + 2 * sum(whole)), 0.001)
local _, count = T.step(clock, model(), { tp = 2, fused = 4 }).job:gsub("op=all_reduce,group=fused", "")
same("sums", count, 8 * 4 * 4 * 4)
refused("cannot split products joined with sums (fused=2) over tp=1", T.step, clock, model(), { fused = 2 })
END

check "activations lie in the memory of the host meanwhile" <<'END'
local bytes = 128 * (2 * (2 * 192 + 2 * 64) + 6 * 64)
local layer = 128 * (2 * (4 * 256 + 320 + 192 + 1280 + 640) + 6 * 64)
same("kept", T.memory(model(), { swap = "attention" }, 0).activations, 4 * (layer - bytes) + 2 * bytes)
same("all", T.memory(model(), { swap = "all" }, 0).activations, 2 * layer)
local text = T.step(clock, model(), { swap = "attention" }).job
local out, count = 0, 0
for us in text:gmatch "host,name=swap out,us=([%d.]+)" do out, count = out + us, count + 1 end
same("out", out, 8 * 4 * bytes / 19.7e3, 1e-3)
local _, back = text:gsub("host,name=swap in", "")
same("there and back", back, count)
local _, fewer = T.step(clock, model(), { swap = "all", recompute = true, recompute_layers = 3 }).job:gsub("host,name=swap in", "")
same("layers that are computed again", fewer, 8)
if T.run(clock, model(), { swap = "all" }, system).us < T.run(clock, model(), {}, system).us then print "faster" end
refused("swap of the split is half", T.step, clock, model(), { swap = "half" })
END

check "states of the optimizer lie in the memory of the host" <<'END'
local elements = 4 * LAYER + 2 * 1000 * 256 + 256
same("memory", T.memory(model(), { swap_optimizer = true }, 0).optimizer, 3 * elements)
local run, plain = T.run(clock, model(), { swap_optimizer = true }, system), T.run(clock, model(), {}, system)
-- Eight pieces come at 17.2 GB/s, behind each other; the last is updated and goes.
local last = plain.times.optimizer[0].us / 8 + 12 * elements / 8 / 19.7e3
same("step", run.us, plain.us - plain.times.optimizer[0].us + 12 * elements / 17.2e3 + last, 1e-4)
END

check "gradients of fewer bits" <<'END'
local elements, bytes = 4 * LAYER + 2 * 1000 * 256 + 256, {}
for _, kind in ipairs { "fp32", "fp16", "int8" } do
  for _, asynchronous in ipairs { false, true } do
    local run = T.run(clock, model(), { dp = 4, gradients = kind, asynchronous = asynchronous, bucket_bytes = 1 << 40 }, system)
    local scales = kind == "int8" and -(-elements // 1024) * 4 or 0
    same(kind, run.moved_bytes, 2 * 3 * (elements * ({ fp32 = 4, fp16 = 2, int8 = 1 })[kind] + scales), 1e-4)
    same("parts", run.computing_us + run.bubble_us + run.exposed_us + run.loading_us, run.us, 1e-9)
    bytes[kind] = bytes[kind] or run
    -- All sums of 10 MB fit beside the work of a step.
    if asynchronous and run.exposed_us > bytes[kind].exposed_us then print(kind, run.exposed_us, bytes[kind].exposed_us) end
    if asynchronous then same("the same kernels", run.computing_us, bytes[kind].computing_us, 1e-9) end
  end
end
if bytes.int8.computing_us <= bytes.fp16.computing_us or bytes.fp16.computing_us <= bytes.fp32.computing_us then print "no kernels" end
local lists = vinci.transformer_operators.compression("int8", (1 << 24) + 5000)
same("parts", #lists, 6)
if lists[4][2].shape ~= "5x1024" then print(lists[4][2].shape) end
END

check "a loader sets the pace when it is slowest" <<'END'
local plain = T.run(clock, model(), {}, system).us
for _, each in ipairs { plain / 16, plain / 4 } do
  local run = T.run(clock, model(), { loader_us = each }, system)
  same("step", run.us, math.max(plain, 8 * each), 1e-9)
  same("parts", run.computing_us + run.bubble_us + run.exposed_us + run.loading_us, run.us, 1e-9)
end
END

check "errors" <<'END'
refused("vinci.transformer: model needs", T.model, { layers = 1 })
refused("has no field 'layer'", T.model, model { layer = 1 })
refused("dtype of the model is int8", T.model, model { dtype = "int8" })
refused("layers of the model is 1.5, not a whole number from 1 to 16777216", T.model, model { layers = 1.5 })
refused("global_batch of the model is 9223372036854775807, not a whole number from 1 to 16777216", T.model,
  model { global_batch = math.maxinteger })
refused("the model has more than 1e+15 weights", T.model, model { hidden = 1 << 24 })
refused("cannot split 4 layers over pp=3", T.step, clock, model(), { pp = 3 })
refused("cannot split 6 heads over tp=4", T.step, clock, model(), { tp = 4 })
refused("stage is 2, not a whole number from 0 to 1", T.memory, model(), { pp = 2 }, 2)
refused("cannot split 4 layers over pp=2 times vpp=4", T.step, clock, model(), { pp = 2, vpp = 4 })
refused("cannot split one stage over vpp=2", T.step, clock, model(), { vpp = 2 })
refused("cannot split 4 micro batches in rounds of pp=8", T.step, clock, model { layers = 16, global_batch = 4 }, { pp = 8, vpp = 2 })
refused("cannot split a sequence of 128 over two parts for each of cp=3", T.step, clock, model(), { cp = 3 })
refused("cannot split a model without experts over ep=2", T.step, clock, model(), { ep = 2, dp = 2 })
refused("cannot split dp=2 over ep=4", T.step, clock, model { experts = 8 }, { ep = 4, dp = 2 })
refused("cannot split 6 experts over ep=4", T.step, clock, model { experts = 6 }, { ep = 4, dp = 4 })
refused("top_k is 3 of 2 experts", T.model, model { experts = 2, top_k = 3 })
refused("imbalance of the model is 0.5", T.model, model { imbalance = 0.5 })
refused("gradients of the split are fp8", T.step, clock, model(), { gradients = "fp8" })
refused("split has no field 'pq'", T.step, clock, model(), { pq = 3 })
refused("names no system of devices", vinci.group_run, "job,version=1,ranks=1\nprogram,ranks=0\n")
refused("unknown system 'atlas_a2_910b5' (did you mean 'atlas_a2_910b", vinci.group_run, "job,version=1,ranks=1\nprogram,ranks=0\n",
  { system = "atlas_a2_910b5" })
refused("job:2", vinci.group_run, "job,version=1,ranks=1\nprogram,rank=0\n", system)
refused("unknown field 'sytem'", vinci.group_run, "job,version=1,ranks=1\n", { sytem = "x" })
refused("argument 'text' is missing", vinci.group_run)
local good, err = pcall(vinci.group_run, "job,version=1,ranks=2\ngroup,name=a,ranks=0-1\nprogram,ranks=0\n" ..
  "collective,op=all_reduce,group=a,bytes=8\nprogram,ranks=1\nwork,us=1\n", system)
if good or err.exit_code ~= 6 then print("no deadlock", tostring(err)) end
END

keep "$vinci" lua "$srcdir/tests/accuracy/step_memory.lua"
report "published peaks of memory are within the limits" "$(expect 0 '' '12 steps: median'; case $err in '') ;; *) printf '%s' "$out" ;; esac)"
