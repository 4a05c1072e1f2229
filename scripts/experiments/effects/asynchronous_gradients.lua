-- SPDX-License-Identifier: Apache-2.0
-- Gradients of layers are summed between the layers (synchronous), or beside the layers that follow (asynchronous).
local RANKS, LAYERS, BYTES = 8, 12, 16 << 20

local function sum(stream) return ("collective,op=all_reduce,group=all,bytes=%d,stream=%d"):format(BYTES, stream) end

local function rows_of(us, memory, asynchronous)
  local rows = {}
  for i = 1, LAYERS do
    rows[#rows + 1] = ("work,us=%.6f,memory=%.3f"):format(us, memory)
    if asynchronous then
      rows[#rows + 1] = ("record,event=e%d"):format(i)
      rows[#rows + 1] = ("wait,event=e%d,stream=1"):format(i)
    end
    rows[#rows + 1] = sum(asynchronous and 1 or 0)
  end
  return rows
end

-- Each sum begins when its layer and the sum before have ended.
local function closed_form(us, one)
  local ended = 0
  for i = 1, LAYERS do ended = math.max(ended, i * us) + one end
  return ended - LAYERS * us
end

return function(E)
  local one = E.job(RANKS, { sum(0) }).us
  local table_rows, worst, least, slowest = {}, 0, math.huge, 0
  for _, share in ipairs { 0.5, 0.8, 1, 1.25, 2, 4 } do
    local us = one * share
    local apart, beside = E.job(RANKS, rows_of(us, 0, false)), E.job(RANKS, rows_of(us, 0, true))
    local bound = E.job(RANKS, rows_of(us, 1, true))
    local exposed, closed = beside.ranks[1].exposed_us, closed_form(us, one)
    local slow = bound.ranks[1].slowed_us / (LAYERS * us)
    worst = math.max(worst, math.abs(exposed / closed - 1))
    least = math.min(least, 1 - exposed / apart.ranks[1].exposed_us)
    slowest = math.max(slowest, slow)
    table_rows[#table_rows + 1] = { us, one, apart.ranks[1].exposed_us, exposed, closed, slow }
  end
  E.table("asynchronous_gradients", { "layer us", "sum us", "exposed apart us", "exposed beside us", "closed form us",
    "slow-down when bound by memory" }, table_rows)
  return { row = 18, effect = "sums of gradients beside the backward pass",
    claim = "exposed time in closed form within 2 %, 30 % less than in turn; kernels bound by memory slow down",
    result = ("off by %.2f %% at most; %.0f %% less at least; kernels bound by memory take up to %.0f %% longer"):format(100 * worst,
      100 * least, 100 * slowest),
    pass = worst < 0.02 and least >= 0.3 and slowest > 0 }
end
