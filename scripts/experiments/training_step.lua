-- SPDX-License-Identifier: Apache-2.0
-- What does a training step of a transformer take when it is split over devices, and which split is fastest?
--
-- `vinci group plan` prints the same table; this script draws it too, and takes one split.
--
--     vinci lua training_step.lua [MODEL.lua] [--split=tp=2,pp=2,dp=2] [--plan=DEVICES] [--system=NAME]
--       [--launch=US] [--job=FILE] and the options of common.lua
--
-- MODEL.lua returns a table as LUA.md describes models; without the file, a small model stands in. --plan tries all
-- splits of that number of devices and ranks them. --launch is what the host takes to issue a kernel. --job writes the
-- text of the step for `vinci group run`.
local vinci = require "vinci"
local own, rest = { system = "atlas_a2_910b4" }, {}
for _, word in ipairs(arg) do
  local key, value = word:match "^%-%-(%a+)=(.+)$"
  if key == "split" or key == "plan" or key == "system" or key == "launch" or key == "job" then
    own[key] = value
  elseif word:sub(1, 1) ~= "-" then
    own.model = word
  else
    rest[#rest + 1] = word
  end
end
for i = 1, math.max(#arg, #rest) do arg[i] = rest[i] end
local E = dofile((arg[0]:match ".*/" or "") .. "common.lua")
if not table.concat(arg, " "):find("--soc=", 1, true) then E.soc = "Ascend910B4" end -- as in the default system
local T, P = vinci.transformer, vinci.planner

local function model()
  if own.model then return P.read(own.model) end
  return T.model { layers = 4, hidden = 1024, ffn = 2816, heads = 16, kv_heads = 4, vocab = 32000,
    sequence = E.quick and 512 or 2048, global_batch = 16, name = "small" }
end

-- "tp=2,pp=2,sharded,recompute" as a table.
local function split_of(text)
  local split = {}
  for word in text:gmatch "[^,]+" do
    local key, value = word:match "^([%a_]+)=(%d+)$"
    split[key or word] = key and math.tointeger(value) or true
  end
  return split
end

local gib = 1 << 30
local launch = (tonumber(own.launch or 0) or error("--launch takes microseconds, not " .. own.launch, 0)) + 0.0
local chip = E.chip()
local limit = chip:get "hbm.size"
local network = model()
local list = not own.plan and own.split and { split_of(own.split) } or
  P.splits(network, math.tointeger(own.plan or 8) or error("--plan takes a number of devices", 0))
local tried = P.plan(network, { clock = T.clock(chip, { memory = E.memory }), splits = list, system = own.system, memory = limit,
  launch_us = launch, buckets = own.plan ~= nil or not own.split })

local table_rows, drawn = {}, {}
for i, step in ipairs(tried) do
  local ms = function(us) return us and ("%.3f"):format(math.max(us, 0) / 1000) or "-" end -- no -0.000
  table_rows[i] = { step.name, ms(step.us), ms(step.computing_us), ms(step.exposed_us), ms(step.bubble_us),
    step.memory and ("%.2f"):format(step.memory / gib) or "-", step.why }
  if step.us then drawn[#drawn + 1] = { #drawn + 1, step.us / 1000, step.computing_us / 1000 } end
end
E.table("training_step", { "split", "step ms", "computing ms", "exposed ms", "bubble ms", "memory GiB", "why not" }, table_rows)
E.draw("training_step", { title = network.name, xlabel = "rank of the split", ylabel = "ms" }, drawn,
  { { "step", 1, 2 }, { "computing", 1, 3 } })
if own.job and tried[1].job then
  local file = assert(io.open(own.job, "w"))
  file:write(tried[1].job):close()
  print(("vinci group run -s %s %s"):format(own.system, own.job))
end
