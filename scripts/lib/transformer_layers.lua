-- SPDX-License-Identifier: Apache-2.0
-- vinci.transformer_layers: what a rank does in a layer, forward and backward, as rows of a job. A part of vinci.transformer.
--
-- Context parallelism: K and V go around a ring while the scores of what is there are computed (ring attention: Liu et al.,
-- 2023; the default of the vendor's framework), and in the backward pass their gradients go around too; or ranks exchange
-- heads, so that each has all of the sequence and a part of the heads (DeepSpeed-Ulysses: Jacobs et al., 2023); or both, rings
-- of ranks that exchange heads. Expert parallelism: tokens are sent to the experts that the router chooses and back
-- (all-to-all: Lepikhin et al., GShard, 2020). Products joined with sums: these run in pieces, each beside the next product
-- (the vendor's framework: coc; kernels: mc2). Swap: what the backward pass needs lies in the memory of the host meanwhile.
local vinci = ...
local O = vinci.transformer_operators
local M, WIDTH = {}, O.WIDTH

-- Streams beside that of the work; transformer_job.lua has others.
local AGAIN, RING_IN, RING_OUT, RING_GRADIENTS_IN, RING_GRADIENTS_OUT, FUSED, TO_HOST, FROM_HOST = 6, 8, 9, 10, 11, 12, 13, 14
-- Bytes a second between a device and the memory of its host, of one device (Hixl, A2_benchmark_performance.md: 8 MiB at
-- 19.72 and 17.25 GB/s). What devices of a server share there is not published.
local OUT_RATE, IN_RATE = 19.7e9, 17.2e9

-- ---- the memory of the host ------------------------------------------------------------------------------------------

-- Bytes go to the memory of the host behind the work so far.
function M.to_host(w, name, bytes)
  w:follow(0, TO_HOST)
  w:host(name, bytes / OUT_RATE * 1e6, TO_HOST)
end

-- Bytes come, from where the work is; `come` lets the work wait for the first that has not been waited for.
function M.from_host(w, name, bytes)
  w:follow(0, FROM_HOST)
  w:host(name, bytes / IN_RATE * 1e6, FROM_HOST)
  w.coming = w.coming or {}
  w.events = w.events + 1
  w:add("record,event=e%d,stream=%d", w.events, FROM_HOST)
  table.insert(w.coming, w.events)
end

function M.come(w) w:add("wait,event=e%d,stream=0", table.remove(w.coming, 1)) end

-- All that goes to the host has gone.
function M.gone(w) w:follow(TO_HOST, 0) end

-- ---- layers --------------------------------------------------------------------------------------------------------

local function tensor(w, step, op, group, stream)
  if step.split.tp > 1 and step.split.communication then
    w:collective(op, group or "tensor", step.own.tokens * step.own.hidden * WIDTH[step.model.dtype], stream)
  end
end

-- Sums over the tensor parallel ranks stand behind each part of a layer. With sequence parallelism these leave each
-- rank its share of the tokens, and all tokens are gathered before the next part (Korthikanti et al., MLSys 2023).
local function sum_op(step) return step.split.sequence_parallel and "reduce_scatter" or "all_reduce" end
function M.sum(w, step) tensor(w, step, sum_op(step)) end
function M.gather(w, step) if step.split.sequence_parallel then tensor(w, step, "all_gather") end end

-- The sum behind a part of a layer. Joined with its last product, it runs in as many pieces, each beside the next one of the product.
local function part_sum(w, step, name)
  local times, pieces = name and step.times[name .. "_out"], step.own.fused
  if pieces == 1 or not times then return M.sum(w, step) end
  for _ = 1, pieces do
    w:work(M.shown(name), times)
    if step.split.communication then
      w:follow(0, FUSED)
      w:collective(sum_op(step), "fused", step.own.tokens * step.own.hidden * WIDTH[step.model.dtype] // pieces, FUSED)
    end
  end
  if step.split.communication then w:follow(FUSED, 0) end
end

-- A send to the next rank of the ring and a receive from the one before, beside the work that follows.
local function shift(w, step, group, out, into)
  local own = step.own
  local bytes = 2 * own.score_sequence * step.model.micro_batch * own.score_kv_heads * own.head * WIDTH[step.model.dtype]
  bytes = step.split.communication and bytes or 1
  w:follow(0, out)
  w:collective("send_recv", group .. w.position, bytes, out)
  w:follow(0, into)
  w:collective("send_recv", group .. (w.position - 1) % step.own.ring, bytes, into)
end

-- What a part is called in the job.
function M.shown(name) return (name:gsub("_grad", " gradient"):gsub("_", " ")) end
local shown = M.shown

-- Ranks exchange heads: each sends its tokens of all heads but its own. Heads of K and V that are fewer than the ranks are
-- repeated before.
local function exchange_heads(w, step, heads, kv_heads)
  local own = step.own
  if own.exchange == 1 or not step.split.communication then return end
  if kv_heads > 0 then kv_heads = math.max(kv_heads, own.exchange) end
  w:collective("all_to_all", "heads", own.tokens * (heads + 2 * kv_heads) * own.head * WIDTH[step.model.dtype])
end

-- Attention, or its gradient. In the backward pass gradients of K and V follow K and V, one rank behind: the last send
-- brings them home.
local function attention(w, step, name, gradients)
  local times, cp, own = step.times, step.own.ring, step.own
  if own.cp == 1 then
    w:work(shown(name), times[name])
    return
  end
  w:work(shown(name .. "_before"), times[name .. "_before"])
  exchange_heads(w, step, own.heads, gradients and 0 or own.kv_heads)
  for i = 1, cp do
    if i < cp then shift(w, step, "ring", RING_OUT, RING_IN) end
    w:work(shown(name .. "_scores"), times[name .. (i == 1 and "_own" or "_ring")])
    if i < cp then w:follow(RING_IN, 0) end
    if gradients and cp > 1 then
      if i > 1 then w:follow(RING_GRADIENTS_IN, 0) end
      shift(w, step, "ring_gradients", RING_GRADIENTS_OUT, RING_GRADIENTS_IN)
    end
  end
  if gradients and cp > 1 then w:follow(RING_GRADIENTS_IN, 0) end
  exchange_heads(w, step, own.heads, gradients and own.kv_heads or 0)
  w:work(shown(name .. "_behind"), times[name .. "_behind"])
end

-- Tokens go to the ranks of their experts, or back: the bytes of the fullest rank. With sequence parallelism each tensor
-- parallel rank sends its rows, and the rows of all meet before the experts: `meet` is what does that.
local function exchange(w, step, meet)
  local own, split = step.own, step.split
  if not split.communication then return end
  local function together()
    if split.sequence_parallel and split.tp > 1 then
      w:collective(meet, "tensor", own.sent * split.tp * own.hidden * WIDTH[step.model.dtype])
    end
  end
  if meet == "reduce_scatter" then together() end
  if split.ep > 1 then w:collective("all_to_all", "expert", own.sent * own.hidden * WIDTH[step.model.dtype]) end
  if meet == "all_gather" then together() end
end

local function experts(w, step, before, between, behind)
  w:work(shown(before), step.times[before])
  exchange(w, step, "all_gather")
  w:work(shown(between), step.times[between])
  exchange(w, step, "reduce_scatter")
  w:work(shown(behind), step.times[behind])
end

-- The gradient of a part. Its input was not kept whole: it is gathered again, beside the work.
local function part_backward(w, step, name, work)
  local again = step.split.sequence_parallel and step.split.tp > 1 and step.split.communication
  M.gather(w, step)
  if again then
    w:follow(0, AGAIN)
    tensor(w, step, "all_gather", "again", AGAIN)
  end
  work()
  if again then w:follow(AGAIN, 0) end
  part_sum(w, step, name)
  w:work("norm gradient", step.times.norm_grad)
end

-- ---- swap ------------------------------------------------------------------------------------------------------------

-- Fetches what the backward pass of a layer needs, where that is in the memory of the host.
function M.fetch(w, step, kept)
  if not kept or step.split.swap == "none" then return end
  M.from_host(w, "swap in", vinci.transformer_memory.swapped(step.model, step.split, step.own))
end

-- ---- layers ----------------------------------------------------------------------------------------------------------

local function attention_name(step) return step.own.cp > 1 and "attention_behind" or "attention" end
local function attention_grad_name(step) return step.own.cp > 1 and "attention_grad_behind" or "attention_grad" end

-- With experts the rows of tensor parallel ranks stay apart under sequence parallelism: `experts` gathers what it needs.
local function rows_apart(step, has_experts) return has_experts and step.split.sequence_parallel and step.split.tp > 1 end

local function mlp_forward(w, step, has_experts)
  if not has_experts then
    M.gather(w, step)
    w:work("mlp", step.times.mlp)
    part_sum(w, step, "mlp")
    return
  end
  local apart = rows_apart(step, true)
  if step.times.shared then
    M.gather(w, step)
    w:work("shared experts", step.times.shared)
    if apart then M.sum(w, step) end
  end
  experts(w, step, "router", "experts", "combine")
  if not apart then M.sum(w, step) end
end

-- `kept`: its activations are kept for the backward pass.
function M.forward(w, step, has_experts, kept)
  M.gather(w, step)
  attention(w, step, "attention")
  part_sum(w, step, attention_name(step))
  mlp_forward(w, step, has_experts)
  w:work("residual", step.times.residual)
  if kept and step.split.swap ~= "none" then
    M.to_host(w, "swap out", vinci.transformer_memory.swapped(step.model, step.split, step.own))
  end
end

local function experts_backward(w, step)
  experts(w, step, "combine_grad", "experts_grad", "router_grad")
  if step.times.shared_grad then w:work("shared experts gradient", step.times.shared_grad) end
end

local function mlp_backward(w, step, has_experts, recompute)
  local function activation()
    if step.split.recompute_activation and not recompute then w:work("activation", step.times.activation) end
  end
  if not has_experts then
    return part_backward(w, step, "mlp_grad", function()
      activation()
      w:work("mlp gradient", step.times.mlp_grad)
    end)
  end
  if not rows_apart(step, true) or step.times.shared_grad then
    return part_backward(w, step, nil, function()
      activation()
      experts_backward(w, step)
    end)
  end
  activation()
  experts_backward(w, step)
  w:work("norm gradient", step.times.norm_grad)
end

-- `recompute`: the layer is computed again; `next_kept`: the layer before, which comes next, has kept its activations.
function M.backward(w, step, has_experts, recompute, next_kept)
  if w.coming and #w.coming > 0 then M.come(w) end
  M.fetch(w, step, next_kept)
  if recompute then M.forward(w, step, has_experts) end
  mlp_backward(w, step, has_experts, recompute)
  part_backward(w, step, attention_grad_name(step), function() attention(w, step, "attention_grad", true) end)
end

return M
