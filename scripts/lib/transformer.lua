-- SPDX-License-Identifier: Apache-2.0
-- vinci.transformer: a training step of a described transformer, split over devices, as the text of a job
-- (devices/GROUP.md). Every operator of the step is simulated on the chip; memory of a device is counted.
--
-- Ranks are ordered as Megatron orders them: tensor parallel ranks follow each other, then context parallel ones, then
-- data parallel ones, then the stages of the pipeline. Operators are in transformer_operators.lua, schedules in
-- transformer_job.lua, what layers do in transformer_layers.lua, times of operators in transformer_clock.lua, memory of a device in transformer_memory.lua.
local vinci = ...
local O, J, B, S = vinci.transformer_operators, vinci.transformer_job, vinci.transformer_memory, vinci.transformer_sequence
local M = { clock = vinci.transformer_clock.new, key_of = vinci.transformer_clock.key_of }
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
  experts = 0, top_k = 2, expert_ffn = 0, imbalance = 1.0, capacity = 0.0, pad_experts = false, shared_experts = 0, dense_layers = 0,
  kv_rank = 0, q_rank = 0, rope_dim = 64 }
local SPLIT_HAS = { tp = 1, pp = 1, dp = 1, cp = 1, ep = 1, vpp = 1, sequence_parallel = false,
  recompute = false, recompute_layers = 0, recompute_activation = false, reuse_weights = false, moments = "fp32", sharded = false, bucket_bytes = 160 << 20, bucket_ends = {}, stage_layers = {}, overlap = true,
  launch_us = 0.0, loader_us = 0.0, gradients = "fp32", asynchronous = false, communication = true,
  cp_heads = 1, lora_rank = 0, fused = 1, swap = "none", swap_optimizer = false }
local SWAPS = { none = true, attention = true, all = true }
local COUNTS = { model = { "shared_experts", "dense_layers", "kv_rank", "q_rank", "rope_dim" }, split = { "recompute_layers", "lora_rank" } }
local GRADIENTS = { fp32 = true, fp16 = true, int8 = true }

-- Fields of models and of splits with their defaults; needed ones have none, and a text that says what they are.
M.fields = { model = MODEL_HAS, needed = MODEL_NEEDS, split = SPLIT_HAS }

local function check_counts(given, what)
  for _, key in ipairs(COUNTS[what]) do
    if math.type(given[key]) ~= "integer" or given[key] < 0 or given[key] > MOST then
      refuse("%s of the %s is %s, not a whole number from 0", key, what, tostring(given[key]))
    end
  end
end

-- Experts and latent attention of a model.
local function check_parts(model)
  if model.experts > 0 and (model.top_k < 1 or model.top_k > model.experts) then
    refuse("top_k is %d of %d experts", model.top_k, model.experts)
  end
  for _, key in ipairs { "shared_experts", "dense_layers", "capacity" } do
    if model.experts == 0 and model[key] > 0 then refuse("%s of a model without experts", key) end
  end
  if model.capacity < 0 then refuse("capacity of the model is %g, not a share of the mean from 0", model.capacity) end
  if model.pad_experts and model.capacity == 0 then refuse "pad_experts of the model without capacity" end
  if model.dense_layers > model.layers then refuse("dense_layers is %d of %d layers", model.dense_layers, model.layers) end
  if model.q_rank > 0 and model.kv_rank == 0 then refuse "q_rank of the model without kv_rank: latent attention has both, or kv_rank alone" end
end

-- The model with its defaults: as many K and V heads as heads, heads that share the hidden extent.
function M.model(given)
  local model = fields(given, MODEL_HAS, MODEL_NEEDS, "model")
  if not WIDTH[model.dtype] or model.dtype == "fp32" then refuse("dtype of the model is %s, not fp16 or bf16", model.dtype) end
  if model.kv_heads == 0 then model.kv_heads = model.heads end
  if model.head_dim == 0 then model.head_dim = model.hidden // model.heads end
  if model.expert_ffn == 0 then model.expert_ffn = model.ffn end
  if model.imbalance < 1 then refuse("imbalance of the model is %g: the fullest rank has at least the mean, 1.0", model.imbalance) end
  check_counts(model, "model")
  check_parts(model)
  if model.kv_rank > 0 then model.kv_heads = model.heads end
  if 1.0 * model.layers * model.hidden * math.max(model.ffn, model.hidden) * math.max(model.experts, 1) > WEIGHTS_MOST then
    refuse("the model has more than %g weights", WEIGHTS_MOST)
  end
  if model.heads % model.kv_heads ~= 0 then refuse("%d heads are not a multiple of %d kv_heads", model.heads, model.kv_heads) end
  return model
