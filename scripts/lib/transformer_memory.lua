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

-- Sizes of the tensors of one layer that the backward pass of one micro batch needs.
local function layer_tensors(model, split, own)
  local width, mlp = WIDTH[model.dtype], own.experts > 0 and own.routed or own.tokens
  local row = own.rows * own.hidden * width
  local list = { row, row, row, row, -- inputs and outputs of both norms
    own.tokens * own.attention * width, own.tokens * own.kv_heads * own.dim * width, own.tokens * own.kv_heads * own.dim * width,
    own.tokens * own.attention * width, own.tokens * own.heads * STATISTICS, -- Q, K, V, the result, and its statistics
    mlp * own.up * width }
  if not split.recompute_activation then list[#list + 1] = mlp * own.ffn * width end
  if own.experts > 0 then -- what experts get and give
    list[#list + 1] = own.routed * own.hidden * width
    list[#list + 1] = own.routed * own.hidden * width
  end
  return list
end

local function layer_bytes(model, split, own)
  local sum, list = 0, layer_tensors(model, split, own)
  for _, bytes in ipairs(list) do sum = sum + round(bytes) end
  return sum, #list
end

-- What one layer needs while its backward pass runs: gradients of the widest part, and what is gathered for them.
local function layer_working(model, split, own)
  local width, mlp = WIDTH[model.dtype], own.experts > 0 and own.routed or own.tokens
  local bytes = mlp * (own.up + own.ffn) * width
  if split.sequence_parallel and split.tp > 1 then bytes = bytes + 2 * own.tokens * own.hidden * width end
  if split.cp > 1 then bytes = bytes + 2 * 2 * own.tokens * own.kv_heads * own.dim * width end
  return bytes
end

-- Layers of a part of a stage whose inputs alone are kept.
function M.recomputed(split, layers)
  if not split.recompute then return 0 end
  return split.recompute_layers > 0 and math.min(split.recompute_layers, layers) or layers
end

local function activations(model, split, own, stage, out)
  local full, tensors = layer_bytes(model, split, own)
  local layers, input = O.layers_of(model, split, stage) // split.vpp, round(own.rows * own.hidden * WIDTH[model.dtype])
  local again = M.recomputed(split, layers)
  local in_flight = math.min(J.ahead(split, stage) + 1, split.micro_batches * split.vpp)
  out.activations = in_flight * ((layers - again) * full + again * input)
  out.working = layer_working(model, split, own) + (again > 0 and full or 0)
  if stage == split.pp - 1 then -- logits in two bytes, in fp32, and their softmax in fp32
    local loss = own.tokens * own.vocab * (WIDTH[model.dtype] + 4 + 4) + 2 * input
    out.working = math.max(out.working, loss)
  end
  out.communication = split.pp > 1 and 4 * input or 0 -- what stages get and give, there and back
  return in_flight * ((layers - again) * tensors + again)
end

-- ---- the optimizer -------------------------------------------------------------------------------------------------

-- Sizes of the weights of a part of a stage, in the order in which their gradients come.
local function weights_of_part(model, split, own, stage, part, of_experts)
  local list, layers = {}, O.layers_of(model, split, stage) // split.vpp
  local function add(elements)
    if elements > 0 then list[#list + 1] = elements end
  end
  if not of_experts and stage == split.pp - 1 and part == split.vpp - 1 then add(own.vocab * own.hidden) end
  for _ = 1, layers do
    local mlp = math.max(own.experts, 1) * own.hidden
    if of_experts == (own.experts > 0) then
      add(mlp * own.ffn)
      add(mlp * own.up)
    end
    if not of_experts then
      add(own.hidden * own.qkv)
      add(own.attention * own.hidden)
    end
  end
  if not of_experts and stage == 0 and part == 0 then add(own.vocab * own.hidden) end
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
  out.weights, out.gradients = held.all * width, held.all * 4
  out.copy = elements * (split.reuse_weights and 4 - width or 4)
  out.optimizer = out.copy + elements * 2 * moment
  out.update = largest_weight(model, split, own, stage) * (4 + (moment < 4 and 2 * 4 or 0))
end

-- ---- groups of ranks -----------------------------------------------------------------------------------------------

local function groups(split, stage)
  local count = 0
  for _, ranks in ipairs { split.tp, split.dp * split.cp, split.cp, split.ep } do count = count + (ranks > 1 and 1 or 0) end
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
