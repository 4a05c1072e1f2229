-- SPDX-License-Identifier: Apache-2.0
-- vinci.transformer: a training step of a described transformer, split over devices, as the text of a job
-- (devices/GROUP.md). Every operator of the step is simulated on the chip; memory of a device is counted.
--
-- Ranks are ordered as Megatron orders them: tensor parallel ranks follow each other, then context parallel ones, then
-- data parallel ones, then the stages of the pipeline. Operators are in transformer_operators.lua, schedules in
-- transformer_job.lua.
local vinci = ...
local O, J = vinci.transformer_operators, vinci.transformer_job
local M = {}
local WIDTH = O.WIDTH

local function refuse(format, ...) error(("vinci.transformer: " .. format):format(...), 0) end

local MOST = 1 << 24
local WEIGHTS_MOST = 1e15 -- bytes of weights, and products of extents, stay whole numbers
local MICRO_BATCHES_MOST = 65536 -- each is rows of the job

-- A copy of a table of whole numbers, words and flags; the defaults say which fields there are.
local function fields(given, defaults, needed, what)
  local out = {}
  for key, value in pairs(given) do
    if defaults[key] == nil and not needed[key] then refuse("%s has no field '%s'", what, tostring(key)) end
    out[key] = value
  end
  for key in pairs(needed) do
    if out[key] == nil then refuse("%s needs %s: %s", what, key, needed[key]) end
    if math.type(out[key]) ~= "integer" or out[key] < 1 or out[key] > MOST then
      refuse("%s of the %s is %s, not a whole number from 1 to %d", key, what, tostring(out[key]), MOST)
    end
  end
  for key, value in pairs(defaults) do
    if out[key] == nil then out[key] = value end
    if type(out[key]) ~= type(value) then
      refuse("%s of the %s is a %s, not a %s", key, what, type(out[key]), type(value))
    end
  end
  return out
end

local MODEL_NEEDS = { layers = "how many", hidden = "extent of a token", ffn = "extent between both parts of the MLP",
  heads = "of attention", vocab = "tokens there are", sequence = "tokens of a sample", global_batch = "samples of a step" }
local MODEL_HAS = { micro_batch = 1, kv_heads = 0, head_dim = 0, dtype = "bf16", gated = true, name = "transformer",
  experts = 0, top_k = 2, expert_ffn = 0, imbalance = 1.0 }
local SPLIT_HAS = { tp = 1, pp = 1, dp = 1, cp = 1, ep = 1, vpp = 1, sequence_parallel = false, recompute = false, sharded = false, bucket_bytes = 160 << 20, bucket_ends = {}, stage_layers = {}, overlap = true,
  launch_us = 0.0, loader_us = 0.0, gradients = "fp32", asynchronous = false, communication = true }
local GRADIENTS = { fp32 = true, fp16 = true, int8 = true }

-- The model with its defaults: as many K and V heads as heads, heads that share the hidden extent.
function M.model(given)
  local model = fields(given, MODEL_HAS, MODEL_NEEDS, "model")
  if not WIDTH[model.dtype] or model.dtype == "fp32" then refuse("dtype of the model is %s, not fp16 or bf16", model.dtype) end
  if model.kv_heads == 0 then model.kv_heads = model.heads end
  if model.head_dim == 0 then model.head_dim = model.hidden // model.heads end
  if model.expert_ffn == 0 then model.expert_ffn = model.ffn end
  if model.imbalance < 1 then refuse("imbalance of the model is %g: the fullest rank has at least the mean, 1.0", model.imbalance) end
  if model.experts > 0 and (model.top_k < 1 or model.top_k > model.experts) then
    refuse("top_k is %d of %d experts", model.top_k, model.experts)
  end
  if 1.0 * model.layers * model.hidden * math.max(model.ffn, model.hidden) * math.max(model.experts, 1) > WEIGHTS_MOST then
    refuse("the model has more than %g weights", WEIGHTS_MOST)
  end
  if model.heads % model.kv_heads ~= 0 then refuse("%d heads are no multiple of %d kv_heads", model.heads, model.kv_heads) end
  return model
