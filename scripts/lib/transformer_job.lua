-- SPDX-License-Identifier: Apache-2.0
-- vinci.transformer_job: the rows of a training step (devices/GROUP.md). A part of vinci.transformer.
--
-- Pipelines: stages run one forward, one backward in turn (1F1B); with vpp each stage has that many parts of the model
-- in turn (interleaved 1F1B: Narayanan et al., SC 2021). Context parallelism: K and V go around a ring while the scores
-- of what is there are computed (ring attention: Liu et al., 2023; the default of the vendor's framework), and in the
-- backward pass their gradients go around too. Expert parallelism: tokens are sent to the experts that the router
-- chooses and back (all-to-all: Lepikhin et al., GShard, 2020).
local vinci = ...
local O = vinci.transformer_operators
local M, WIDTH = {}, O.WIDTH

-- Streams beside that of the work.
local FORWARD_IN, FORWARD_OUT, BACKWARD_IN, BACKWARD_OUT, GRADIENTS, AGAIN, SCALES = 1, 2, 3, 4, 5, 6, 7
local RING_IN, RING_OUT, RING_GRADIENTS_IN, RING_GRADIENTS_OUT = 8, 9, 10, 11

local Writer = {}
Writer.__index = Writer

function Writer:add(format, ...) self.lines[#self.lines + 1] = format:format(...) end

-- Work in the stream of kernels. The host issues kernel after kernel and does not wait.
function Writer:work(name, time)
  if time.us == 0 then return end
  local at = self.launch_us > 0 and (",at_us=%.6f"):format(self.issued * self.launch_us) or ""
  self.issued = self.issued + time.kernels
  self:add("work,name=%s,us=%.6f,memory=%.3f%s", name, time.us, time.memory, at)
end

-- A point of one stream that another one waits for.
function Writer:follow(from, to)
  self.events = self.events + 1
  self:add("record,event=e%d,stream=%d", self.events, from)
  self:add("wait,event=e%d,stream=%d", self.events, to)
end

-- A collective in the stream of the work, or of another stream. Of a replica alone, one that others take part in is a
-- time that is given.
function Writer:collective(op, group, bytes, stream)
  local us = self.alone and self.alone(group, op, bytes)
  if us then
    self:add("host,name=%s,us=%.6f,stream=%d", group, us, stream or 0)
    return
  end
  self:add("collective,op=%s,group=%s,bytes=%d,stream=%d", op, group, bytes, stream or 0)
end

-- ---- groups of ranks ---------------------------------------------------------------------------------------------

-- A family of groups: those ranks are together that have the same of `apart`, in their order.
local function family(lines, split, name, apart)
  local groups, texts, order = {}, {}, {}
  local rank = 0
  for stage = 0, split.pp - 1 do
    for d = 0, split.dp - 1 do
      for c = 0, split.cp - 1 do
        for t = 0, split.tp - 1 do
          local key = apart(stage, d, c, t)
          if not groups[key] then
            groups[key] = {}
            order[#order + 1] = key
          end
          table.insert(groups[key], rank)
          rank = rank + 1
        end
      end
    end
  end
  for i, key in ipairs(order) do texts[i] = table.concat(groups[key], " ") end
  lines[#lines + 1] = ("group,name=%s,ranks=%s"):format(name, table.concat(texts, "|"))
end

-- Pairs of ranks, from the first to the second.
local function pairs_of(lines, name, list)
  for i, pair in ipairs(list) do list[i] = pair[1] .. " " .. pair[2] end
  lines[#lines + 1] = ("group,name=%s,ranks=%s"):format(name, table.concat(list, "|"))
end

local function key(...) return table.concat({ ... }, ".") end

-- Sums of gradients: those of the experts are over ranks that have the same ones. Scales have groups of their own,
-- since their sums have a stream of their own.
local function gradient_families(lines, split)
  local function together(name, apart)
    family(lines, split, name, apart)
    if split.gradients == "int8" then family(lines, split, name .. "_scales", apart) end
  end
  if split.dp * split.cp > 1 then together("data", function(stage, _, _, t) return key(stage, t) end) end
  if split.ep == 1 then return end
  family(lines, split, "expert", function(stage, d, c, t) return key(stage, d // split.ep, c, t) end)
  if split.dp * split.cp > split.ep then together("expert_data", function(stage, d, _, t) return key(stage, d % split.ep, t) end) end
end

local function families(lines, split)
  local per_stage, per_replica = split.tp * split.cp * split.dp, split.tp * split.cp
  local function tensor(stage, d, c) return key(stage, d, c) end
  if split.tp > 1 then family(lines, split, "tensor", tensor) end
  if split.tp > 1 and split.sequence_parallel then family(lines, split, "again", tensor) end
  gradient_families(lines, split)
  -- From each stage to the next; with parts in turn also from the last to the first.
  for stage = 0, split.pp - (split.vpp > 1 and 1 or 2) do
    local there, back, next_stage = {}, {}, (stage + 1) % split.pp
    for i = 0, per_stage - 1 do
      local from, to = stage * per_stage + i, next_stage * per_stage + i
      there[i + 1], back[i + 1] = { from, to }, { to, from }
    end
    pairs_of(lines, "forward" .. stage, there)
    pairs_of(lines, "backward" .. stage, back)
  end
  for c = 0, split.cp > 1 and split.cp - 1 or -1 do
    local keys, gradients = {}, {}
    for first = 0, per_stage * split.pp - 1, per_replica do
      for t = 0, split.tp - 1 do
        local from, to = first + c * split.tp + t, first + (c + 1) % split.cp * split.tp + t
        keys[#keys + 1], gradients[#gradients + 1] = { from, to }, { from, to }
      end
    end
    pairs_of(lines, "ring" .. c, keys)
    pairs_of(lines, "ring_gradients" .. c, gradients)
  end
end

-- The row of a family of groups of a split, for the ranks of one stage; nil when it has no such family.
local rows_of = {}
function M.family_row(split, name)
  local known = ("%d %d %d %d %s %s"):format(split.tp, split.cp, split.dp, split.ep, split.gradients, split.sequence_parallel)
  if not rows_of[known] then
    local stage, lines, found = setmetatable({ pp = 1, vpp = 1 }, { __index = split }), {}, {}
    families(lines, stage)
    for _, line in ipairs(lines) do found[line:match "name=([^,]*)"] = line end
    rows_of[known] = found
  end
  return rows_of[known][name]
end

-- ---- layers --------------------------------------------------------------------------------------------------------

local function tensor(w, step, op, group, stream)
  if step.split.tp > 1 and step.split.communication then
    w:collective(op, group or "tensor", step.own.tokens * step.own.hidden * WIDTH[step.model.dtype], stream)
  end
end

-- Sums over the tensor parallel ranks stand behind each part of a layer. With sequence parallelism these leave each
-- rank its share of the tokens, and all tokens are gathered before the next part (Korthikanti et al., MLSys 2023).
local function tensor_sum(w, step) tensor(w, step, step.split.sequence_parallel and "reduce_scatter" or "all_reduce") end
local function tensor_gather(w, step) if step.split.sequence_parallel then tensor(w, step, "all_gather") end end

-- A send to the next rank of the ring and a receive from the one before, beside the work that follows.
local function shift(w, step, group, out, into)
  local bytes = 2 * step.own.tokens * step.own.kv_heads * step.own.dim * WIDTH[step.model.dtype]
  bytes = step.split.communication and bytes or 1
  w:follow(0, out)
  w:collective("send_recv", group .. w.position, bytes, out)
  w:follow(0, into)
  w:collective("send_recv", group .. (w.position - 1) % step.split.cp, bytes, into)
end

-- What a part is called in the job.
local function shown(name) return (name:gsub("_grad", " gradient"):gsub("_", " ")) end

-- Attention, or its gradient. In the backward pass gradients of K and V follow K and V, one rank behind: the last send
-- brings them home.
local function attention(w, step, name, gradients)
  local times, cp = step.times, step.split.cp
  if cp == 1 then
    w:work(shown(name), times[name])
    return
  end
  w:work(shown(name .. "_before"), times[name .. "_before"])
  for i = 1, cp do
    if i < cp then shift(w, step, "ring", RING_OUT, RING_IN) end
    w:work(shown(name .. "_scores"), times[name .. (i == 1 and "_own" or "_ring")])
    if i < cp then w:follow(RING_IN, 0) end
    if gradients then
      if i > 1 then w:follow(RING_GRADIENTS_IN, 0) end
      shift(w, step, "ring_gradients", RING_GRADIENTS_OUT, RING_GRADIENTS_IN)
    end
  end
  if gradients then w:follow(RING_GRADIENTS_IN, 0) end
  w:work(shown(name .. "_behind"), times[name .. "_behind"])
end

-- Tokens go to the ranks of their experts, or back: the bytes of the fullest rank.
local function exchange(w, step)
  if step.split.ep > 1 and step.split.communication then
    w:collective("all_to_all", "expert", step.own.routed * step.own.hidden * WIDTH[step.model.dtype])
  end
end

local function experts(w, step, names)
  for i, name in ipairs(names) do
    if i > 1 then exchange(w, step) end
    w:work(shown(name), step.times[name])
  end
end

-- The gradient of a part. Its input was not kept whole: it is gathered again, beside the work.
local function part_backward(w, step, work)
  local again = step.split.sequence_parallel and step.split.tp > 1 and step.split.communication
  tensor_gather(w, step)
  if again then
    w:follow(0, AGAIN)
    tensor(w, step, "all_gather", "again", AGAIN)
  end
  work()
  if again then w:follow(AGAIN, 0) end
  tensor_sum(w, step)
  w:work("norm gradient", step.times.norm_grad)
end

local function layer_forward(w, step)
  tensor_gather(w, step)
  attention(w, step, "attention")
  tensor_sum(w, step)
  tensor_gather(w, step)
  if step.model.experts > 0 then
    experts(w, step, { "router", "experts", "combine" })
  else
    w:work("mlp", step.times.mlp)
  end
  tensor_sum(w, step)
  w:work("residual", step.times.residual)
end

local function layer_backward(w, step, recompute)
  if recompute then layer_forward(w, step) end
  part_backward(w, step, function()
    if step.split.recompute_activation and not recompute then w:work("activation", step.times.activation) end
    if step.model.experts > 0 then
      experts(w, step, { "combine_grad", "experts_grad", "router_grad" })
    else
      w:work("mlp gradient", step.times.mlp_grad)
    end
  end)
  part_backward(w, step, function() attention(w, step, "attention_grad", true) end)
end

-- ---- stages --------------------------------------------------------------------------------------------------------

local function pass_on(w, step, group, out)
  w:follow(0, out)
  w:collective("send_recv", group, step.split.communication and step.boundary_bytes or 1, out)
end

local function take(w, step, group, stream)
  w:follow(0, stream)
  w:collective("send_recv", group, step.split.communication and step.boundary_bytes or 1, stream)
  w:follow(stream, 0)
end

local function layers_of_part(step, stage) return O.layers_of(step.model, step.split, stage) // step.split.vpp end

-- part: of the stage, from 0; part 0 of stage 0 is the first of the model.
local function forward(w, step, stage, part)
  local pp = step.split.pp
  if stage > 0 or part > 0 then
    take(w, step, "forward" .. (stage - 1) % pp, FORWARD_IN)
  else
    w:work("embedding", step.times.embedding)
    tensor_sum(w, step)
  end
  for _ = 1, layers_of_part(step, stage) do layer_forward(w, step) end
  if stage < pp - 1 or part < step.split.vpp - 1 then
    pass_on(w, step, "forward" .. stage, FORWARD_OUT)
  else
    tensor_gather(w, step)
    w:work("head", step.times.head)
  end
end

-- Fewer bits: the ranks agree on scales, then convert. What was converted is remembered for the way back.
local function compress(w, step, group, elements)
  local kind = step.split.gradients
  if kind == "fp32" then return end
  local before, behind = O.compression(kind, elements)
  local _, scales = O.gradient_bytes(kind, elements)
  step.clock:learn { before, behind }
  w:work("compress", step.clock:time(before))
  if scales > 0 and step.split.communication then
    if not step.split.asynchronous then w:follow(0, SCALES) end
    w:collective("all_reduce", group .. "_scales", scales, SCALES)
    if not step.split.asynchronous then w:follow(SCALES, 0) end
  end
  local _, own = O.compression(kind, step.split.sharded and -(-elements // step.ranks_of[group]) or elements)
  step.clock:learn { own }
  table.move(own, 1, #own, #w.converted + 1, w.converted)
end

-- Gradients whose sum has begun leave the bucket. Asynchronous: what is summed in a step is that of the step before,
-- so that sums begin with the step.
local function flush(w, step, group)
  local elements = w.bucket[group]
  w.bucket[group] = 0
  if step.ranks_of[group] == 1 or elements == 0 then return end
  compress(w, step, group, elements)
  if not step.split.communication then return end
  if not step.split.asynchronous then w:follow(0, GRADIENTS) end
  w:collective(step.split.sharded and "reduce_scatter" or "all_reduce", group, O.gradient_bytes(step.split.gradients, elements), GRADIENTS)
  w.pending = true
end

local function ready(w, step, last, elements, of_experts)
  if not last then return end
  local ends = step.split.bucket_ends[w.stage]
  w.gradients = w.gradients + 1
  local parts = step.split.ep > 1 and { data = elements - of_experts, expert_data = of_experts } or { data = elements, expert_data = 0 }
  for _, group in ipairs { "data", "expert_data" } do
    w.bucket[group] = w.bucket[group] + parts[group]
    local full = w.bucket[group] * 4 >= step.split.bucket_bytes
    if ends then full = ends[w.gradients] end
    if step.split.overlap and full then flush(w, step, group) end
  end
end

local function backward(w, step, stage, part, last)
  local held, pp = O.weights(step.model, step.split, step.own, stage), step.split.pp
  if stage < pp - 1 or part < step.split.vpp - 1 then
    take(w, step, "backward" .. stage, BACKWARD_IN)
  else
    w:work("head gradient", step.times.head_grad)
    tensor_sum(w, step)
    ready(w, step, last, held.head, 0)
  end
  local layers = layers_of_part(step, stage)
  local again = vinci.transformer_memory.recomputed(step.split, layers) -- the first ones
  for i = layers, 1, -1 do
    layer_backward(w, step, i <= again)
    ready(w, step, last, held.layer, held.experts_layer)
  end
  if stage > 0 or part > 0 then
    pass_on(w, step, "backward" .. (stage - 1) % pp, BACKWARD_OUT)
  else
    w:work("embedding gradient", step.times.embedding_grad)
    ready(w, step, last, held.embedding, 0)
  end
end

local function finish(w, step, stage)
  local split, held = step.split, O.weights(step.model, step.split, step.own, stage)
  flush(w, step, "data")
  flush(w, step, "expert_data")
  if w.pending then w:follow(GRADIENTS, 0) end
  w:work("decompress", step.clock:time(w.converted))
  w:work("optimizer", step.times.optimizer[stage])
  if not (split.sharded and split.communication) then return end
  local of_experts = split.ep > 1 and held.experts or 0
  local width = WIDTH[step.model.dtype]
  if step.ranks_of.data > 1 then w:collective("all_gather", "data", (held.all - of_experts) * width) end
  if step.ranks_of.expert_data > 1 then w:collective("all_gather", "expert_data", of_experts * width) end
end

-- Passes that a stage runs forward before its first backward pass. In turn: each round of pp micro batches goes through
-- all parts before the next round.
function M.ahead(split, stage)
  local behind = split.pp - 1 - stage
  return math.min(split.vpp == 1 and behind or 2 * behind + (split.vpp - 1) * split.pp, split.micro_batches * split.vpp)
end

-- The ranks of a stage at a position of the rings.
local function ranks_text(split, stage, position)
  local per_replica, list = split.tp * split.cp, {}
  if split.cp == 1 then return ("%d-%d"):format(stage * split.tp * split.dp, (stage + 1) * split.tp * split.dp - 1) end
  for d = 0, split.dp - 1 do
    local first = (stage * split.dp + d) * per_replica + position * split.tp
    list[#list + 1] = ("%d-%d"):format(first, first + split.tp - 1)
  end
  return table.concat(list, " ")
end

local function program(step, lines, stage, position)
  local split, laid = step.split, step.laid
  local w = setmetatable({ lines = lines, alone = step.alone, events = 0, bucket = { data = 0, expert_data = 0 }, converted = {}, issued = 0,
    gradients = 0, stage = stage, launch_us = split.launch_us, position = position }, Writer)
  local round, total, ahead = split.pp * split.vpp, split.micro_batches * split.vpp, M.ahead(split, stage)
  local function part_of(i) return split.vpp == 1 and 0 or i % round // split.pp end
  local name = split.cp == 1 and "stage" .. stage or ("stage%d_%d"):format(stage, position)
  w:add("program,name=%s,ranks=%s", name, ranks_text(laid, stage, position))
  for i = 0, ahead - 1 do forward(w, step, stage, part_of(i)) end
  for i = 0, total - 1 do
    if i + ahead < total then forward(w, step, stage, part_of(i + ahead)) end
    local last = split.vpp == 1 and i == total - 1 or split.vpp > 1 and i >= total - round and i % split.pp == split.pp - 1
    backward(w, step, stage, split.vpp - 1 - part_of(i), last)
  end
  finish(w, step, stage)
end

-- The groups and programs of a step that vinci.transformer has prepared; step.laid is the split of the ranks that
-- there are.
function M.write(step, lines)
  local split = step.split
  step.ranks_of = { data = split.dp * split.cp, expert_data = split.ep > 1 and split.dp * split.cp // split.ep or 1 }
  families(lines, step.laid)
  for stage = 0, split.pp - 1 do
    for position = 0, split.cp - 1 do program(step, lines, stage, position) end
  end
end

return M
