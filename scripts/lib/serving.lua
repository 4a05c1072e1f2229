-- SPDX-License-Identifier: Apache-2.0
-- vinci.serving: a stream of requests on devices that serve a language model: continuous batching over pages of the cache of K
-- and V, prompts and tokens mixed in a step or on devices of their own, and the latencies that follow.
--
-- An engine begins a step with what is there: each running sequence gets a token, and what is left of the step's tokens is read
-- from prompts, in parts where these are longer (chunked prefill: Agrawal et al., Sarathi-Serve, 2024). Pages of a fixed number
-- of tokens are taken as sequences grow; when none is left, the sequence that came last gives up its own and begins anew (vLLM:
-- Kwon et al., 2023). Times of steps are those of vinci.serving_costs.
local vinci = ...
local M = {}

local USED_SHARE = 0.9 -- of device memory for weights and cache, the default of vLLM's gpu_memory_utilization

local function refuse(format, ...) error(("vinci.serving: " .. format):format(...), 0) end

function M.costs(soc, model, options) return vinci.serving_costs.new(soc, model, options) end

-- ---- requests --------------------------------------------------------------------------------------------------------

local function number_of(random, given, what)
  if math.type(given) == "integer" and given > 0 then return given end
  if type(given) ~= "table" or math.type(given[1]) ~= "integer" or math.type(given[2]) ~= "integer" or given[1] < 1 or given[2] < given[1] then
    refuse("%s is not a whole number from 1, nor { from, to }", what)
  end
  return given[1] + random(given[2] - given[1] + 1)
end

local STREAM = { seed = true, count = true, rate = true, prompt = true, tokens = true }

-- `count` requests at `rate` a second with exponential gaps (0: all at once), in whole microseconds; `prompt` and `tokens` are
-- numbers, or { from, to }. The same seed gives the same stream.
function M.stream(what)
  for key in pairs(what) do
    if not STREAM[key] then refuse("a stream has no '%s'", tostring(key)) end
  end
  local state, list, at = (what.seed or 1) & 0x7fffffff, {}, 0
  local function draw() -- drand48's generator: the same on every host
    state = (state * 0x5DEECE66D + 11) & 0xffffffffffff
    return state >> 16
  end
  local function random(n) return draw() % n end
  for i = 1, what.count or 100 do
    if (what.rate or 0) > 0 then at = at + math.floor(-math.log((draw() + 1) / (1 << 32)) / what.rate * 1e6 + 0.5) end
    list[i] = { at_us = at, prompt = number_of(random, what.prompt, "prompt"), tokens = number_of(random, what.tokens, "tokens") }
  end
  return list
end

-- ---- an engine -------------------------------------------------------------------------------------------------------

local Engine = {}
Engine.__index = Engine

local function engine(costs, options, blocks)
  return setmetatable({ costs = costs, most = options.batch or 256, tokens = options.tokens or 2048, now = 0, free = blocks, blocks = blocks,
    running = {}, waiting = {}, steps = 0, preempted = 0, busy_us = 0, fullest = 0 }, Engine)
end

