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

-- Sizes between two powers of two are interpolated.
function Sums:between(op, text, ranks, bytes)
  local low = 1
  while low * 2 <= bytes do low = low * 2 end
  local first = self:simulate(op, text, ranks, low)
  if low == bytes then return first end
  return first + (self:simulate(op, text, ranks, 2 * low) - first) * (bytes - low) / low
end

-- The time of a collective of the family of a split, in one stage of its pipeline: others are alike.
function Sums:time(split, family, op, bytes)
  local text = J.family_row(split, family)
  return text and bytes > 0 and self:between(op, text, split.tp * split.cp * split.dp, bytes) or 0
end

-- The time of a sum of the first tensor parallel ranks, while other ranks do nothing.
function Sums:first_group(split, bytes)
  return self:between("all_reduce", ("group,name=tensor,ranks=0-%d"):format(split.tp - 1), split.tp, bytes)
end

-- ---- times of kernels ----------------------------------------------------------------------------------------------

local CUBE = { matmul = true, flash_attention = true, flash_attention_grad = true }
local SHARE = 0.95 -- of the closed-form estimate of a kernel: no kernel of tests/scripts/test_planner.sh takes less

-- A time is called with an operator. It remembers what it has told of lists of operators, until `stamp` tells
-- something else.
local function time_of(tell, stamp)
  return setmetatable({ stamp = stamp or function() return 0 end }, { __call = function(_, operator) return tell(operator) end })
end

-- Nothing but products, at the speed of the cube.
function M.by_products(chip)
  local fractal, lanes = 16 * 16 * 16, chip:get "device.cube_cores" * chip:get "clock.core"
  return time_of(function(operator)
    local a = operator[2]
    if operator[1] ~= "matmul" then return 0 end
    return a.m * a.k * a.n / (fractal * lanes) * 1e6
  end)
end

-- Estimates, and of kernels that the clock knows what it knows. Those of the cube are found in little time: with `cube`,
-- other kernels take none.
function M.by_estimates(clock, cube)
  local hz = clock.soc:get "clock.core"
  return time_of(function(operator)
    local key = T.key_of(operator)
    if clock.known[key] then return clock.known[key] end
    if cube and not CUBE[operator[1]] then return 0 end
    local estimate = clock:estimate(operator, key)
    return estimate and estimate.total_cycles * SHARE / hz * 1e6 or 0
  end, function() return clock.learned end)
end

function M.by_clock(clock)
  return time_of(function(operator) return clock.known[T.key_of(operator)] or 0 end, function() return clock.learned end)
end

-- ---- bounds --------------------------------------------------------------------------------------------------------

local function sum_of(list, time)
  local us = 0
  for _, operator in ipairs(list or {}) do us = us + time(operator) end
  return us
end

-- The fields of a split that O.shard() and O.parts() look at.
local SHAPE = { "tp", "cp", "cp_heads", "ep", "sequence_parallel", "recompute_activation", "lora_rank", "fused" }

-- Microseconds of lists of operators by name, remembered for splits with the same ones.
local function lists_of(model, split, own, time)
  local stamp, shape = time.stamp(), {}
  if time.model ~= model or time.at ~= stamp then time.model, time.at, time.lists = model, stamp, {} end
  for i, field in ipairs(SHAPE) do shape[i] = tostring(split[field]) end
  local key = table.concat(shape, " ")
  if not time.lists[key] then
    local us = {}
    for name, list in pairs(O.parts(model, own)) do us[name] = sum_of(list, time) end
    time.lists[key] = us
  end
  return time.lists[key]
end

-- Microseconds of the parts of a step on one rank. `tensor` is what a sum over tensor parallel ranks takes.
local function parts_of(model, split, own, time, tensor)
  local us = lists_of(model, split, own, time)
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

