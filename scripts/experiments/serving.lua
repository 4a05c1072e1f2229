-- SPDX-License-Identifier: Apache-2.0
-- How fast does a device, or a group of devices, serve a language model, and what do its users wait for?
--
--     vinci lua serving.lua [MODEL.lua] [--rate=N,N...] [--count=N] [--prompt=A-B] [--tokens=A-B] [--batch=N] [--chunk=N]
--       [--tp=N] [--ep=N] [--int8] [--system=NAME] [--prefill=N --decode=N] [--help] and the options of common.lua
--
-- MODEL.lua returns a table as LUA.md describes models; without the file, a small model stands in. Each rate, in requests a
-- second, is a row: time to the first token, time of each token after that, tokens a second. LUA.md has what is modelled and
-- the error against published figures.
local vinci = require "vinci"
local NUMBERS = { count = 50, batch = 256, chunk = 2048, tp = 1, ep = 1, prefill = false, decode = false }
local own, rest = { rate = "10,20,40,80,160", prompt = "128-512", tokens = "32-64", system = "atlas_a2_910b4" }, {}
for key, number in pairs(NUMBERS) do own[key] = number end

local function usage(text)
  local out = text and io.stderr or io.stdout
  out:write(text and "error: " .. text .. "\n" or "", ([[
usage: vinci lua %s [MODEL.lua] [OPTION]...

Serve a stream of requests for a language model; a row for each rate.

  --rate=N,N...      requests a second, with exponential gaps (%s)
  --count=N          requests of a stream (50)
  --prompt=A-B       tokens of a prompt (128-512)
  --tokens=A-B       tokens of an answer (32-64)
  --batch=N          the most sequences at once (256)
  --chunk=N          the most tokens of a step (2048); longer prompts are read
                     in parts
  --tp=N, --ep=N     devices that share attention, and experts (1)
  --int8             products and experts in eight bits
  --system=NAME      the links between devices (atlas_a2_910b4)
  --prefill=N, --decode=N
                     devices for prompts, and others for tokens
  --quick, --soc=NAME, --memory=flat|cycle, --output=DIR
                     as of all experiments: small sizes, the chip, its memory,
                     files as CSV and SVG
Example:
  vinci lua serving.lua --rate=50,100,200 --prompt=256-256 --tokens=64-64
]]):format(arg[0], own.rate))
  os.exit(text and 2 or 0)
end

for _, word in ipairs(arg) do
  local key, value = word:match "^%-%-(%w+)=(.+)$"
  if word == "--help" or word == "-h" then usage() end
  if word == "--int8" then
    own.int8 = true
  elseif key and NUMBERS[key] ~= nil then
    own[key] = math.tointeger(tonumber(value))
    if not own[key] or own[key] < 1 then usage(("--%s takes a number from 1, not %s"):format(key, value)) end
  elseif key and own[key] then
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

-- { from, to } of "A-B".
local function range(name)
  local from, to = own[name]:match "^(%d+)%-(%d+)$"
  local low, high = from and math.tointeger(tonumber(from)), to and math.tointeger(tonumber(to))
  if not low or not high or low < 1 or high < low then
    usage(("--%s takes two numbers, the smaller first, such as 128-512, not %s"):format(name, own[name]))
  end
  return { low, high }
end

local function small()
  return { layers = E.quick and 2 or 16, hidden = E.quick and 256 or 2048, ffn = E.quick and 512 or 5632, heads = E.quick and 4 or 16,
    vocab = E.quick and 1000 or 32000, name = "small" }
end

local prompt, tokens = range "prompt", range "tokens"
local costs = vinci.serving.costs(E.chip(), own.model and vinci.planner.read(own.model) or small(), { tp = own.tp, ep = own.ep,
  memory = E.memory, system = (own.tp > 1 or own.ep > 1 or own.prefill) and own.system or nil, weights = own.int8 and "int8" or nil })
local rows, drawn = {}, {}
for word in own.rate:gmatch "[^,]+" do
  local rate = tonumber(word)
  if not rate or not (rate > 0 and rate < math.huge) then usage("--rate takes numbers above 0, not " .. word) end
  local stream = vinci.serving.stream { rate = rate, count = own.count, prompt = prompt, tokens = tokens }
  local run = vinci.serving.run(costs, stream, { batch = own.batch, tokens = own.chunk, prefill = own.prefill or nil, decode = own.decode or nil })
  rows[#rows + 1] = { rate, run.ttft_ms.p50, run.ttft_ms.p99, run.tpot_ms.p50, run.tpot_ms.p99, run.itl_ms.p99, run.tokens_s + 0.0,
    run.fullest, run.preempted }
  drawn[#drawn + 1] = { rate, run.ttft_ms.p99, run.tpot_ms.p99 }
end
E.table("serving", { "requests/s", "TTFT p50 ms", "TTFT p99 ms", "TPOT p50 ms", "TPOT p99 ms", "ITL p99 ms", "tokens/s", "at once",
  "begun anew" }, rows)
E.draw("serving", { title = "a stream of requests", xlabel = "requests/s", ylabel = "ms" }, drawn, { { "first token, p99", 1, 2 },
  { "each token, p99", 1, 3 } })
