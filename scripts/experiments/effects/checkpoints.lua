-- SPDX-License-Identifier: Apache-2.0
-- How often to write a checkpoint of a training whose devices fail: the interval whose simulated time is least, against
-- Young's sqrt(2 C M) (CACM 17(9), 1974) and the optimum of Daly's time (FGCS 22, 2006), which is exact for failures at
-- random. And a simulation that is killed goes on from its own checkpoint with the same bits.
local vinci = require "vinci"
local DAY, DETECT, RESTART = 86400, 60, 240

-- Daly's time: intervals with their checkpoints, each until it is through; failures during a restart restart that.
-- Nothing fails while a failure is being detected, so that this time is added for each failure.
local function daly(case, interval)
  local m = case.mtbf_s / case.units
  return case.work_s / interval * (m + DETECT) * math.exp(RESTART / m) * (math.exp((interval + case.blocking_s) / m) - 1)
end

-- Daly's time is of whole intervals.
local function whole(work_s, interval) return math.ceil(work_s / interval) * interval end

local function simulate(case, interval, runs)
  return vinci.group_train { work_s = whole(case.work_s, interval), interval_s = interval, blocking_s = case.blocking_s, mtbf_s = case.mtbf_s, units = case.units, detect_s = DETECT, restart_s = RESTART, runs = runs }
end

-- Where a curve is least: the lowest of a row of intervals, then a parabola over log(interval) around that.
local function least(low, high, points, f)
  local best, x = nil, {}
  for i = 0, points do
    local at = low * (high / low) ^ (i / points)
    x[i] = { math.log(at), f(at) }
    if not best or x[i][2] < x[best][2] then best = i end
  end
  best = math.max(2, math.min(points - 2, best))
  -- Least squares of a parabola over five points that are one apart.
  local y = {}
  for k = -2, 2 do y[k] = x[best + k][2] end
  local slope = (2 * (y[2] - y[-2]) + y[1] - y[-1]) / 10
  local bend = (2 * (y[2] + y[-2]) - y[1] - y[-1] - 2 * y[0]) / 14
  return math.exp(x[best][1] - slope / (2 * bend) * (x[1][1] - x[0][1]))
end

-- The same runs in two parts, the second from the file of a part that was torn; and the same without a break.
local function resumed()
  local settings = { work_s = 40 * DAY, interval_s = 3600, blocking_s = 60, mtbf_s = 1e7, units = 64, detect_s = DETECT, restart_s = RESTART,
    spares = 1, repair_s = 3 * DAY, shrink = true }
  local function text_of(path)
    local file = assert(io.open(path, "rb"))
    local text = file:read "a"
    file:close()
    return text
  end
  local names, results = { os.tmpname(), os.tmpname() }, {}
  for i, name in ipairs(names) do
    os.remove(name)
    settings.checkpoint = name
    if i == 2 then
      settings.runs = 70
      vinci.group_train(settings)
      local text = text_of(name)
      local file = assert(io.open(name, "wb"))
      file:write(text:sub(1, #text - 30))
      file:close()
    end
    settings.runs = 200
    results[i] = vinci.group_train(settings)
  end
  local same = text_of(names[1]) == text_of(names[2])
  for key, value in pairs(results[1]) do same = same and results[2][key] == value end
  for _, name in ipairs(names) do os.remove(name) end
  return same
end

return function(E)
  local table_rows, worst_young, worst_daly, worst_time, outside = {}, 0, 0, 0, 0
  local runs = E.quick and 400 or 4000
  for _, case in ipairs { { units = 1024, mtbf_s = 5e7, blocking_s = 20 }, { units = 128, mtbf_s = 1.8e7, blocking_s = 60 },
    { units = 4096, mtbf_s = 1.2e8, blocking_s = 30 } } do
    case.work_s = 30 * DAY
    local young = math.sqrt(2 * case.blocking_s * case.mtbf_s / case.units)
    -- Of a second of work: each interval has work of its own.
    local time = function(interval) return simulate(case, interval, runs).time_s / whole(case.work_s, interval) end
    local got = least(young / 4, young * 4, 16, time)
    local best = least(young / 4, young * 4, 64, function(interval) return daly(case, interval) end)
    local interval = 60 * (young // 60)
    local at = simulate(case, interval, runs)
    case.work_s = whole(case.work_s, interval)
    local closed = daly(case, interval)
    worst_young, worst_daly = math.max(worst_young, math.abs(got / young - 1)), math.max(worst_daly, math.abs(got / best - 1))
    worst_time = math.max(worst_time, math.abs(at.time_s / closed - 1))
    outside = outside + (math.abs(at.time_s - closed) > at.half_s and 1 or 0)
    table_rows[#table_rows + 1] = { case.units, case.mtbf_s, case.blocking_s, got, young, best, at.time_s, at.half_s, closed, at.failures }
  end
  E.table("checkpoints", { "units", "mtbf s", "checkpoint s", "optimum s", "Young s", "Daly s", "time s", "+- s", "Daly's time s", "failures" },
    table_rows)
  local same = resumed()
  return { row = 21, effect = "checkpoints of a training whose devices fail",
    claim = "optimum interval within 5 % of Young/Daly; a simulation that is killed goes on bit-identically",
    result = ("off by %.1f %% from Young and %.1f %% from Daly at most; times by %.3f %%, %d of %d beyond the 95 %% interval; resumed: %s"):format(
      100 * worst_young, 100 * worst_daly, 100 * worst_time, outside, #table_rows, same and "the same bits" or "OTHER BITS"),
    pass = worst_young < 0.05 and worst_daly < 0.05 and worst_time < 0.005 and same }
end
