-- SPDX-License-Identifier: Apache-2.0
-- Which gradients are summed together: all at the end, each alone, or groups that are chosen from two measured sums.
-- Gradients are those of a transformer with 12 layers and 1024 columns; times of the backward pass are simulated.
local vinci = require "vinci"
local ALPHA, RATE = 25, 50 -- microseconds of a transfer, GB/s of a port: stated with the result

-- Gradients in the order in which the backward pass has them: { us of work up to it, elements }.
local function timeline(E)
  local tokens, hidden, layers, list, answers = 4096, 1024, E.quick and 6 or 12, {}, {}
  local shapes = { { 4 * hidden, hidden }, { hidden, 4 * hidden }, { hidden, hidden }, { hidden, 3 * hidden } } -- k, n
  for i, shape in ipairs(shapes) do
    answers[2 * i - 1] = { op = "matmul", args = { m = tokens, k = shape[2], n = shape[1], dtype = "bf16" } }
    answers[2 * i] = { op = "matmul", args = { m = shape[2], k = tokens, n = shape[1], dtype = "bf16", transpose_a = 1 } }
  end
  answers = vinci.evaluate(vinci.soc "Ascend910B4", answers, { memory = E.memory })
  for _ = 1, layers do
    for i, shape in ipairs(shapes) do
      list[#list + 1] = { answers[2 * i - 1].us + answers[2 * i].us, shape[1] * shape[2] }
    end
  end
  return list
end

local function sum(elements) return ("collective,op=all_reduce,group=all,bytes=%d"):format(4 * elements) end

-- The job in which groups that end at the gradients of `ends` are summed beside the backward pass.
local function step(E, ranks, set, list, ends)
  local rows, elements = {}, 0
  for i, gradient in ipairs(list) do
    rows[#rows + 1] = ("work,us=%.6f"):format(gradient[1])
    elements = elements + gradient[2]
    if ends[i] then
      rows[#rows + 1] = ("record,event=e%d"):format(i)
      rows[#rows + 1] = ("wait,event=e%d,stream=1"):format(i)
      rows[#rows + 1] = sum(elements) .. ",stream=1"
      elements = 0
    end
  end
  return E.job(ranks, rows, set).us
end

-- Tuned for one number of ranks: { tuned us, optimum us, groups }.
local function tune(E, ranks, set, list)
  local known = {}
  local function simulated(elements)
    known[elements] = known[elements] or E.job(ranks, { sum(elements) }, set).us
    return known[elements]
  end
  -- A straight line through two sums, as one would measure on a cluster.
  local small, large = 1 << 16, 1 << 24
  local slope = (simulated(large) - simulated(small)) / (large - small)
  local groups, count = vinci.planner.groups, 0
  local ends = groups(list, function(elements) return simulated(small) + (elements - small) * slope end)
  for _ in pairs(ends) do count = count + 1 end
  local _, optimum = groups(list, simulated)
  return step(E, ranks, set, list, ends), optimum, count
end

return function(E)
  local list, table_rows, each, worst, counts, point = timeline(E), {}, {}, 0, {}, nil
  local all = { [#list] = true }
  for i in ipairs(list) do each[i] = true end
  for _, links in ipairs { "ports", "mesh" } do
    local set = links == "ports" and E.plain_links(ALPHA, RATE) or {}
    for _, ranks in ipairs { 2, 4, 8 } do
      local tuned, optimum, count = tune(E, ranks, set, list)
      local alone, together = step(E, ranks, set, list, each), step(E, ranks, set, list, all)
      local row = { links, ranks, together, alone, tuned, optimum, count, 1 - tuned / together, 1 - tuned / alone }
      worst, table_rows[#table_rows + 1] = math.max(worst, tuned / optimum - 1), row
      if links == "ports" then counts[#counts + 1], point = count, row end
    end
  end
  E.table("gradient_buckets", { "links", "ranks", "one sum us", "each alone us", "tuned us", "optimum us", "groups", "less than one",
    "less than each" }, table_rows)
  return { row = 16, effect = "groups of gradients that are summed together",
    claim = "tuned within 2 % of the optimum; 20 % faster than one sum at one stated point; other groups for other numbers of ranks",
    result = ("at most %.2f %% over the optimum; alpha %d us, %d GB/s, 8 ranks: %.0f %% faster than one sum, %.0f %% than each "
      .. "alone; %s groups for 2, 4, 8 ranks"):format(100 * worst, ALPHA, RATE, 100 * point[8], 100 * point[9],
      table.concat(counts, ", ")),
    pass = worst < 0.02 and point[8] >= 0.2 and point[9] > 0 and counts[1] ~= counts[3] }
end
