-- SPDX-License-Identifier: Apache-2.0
-- vinci.planner_bounds: what no step of a split is shorter than, as far as kernels take 95 % of their estimates or
-- more, and times of collectives grow evenly between two sizes that are simulated. A part of vinci.planner.
--
-- A bound adds up what follows each other on a stage: the first micro batch comes through the stages before, all
-- passes of the stage run, then the last backward pass goes back or the optimizer follows. Sums over tensor parallel
-- ranks stand between kernels, and those of gradients follow the last backward passes. A stricter bound has better
-- times of kernels; a time of a collective is that of the collective alone, which others can only make longer.
local vinci = ...
local T, O, J = vinci.transformer, vinci.transformer_operators, vinci.transformer_job
local M = {}

-- ---- collectives alone ---------------------------------------------------------------------------------------------

local Sums = {}
Sums.__index = Sums

-- Times of collectives of a system, each simulated alone, once. `options` as of vinci.group_run; `keep` as of a clock.
function M.sums(options, keep) return setmetatable({ options = options, keep = keep, known = {}, simulated = 0 }, Sums) end

-- All ranks of a job, in groups of a family, do one collective. `text`: the row of the family.
function Sums:simulate(op, text, ranks, bytes)
  local key = ("%s %d %s"):format(op, bytes, text)
  local us = self.known[key] or self.keep and self.keep.get("sum " .. key)
  if not us then
    us = vinci.group_run(("job,version=1,ranks=%d\n%s\nprogram,ranks=0-%d\ncollective,op=%s,group=%s,bytes=%d\n"):format(ranks, text,
      ranks - 1, op, text:match "name=([^,]*)", bytes), self.options).us
    self.simulated = self.simulated + 1
    if self.keep then self.keep.put("sum " .. key, us) end
  end
  self.known[key] = us
  return us
end

-- The time of a collective of the family of a split, as its size is.
function Sums:exactly(split, family, op, bytes)
  local text = J.family_row(split, family)
  return text and bytes > 0 and self:simulate(op, text, split.tp * split.cp * split.dp, bytes) or 0
end

-- The time of a collective of the family of a split, in one stage of its pipeline: others are alike. Sizes between two
-- powers of two are interpolated.
function Sums:time(split, family, op, bytes)
  local ranks = split.tp * split.cp * split.dp
  local text = J.family_row(split, family)
  if not text or bytes == 0 then return 0 end
  local low = 1
  while low * 2 <= bytes do low = low * 2 end
  local first = self:simulate(op, text, ranks, low)
  if low == bytes then return first end
  return first + (self:simulate(op, text, ranks, 2 * low) - first) * (bytes - low) / low
end

-- ---- times of kernels ----------------------------------------------------------------------------------------------

local SHARE = 0.95 -- of the closed-form estimate of a kernel: no kernel of tests/scripts/test_planner.sh takes less

-- Nothing but products, at the speed of the cube.
function M.by_products(chip)
  local fractal, lanes = 16 * 16 * 16, chip:get "device.cube_cores" * chip:get "clock.core"
  return function(operator)
    local a = operator[2]
    if operator[1] ~= "matmul" then return 0 end
    return a.m * a.k * a.n / (fractal * lanes) * 1e6
  end
end

function M.by_estimates(clock)
  local hz = clock.soc:get "clock.core"
  return function(operator)
    local estimate = clock:estimate(operator)
    return estimate and estimate.total_cycles * SHARE / hz * 1e6 or 0
  end
end

function M.by_clock(clock)
  return function(operator) return clock.known[T.key_of(operator)] or 0 end
end

-- ---- bounds --------------------------------------------------------------------------------------------------------

local function sum_of(list, time)
  local us = 0
  for _, operator in ipairs(list or {}) do us = us + time(operator) end
  return us
end

-- Microseconds of the parts of a step on one rank. `tensor` is what a sum over tensor parallel ranks takes.
local function parts_of(model, split, own, time, tensor)
  local lists, us = O.parts(model, own), {}
  for name, list in pairs(lists) do us[name] = sum_of(list, time) end
  local function get(name) return us[name] or 0 end
  local function attention(name)
    if split.cp == 1 then return get(name) end
    return get(name .. "_before") + get(name .. "_own") + (own.ring - 1) * get(name .. "_ring") + get(name .. "_behind")
  end
  local sums = split.sequence_parallel and 4 or 2 -- of a layer forward; backward, each part is gathered once more
  -- Of layers without and with experts, the shorter; products that are joined with sums are not counted.
  local mlp, mlp_grad = get "mlp", get "mlp_grad"
  if model.experts > 0 then
    local routed = get "router" + get "experts" + get "combine" + get "shared"
    local routed_grad = get "router_grad" + get "experts_grad" + get "combine_grad" + get "shared_grad"
    mlp = model.dense_layers > 0 and math.min(mlp, routed) or routed
    mlp_grad = model.dense_layers > 0 and math.min(mlp_grad, routed_grad) or routed_grad
    if split.sequence_parallel and split.tp > 1 then tensor = 0 end -- experts gather rows otherwise
  end
  local forward = attention "attention" + mlp + get "residual" + sums * tensor
  local backward = attention "attention_grad" + mlp_grad + 2 * get "norm_grad" + sums * tensor
  return { forward = forward, backward = backward, activation = split.recompute_activation and get "activation" or 0,
    embedding = get "embedding" + tensor, embedding_grad = get "embedding_grad", head = get "head", head_grad = get "head_grad" + tensor }