end

-- Of layers that stages have by a list.
local function list_misfit(model, split)
  local sum = 0
  for _, layers in ipairs(split.stage_layers) do
    if math.type(layers) ~= "integer" or layers < 1 then return ("stage_layers %s: each stage has a layer or more"):format(tostring(layers)) end
    sum = sum + layers
  end
  if #split.stage_layers ~= split.pp then return ("stage_layers of %d stages over pp=%d"):format(#split.stage_layers, split.pp) end
  if sum ~= model.layers then return ("%d layers as stage_layers of %d"):format(model.layers, sum) end
  if split.vpp > 1 then return ("stage_layers over vpp=%d"):format(split.vpp) end
end

-- Of layers over stages and of experts over ranks.
local function schedule_misfit(model, split, micro_batches)
  if micro_batches > MICRO_BATCHES_MOST then
    return ("%d micro batches: at most %d are simulated"):format(micro_batches, MICRO_BATCHES_MOST)
  end
  if #split.stage_layers > 0 then
    local why = list_misfit(model, split)
    if why then return why end
  elseif model.layers % (split.pp * split.vpp) ~= 0 then
    return split.vpp == 1 and ("%d layers over pp=%d"):format(model.layers, split.pp) or
      ("%d layers over pp=%d times vpp=%d"):format(model.layers, split.pp, split.vpp)
  end
  if split.vpp > 1 and split.pp == 1 then return ("one stage over vpp=%d"):format(split.vpp) end
  if split.vpp > 1 and micro_batches % split.pp ~= 0 then
    return ("%d micro batches in rounds of pp=%d, which vpp=%d needs"):format(micro_batches, split.pp, split.vpp)
  end
  if split.ep > 1 and model.experts == 0 then return ("a model without experts over ep=%d"):format(split.ep) end
  if model.experts % split.ep ~= 0 then return ("%d experts over ep=%d"):format(model.experts, split.ep) end
  if split.dp % split.ep ~= 0 then return ("dp=%d over ep=%d"):format(split.dp, split.ep) end
  if model.experts > 0 and split.sequence_parallel and split.tp > 1 then return "experts with sequence_parallel" end
end