-- Microseconds of `layers` on a stage: a pass forward, a pass backward, and the passes of all micro batches. Embedding
-- and head are on the first and the last stage.
local function pass(split, us, stage, layers)
  local again = vinci.transformer_memory.recomputed(split, layers)
  local ahead = layers * us.forward
  local back = layers * us.backward + again * us.forward + (layers - again) * us.activation
  local ends = (stage == 0 and us.embedding + us.embedding_grad or 0) + (stage == split.pp - 1 and us.head + us.head_grad or 0)
  local whole = split.micro_batches * (split.vpp * (ahead + back) + ends)
  if stage > 0 then return ahead, back, whole end
  return ahead + us.embedding, back + us.embedding_grad, whole
end

-- What follows the passes of a stage: sums of gradients that are not hidden, the optimizer, and weights that are gathered.
local function behind(model, split, own, stage, optimizer, sums)
  local held = O.weights(model, split, own, stage)
  local update = optimizer(O.sharded(split, held))
  if not sums or split.dp * split.cp == 1 then return update, 0 end
  local of_experts = split.ep > 1 and held.trained.experts or 0
  local bytes = O.gradient_bytes(split.gradients, held.trained.all - of_experts)
  local reduce = sums:time(split, "data", split.sharded and "reduce_scatter" or "all_reduce", bytes)
  local gather = split.sharded and sums:time(split, "data", "all_gather", (held.trained.all - of_experts) * O.WIDTH[model.dtype]) or 0
  return update + gather, split.asynchronous and 0 or reduce
end

-- What a sum over tensor parallel ranks takes. With sequence parallelism its halves are counted, each.
local function tensor_of(model, split, own, sums, gradients)
  if not sums or split.tp == 1 then return 0 end
  local bytes = own.tokens * own.hidden * O.WIDTH[model.dtype]
  local us = gradients and sums:time(split, "tensor", "all_reduce", bytes) or sums:first_group(split, bytes)
  return split.sequence_parallel and us / 2 or us
end

-- A stage up to its end: `lead` before its first pass, `whole` of its passes, `after` and `reduce` as of behind(), `tail` and
-- `first` of the stages before and the end of the first. Sums begin with the first gradients of the last backward pass.
local function stage_us(split, lead, whole, back, after, reduce, tail, first)
  local hidden = split.overlap and split.vpp * back or 0
  return lead + whole + math.max(after, tail > 0 and tail + first or 0, after + reduce - hidden)
end