end

-- Microseconds of one pass of each stage's part, forward and backward, as lists by stage from 1: of all micro batches,
-- the ends of the model only where they are.
local function passes(model, split, us)
  local ahead, back, whole = {}, {}, {}
  for stage = 0, split.pp - 1 do
    local layers = O.layers_of(model, split, stage) // split.vpp
    local again = vinci.transformer_memory.recomputed(split, layers)
    ahead[stage + 1] = layers * us.forward
    back[stage + 1] = layers * us.backward + again * us.forward + (layers - again) * us.activation
    local ends = (stage == 0 and us.embedding + us.embedding_grad or 0) + (stage == split.pp - 1 and us.head + us.head_grad or 0)
    whole[stage + 1] = split.micro_batches * (split.vpp * (ahead[stage + 1] + back[stage + 1]) + ends)
  end
  ahead[1], back[1] = ahead[1] + us.embedding, back[1] + us.embedding_grad
  return ahead, back, whole
end

-- What follows the passes of a stage: sums of gradients that are not hidden, the optimizer, and weights that are gathered.
local function behind(model, split, own, stage, time, sums)
  local held = O.weights(model, split, own, stage)
  local optimizer = sum_of(O.optimizer(model, O.sharded(split, held)), time)
  if not sums or split.dp * split.cp == 1 then return optimizer, 0 end
  local of_experts = split.ep > 1 and held.trained.experts or 0
  local bytes = O.gradient_bytes(split.gradients, held.trained.all - of_experts)
  local reduce = sums:time(split, "data", split.sharded and "reduce_scatter" or "all_reduce", bytes)
  local gather = split.sharded and sums:time(split, "data", "all_gather", (held.trained.all - of_experts) * O.WIDTH[model.dtype]) or 0
  return optimizer + gather, split.asynchronous and 0 or reduce
end

-- Microseconds that no step of a split is shorter than. `split` is complete (vinci.transformer.split); `time` of an
-- operator is one of those above; `sums` may be nil: then what is sent takes no time. So do sums over replicas unless
-- `gradients` is true.
function M.bound(model, split, time, sums, gradients)
  local own = O.shard(model, split)
  local tensor = sums and split.tp > 1 and
    sums:time(split, "tensor", "all_reduce", own.tokens * own.hidden * O.WIDTH[model.dtype]) or 0
  if split.sequence_parallel then tensor = tensor / 2 end -- halves of a sum; each is counted
  local us = parts_of(model, split, own, time, tensor)
  local ahead, back, whole = passes(model, split, us)
  local most, lead, tail, first = 0, 0, 0, nil
  for stage = 0, split.pp - 1 do
    local after, reduce = behind(model, split, own, stage, time, gradients and sums)
    first = first or after
    -- Sums begin with the first gradients of the last backward pass.
    local hidden = split.overlap and split.vpp * back[stage + 1] or 0
    local ends = math.max(after, tail > 0 and tail + first or 0, after + reduce - hidden)
    most = math.max(most, lead + whole[stage + 1] + ends)
    lead, tail = lead + ahead[stage + 1], tail + back[stage + 1]
  end
  return most
end

-- The same for all numbers of layers by stage: the mean stage.
function M.bound_of_layers(model, split, time)
  local own, sum = O.shard(model, split), 0
  local _, _, whole = passes(model, split, parts_of(model, split, own, time, 0))
  for _, us in ipairs(whole) do sum = sum + us end
  return sum / split.pp
end

-- Work of stages as M.layers of vinci.planner wants it: of a layer, and of the rest of each stage.
function M.work(model, split, time)
  local own = O.shard(model, split)
  local us, other = parts_of(model, split, own, time, 0), {}
  local held = O.weights(model, split, own, 0)
  local layers = math.max(model.layers // (split.pp * split.vpp), 1)
  local recomputed = vinci.transformer_memory.recomputed(split, layers)
  local again = (recomputed * us.forward + (layers - recomputed) * us.activation) / layers
  local function optimizer(elements) return sum_of(O.optimizer(model, split.sharded and -(-elements // (split.dp * split.cp)) or elements), time) end
  for stage = 1, split.pp do
    other[stage] = split.micro_batches * ((stage == 1 and us.embedding + us.embedding_grad or 0) +
      (stage == split.pp and us.head + us.head_grad or 0))
  end
  return split.micro_batches * (us.forward + us.backward + again) + optimizer(held.trained.layer), other
end

return M
