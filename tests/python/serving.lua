-- SPDX-License-Identifier: Apache-2.0
-- Streams of requests on engines: Lua for test_serving_same.sh. serving.c says what is served.
local vinci = require "vinci"
local state, list, at = 7, {}, 0
local function draw(n)
  state = (state * 1103515245 + 12345) % (1 << 31)
  return (state >> 16) % n
end
for i = 1, 200 do
  at = at + 10 * draw(60)
  local prompt = 1 + draw(300)
  list[i] = { at_us = at, prompt = prompt, tokens = 1 + draw(60) }
end
local function step(one)
  local us = 100 + 2 * one.batch + one.ends + one.length * one.batch / 64
  for _, part in ipairs(one.parts) do us = us + part[1] + part[2] / 8 end
  return us
end
for _, sizes in ipairs { { 2048, 4000 }, { 64, 60 }, { 100, 160 }, { 64, 60, 2, 3 } } do
  local found = vinci.serving_run { requests = list, page = 16, batch = 24, tokens = sizes[1], pages = sizes[2], prefill = sizes[3], decode = sizes[4],
    step = step, send = function(tokens) return 50 + tokens / 4 end }
  for _, name in ipairs { "ttft_us", "tpot_us", "itl_us" } do
    local share = found[name]
    print(("%.6f %.6f %.6f %d"):format(share.p50, share.p90, share.p99, share.count))
  end
  print(("%.6f %.6f %.6f %d %d %d %d %d"):format(found.start_us, found.end_us, found.busy_us, found.tokens, found.steps, found.preempted,
    found.fullest, found.engines))
end
