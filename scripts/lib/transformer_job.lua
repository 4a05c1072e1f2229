-- SPDX-License-Identifier: Apache-2.0
-- vinci.transformer_job: the rows of a training step (devices/GROUP.md). A part of vinci.transformer.
--
-- Pipelines: stages run one forward, one backward in turn (1F1B); with vpp each stage has that many parts of the model
-- in turn (interleaved 1F1B: Narayanan et al., SC 2021). What layers do is in transformer_layers.lua.
local vinci = ...
local O, L = vinci.transformer_operators, vinci.transformer_layers
local M, WIDTH = {}, O.WIDTH

-- Streams beside that of the work; transformer_layers.lua has others.
local FORWARD_IN, FORWARD_OUT, BACKWARD_IN, BACKWARD_OUT, GRADIENTS, SCALES = 1, 2, 3, 4, 5, 7
M.PIECES = 8 -- in which states of the optimizer come from the host and go back, beside the update

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

-- What the device takes of its memory, and gives back: bytes rounded up to a whole number.
function Writer:allocate(name, bytes)
  if bytes > 0 then self:add("allocate,name=%s,bytes=%d", name, math.ceil(bytes)) end
end
function Writer:free(name, bytes)
  if bytes > 0 then self:add("free,name=%s,bytes=%d", name, math.ceil(bytes)) end
end

-- Time of a stream in which the device does not work.
function Writer:host(name, us, stream) self:add("host,name=%s,us=%.6f,stream=%d", name, us, stream) end

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
    self:host(group, us, stream or 0)
    return
  end
  self:add("collective,op=%s,group=%s,bytes=%d,stream=%d", op, group, bytes, stream or 0)
end

