-- SPDX-License-Identifier: Apache-2.0
-- vinci.planner: which split of a transformer over devices is fastest, and why the others lose. `vinci group plan` and
-- scripts call the same functions.
--
-- All splits of the devices into tensor, pipeline, context, data and expert parallelism are candidates, with parts in
-- turn where layers allow that. A split that does not fit the memory of a device is tried with recompute. The kernels of
-- a rank alone are a lower bound of its step: splits are simulated in the order of that bound, and the search ends at
-- the first whose bound is no better than the best step, so that the best is the best of all. Stages of a pipeline also
-- get layers by what they have to do besides and by the speed of their slowest device.
local vinci = ...
local T, O = vinci.transformer, vinci.transformer_operators
local M = {}
local GIB = 1 << 30

local function divisors(n)
  local list = {}
  for i = 1, n do if n % i == 0 then list[#list + 1] = i end end
  return list
end

function M.name(split)
  local text = ("tp%d pp%d dp%d"):format(split.tp, split.pp, split.dp)
  for _, key in ipairs { "cp", "ep", "vpp" } do
    if split[key] > 1 then text = text .. (" %s%d"):format(key, split[key]) end
  end
  if #split.stage_layers > 0 then text = text .. " layers " .. table.concat(split.stage_layers, "/") end
  return text .. (split.sharded and " sharded" or "") .. (split.recompute and " recompute" or "")
end

-- All splits of a number of devices.
function M.splits(model, devices)
  local list = {}
  for _, tp in ipairs(divisors(devices)) do
    for _, pp in ipairs(divisors(devices // tp)) do
      for _, cp in ipairs(divisors(devices // (tp * pp))) do
        local dp = devices // (tp * pp * cp)
        for _, ep in ipairs(model.experts > 0 and divisors(dp) or { 1 }) do
          for _, vpp in ipairs(pp > 1 and model.layers % pp == 0 and divisors(model.layers // pp) or { 1 }) do
            list[#list + 1] = { tp = tp, pp = pp, cp = cp, dp = dp, ep = ep, vpp = vpp, sharded = dp * cp > 1 }
          end
        end
      end
    end
  end
  return list
end

local function memory_of(model, split)
  local most = 0
  for stage = 0, split.pp - 1 do most = math.max(most, T.memory(model, split, stage).bytes) end
  return most
end

-- Microseconds of the kernels of the busiest rank: no step is shorter.
local function bound_of(job)
  local most, sum = 0, 0
  for line in job:gmatch "[^\n]+" do
    if line:sub(1, 8) == "program," then sum = 0 end
    sum = sum + (tonumber(line:match "^work,name=[^,]*,us=([%d.]+)") or 0)
    most = math.max(most, sum)
  end
  return most
end

-- ---- layers of stages ----------------------------------------------------------------------------------------------

-- What is left of the speed of devices (from 0, `count` of them) that are slow all the time, by rows of faults.
local function speeds(faults, count)
  local speed = {}
  for _, fault in ipairs(faults or {}) do
    local devices = fault:match "devices=([^,]*)"
    local from = tonumber(fault:match "from_us=([^,]*)") or 0
    if devices and from == 0 and not fault:find "to_us=" then
      local left = tonumber(fault:match "speed=([^,]*)") or 0.0
      for first, last, step in devices:gmatch "(%d+)%-?(%d*):?(%d*)" do
        first = math.tointeger(tonumber(first))
        local to = math.min(math.tointeger(tonumber(last)) or first, count - 1)
        for device = first, to, math.max(math.tointeger(tonumber(step)) or 1, 1) do
          speed[device] = math.min(speed[device] or 1.0, left)
        end
      end
    end
  end
  return speed
end

-- Microseconds of work by stage, of one rank.
local function work_of(job)
  local stages = {}
  for line in job:gmatch "[^\n]+" do
    local us = tonumber(line:match "^work,name=[^,]*,us=([%d.]+)")
    if line:sub(1, 8) == "program," then stages[#stages + 1] = 0 end
    if us then stages[#stages] = stages[#stages] + us end
  end
  return stages
end

-- Numbers of layers of which the busiest stage has least to do, by other work and slowness of each stage; each stage has
-- one layer or more. Each layer goes where the stage is done first with that layer, which is exact: layers are equal.
function M.layers(count, layer_us, other_us, slowness)
  local layers = {}
  for stage = 1, #other_us do layers[stage] = 1 end
  for _ = #other_us + 1, count do
    local best, least
    for stage, us in ipairs(other_us) do
      local then_us = (us + (layers[stage] + 1) * layer_us) * slowness[stage]
      if not least or then_us < least then best, least = stage, then_us end
    end
    layers[best] = layers[best] + 1
  end
  return layers
end

-- The split with layers that even the stages out; nil where they are even.
local function balanced(clock, model, split, faults)
  if split.pp == 1 or split.vpp > 1 or split.cp > 1 or model.layers < split.pp then return nil end
  local out, first, speed, slowness = {}, {}, speeds(faults, split.tp * split.pp * split.dp), {}
  for key, value in pairs(split) do out[key] = value end
  for stage = 1, split.pp do first[stage] = 1 end
  first[1] = model.layers - split.pp + 1
  out.stage_layers = first
  if T.misfit(model, out) then return nil end
  local good, step = pcall(T.step, clock, model, out)
  if not good then return nil end
  local other = work_of(step.job)
  first[1], first[split.pp] = first[split.pp], first[1] -- the same with the many layers at the end
  local turned, last = pcall(T.step, clock, model, out)
  if not turned then return nil end
  local layer = model.layers > split.pp and (other[1] - work_of(last.job)[1]) / (model.layers - split.pp) or 0
  local ranks = split.tp * split.dp
  for stage = 1, split.pp do
    other[stage] = other[stage] - (stage == 1 and model.layers - split.pp + 1 or 1) * layer
    slowness[stage] = 1.0
    for rank = (stage - 1) * ranks, stage * ranks - 1 do
      slowness[stage] = math.max(slowness[stage], 1 / math.max(speed[rank] or 1.0, 1e-3))
    end
  end
  out.stage_layers = M.layers(model.layers, layer, other, slowness)
  for _, layers in ipairs(out.stage_layers) do
    if layers * split.pp ~= model.layers then return out end
  end
end

-- ---- groups of gradients ------------------------------------------------------------------------------------------

-- Where groups end whose last sum ends first: items are { microseconds of work up to the gradient, elements }, in
-- their order; time(N) is that of a sum of N elements. Sums run one after the other, each when its last gradient is
-- there. Sums up to a gradient never end earlier when those before end later, so that dynamic programming over the
-- last group is exact.
function M.groups(items, time)
  local ready, total, ended, from = { [0] = 0 }, { [0] = 0 }, { [0] = 0 }, {}
  for i, item in ipairs(items) do
    ready[i], total[i], ended[i] = ready[i - 1] + item[1], total[i - 1] + item[2], math.huge
    for j = 0, i - 1 do
      local at = math.max(ready[i], ended[j]) + time(total[i] - total[j])
      if at < ended[i] then ended[i], from[i] = at, j end
    end
  end
  local ends, i = {}, #items
  while i > 0 do
    ends[i] = true
    i = from[i]
  end
  return ends, ended[#items]
end

-- Gradients of a stage in the order of the last backward pass. `sum_us` is what a sum over tensor parallel ranks takes.
local function gradients(step, stage, sum_us)
  local t, held, items = step.times, O.weights(step.model, step.split, step.own, stage), {}
  local layer = 2 * (t.norm_grad.us + sum_us) + t.attention_grad.us + t.mlp_grad.us
  if step.split.recompute then layer = layer + t.attention.us + t.mlp.us + t.residual.us + 2 * sum_us end
  if held.head > 0 then items[1] = { t.head_grad.us + sum_us, held.head } end
  for _ = 1, O.layers_of(step.model, step.split, stage) do items[#items + 1] = { layer, held.layer } end
  if held.embedding > 0 then items[#items + 1] = { t.embedding_grad.us, held.embedding } end
  return items
end

-- The time of a collective of all ranks in groups that a job has.
local function collective_us(job, op, group, bytes, options)
  local ranks = tonumber(job:match "ranks=(%d+)")
  local family = job:match("\n(group,name=" .. group .. ",[^\n]*)")
  return vinci.group_run(("job,version=1,ranks=%d\n%s\nprogram,ranks=0-%d\ncollective,op=%s,group=%s,bytes=%d\n"):format(ranks, family,
    ranks - 1, op, group, bytes), options).us
end

-- The split with groups of gradients from dynamic programming; nil where they are not in one list (rings, experts,
-- parts in turn).
local function tuned(clock, model, split, where)
  local options = { system = where.system, set = where.set, data = where.data } -- sums alone, of devices as they are
  if split.dp == 1 or split.cp > 1 or split.vpp > 1 or model.experts > 0 then return nil end
  local step, known, ends = T.step(clock, model, split), {}, {}
  local function time(elements)
    known[elements] = known[elements] or collective_us(step.job, split.sharded and "reduce_scatter" or "all_reduce", "data",
      elements * 4, options)
    return known[elements]
  end
  local own = step.own
  local sum_us = split.tp > 1 and collective_us(step.job, "all_reduce", "tensor", own.tokens * own.hidden * O.WIDTH[step.model.dtype],
    options) or 0
  for stage = 0, split.pp - 1 do ends[stage] = M.groups(gradients(step, stage, sum_us), time) end
  local out = {}
  for key, value in pairs(split) do out[key] = value end
  out.bucket_ends = ends
  return out
end

-- ---- the search ----------------------------------------------------------------------------------------------------

local function reason(row, best)
  if row == best then return "fastest" end
  local most, name = 0, "as fast"
  for _, one in ipairs { { "computing_us", "computing" }, { "bubble_us", "bubble" }, { "exposed_us", "exposed communication" } } do
    local more = row[one[1]] - best[one[1]]
    if more > most then most, name = more, one[2] end
  end
  if name == "computing" and row.split.recompute and not best.split.recompute then name = "recompute to fit memory" end
  return ("%s: %+.1f ms"):format(name, most / 1000)
end

-- What is known of a split before it is simulated; `bound` is absent when it cannot run.
local function candidate(clock, model, split, limit)
  local row = { split = split, name = M.name(split) }
  local why = T.misfit(model, split)
  if why then
    row.why = "cannot be split: " .. why
    return row
  end
  row.memory = memory_of(model, split)
  if row.memory > limit and not split.recompute then
    split.recompute = true
    row.name, row.memory = M.name(split), memory_of(model, split)
  end
  if row.memory > limit then
    row.why = ("memory: %.1f of %.0f GiB"):format(row.memory / GIB, limit / GIB)
  else
    local good, step = pcall(T.step, clock, model, split) -- an operator may have no tiling on the chip
    if good then row.bound = bound_of(step.job) else row.why = tostring(step) end
  end
  return row
end

local function simulate(clock, model, row, options)
  local run = T.run(clock, model, row.split, options)
  for _, key in ipairs { "us", "computing_us", "bubble_us", "exposed_us", "loading_us", "job" } do row[key] = run[key] end
end

local function before(a, b)
  if a.us and b.us and a.us ~= b.us then return a.us < b.us end
  if (a.us ~= nil) ~= (b.us ~= nil) then return a.us ~= nil end
  if (a.bound ~= nil) ~= (b.bound ~= nil) then return a.bound ~= nil end
  if a.bound and a.bound ~= b.bound then return a.bound < b.bound end
  return a.name < b.name
end

-- Ranks the splits of a model: a list of { name, split, us, computing_us, bubble_us, exposed_us, memory, bound, why, job },
-- the fastest first, those that were not simulated without `us`. options: clock, devices or splits (a list), system, set,
-- faults (a list of rows, "devices=3,speed=0.8"), memory (bytes of a device), launch_us, loader_us, all (simulate those that cannot win, too), buckets (false: do not
-- look for better groups of gradients), progress (a function of what is done, "bounds" or "steps", how many of how many, and the
-- microseconds of the best so far or nil: false ends that). The second result is nil when the search came to its end, else what it
-- left out: { not_looked_at = splits, not_simulated = splits }.
function M.plan(model, options)
  model = T.model(model)
  local clock, rows = options.clock, {}
  local where = { system = options.system, set = options.set, data = options.data, faults = options.faults }
  local left, ended = { not_looked_at = 0, not_simulated = 0 }, false
  local function goes_on(...) return not options.progress or options.progress(...) ~= false end
  local splits, least = options.splits or M.splits(model, options.devices), nil
  for i, split in ipairs(splits) do
    if not goes_on("bounds", i - 1, #splits, least) then
      left.not_looked_at = #splits - i + 1
      break
    end
    clock.goes_on = options.progress and function() return goes_on("bounds", i - 1, #splits, least) end
    for _, key in ipairs { "tp", "pp", "dp", "cp", "ep", "vpp" } do split[key] = split[key] or 1 end
    split.launch_us, split.loader_us, split.stage_layers = options.launch_us or 0.0, options.loader_us or 0.0, split.stage_layers or {}
    rows[#rows + 1] = candidate(clock, model, split, options.memory)
    local even = #split.stage_layers == 0 and balanced(clock, model, split, options.faults)
    if even then rows[#rows + 1] = candidate(clock, model, even, options.memory) end
    if clock.ended then
      left.not_looked_at = #splits - i + 1
      for k = #rows, #rows - (even and 1 or 0), -1 do rows[k] = nil end
      break
    end
    for k = #rows - (even and 1 or 0), #rows do
      if rows[k].bound and (not least or rows[k].bound < least) then least = rows[k].bound end
    end
  end
  clock.goes_on, clock.ended = nil, false
  table.sort(rows, before)
  local best
  for i, row in ipairs(rows) do
    if row.bound and (options.all or not best or row.bound < best.us) then
      ended = ended or not goes_on("steps", i - 1, #rows, best and best.us)
      if ended then
        row.why, left.not_simulated = "not simulated: the search was ended", left.not_simulated + 1
      else
        simulate(clock, model, row, where)
        if not best or row.us < best.us then best = row end
      end
    end
  end
  if best and options.buckets ~= false and not ended then
    local split = tuned(clock, model, best.split, where)
    local row = split and { split = split, name = best.name .. " groups", memory = best.memory, bound = best.bound }
    if row then
      simulate(clock, model, row, where)
      rows[#rows + 1] = row
      if row.us < best.us then best = row end
    end
  end
  table.sort(rows, before)
  for _, row in ipairs(rows) do
    row.why = row.why or row.us and reason(row, best) or
      ("kernels alone take %.1f ms; the fastest step takes %.1f ms"):format(row.bound / 1000, best.us / 1000)
  end
  return rows, left.not_looked_at + left.not_simulated > 0 and left or nil
end

-- ---- `vinci group plan` -----------------------------------------------------------------------------------------

local COLUMNS = { { "us", "step ms" }, { "computing_us", "computing" }, { "bubble_us", "bubble" }, { "exposed_us", "exposed" } }

local function text_of(rows, count)
  local lines = { ("%-36s %11s %11s %11s %11s %11s  %s"):format("split", "step ms", "computing", "bubble", "exposed", "memory GiB", "why") }
  for i = 1, math.min(count, #rows) do
    local row, cells = rows[i], {}
    for k, column in ipairs(COLUMNS) do
      cells[k] = row.us and ("%.3f"):format(math.max(row[column[1]], 0) / 1000) or "-" -- no -0.000
    end
    lines[#lines + 1] = ("%-36s %11s %11s %11s %11s %11s  %s"):format(row.name, cells[1], cells[2], cells[3], cells[4],
      row.memory and ("%.2f"):format(row.memory / GIB) or "-", row.why)
  end
  if count < #rows then lines[#lines + 1] = ("%d more; --rows=%d shows them"):format(#rows - count, #rows) end
  return table.concat(lines, "\n") .. "\n"
end

local function json_of(rows)
  local lines = {}
  for i, row in ipairs(rows) do
    local fields = { ('"split": "%s"'):format(row.name) }
    for _, key in ipairs { "us", "computing_us", "bubble_us", "exposed_us", "bound" } do
      if row[key] then fields[#fields + 1] = ('"%s": %.6f'):format(key == "bound" and "bound_us" or key, math.max(row[key], 0)) end
    end
    if row.memory then fields[#fields + 1] = ('"memory_bytes": %d'):format(row.memory) end
    fields[#fields + 1] = ('"why": "%s"'):format(row.why)
    lines[i] = "{" .. table.concat(fields, ", ") .. "}"
  end
  return table.concat(lines, "\n") .. "\n"
end

-- A file that returns the table of a model, and has nothing to call.
function M.read(path)
  local chunk, message = loadfile(path, "t", {})
  if not chunk then error(message, 0) end
  local model = chunk()
  if type(model) ~= "table" then error(("%s returns a %s, not the table of a model"):format(path, type(model)), 0) end
  return T.model(model)
end

-- What the command prints, the job of the fastest split, and whether the search was ended before. Settings are the options of `vinci group plan`.
function M.report(settings)
  local chip = vinci.soc(settings.soc)
  local rows, left = M.plan(M.read(settings.model), { progress = settings.progress, clock = T.clock(chip), devices = settings.devices, system = settings.system,
    set = settings.set, data = settings.data, faults = settings.faults,
    memory = chip:get "hbm.size", launch_us = settings.launch_us, all = settings.all })
  local text = settings.json and json_of(rows) or text_of(rows, settings.rows)
  if left and settings.json then
    text = text .. ('{"partial": true, "not_looked_at": %d, "not_simulated": %d}\n'):format(left.not_looked_at, left.not_simulated)
  elseif left then
    text = text .. ("partial: %d splits were not looked at, and %d not simulated\n"):format(left.not_looked_at, left.not_simulated)
  end
  return text, rows[1] and rows[1].job, left ~= nil
end

return M