end

-- The table that a file of a model returns, without defaults.
function M.read(path)
  local chunk, message = loadfile(path, "t", {})
  if not chunk then error(message, 0) end
  local model = chunk()
  if type(model) ~= "table" then error(("%s returns a %s, not the table of a model"):format(path, type(model)), 0) end
  return model
end

-- Of layers that stages have by a list.
local function list_misfit(model, split)
  local sum, wanted = 0, split.pp * split.vpp
  for _, layers in ipairs(split.stage_layers) do
    if math.type(layers) ~= "integer" or layers < 1 then return ("stage_layers %s: each stage has a layer or more"):format(tostring(layers)) end
    sum = sum + layers
  end
  if #split.stage_layers ~= wanted then
    return ("stage_layers of %d stages over pp=%d"):format(#split.stage_layers, split.pp) .. (split.vpp > 1 and (" times vpp=%d"):format(split.vpp) or "")
  end
  if sum ~= model.layers then return ("%d layers as stage_layers of %d"):format(model.layers, sum) end
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
  if split.dp * split.cp % split.ep ~= 0 then return ("dp=%d over ep=%d"):format(split.dp * split.cp, split.ep) end
end

-- Of what stands beside the split of the layers: heads that ranks exchange, adapters, products joined with sums.
local function parts_misfit(model, split)
  local heads = model.heads // split.tp
  if split.cp % split.cp_heads ~= 0 then return ("cp=%d over cp_heads=%d"):format(split.cp, split.cp_heads) end
  if heads % split.cp_heads ~= 0 then return ("%d heads over cp_heads=%d"):format(heads, split.cp_heads) end
  if split.lora_rank > 0 and (model.experts > 0 or model.kv_rank > 0) then return "adapters of experts or of latent attention" end
  if split.fused == 1 then return end
  if split.tp == 1 then return ("products joined with sums (fused=%d) over tp=1"):format(split.fused) end
  if split.lora_rank > 0 or model.kv_rank > 0 then return "products joined with sums, with adapters or latent attention" end
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
  if model.dense_layers > 0 and model.ffn % split.tp ~= 0 then return ("ffn %d over tp=%d"):format(model.ffn, split.tp) end
  if ffn % split.tp ~= 0 then return ("ffn %d over tp=%d"):format(ffn, split.tp) end
  if split.cp > split.cp_heads and model.sequence % (2 * split.cp) ~= 0 or model.sequence % split.cp ~= 0 then
    return ("a sequence of %d over two parts for each of cp=%d"):format(model.sequence, split.cp)
  end
  if split.sequence_parallel and model.micro_batch * model.sequence // split.cp % split.tp ~= 0 then
    return ("a sequence of %d over tp=%d"):format(model.sequence // split.cp, split.tp)
  end
  if model.global_batch % samples ~= 0 then return ("a batch of %d over dp=%d"):format(model.global_batch, split.dp) end
  local why = parts_misfit(model, split)
  if why then return why end
  return schedule_misfit(model, split, model.global_batch // samples)
end

local function complete(model, split)
  split = fields(split, SPLIT_HAS, {}, "split")
  for _, key in ipairs { "tp", "pp", "dp", "cp", "ep", "vpp", "cp_heads", "fused" } do
    if math.type(split[key]) ~= "integer" or split[key] < 1 then refuse("%s of the split is not a whole number from 1", key) end
  end
  check_counts(split, "split")
  if not SWAPS[split.swap] then refuse("swap of the split is %s, not none, attention or all", split.swap) end
  if split.recompute_layers > 0 and not split.recompute then refuse "recompute_layers of the split without recompute" end
  if not WIDTH[split.moments] then refuse("moments of the split are %s, not fp32, fp16 or bf16", split.moments) end
  if not GRADIENTS[split.gradients] then refuse("gradients of the split are %s, not fp32, fp16 or int8", split.gradients) end
  local why = M.misfit(model, split)
  if why then refuse("cannot split %s", why) end
  split.micro_batches = model.global_batch // (split.dp * model.micro_batch)
  return split
end

-- A split with all its fields, and its micro batches; of a model with its defaults.
M.split = complete

-- ---- memory of a device ------------------------------------------------------------------------------------------

-- Bytes on a rank of a stage (from 0), by what they are for; see LUA.md.
function M.memory(model, split, stage)
  model = M.model(model)
  split = complete(model, split)
  if math.type(stage) ~= "integer" or stage < 0 or stage >= split.pp then
    refuse("stage is %s, not a whole number from 0 to %d", tostring(stage), split.pp - 1)
  end
  return B.of(model, split, stage)
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

local function times_of(clock, lists, stages, model, split)
  local all = {}
  if clock.sequence then return S.times(clock, lists, stages, model, split) end
  for _, list in pairs(lists) do all[#all + 1] = list end
  for _, list in pairs(stages) do all[#all + 1] = list end
  clock:learn(all)
  local times = { optimizer = {} }
  for part, list in pairs(lists) do times[part] = clock:time(list) end
  for stage, list in pairs(stages) do times.optimizer[stage] = clock:time(list) end
  return times
end

-- One of the replicas that data parallel ranks are.
local function one_replica(split) return setmetatable({ dp = 1, ep = 1 }, { __index = split }) end

-- Collectives with other replicas, by their families, take what they take alone (vinci.planner_bounds.sums).
local function apart(split, sums)
  local others = { data = true, data_scales = true, expert = true, expert_data = true, expert_data_scales = true }
  return function(family, op, bytes) return others[family] and sums:time(split, family, op, bytes) end
end

-- A step without its job.
function M.prepared(clock, model, split, sums)
  model = M.model(model)
  split = complete(model, split)
  local own = O.shard(model, split)
  return { clock = clock, model = model, split = split, own = own, boundary_bytes = own.rows * own.hidden * WIDTH[model.dtype],
    times = times_of(clock, O.parts(model, own), optimizers(model, split, own), model, split),
    laid = sums and one_replica(split) or split, alone = sums and apart(split, sums) }
end

-- The step of a model (see M.model) that is split so: { job = text, ranks =, memory = largest of a device, times = }.
-- With `sums` the job is one replica of those that are data parallel.
function M.step(clock, model, split, system, sums)
  local step = M.prepared(clock, model, split, sums)
  local laid = step.laid
  local ranks = laid.tp * laid.cp * laid.pp * laid.dp
  local lines = { ("job,version=1,name=%s,ranks=%d%s"):format(step.model.name, ranks,
    system and (',"system=%s"'):format(system:gsub('"', '""')) or "") }
  J.write(step, lines)
  local memory
  for stage = 0, step.split.pp - 1 do
    local one = B.of(step.model, step.split, stage)
    if not memory or one.bytes > memory.bytes then memory = one end
  end
  lines[#lines + 1] = ""
  step.job, step.ranks, step.memory = table.concat(lines, "\n"), ranks, memory
  return step
end

local function rows_of_faults(list)
  local text = ""
  for _, fault in ipairs(list or {}) do text = text .. "fault," .. fault .. "\n" end
  return text
end

-- The text of the job of a step on all ranks, with faults: options.system, options.faults.
function M.job(clock, model, split, options)
  return M.step(clock, model, split, options.system).job .. rows_of_faults(options.faults)
end

-- Runs the step: microseconds of it, and what that of the busiest rank is made of. Bubble is what remains when all
-- that is sent has one byte; loading is what the step waits for a loader that works ahead; the rest of what is exposed
-- is communication. `faults` of the options are rows of the job: "devices=3,speed=0.8". With `sums` (of
-- vinci.planner_bounds) one replica of those that are data parallel runs. `known` is a table of results by texts of jobs:
-- what it has does not run again.
function M.run(clock, model, split, options)
  local where = {}
  for key, value in pairs(options or {}) do where[key] = value end
  local sums, known = where.sums, where.known or {}
  where.sums, where.known = nil, nil
  local step = M.step(clock, model, split, where.system, sums)
  local faults = rows_of_faults(where.faults)
  where.faults = nil
  step.job = step.job .. faults
  local function run_of(job)
    known[job] = known[job] or vinci.group_run(job, where)
    return known[job]
  end
  local run = run_of(step.job)
  step.moved_bytes = run.moved_bytes
  local quiet = {}
  for key, value in pairs(step.split) do quiet[key] = value end
  quiet.micro_batches, quiet.communication = nil, false
  local alone = run_of(M.step(clock, model, quiet, nil, sums).job .. faults)
  local most = 0
  for _, rank in ipairs(run.ranks) do most = math.max(most, rank.computing_us - rank.slowed_us) end
  step.loading_us = math.max(0.0, step.split.micro_batches * step.split.loader_us - run.us)
  step.us, step.ranks_us = run.us + step.loading_us, run.ranks
  step.computing_us, step.bubble_us, step.exposed_us = most, alone.us - most, run.us - alone.us
  return step
end

return M
