-- SPDX-License-Identifier: Apache-2.0
-- vinci.transformer_memory: what a device holds in a training step. A part of vinci.transformer, whose models and splits
-- it takes complete.
--
-- Public documents give the terms: activations of a layer and of a pipeline (Korthikanti et al., MLSys 2023; Narayanan
-- et al., SC 2021), states of the optimizer (Rajbhandari et al., ZeRO, SC 2020), buckets of gradients that data parallel
-- ranks share (Megatron-LM, distributed optimizer). None of the numbers below is fitted to a measured peak.
-- tests/accuracy/step_memory.lua compares with published peaks.
local vinci = ...
local O, J = vinci.transformer_operators, vinci.transformer_job
local M, WIDTH = {}, O.WIDTH
local BLOCK = 512 -- bytes: the framework's allocator rounds up to these (PyTorch, CUDACachingAllocator)
local SEGMENT = 2 << 20 -- bytes: what it takes from the device at a time, likewise
local BUFFER = 200 << 20 -- HCCL_BUFFSIZE: the library has two of them for each group of ranks (CANN, environment variables)
local STATISTICS = 2 * 8 * 4 -- maxima and sums of flash attention: fp32, eight times each (torch_npu.npu_fusion_attention)

local function round(bytes) return -(-bytes // BLOCK) * BLOCK end

-- ---- activations ---------------------------------------------------------------------------------------------------

-- Sizes of the tensors of attention that the backward pass of one micro batch needs.
local function attention_tensors(model, own)
  local width = WIDTH[model.dtype]
  local list = { own.tokens * own.heads * own.head * width, own.tokens * own.kv_heads * own.head * width, -- Q, K, V, the result, and its statistics
    own.tokens * own.kv_heads * own.head * width, own.tokens * own.heads * own.head * width, own.tokens * own.heads * STATISTICS }
  if model.kv_rank > 0 then -- what K and V come from, and queries, before their norms and behind
    for _, columns in ipairs { model.kv_rank, model.kv_rank, model.q_rank, model.q_rank } do
      if columns > 0 then list[#list + 1] = own.tokens * columns * width end
    end
  end
  return list
end

-- Of the MLP, or of the experts with those that all tokens pass.
local function mlp_tensors(model, split, own, has_experts)
  local width, list = WIDTH[model.dtype], {}
  local function between(count, up, ffn)
    list[#list + 1] = count * up * width
    if not split.recompute_activation then list[#list + 1] = count * ffn * width end
  end
  if not has_experts then
    between(own.tokens, own.dense_up, own.dense_ffn)
    return list
  end
  between(own.routed, own.up, own.ffn)
  if own.shared_up > 0 then between(own.tokens, own.shared_up, own.shared_ffn) end
  list[#list + 1] = own.routed * own.hidden * width -- what experts get and give
  list[#list + 1] = own.routed * own.hidden * width
  return list
end

-- Sizes of the tensors of one layer that the backward pass of one micro batch needs.
local function layer_tensors(model, split, own, has_experts)
  local row, list = own.rows * own.hidden * WIDTH[model.dtype], {}
  for i = 1, 4 do list[i] = row end -- inputs and outputs of both norms
  for _, more in ipairs { attention_tensors(model, own), mlp_tensors(model, split, own, has_experts) } do
    table.move(more, 1, #more, #list + 1, list)
  end
  return list
end

local function total(list)
  local sum = 0
  for _, bytes in ipairs(list) do sum = sum + round(bytes) end
  return sum
end

-- What of a layer lies in the memory of the host between its passes.
function M.swapped(model, split, own)
  if split.swap == "attention" then return total(attention_tensors(model, own)) end
  return split.swap == "all" and total(layer_tensors(model, split, own, model.experts > 0)) or 0
end

-- What one layer needs while its backward pass runs: gradients of the widest part, and what is gathered for them.
local function layer_working(model, split, own)
  local width = WIDTH[model.dtype]
  local bytes = (model.experts > 0 and own.routed * (own.up + own.ffn) or own.tokens * (own.dense_up + own.dense_ffn)) * width
  if split.sequence_parallel and split.tp > 1 then bytes = bytes + 2 * own.tokens * own.hidden * width end
  if own.ring > 1 then bytes = bytes + 2 * 2 * own.score_sequence * model.micro_batch * own.score_kv_heads * own.head * width end
  if own.exchange > 1 then bytes = bytes + own.tokens * (own.heads + 2 * own.kv_heads) * own.head * width end
  return bytes
end

-- Layers of a part of a stage whose inputs alone are kept.
function M.recomputed(split, layers)
  if not split.recompute then return 0 end
  return split.recompute_layers > 0 and math.min(split.recompute_layers, layers) or layers
end

-- Bytes and tensors of the layers of a part of a stage that one micro batch keeps, and of the largest layer.
local function part_bytes(model, split, own, stage, part, sizes)
  local dense, layers = O.kinds_of_part(model, split, stage, part)
  local again = M.recomputed(split, layers)
  local out = { bytes = again * sizes.input, tensors = again, largest = 0, again = again }
  for kind, count in ipairs { dense, layers - dense } do -- those without experts come first
    local kept = kind == 1 and math.max(count - again, 0) or layers - math.max(again, dense)
    local one = sizes[kind]
    out.bytes = out.bytes + kept * (one.bytes - math.min(sizes.swapped, one.bytes))
    out.tensors = out.tensors + kept * one.tensors
    out.largest = math.max(out.largest, count > 0 and one.bytes or 0)
  end
  return out
end

-- Of a layer without experts, and with experts.
local function layer_sizes(model, split, own)
  local sizes = { input = round(own.rows * own.hidden * WIDTH[model.dtype]), swapped = M.swapped(model, split, own) }
  for kind, has_experts in ipairs { false, true } do
    local list = layer_tensors(model, split, own, has_experts)
    sizes[kind] = { bytes = total(list), tensors = #list }
  end
  return sizes
end

-- Of logits in two bytes, in fp32, and their softmax in fp32; and of the inputs of the head.
local function loss_bytes(model, own, input) return own.tokens * own.vocab * (WIDTH[model.dtype] + 4 + 4) + 2 * input end

-- What rows of a job take and give back (transformer_job.lua), in bytes: `activations` of a micro batch by part of the
-- stage, `working` of a backward pass by part, `swap`, `loss` and `communication`. M.of() has the same for all at once.
function M.of_passes(model, split, stage)
  local own, out = O.shard(model, split), { activations = {}, working = {} }
  local sizes = layer_sizes(model, split, own)
  for part = 0, split.vpp - 1 do
    local one = part_bytes(model, split, own, stage, part, sizes)
    out.activations[part] = one.bytes
    out.working[part] = layer_working(model, split, own) + (one.again > 0 and one.largest or 0)
  end
  out.swap = split.swap ~= "none" and 2 * sizes.swapped or 0
  out.loss = loss_bytes(model, own, sizes.input)
  out.communication = split.pp > 1 and 4 * sizes.input or 0
  return out
end

local function activations(model, split, own, stage, out)
  local sizes, most, largest, again = layer_sizes(model, split, own), nil, 0, 0
  local differ = #split.stage_layers > 0 or model.dense_layers > 0
  for part = 0, differ and split.vpp - 1 or 0 do -- where parts differ, the largest counts for all in flight
    local one = part_bytes(model, split, own, stage, part, sizes)
    if not most or one.bytes > most.bytes then most = one end
    largest, again = math.max(largest, one.largest), math.max(again, one.again)
  end
  local input = sizes.input
  local in_flight = math.min(J.ahead(split, stage) + 1, split.micro_batches * split.vpp)
  out.activations = in_flight * most.bytes
  -- Of layers in the memory of the host, one is on its way out and one on its way in.
  if split.swap ~= "none" then out.activations = out.activations + 2 * sizes.swapped end
  out.working = layer_working(model, split, own) + (again > 0 and largest or 0)
  if stage == split.pp - 1 then out.working = math.max(out.working, loss_bytes(model, own, input)) end
  out.communication = split.pp > 1 and 4 * input or 0 -- what stages get and give, there and back
  return in_flight * most.tensors
end

-- ---- the optimizer -------------------------------------------------------------------------------------------------

-- Sizes of the weights of a part of a stage that are trained, in the order in which their gradients come.
local function weights_of_part(model, split, own, stage, part, of_experts)
  local list, dense, layers = {}, O.kinds_of_part(model, split, stage, part)
  local function add(k, n)
    if own.lora > 0 then k, n = own.lora, math.max(k, n) end
    if k * n > 0 then list[#list + 1] = k * n end
  end
  local whole = not of_experts and own.lora == 0
  if whole and stage == split.pp - 1 and part == split.vpp - 1 then add(own.vocab, own.hidden) end
  for i = layers, 1, -1 do
    if of_experts and i > dense then
      add(own.experts * own.hidden, own.ffn)
      add(own.experts * own.hidden, own.up)
    end
    if not of_experts then
      if i <= dense then
        add(own.hidden, own.dense_ffn)
        add(own.hidden, own.dense_up)
      end
      add(own.hidden, model.kv_rank > 0 and own.heads * own.head or own.qkv)
      add(own.attention, own.hidden)
    end
  end
  if whole and stage == 0 and part == 0 then add(own.vocab, own.hidden) end
  return list
end

-- The largest piece of a weight that one of the ranks has which share a list of weights. Buckets end with the weight that
-- fills them; each rank has an equal part of each bucket, wherever weights begin.
function M.largest(list, limit, ranks)
  local most, bucket, sum = 0, {}, 0
  for i, elements in ipairs(list) do
    bucket[#bucket + 1], sum = elements, sum + elements
    if sum >= limit or i == #list then
      local part, at = sum / ranks, 0
      for _, one in ipairs(bucket) do
        local first, last = math.ceil(at / part), (at + one) // part -- whole parts between
        local piece = last > first and part or math.max(math.min(first * part, at + one) - at, at + one - math.max(last * part, at))
        most, at = math.max(most, math.ceil(piece)), at + one
      end
      bucket, sum = {}, 0
    end
  end
  return most
end

local function largest_weight(model, split, own, stage)
  local ranks, most = split.dp * split.cp, 0
  for part = 0, split.vpp - 1 do
    -- Stages behind the first have one bucket: their sums lie behind those of the first anyway (Megatron-LM).
    local limit = split.overlap and stage == 0 and part == 0 and split.bucket_bytes // 4 or math.huge
    for _, kind in ipairs { { false, ranks }, { true, ranks // split.ep } } do
      local list = weights_of_part(model, split, own, stage, part, kind[1])
      most = math.max(most, M.largest(list, limit, split.sharded and kind[2] or 1))
    end
  end
  return most
end

-- Weights, gradients in fp32, and the optimizer: two moments and a copy of the weights in fp32. With reuse_weights the
-- weights are a half of their copy. An update has a result for one weight at a time in fp32, and moments of fewer bytes
-- become fp32 before.
local function states(model, split, own, stage, out)
  local held = O.weights(model, split, own, stage)
  local elements, width = O.sharded(split, held), WIDTH[model.dtype]
  local moment = WIDTH[split.moments]
  out.weights, out.gradients = held.all * width, held.trained.all * 4
  out.copy = elements * (split.reuse_weights and 4 - width or 4)
  out.optimizer = out.copy + elements * 2 * moment
  if split.swap_optimizer then -- one piece is updated, the next one comes
    out.copy, out.optimizer = out.copy * 2 // J.PIECES, out.optimizer * 2 // J.PIECES
  end
  out.update = largest_weight(model, split, own, stage) * (4 + (moment < 4 and 2 * 4 or 0))
end

-- ---- groups of ranks -----------------------------------------------------------------------------------------------

local function groups(split, stage)
  local count = 0
  for _, ranks in ipairs { split.tp, split.dp * split.cp, split.cp // split.cp_heads, split.cp_heads, split.ep } do count = count + (ranks > 1 and 1 or 0) end
  if split.ep > 1 and split.dp * split.cp > split.ep then count = count + 1 end
  if split.pp > 1 then count = count + (stage > 0 and stage < split.pp - 1 and 2 or 1) end
  return count
end

-- Of a complete split, in bytes. `bytes` is the most that the framework has allocated at a time in a step, `first_step`
-- that of the first step, whose update makes the moments; `device` is what the device must have.
function M.of(model, split, stage)
  local own, out = O.shard(model, split), {}
  states(model, split, own, stage, out)
  local tensors = activations(model, split, own, stage, out)
  local passes = out.activations + out.working + out.communication
  out.static = out.weights + out.gradients + out.optimizer
  out.bytes = out.static + math.max(passes, out.update)
  out.first_step = math.max(out.weights + out.gradients + out.copy + passes, out.static + out.update)
  out.rounding = tensors * SEGMENT // 2 -- half of a segment is left over in the mean
  out.library = 2 * BUFFER * groups(split, stage)
  out.device = out.bytes + out.rounding + out.library
  return out
end

return M