function Engine:pages(tokens) return -(-tokens // self.costs.block) end

-- Pages for a sequence of that many tokens; false where there are too few.
function Engine:grow(one, tokens)
  local more = self:pages(tokens) - one.pages
  if more > self.free then return false end
  self.free, one.pages = self.free - math.max(more, 0), one.pages + math.max(more, 0)
  return true
end

function Engine:give_back(one) self.free, one.pages = self.free + one.pages, 0 end

-- Running sequences get pages for a token more; the last ones give up theirs while there are too few.
function Engine:keep()
  local i = 1
  while i <= #self.running do
    local one = self.running[i]
    if one.read < one.wanted or self:grow(one, one.read + 1) then
      i = i + 1
    else
      local last = table.remove(self.running)
      self:give_back(last)
      last.wanted, last.read = last.prompt + last.made, 0 -- all is read again
      table.insert(self.waiting, 1, last)
      self.preempted = self.preempted + 1
    end
  end
end

-- What a step reads: the rest of prompts that have begun, then prompts that wait.
function Engine:admit(left)
  local parts = {}
  local function take(one)
    local part = math.min(one.wanted - one.read, left)
    if part < 1 or not self:grow(one, one.read + part) then return false end
    parts[#parts + 1], left = { one, part, one.read }, left - part
    return true
  end
  for _, one in ipairs(self.running) do
    if one.read < one.wanted then take(one) end
  end
  while #self.waiting > 0 and #self.running < self.most and take(self.waiting[1]) do
    table.insert(self.running, table.remove(self.waiting, 1))
  end
  return parts
end

local function end_token(self, one, ended)
  one.made = one.made + 1
  if one.last_us then one.gaps[#one.gaps + 1] = self.now - one.last_us else one.first_us = self.now end
  one.last_us = self.now
  if one.made < one.tokens then return end
  self:give_back(one)
  one.end_us = self.now
  ended[#ended + 1] = one
end

-- One step from now on; false when nothing can be done.
function Engine:step(ended)
  self:keep()
  local made, length = {}, 0
  for _, one in ipairs(self.running) do
    if one.read == one.wanted then made[#made + 1], length = one, length + one.read + 1 end
  end
  local parts, prompts, ends = self:admit(math.max(self.tokens - #made, 0)), {}, 0
  for i, part in ipairs(parts) do
    prompts[i] = { part[2], part[3] }
    if part[3] + part[2] == part[1].wanted then ends = ends + 1 end
  end
  if #made == 0 and #parts == 0 then return false end
  local us = self.costs:step(prompts, #made, #made > 0 and length // #made or 0, ends).us
  self.now, self.busy_us, self.steps, self.fullest = self.now + us, self.busy_us + us, self.steps + 1, math.max(self.fullest, #self.running)
  for _, one in ipairs(made) do
    one.read, one.wanted = one.read + 1, one.wanted + 1
    end_token(self, one, ended)
  end
  for _, part in ipairs(parts) do
    local one = part[1]
    one.read = one.read + part[2]
    if one.read == one.wanted then end_token(self, one, ended) end
  end
  local still = {}
  for _, one in ipairs(self.running) do
    if not one.end_us then still[#still + 1] = one end
  end
  self.running = still
  return true
end

-- Serves a list, ordered by `at_us`, to its end.
function Engine:serve(list)
  local ended, next_one = {}, 1
  for _, one in ipairs(list) do
    if self:pages(one.prompt + one.tokens - 1) > self.blocks then -- the last token is not kept
      refuse("a request of %d tokens needs more than the %d pages that there are", one.prompt + one.tokens, self.blocks)
    end
  end
  while #ended < #list do
    while list[next_one] and list[next_one].at_us <= self.now do
      table.insert(self.waiting, list[next_one])
      next_one = next_one + 1
    end
    if not self:step(ended) then
      if not list[next_one] then refuse("%d of %d requests cannot go on", #list - #ended, #list) end
      self.now = math.max(self.now, list[next_one].at_us)
    end
  end
  return ended
end

-- ---- runs ------------------------------------------------------------------------------------------------------------

-- Pages that are left beside the weights.
local function blocks_of(costs)
  local memory = costs:memory()
  local left = costs.soc:get "hbm.size" * USED_SHARE - memory.weights
  if left < memory.token * costs.block then
    refuse("weights of %.1f GiB leave no page in %.1f GiB", memory.weights / (1 << 30), costs.soc:get "hbm.size" / (1 << 30))
  end
  return math.tointeger(left // (memory.token * costs.block))
end

local function percentiles(list)
  table.sort(list)
  local function at(share) return list[math.max(math.ceil(share * #list), 1)] or 0 end
  return { p50 = at(0.50), p90 = at(0.90), p99 = at(0.99) }
end

local function fresh(one, more)
  local out = { prompt = one.prompt, tokens = one.tokens, at_us = one.at_us, came_us = one.at_us, wanted = one.prompt, read = 0, made = 0,
    pages = 0, gaps = {} }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

local function dealt(list, count)
  local hands = {}
  for i = 1, count do hands[i] = {} end
  for i, one in ipairs(list) do table.insert(hands[(i - 1) % count + 1], one) end
  return hands
end

local function by_time(key)
  return function(a, b) return a[key] < b[key] or a[key] == b[key] and a.number < b.number end
end

-- Prompts are read on engines of their own; caches go to the others, which make all tokens but the first.
local function separated(costs, list, options, blocks, engines)
  local ready = {}
  for _, hand in ipairs(dealt(list, options.prefill)) do
    local one, alone = engine(costs, options, blocks), {}
    for i, request in ipairs(hand) do alone[i] = fresh(request, { tokens = 1, number = request.number, of = request }) end
    for _, done in ipairs(one:serve(alone)) do
      ready[#ready + 1] = { number = done.number, of = done.of, first_us = done.end_us, at_us = done.end_us + costs:cache_us(done.prompt) }
    end
    engines[#engines + 1] = one
  end
  table.sort(ready, by_time "at_us")
  local ended = {}
  for _, hand in ipairs(dealt(ready, options.decode)) do
    local one, rest = engine(costs, options, blocks), {}
    for _, done in ipairs(hand) do
      local request = fresh(done.of, { at_us = done.at_us, came_us = done.of.at_us, made = 1, first_us = done.first_us, last_us = done.first_us,
        number = done.number })
      request.read, request.wanted = 0, request.prompt
      rest[#rest + 1] = request
    end
    for _, done in ipairs(one:decode(rest)) do ended[#ended + 1] = done end
    engines[#engines + 1] = one
  end
  return ended
end

-- Serves requests whose prompts are in the cache when they come.
function Engine:decode(list)
  local take = self.admit
  self.admit = function(me)
    while #me.waiting > 0 and #me.running < me.most and me:grow(me.waiting[1], me.waiting[1].wanted + 1) do
      local one = table.remove(me.waiting, 1)
      one.read = one.wanted
      table.insert(me.running, one)
    end
    return {}
  end
  local step = self.step
  self.step = function(me, ended)
    me:admit()
    return step(me, ended)
  end
  local ended = {}
  local some = {}
  for _, one in ipairs(list) do
    if one.tokens > 1 then
      some[#some + 1] = one
    else
      one.end_us = one.first_us
      ended[#ended + 1] = one
    end
  end
  for _, one in ipairs(#some > 0 and self:serve(some) or {}) do ended[#ended + 1] = one end
  self.admit, self.step = take, step
  return ended
end

local OPTIONS = { batch = true, tokens = true, blocks = true, prefill = true, decode = true }

-- Serves a stream (of M.stream, or a list of { at_us =, prompt =, tokens = } in the order of time). See LUA.md.
function M.run(costs, stream, options)
  options = options or {}
  for key in pairs(options) do
    if not OPTIONS[key] then refuse("there is no option '%s'", tostring(key)) end
    if math.type(options[key]) ~= "integer" or options[key] < 1 then refuse("%s is a whole number from 1, not %s", key, tostring(options[key])) end
  end
  if (options.prefill == nil) ~= (options.decode == nil) then refuse "prefill and decode are given together" end
  if #stream == 0 then refuse "there is no request" end
  local blocks, engines, list, ended = options.blocks or blocks_of(costs), {}, {}, nil
  for i, one in ipairs(stream) do list[i] = fresh(one, { number = i }) end
  if options.prefill then
    ended = separated(costs, list, options, blocks, engines)
  else
    engines[1] = engine(costs, options, blocks)
    ended = engines[1]:serve(list)
  end
  local first, each, gaps, last, tokens = {}, {}, {}, 0, 0
  for i, one in ipairs(ended) do
    first[i], last, tokens = (one.first_us - one.came_us) / 1000, math.max(last, one.end_us), tokens + one.tokens
    if one.tokens > 1 then each[#each + 1] = (one.end_us - one.first_us) / (one.tokens - 1) / 1000 end
    for _, gap in ipairs(one.gaps) do gaps[#gaps + 1] = gap / 1000 end
  end
  local out = { requests = #ended, seconds = (last - stream[1].at_us) / 1e6, ttft_ms = percentiles(first), tpot_ms = percentiles(each),
    itl_ms = percentiles(gaps), blocks = blocks, devices = #engines * costs.tp, steps = 0, preempted = 0, fullest = 0 }
  out.tokens_s = tokens / out.seconds
  for _, one in ipairs(engines) do
    out.steps, out.preempted, out.fullest = out.steps + one.steps, out.preempted + one.preempted, math.max(out.fullest, one.fullest)
  end
  return out
end

-- The most sequences of which each gets its next token within `tpot_ms`, `length` being in the cache: batch, tokens a second
-- of a device, and the parts of the step.
function M.most(costs, length, tpot_ms, limit)
  local low, high = 0, limit or 1024
  local pages = blocks_of(costs)
  high = math.min(high, math.tointeger(pages // -(-length // costs.block)))
  while low < high do
    local middle = (low + high + 1) // 2
    if costs:step({}, middle, length, 0).us <= tpot_ms * 1000 then low = middle else high = middle - 1 end
  end
  local step = costs:step({}, math.max(low, 1), length, 0)
  return { batch = low, us = step.us, step = step, tokens_s = low / step.us * 1e6 / costs.tp }
end

return M
