-- SPDX-License-Identifier: Apache-2.0
-- vinci.planner: which split of a transformer over devices is fastest, and why the others lose. `vinci group plan` and
-- scripts call the same functions.
--
-- All splits of the devices into tensor, pipeline, context, data and expert parallelism are candidates, with parts in
-- turn where layers allow that. A split that does not fit the memory of a device is tried with recompute. Each split has
-- a lower bound of its step (planner_bounds.lua), first by its products alone. The split with the least bound is looked
-- at next: it gets a better bound, by what takes the least time to find out next (LEVELS), or some of its kernels are
-- simulated, those first that stand for most of the step, or the step is. The search ends at the first whose bound is no
-- better than the best step, so that the best is the best of all. Stages of a pipeline also get layers by what they have
-- to do besides and by the speed of their slowest device; one bound stands for all lists of layers until a list is made.
local vinci = ...
local T, O, B = vinci.transformer, vinci.transformer_operators, vinci.planner_bounds
local M = {}
local GIB = 1 << 30
local RANKS = 64 -- with more, one replica is simulated of those that are data parallel

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

-- The split of a name, with commas or blanks between, "tp2,pp2,dp1,layers=3/1,groups"; and whether the name has groups.
function M.split_of(text, devices)
  local split, groups, known = { stage_layers = {} }, false, { tp = 1, pp = 1, cp = 1, dp = 1, ep = 1, vpp = 1 }
  local function refuse(word, why) error(("--split=%s: '%s' %s, as in tp2,pp2,dp1"):format(text, word, why), 0) end
  for word in text:gsub("layers ", "layers="):gmatch "[^, ]+" do
    local key, value = word:match "^(%a+)(%d+)$"
    if key and known[key] and math.tointeger(tonumber(value)) and tonumber(value) >= 1 then
      if split[key] then refuse(word, "says " .. key .. " a second time") end
      split[key] = math.tointeger(tonumber(value))
    elseif word:find "^layers=%d[%d/]*$" and #split.stage_layers == 0 then
      for layers in word:gmatch "%d+" do split.stage_layers[#split.stage_layers + 1] = math.tointeger(tonumber(layers)) end
    elseif word == "recompute" then
      split.recompute = true
    elseif word == "groups" then
      groups = true
    elseif word ~= "sharded" then -- which follows from the numbers
      refuse(word, "is not a part of a split")
    end
  end
  for key, value in pairs(known) do split[key] = split[key] or value end
  local all = split.tp * split.pp * split.cp * split.dp
  if all ~= devices then refuse(text, ("is of %d devices, not of %d"):format(all, devices)) end
  if #split.stage_layers > 0 and #split.stage_layers ~= split.pp then refuse("layers", "is not a number for each stage") end
  split.sharded = split.dp * split.cp > 1
  return split, groups
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
  for stage = 0, split.pp - 1 do most = math.max(most, T.memory(model, split, stage).device) end
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

-- Whether stages of a split can have layers by a list.
local function can_balance(model, split) return split.pp > 1 and split.vpp == 1 and split.cp == 1 and model.layers > split.pp end

local function copy_of(split)
  local out = {}
  for key, value in pairs(split) do out[key] = value end
  return out
end

-- The split with layers that even the stages out, by the times that a clock knows; nil where they are even.
local function balanced(clock, model, split, faults)
  local out, speed, slowness = copy_of(split), speeds(faults, split.tp * split.pp * split.dp), {}
  local layer, other = B.work(model, T.split(model, out), B.by_clock(clock))
  local ranks = split.tp * split.dp
  for stage = 1, split.pp do
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
  local t, held, items = step.times, O.weights(step.model, step.split, step.own, stage).trained, {}
  local layer = 2 * (t.norm_grad.us + sum_us) + t.attention_grad.us + t.mlp_grad.us
  if step.split.recompute then layer = layer + t.attention.us + t.mlp.us + t.residual.us + 2 * sum_us end
  if held.head > 0 then items[1] = { t.head_grad.us + sum_us, held.head } end
  for _ = 1, O.layers_of(step.model, step.split, stage) do items[#items + 1] = { layer, held.layer } end
  if held.embedding > 0 then items[#items + 1] = { t.embedding_grad.us, held.embedding } end
  return items
end

-- The split with groups of gradients from dynamic programming; nil where they are not in one list (rings, experts,
-- parts in turn).
local function tuned(clock, model, split, sums, rounded)
  if split.dp == 1 or split.cp > 1 or split.vpp > 1 or model.experts > 0 then return nil end
  local step, ends = T.prepared(clock, model, split, sums), {}
  local sum_of = rounded and sums.time or sums.exactly -- of many ranks, sizes between are interpolated
  local own, op = step.own, split.sharded and "reduce_scatter" or "all_reduce"
  local function time(elements) return sum_of(sums, step.split, "data", op, elements * 4) end
  local sum_us = split.tp > 1 and sums:exactly(step.split, "tensor", "all_reduce", own.tokens * own.hidden * O.WIDTH[step.model.dtype]) or 0
  for stage = 0, split.pp - 1 do ends[stage] = M.groups(gradients(step, stage, sum_us), time) end
  local out = copy_of(split)
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

-- A row for a split: why the model cannot be split so, or what a device holds. `bound` is there when it can run.
local function row_of(model, split, limit)
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
    row.bound = 0
  end
  return row
end

-- The first of layers by a list, which is as even as can be.
local function listed(model, split)
  local out, none = copy_of(split), {}
  for stage = 1, split.pp do none[stage] = 0 end
  out.stage_layers = M.layers(model.layers, 1, none, setmetatable({}, { __index = function() return 1 end }))
  out.recompute = nil
  return out
end

local function before(a, b)
  if a.us and b.us and a.us ~= b.us then return a.us < b.us end
  if (a.us ~= nil) ~= (b.us ~= nil) then return a.us ~= nil end
  if (a.bound ~= nil) ~= (b.bound ~= nil) then return a.bound ~= nil end
  if a.bound and a.bound ~= b.bound then return a.bound < b.bound end
  return a.name < b.name
end

local Search = {}
Search.__index = Search

-- Bounds of an item by its level: of each, times of kernels, and whether sums over tensor parallel ranks and those of
-- gradients are counted. What takes little time to find out comes first.
local LEVELS = { [0] = { "products" }, { "cube", true }, { "cube", true, true }, { "estimates", true, true }, { "kernels", true, true } }
local ESTIMATES, KERNELS = 3, 4
local SHOWN = { [0] = "products alone", "products and attention", "products and attention with sums", "estimates of kernels with sums",
  "kernels and sums" }

function Search:bound(item, level)
  local whole, how = T.split(self.model, item.split), LEVELS[level]
  local time, sums = self.times[how[1]], how[2] and self.sums or nil
  item.level, item.learned = level, self.clock.learned
  if item.listed then
    local limit = level > 0 and self.options.memory or nil
    item.bound = math.max(item.bound or 0, B.bound_of_layers(self.model, whole, time, sums, how[3], limit))
    return
  end
  item.bound = math.max(item.bound or 0, B.bound(self.model, whole, time, sums, how[3]))
  item.row.bound, item.row.level = item.bound, level
end

function Search:add(split)
  for _, key in ipairs { "tp", "pp", "dp", "cp", "ep", "vpp" } do split[key] = split[key] or 1 end
  local options = self.options
  split.launch_us, split.loader_us, split.stage_layers = options.launch_us or 0.0, options.loader_us or 0.0, split.stage_layers or {}
  local row = row_of(self.model, split, options.memory)
  self.rows[#self.rows + 1] = row
  local items = {}
  if row.bound then items[1] = { split = split, row = row } end
  if #split.stage_layers == 0 and not options.alone and can_balance(self.model, split) then
    local list = listed(self.model, split)
    if not T.misfit(self.model, list) then items[#items + 1] = { split = list, listed = true } end
  end
  for _, item in ipairs(items) do
    self:bound(item, 0)
    self.items[#self.items + 1] = item
  end
end

local ENDS = { embedding = true, embedding_grad = true, head = true, head_grad = true }
local AT_ONCE = 4 -- kernels that are simulated between two bounds

-- Operators of an item that the clock does not know: first those without an estimate, which may have no tiling, then
-- those that stand for most of the step.
function Search:sorted_unknown(item)
  local whole, list, of = T.split(self.model, item.split), {}, {}
  local own, layers = O.shard(self.model, whole), math.max(self.model.layers // whole.pp, 1)
  local function look(operators, count)
    for _, operator in ipairs(operators) do
      local key = T.key_of(operator)
      if not self.clock.known[key] then
        if not of[key] then
          of[key] = { key = key, operator = operator, us = 0, bare = not self.clock:estimate(operator, key) }
          list[#list + 1] = of[key]
        end
        of[key].us = of[key].us + count * self.times.estimates(operator)
      end
    end
  end
  for name, operators in pairs(O.parts(self.model, own)) do look(operators, ENDS[name] and 1 or layers) end
  for stage = 0, whole.pp - 1 do look(O.optimizer(self.model, O.sharded(whole, O.weights(self.model, whole, own, stage))), 1) end
  table.sort(list, function(a, b)
    if a.bare ~= b.bare then return a.bare end
    if a.us ~= b.us then return a.us > b.us end
    return a.key < b.key
  end)
  return list
end

-- The same where the clock may have learned some of them since.
function Search:unknown(item)
  local left = {}
  for _, one in ipairs(item.unknown or self:sorted_unknown(item)) do
    if not self.clock.known[one.key] then left[#left + 1] = one end
  end
  item.unknown = left
  return left
end

-- Simulates kernels of an item, `count` or fewer. False when an operator has no tiling on the chip, or the search has
-- ended; else whether all of them are known now, as the second result.
function Search:learn(item, count)
  local list, piece = self:unknown(item), {}
  for i = 1, math.min(count, #list) do piece[i] = list[i].operator end
  local good, message = pcall(self.clock.learn, self.clock, { piece })
  if not good and not self.clock.ended and item.row then item.row.why, item.row.bound = tostring(message), nil end
  return good, count >= #list
end

-- Layers for the stages of an item whose kernels are known: an item of its own, unless these are even. Returned when the
-- search ends here.
function Search:balance(item)
  local base = copy_of(item.split)
  local split = balanced(self.clock, self.model, base, self.options.faults)
  if not split then return end
  local row = row_of(self.model, split, self.options.memory)
  self.rows[#self.rows + 1] = row
  if not row.bound then return end
  local new = { split = split, row = row }
  if self:learn(new, math.huge) then
    self:bound(new, KERNELS)
    self.items[#self.items + 1] = new
  elseif self.clock.ended then
    return new
  end
end

function Search:simulate(row)
  local options, ranks = self.where, row.split.tp * row.split.pp * row.split.cp * row.split.dp
  if ranks > (self.options.ranks or RANKS) and not self.options.faults and row.split.dp > 1 then
    options = copy_of(self.where)
    options.sums, row.replica = self.sums, true
  end
  options = copy_of(options)
  options.known = row.grouped and self.ran or {}
  local run = T.run(self.clock, self.model, row.split, options)
  for _, key in ipairs { "us", "computing_us", "bubble_us", "exposed_us", "loading_us" } do row[key] = run[key] end
  row.job = not row.replica and run.job or nil
  if not self.best or row.us < self.best.us then self.best, self.ran = row, options.known end
end

function Search:goes_on(phase, done, all)
  local progress = self.options.progress
  return not progress or progress(phase, done, all, self.best and self.best.us, self.least) ~= false
end

-- The item with the least bound, taken out; of equal ones the first.
function Search:next()
  local at
  for i, item in ipairs(self.items) do
    if not at or item.bound < self.items[at].bound then at = i end
  end
  return at and table.remove(self.items, at)
end

-- A better bound, or the step.
function Search:refine(item)
  local before = item.bound
  if item.level < ESTIMATES then
    self:bound(item, item.level + 1)
  elseif item.level == ESTIMATES then
    if item.learned < self.clock.learned then self:bound(item, ESTIMATES) end -- some of its kernels may be known now
    if item.bound <= before then
      local good, all = self:learn(item, AT_ONCE)
      if not good then return self.clock.ended and item or nil end
      if all and item.listed then return self:balance(item) end
      self:bound(item, all and KERNELS or ESTIMATES)
    end
  else
    return self:simulate(item.row)
  end
  self.items[#self.items + 1] = item
end

-- Items whose bounds are below the best step.
function Search:open()
  local count = 0
  for _, item in ipairs(self.items) do count = count + ((not self.best or item.bound < self.best.us) and 1 or 0) end
  return count
end

-- False when the search was ended.
function Search:run()
  local all, done = #self.items, 0
  self.clock.goes_on = self.options.progress and function() return self:goes_on("steps", done, math.max(all, done)) end
  while #self.items > 0 do
    local item = self:next()
    if self.best and not self.options.all and item.bound >= math.max(self.best.us, self.options.than_us or 0) then
      self.items = {} -- the others have no lesser bound
      break
    end
    self.least = item.bound
    if not self:goes_on("steps", done, math.max(all, done)) then
      self.items[#self.items + 1] = item
      return false
    end
    local left = self:refine(item)
    if left then
      self.items[#self.items + 1] = left
      return false
    end
    done = math.max(done, all - self:open())
  end
  return true
end

-- Ranks the splits of a model: a list of { name, split, us, computing_us, bubble_us, exposed_us, memory, bound, why },
-- the fastest first, those that were not simulated without `us`. options: clock, devices or splits (a list), system, set,
-- faults (a list of rows, "devices=3,speed=0.8"), memory (bytes of a device), launch_us, loader_us, all (simulate those that
-- cannot win, too), buckets (false: do not look for better groups of gradients), ranks (with more, one replica is
-- simulated of those that are data parallel; 64), keep (see vinci.transformer_clock), alone (no
-- other layers for the stages of a split), than_us (simulate all that may be faster than this), progress (a function of what is
-- done, "bounds" or "steps", how many of how many, the microseconds of the best so far or nil, and those that no step that is
-- not simulated is below, or nil: false ends that). The
-- second result is nil when the search came to its end, else what it left out: { not_looked_at =, not_simulated =, lists = }, numbers of
-- splits, and of those whose other lists of layers were not decided.
function M.plan(model, options)
  -- Bounds are of operators alone on a chip that nobody has used; operators that find their code and data may go below.
  if options.clock.sequence then error("plan: bounds hold for operators alone: give a clock without `sequence`", 2) end
  model = T.model(model)
  local alone = { system = options.system, set = options.set, data = options.data } -- devices as they are
  local where = copy_of(alone)
  where.faults = options.faults
  local search = setmetatable({ model = model, options = options, clock = options.clock, where = where, rows = {}, items = {},
    sums = B.sums(alone, options.keep), times = { products = B.by_products(options.clock.soc), cube = B.by_estimates(options.clock, true),
      estimates = B.by_estimates(options.clock), kernels = B.by_clock(options.clock) } }, Search)
  local left, splits = { not_looked_at = 0, not_simulated = 0, lists = 0 }, options.splits or M.splits(model, options.devices)
  for i, split in ipairs(splits) do
    if not search:goes_on("bounds", i - 1, #splits) then
      left.not_looked_at = #splits - i + 1
      break
    end
    search:add(split)
  end
  local ended = not search:run()
  options.clock.goes_on, options.clock.ended = nil, false
  for _, item in ipairs(search.items) do
    if item.row then
      item.row.why, left.not_simulated = "not simulated: the search was ended", left.not_simulated + 1
    else
      left.lists = left.lists + 1
    end
  end
  local best = search.best
  if best and options.buckets ~= false and not ended then
    local split = tuned(options.clock, model, best.split, search.sums, best.replica)
    if split then
      local row = { split = split, name = best.name .. " groups", memory = best.memory, bound = best.bound, grouped = true }
      search:simulate(row)
      search.rows[#search.rows + 1] = row
      best = search.best
    end
  end
  if best and best.replica then best.job = T.job(options.clock, model, best.split, where) end
  table.sort(search.rows, before)
  for _, row in ipairs(search.rows) do
    row.why = row.why or row.us and reason(row, best) or not best and "not simulated: the search was ended" or
      ("at least %.1f ms by its %s; the fastest step takes %.1f ms"):format(row.bound / 1000, SHOWN[row.level], best.us / 1000)
  end
  return search.rows, (ended or left.not_looked_at > 0) and left or nil, search
end

-- A file that returns the table of a model, and has nothing to call.
function M.read(path) return T.model(T.read(path)) end

return M