-- Why a model cannot be split so, or nil.
function M.misfit(model, split)
  local given, split = split, {}
  for key, value in pairs(SPLIT_HAS) do
    split[key] = value
    if given[key] ~= nil then split[key] = given[key] end
  end
  local samples, ffn = split.dp * model.micro_batch, model.experts > 0 and model.expert_ffn or model.ffn
  if model.heads % split.tp ~= 0 then return ("%d heads over tp=%d"):format(model.heads, split.tp) end
  if model.kv_heads % split.tp ~= 0 and split.tp % model.kv_heads ~= 0 then
    return ("%d kv_heads over tp=%d"):format(model.kv_heads, split.tp)
  end
  if ffn % split.tp ~= 0 then return ("ffn %d over tp=%d"):format(ffn, split.tp) end
  if split.cp > 1 and model.sequence % (2 * split.cp) ~= 0 then
    return ("a sequence of %d over two parts for each of cp=%d"):format(model.sequence, split.cp)
  end
  if split.sequence_parallel and model.micro_batch * model.sequence // split.cp % split.tp ~= 0 then
    return ("a sequence of %d over tp=%d"):format(model.sequence // split.cp, split.tp)
  end
  if model.global_batch % samples ~= 0 then return ("a batch of %d over dp=%d"):format(model.global_batch, split.dp) end
  return schedule_misfit(model, split, model.global_batch // samples)
end

local function complete(model, split)
  split = fields(split, SPLIT_HAS, {}, "split")
  for _, key in ipairs { "tp", "pp", "dp", "cp", "ep", "vpp" } do
    if math.type(split[key]) ~= "integer" or split[key] < 1 then refuse("%s of the split is not a whole number from 1", key) end
  end
  if not GRADIENTS[split.gradients] then refuse("gradients of the split are %s, not fp32, fp16 or int8", split.gradients) end
  local why = M.misfit(model, split)
  if why then refuse("cannot split %s", why) end
  split.micro_batches = model.global_batch // (split.dp * model.micro_batch)
  return split
end

-- ---- times: each distinct operator is simulated once ----------------------------------------------------------

local Clock = {}
Clock.__index = Clock

-- Times of operators on a chip; give it to several steps, so that they share what was simulated.
function M.clock(soc, options)
  return setmetatable({ soc = soc, memory = options and options.memory or "flat", jobs = options and options.jobs,
    known = {}, simulated = 0 }, Clock)
end

local function key_of(operator)
  local names = {}
  for name, value in pairs(operator[2]) do names[#names + 1] = name .. "=" .. tostring(value) end
  table.sort(names)
  return operator[1] .. " " .. table.concat(names, " ")
end

-- Simulates what of the lists is not known yet; with a function goes_on of the clock, in pieces, until that says false. Then
-- the clock has `ended`, and what is not simulated stays unknown.
function Clock:learn(lists)
  local keys, questions = {}, {}
  for _, list in ipairs(lists) do
    for _, operator in ipairs(list) do
      local key = key_of(operator)
      if not self.known[key] then
        self.known[key] = 0
        keys[#keys + 1], questions[#questions + 1] = key, { op = operator[1], args = operator[2] }
      end
    end
  end
  if #questions == 0 then return end
  local function forget(from)
    for i = from, #keys do self.known[keys[i]] = nil end
  end
  local PIECE = 4 -- of operators: a second each, when they are large
  local size = self.goes_on and PIECE or #questions
  for first = 1, #questions, size do
    self.ended = self.goes_on ~= nil and not self.goes_on()
    if self.ended then
      forget(first)
      refuse "the search was ended"
    end
    local piece = table.move(questions, first, math.min(first + size - 1, #questions), 1, {})
    for i, answer in ipairs(vinci.evaluate(self.soc, piece, { memory = self.memory, jobs = self.jobs })) do
      if not answer.us then
        forget(1)
        refuse("%s: %s", keys[first + i - 1], answer.text)
      end
      self.known[keys[first + i - 1]] = answer.us
    end
  end
  self.simulated = self.simulated + #keys
end

-- Microseconds of a list, the share of these that memory bounds, and how many kernels there are.
function Clock:time(list)
  local us, bound = 0, 0
  for _, operator in ipairs(list) do
    local one = self.known[key_of(operator)]
    us, bound = us + one, bound + (operator[3] and one or 0)
  end
  return { us = us, memory = us > 0 and bound / us or 0, kernels = #list }
end

-- ---- memory of a device ------------------------------------------------------------------------------------------

-- Bytes of one layer's activations that the backward pass of one micro batch needs.
local function layer_bytes(model, own)
  local width = WIDTH[model.dtype]
  local attention = own.tokens * (own.qkv + own.attention) -- inputs and outputs of products
  local mlp = (own.experts > 0 and own.routed or own.tokens) * (own.up + own.ffn)
  if own.experts > 0 then mlp = mlp + own.routed * 2 * own.hidden end -- what the experts get and give
  local statistics = own.heads * 2 * 8 * 4 -- maxima and sums of attention, eight times each
  return (own.rows * 4 * own.hidden + attention + mlp) * width + own.tokens * statistics -- and of the two norms
end

-- Of a complete split.
local function memory_of(model, split, stage)
  local own, width = O.shard(model, split), WIDTH[model.dtype]
  local held = O.weights(model, split, own, stage)
  local in_flight = math.min(J.ahead(split, stage) + 1, split.micro_batches * split.vpp)
  local layers, full = O.layers_of(model, split, stage) // split.vpp, layer_bytes(model, own)
  local kept = split.recompute and own.rows * own.hidden * width or full
  local out = { weights = held.all * width, gradients = held.all * 4,
    optimizer = O.sharded(split, held) * 12,
    activations = in_flight * layers * kept + (split.recompute and full or 0) }
  if held.head > 0 then out.activations = out.activations + own.tokens * own.vocab * (width + 4 + 4) end
  out.bytes = out.weights + out.gradients + out.optimizer + out.activations
  return out
end

-- Bytes on a rank of a stage (from 0): weights, gradients, optimizer, activations, their sum.
function M.memory(model, split, stage)
  model = M.model(model)
  split = complete(model, split)
  if math.type(stage) ~= "integer" or stage < 0 or stage >= split.pp then
    refuse("stage is %s, not a whole number from 0 to %d", tostring(stage), split.pp - 1)
  end
  return memory_of(model, split, stage)
end

-- ---- steps -------------------------------------------------------------------------------------------------------

-- Operators of the optimizer by stage.
local function optimizers(model, split, own)
  local stages = {}
  for stage = 0, split.pp - 1 do stages[stage] = O.optimizer(model, O.sharded(split, O.weights(model, split, own, stage))) end
  return stages
end

-- The operators of a step by part, each as { name, arguments }.
function M.operators(model, split)
  model = M.model(model)
  split = complete(model, split)
  return O.parts(model, O.shard(model, split))
end

local function times_of(clock, lists, stages)
  local all = {}
  for _, list in pairs(lists) do all[#all + 1] = list end
  for _, list in pairs(stages) do all[#all + 1] = list end
  clock:learn(all)
  local times = { optimizer = {} }
  for part, list in pairs(lists) do times[part] = clock:time(list) end
  for stage, list in pairs(stages) do times.optimizer[stage] = clock:time(list) end
  return times
end

-- The step of a model (see M.model) that is split so: { job = text, ranks =, memory = largest of a device, times = }.
function M.step(clock, model, split, system)
  model = M.model(model)
  split = complete(model, split)
  local own = O.shard(model, split)
  local step = { clock = clock, model = model, split = split, own = own,
    boundary_bytes = own.rows * own.hidden * WIDTH[model.dtype],
    times = times_of(clock, O.parts(model, own), optimizers(model, split, own)) }
  local ranks = split.tp * split.cp * split.pp * split.dp
  local lines = { ("job,version=1,name=%s,ranks=%d%s"):format(model.name, ranks,
    system and (',"system=%s"'):format(system:gsub('"', '""')) or "") }
  J.write(step, lines)
  local memory
  for stage = 0, split.pp - 1 do
    local one = memory_of(model, split, stage)
    if not memory or one.bytes > memory.bytes then memory = one end
  end
  step.job, step.ranks, step.memory = table.concat(lines, "\n") .. "\n", ranks, memory
  return step
end

-- Runs the step: microseconds of it, and what that of the busiest rank is made of. Bubble is what remains when all
-- that is sent has one byte; loading is what the step waits for a loader that works ahead; the rest of what is exposed
-- is communication. `faults` of the options are rows of the job: "devices=3,speed=0.8".
function M.run(clock, model, split, options)
  local step, where, faults = M.step(clock, model, split, options and options.system), {}, ""
  for key, value in pairs(options or {}) do where[key] = value end
  for _, fault in ipairs(where.faults or {}) do faults = faults .. "fault," .. fault .. "\n" end
  where.faults = nil
  step.job = step.job .. faults
  local run = vinci.group_run(step.job, where)
  step.moved_bytes = run.moved_bytes
  local quiet = {}
  for key, value in pairs(step.split) do quiet[key] = value end
  quiet.micro_batches, quiet.communication = nil, false
  local alone = vinci.group_run(M.step(clock, model, quiet).job .. faults, where)
  local most = 0
  for _, rank in ipairs(run.ranks) do most = math.max(most, rank.computing_us - rank.slowed_us) end
  step.loading_us = math.max(0.0, step.split.micro_batches * step.split.loader_us - run.us)
  step.us, step.ranks_us = run.us + step.loading_us, run.ranks
  step.computing_us, step.bubble_us, step.exposed_us = most, alone.us - most, run.us - alone.us
  return step
end

return M