-- The rows of a pass that `write` writes: written before, they differ in the numbers of events alone.
function Writer:repeated(name, write)
  if self.once then return write() end
  local known = self.written[name]
  if not known then
    local first, events = #self.lines + 1, self.events
    write()
    self.written[name] = { text = table.concat(self.lines, "\n", first), events = self.events - events, first = events }
    return
  end
  local more, text = self.events - known.first, known.text
  if known.events > 0 then text = text:gsub("event=e(%d+)", function(event) return ("event=e%d"):format(event + more) end) end
  if text ~= "" then self.lines[#self.lines + 1] = text end
  self.events = self.events + known.events
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
  -- Data parallel ranks share the experts; where these are too few, those that have parts of a sequence do too.
  if split.dp % split.ep == 0 then
    family(lines, split, "expert", function(stage, d, c, t) return key(stage, d // split.ep, c, t) end)
    if split.dp * split.cp > split.ep then together("expert_data", function(stage, d, _, t) return key(stage, d % split.ep, t) end) end
  else
    family(lines, split, "expert", function(stage, d, c, t) return key(stage, (d * split.cp + c) // split.ep, t) end)
    if split.dp * split.cp > split.ep then
      together("expert_data", function(stage, d, c, t) return key(stage, (d * split.cp + c) % split.ep, t) end)
    end
  end
end

local function families(lines, split)
  local per_stage, per_replica = split.tp * split.cp * split.dp, split.tp * split.cp
  local function tensor(stage, d, c) return key(stage, d, c) end
  if split.tp > 1 then family(lines, split, "tensor", tensor) end
  if split.tp > 1 and split.sequence_parallel then family(lines, split, "again", tensor) end
  if split.tp > 1 and split.fused > 1 then family(lines, split, "fused", tensor) end
  if split.cp_heads > 1 then family(lines, split, "heads", function(stage, d, c, t) return key(stage, d, c // split.cp_heads, t) end) end
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
  local ring, each = split.cp // split.cp_heads, split.cp_heads * split.tp
  for c = 0, ring > 1 and ring - 1 or -1 do
    local keys, gradients = {}, {}
    for first = 0, per_stage * split.pp - 1, per_replica do
      for t = 0, each - 1 do
        local from, to = first + c * each + t, first + (c + 1) % ring * each + t
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
  local heads, fused = split.cp_heads or 1, split.fused or 1
  local known = ("%d %d %d %d %d %d %s %s"):format(split.tp, split.cp, split.dp, split.ep, heads, fused, split.gradients, split.sequence_parallel)
  if not rows_of[known] then
    local stage, lines, found = setmetatable({ pp = 1, vpp = 1, cp_heads = heads, fused = fused }, { __index = split }), {}, {}
    families(lines, stage)
    for _, line in ipairs(lines) do found[line:match "name=([^,]*)"] = line end
    rows_of[known] = found
  end
  return rows_of[known][name]
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

local function kinds_of(step, stage, part) return O.kinds_of_part(step.model, step.split, stage, part) end

-- part: of the stage, from 0; part 0 of stage 0 is the first of the model.
local function forward(w, step, stage, part)
  local pp = step.split.pp
  if stage > 0 or part > 0 then
    take(w, step, "forward" .. (stage - 1) % pp, FORWARD_IN)
  else
    w:work("embedding", step.times.embedding)
    L.sum(w, step)
  end
  w:allocate("activations", w.passes.activations[part])
  local dense, layers = kinds_of(step, stage, part)
  local again = vinci.transformer_memory.recomputed(step.split, layers) -- the first ones
  for i = 1, layers do L.forward(w, step, i > dense, i > again) end
  if stage < pp - 1 or part < step.split.vpp - 1 then
    pass_on(w, step, "forward" .. stage, FORWARD_OUT)
  else
    L.gather(w, step)
    w:allocate("loss", w.passes.loss)
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
  local held, pp = O.weights(step.model, step.split, step.own, stage).trained, step.split.pp
  if stage < pp - 1 or part < step.split.vpp - 1 then
    take(w, step, "backward" .. stage, BACKWARD_IN)
  else
    w:work("head gradient", step.times.head_grad)
    L.sum(w, step)
    w:free("loss", w.passes.loss)
    ready(w, step, last, held.head, 0)
  end
  w:allocate("working", w.passes.working[part])
  local dense, layers = kinds_of(step, stage, part)
  local again = vinci.transformer_memory.recomputed(step.split, layers)
  L.fetch(w, step, layers > again)
  for i = layers, 1, -1 do
    L.backward(w, step, i > dense, i <= again, i - 1 > again)
    ready(w, step, last, i > dense and held.layer or held.dense_layer, i > dense and held.experts_layer or 0)
  end
  w:free("working", w.passes.working[part])
  w:free("activations", w.passes.activations[part])
  if stage > 0 or part > 0 then
    pass_on(w, step, "backward" .. (stage - 1) % pp, BACKWARD_OUT)
  else
    w:work("embedding gradient", step.times.embedding_grad)
    ready(w, step, last, held.embedding, 0)
  end
end

-- Moments and fp32 weights in the memory of the host come piece by piece, and go back.
local function update(w, step, stage, held)
  local whole = step.times.optimizer[stage]
  if not step.split.swap_optimizer then return w:work("optimizer", whole) end
  local bytes = O.sharded(step.split, { trained = held }) * (4 + 2 * WIDTH[step.split.moments])
  local piece = { us = whole.us / M.PIECES, memory = whole.memory, kernels = whole.kernels // M.PIECES }
  for _ = 1, M.PIECES do L.from_host(w, "states in", bytes / M.PIECES) end
  for _ = 1, M.PIECES do
    L.come(w)
    w:work("optimizer", piece)
    L.to_host(w, "states out", bytes / M.PIECES)
  end
  L.gone(w)
end

local function finish(w, step, stage)
  local split, held = step.split, O.weights(step.model, step.split, step.own, stage).trained
  flush(w, step, "data")
  flush(w, step, "expert_data")
  if w.pending then w:follow(GRADIENTS, 0) end
  w:free("swap", w.passes.swap)
  w:free("communication", w.passes.communication)
  w:work("decompress", step.clock:time(w.converted))
  w:allocate("update", w.static.update)
  update(w, step, stage, held)
  w:free("update", w.static.update)
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
  local each = split.cp_heads * split.tp
  if each == per_replica then return ("%d-%d"):format(stage * per_replica * split.dp, (stage + 1) * per_replica * split.dp - 1) end
  for d = 0, split.dp - 1 do
    local first = (stage * split.dp + d) * per_replica + position * each
    list[#list + 1] = ("%d-%d"):format(first, first + each - 1)
  end
  return table.concat(list, " ")
end

local function program(step, lines, stage, position)
  local split, laid, memory = step.split, step.laid, vinci.transformer_memory
  local w = setmetatable({ lines = lines, alone = step.alone, events = 0, bucket = { data = 0, expert_data = 0 }, converted = {}, issued = 0,
    gradients = 0, stage = stage, launch_us = split.launch_us, position = position,
    static = memory.of(step.model, split, stage), passes = memory.of_passes(step.model, split, stage),
    written = {}, once = split.launch_us > 0 or split.swap ~= "none" }, Writer) -- then passes differ by what was before
  local round, total, ahead = split.pp * split.vpp, split.micro_batches * split.vpp, M.ahead(split, stage)
  local function part_of(i) return split.vpp == 1 and 0 or i % round // split.pp end
  local name = split.cp == split.cp_heads and "stage" .. stage or ("stage%d_%d"):format(stage, position)
  w:add("program,name=%s,ranks=%s", name, ranks_text(laid, stage, position))
  for _, name in ipairs { "weights", "gradients", "optimizer" } do w:allocate(name, w.static[name]) end
  for _, name in ipairs { "communication", "swap" } do w:allocate(name, w.passes[name]) end
  local function forward_of(i)
    local part = part_of(i)
    w:repeated("forward" .. part, function() forward(w, step, stage, part) end)
  end
  local function backward_of(i, last)
    local part = split.vpp - 1 - part_of(i)
    if last then return backward(w, step, stage, part, true) end
    w:repeated("backward" .. part, function() backward(w, step, stage, part, false) end)
  end
  for i = 0, ahead - 1 do forward_of(i) end
  for i = 0, total - 1 do
    if i + ahead < total then forward_of(i + ahead) end
    local last = split.vpp == 1 and i == total - 1 or split.vpp > 1 and i >= total - round and i % split.pp == split.pp - 1
    backward_of(i, last)
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
    for position = 0, split.cp // split.cp_heads - 1 do program(step, lines, stage, position) end
  end
end

return M
