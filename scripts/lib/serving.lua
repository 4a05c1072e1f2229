-- SPDX-License-Identifier: Apache-2.0
-- vinci.serving: a stream of requests on devices that serve a language model: continuous batching over pages of the cache of K
-- and V, prompts and tokens mixed in a step or on devices of their own, and the latencies that follow.
--
-- The engines are those of vinci_serving.h: what a step does, how pages are taken. Times of steps are those of vinci.serving_costs.
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

-- As milliseconds of a share of vinci.serving_run.
local function milliseconds(share)
  if share.count == 0 then return { p50 = 0, p90 = 0, p99 = 0 } end
  return { p50 = share.p50 / 1000, p90 = share.p90 / 1000, p99 = share.p99 / 1000 }
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
  local blocks = options.blocks or blocks_of(costs)
  local good, found = pcall(vinci.serving_run, { requests = stream, batch = options.batch, tokens = options.tokens, page = costs.block, pages = blocks,
    prefill = options.prefill, decode = options.decode,
    step = function(step) return costs:step(step.parts, step.batch, step.length, step.ends).us end,
    send = function(tokens) return costs:cache_us(tokens) end })
  if not good then
    if type(found) == "table" and found.text then refuse("%s", found.text) end
    error(found, 0)
  end
  local seconds = (found.end_us - found.start_us) / 1e6
  return { requests = #stream, seconds = seconds, tokens_s = found.tokens / seconds, ttft_ms = milliseconds(found.ttft_us),
    tpot_ms = milliseconds(found.tpot_us), itl_ms = milliseconds(found.itl_us), blocks = blocks, devices = found.engines * costs.tp,
    steps = found.steps, preempted = found.preempted, fullest = found.fullest }
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
