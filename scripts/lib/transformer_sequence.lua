-- SPDX-License-Identifier: Apache-2.0
-- vinci.transformer_sequence: times of the parts of a step as they follow each other on one chip. A part of
-- vinci.transformer, for clocks with `sequence`.
--
-- A pass is the work of a micro batch as a rank has it: the embedding, two layers of each kind, the head, and back. All of that
-- runs in its order on one chip, and each operator finds in L2 and in the instruction caches what those before have left
-- (vinci.evaluate with `sequence`). Collectives have L2 write back what is dirty, which stays there. A part has the time of its
-- last turn: of the second layer. Of the optimizer the second turn of a tensor of each size counts.
--
-- Assumed: stages have the same pass, with all parts; in a ring the scores of one other rank stand for those of all; weights of
-- a layer were last used by no operator of the pass. Gradients that are made smaller are timed alone.
local M = {}

local LAYERS = 2 -- of each kind: the second finds what a layer has left

-- What a pass does: parts by name, and false for communication.
local function pass_of(lists, model, split)
  local pass = {}
  local communicates = split.communication
  local function part(name)
    if lists[name] then pass[#pass + 1] = name end
  end
  local function meet(is_so)
    if is_so and communicates then pass[#pass + 1] = false end
  end
  local function tensor() meet(split.tp > 1) end
  local function gather() meet(split.tp > 1 and split.sequence_parallel) end
  -- Pieces of a product that is joined with its sum.
  local function out(name)
    for _ = 1, lists[name] and split.fused or 0 do
      part(name)
      tensor()
    end
    if not lists[name] then tensor() end
  end
  local function attention(name)
    part(name)
    if lists[name] then return out(name .. "_out") end
    part(name .. "_before")
    meet(split.cp_heads > 1)
    part(name .. "_own")
    if split.cp > split.cp_heads then part(name .. "_ring") end
    meet(true)
    part(name .. "_behind")
    out(name .. "_behind_out")
  end
  local function experts(...)
    for i, name in ipairs { ... } do
      if i > 1 then meet(split.ep > 1) end
      part(name)
    end
  end
  local function forward(has_experts)
    gather()
    attention "attention"
    gather()
    if has_experts then
      part "shared"
      experts("router", "experts", "combine")
      tensor()
    else
      part "mlp"
      out "mlp_out"
    end
    part "residual"
  end
  local function backward(has_experts)
    gather()
    part "activation"
    if has_experts then
      experts("combine_grad", "experts_grad", "router_grad")
      part "shared_grad"
      tensor()
    else
      part "mlp_grad"
      out "mlp_grad_out"
    end
    part "norm_grad"
    gather()
    attention "attention_grad"
    part "norm_grad"
  end
  local kinds = {}
  if lists.mlp then kinds[#kinds + 1] = false end
  if model.experts > 0 then kinds[#kinds + 1] = true end
  part "embedding"
  tensor()
  for _, kind in ipairs(kinds) do
    for _ = 1, LAYERS do forward(kind) end
  end
  gather()
  part "head"
  part "head_grad"
  tensor()
  for i = #kinds, 1, -1 do
    for _ = 1, LAYERS do backward(kinds[i]) end
  end
  part "embedding_grad"
  return pass
end

-- Times of the parts of a pass, by name.
local function times_of_pass(clock, lists, model, split)
  local questions, owners, times = {}, {}, {}
  for turn, name in ipairs(pass_of(lists, model, split)) do
    if not name then questions[#questions + 1] = false end
    for _, operator in ipairs(name and lists[name] or {}) do
      questions[#questions + 1] = operator
      owners[#questions] = { name = name, turn = turn }
    end
  end
  local us = clock:follow(questions)
  for i, owner in pairs(owners) do
    local known = times[owner.name]
    if not known or known.turn < owner.turn then
      known = { turn = owner.turn, us = {} }
      times[owner.name] = known
    end
    if known.turn == owner.turn then known.us[#known.us + 1] = { at = i, us = us[i] } end
  end
  local out = {}
  for name, list in pairs(lists) do
    local last, of_part = times[name], {}
    if last then
      table.sort(last.us, function(a, b) return a.at < b.at end)
      for i, one in ipairs(last.us) do of_part[i] = one.us end
    end
    if not last then clock:learn { list } end -- of no pass
    out[name] = last and clock:sum(list, of_part) or clock:time(list)
  end
  return out
end

-- An optimizer goes through tensors of a few sizes, with `each` operators for a tensor: times of its list.
local function times_of_optimizer(clock, list, each)
  local known, us = {}, {}
  for first = 1, #list, each do
    local key = clock.key_of(list[first])
    if not known[key] then
      local twice = {}
      for i = 0, 2 * each - 1 do twice[i + 1] = list[first + i % each] end
      known[key] = table.move(clock:follow(twice), each + 1, 2 * each, 1, {})
    end
    table.move(known[key], 1, each, first, us)
  end
  return clock:sum(list, us)
end

-- Operators of a tensor of the optimizer (vinci.transformer_operators.optimizer).
local OPTIMIZER = 3

-- The times of a step: of its parts, by name, and of the optimizer, by stage.
function M.times(clock, lists, stages, model, split)
  local times = times_of_pass(clock, lists, model, split)
  times.optimizer = {}
  for stage, list in pairs(stages) do times.optimizer[stage] = times_of_optimizer(clock, list, OPTIMIZER) end
  return times
end

return M