-- Microseconds that no step of a split is shorter than. `split` is complete (vinci.transformer.split); `time` of an
-- operator is one of those above; `sums` may be nil: then what is sent takes no time. Unless `gradients` is true, sums over
-- replicas take none, and of those over tensor parallel ranks one group is looked at.
function M.bound(model, split, time, sums, gradients)
  local own = O.shard(model, split)
  local us = parts_of(model, split, own, time, tensor_of(model, split, own, sums, gradients))
  local function optimizer(elements) return sum_of(O.optimizer(model, elements), time) end
  local most, lead, tail, first = 0, 0, 0, nil
  for stage = 0, split.pp - 1 do
    local after, reduce = behind(model, split, own, stage, optimizer, gradients and sums)
    local ahead, back, whole = pass(split, us, stage, O.layers_of(model, split, stage) // split.vpp)
    first = first or after
    most = math.max(most, stage_us(split, lead, whole, back, after, reduce, tail, first))
    lead, tail = lead + ahead, tail + back
  end
  return most
end

-- ---- bounds of all lists of layers ------------------------------------------------------------------------------------

-- The split with `n` layers on each stage, whatever the sum of that is.
local function equal(split, n, recompute)
  local each = setmetatable({}, { __index = function() return n end, __len = function() return split.pp end })
  return setmetatable({ stage_layers = each, recompute = recompute }, { __index = split })
end

-- A function of a stage, its layers and the layers of all stages before: what that stage takes at least.
local function stage_times(model, split, own, us, time, sums, recompute)
  local of, part = {}, nil
  local all_equal = model.dense_layers == 0 -- else what a stage holds depends on the layers of those before
  -- The optimizer works in parts, and what is left over for the last one has many sizes: it is not counted.
  local function optimizer(elements)
    part = part or sum_of(O.optimizer(model, O.PART), time)
    return elements // O.PART * part
  end
  local again = recompute and split.recompute_layers == 0 and us.forward or 0
  local function known(stage, n)
    local at = stage * (model.layers + 1) + n
    if not of[at] then
      local here = equal(split, n, recompute)
      local _, back, whole = pass(here, us, stage - 1, n)
      local one = { back = back, whole = whole, after = 0, reduce = 0 }
      if all_equal then one.after, one.reduce = behind(model, here, own, stage - 1, optimizer, sums) end
      of[at] = one
    end
    return of[at]
  end
  local first = known(1, 1).after
  return function(stage, n, before)
    local one = known(stage, n)
    local lead, tail = before * us.forward + us.embedding, before * (us.backward + again) + us.embedding_grad
    if stage == 1 then lead, tail = 0, 0 end
    return stage_us(split, lead, one.whole, one.back, one.after, one.reduce, tail, first)
  end
end

-- The least that the busiest stage takes over all lists of `count` layers, as far as no stage has more than most(stage);
-- infinite where these are too few. Each stage before is taken to have one layer. Each layer goes where the stage is done
-- first with that layer, which is exact: no stage is done earlier with more layers.
local function least_busiest(count, stages, us, most)
  local layers, with, busiest = {}, {}, 0
  for stage = 1, stages do
    if most(stage) < 1 then return math.huge end
    layers[stage], busiest = 1, math.max(busiest, us(stage, 1, stage - 1))
  end
  for _ = stages + 1, count do
    local best
    for stage = 1, stages do
      if layers[stage] < most(stage) then
        with[stage] = with[stage] or us(stage, layers[stage] + 1, stage - 1)
        if not best or with[stage] < with[best] then best = stage end
      end
    end
    if not best then return math.huge end
    layers[best], busiest, with[best] = layers[best] + 1, math.max(busiest, with[best]), nil
  end
  return busiest
end

-- Whether stages have room for `count` layers when each is done after `limit_us`. Stages have as many as they can, the
-- first ones first: a layer less on a stage gives those behind it room for one more at most.
local function have_room(count, stages, us, most, limit_us)
  local before = 0
  for stage = 1, stages do
    local low, high = 0, math.min(most(stage), count - before)
    while low < high do
      local middle = (low + high + 1) // 2
      if us(stage, middle, before) <= limit_us then low = middle else high = middle - 1 end
    end
    before = before + low
    if before >= count then return true end
  end
  return false
end

local STEPS, WIDEST = 8, 1.5

-- The same with the layers that the stages before do have, to 0.2 %: a stage waits for these.
local function least_in_turn(count, stages, us, most)
  local low = least_busiest(count, stages, us, most)
  if low == math.huge or have_room(count, stages, us, most, low) then return low end
  local high = low * WIDEST
  for _ = 1, STEPS do
    local middle = (low + high) / 2
    if have_room(count, stages, us, most, middle) then high = middle else low = middle end
  end
  return low
end

-- A function of a stage: how many layers fit the memory of its device without recompute.
local function fitting(model, split, limit)
  local known, of = {}, vinci.transformer_memory.of
  return function(stage)
    if not known[stage] then
      local low, high = 0, model.layers
      while low < high do
        local middle = (low + high + 1) // 2
        if of(model, equal(split, middle), stage - 1).device <= limit then low = middle else high = middle - 1 end
      end
      known[stage] = low
    end
    return known[stage]
  end
end

local function any() return math.huge end

-- The same for all lists of layers by stage; of devices with `limit` bytes those lists that do not fit are recomputed.
-- With sums of gradients it is stricter, and takes longer.
function M.bound_of_layers(model, split, time, sums, gradients, limit)
  local own = O.shard(model, split)
  local us = parts_of(model, split, own, time, tensor_of(model, split, own, sums, gradients))
  local function least(recompute, most)
    local of_stage = stage_times(model, split, own, us, time, gradients and sums, recompute)
    return (gradients and least_in_turn or least_busiest)(model.layers, split.pp, of_stage, most)
  end
  if not limit or split.recompute or model.dense_layers > 0 then return least(split.recompute, any) end
  return math.min(least(false, fitting(model, split, limit)), least(true, any))
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
