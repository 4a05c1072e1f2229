-- SPDX-License-Identifier: Apache-2.0
-- `make steps`: training steps on the Ascend910B of 2019, kernel by kernel on one chip, against the sums that were measured.
--
--     vinci lua tests/accuracy/training_steps.lua [STEP...]
--
-- A step is the kernels of tests/reference/training_910b_2019.csv as often as tests/reference/training_910b_2019_steps.csv
-- says: the nodes of a row over the networks that have the row. In which order a step has its kernels is not known: each
-- finds in L2 what the row before has left. Printed are the measured sum, the sum of the rows' measured durations (which
-- shows that the counts are right), and the simulated sum, of all kernels and of those that are not products or
-- convolutions. How the vendor tiled products is not in the profiles: claimed is the sum of the others, and of ResNet-50.
local vinci = require "vinci"
local reference = (arg[0]:match ".*/" or "") .. "../reference/"
local LIMIT = 0.35

-- ms; Huawei-Performance-Model/Ascend-910B, sums of kernels of a step.
local MEASURED = { resnet50_16 = 21.22, resnet50_32 = 28.84, resnet50_64 = 47.31, bert_32 = 80.8, bert_64 = 157.2,
  bert_128 = 203.1, bert_256 = 764.8, bert_512 = 1525.8, deepfm_12000 = 22.18, deepfm_16000 = 21.95, deepfm_20000 = 38.71 }

local function read(name)
  local lines = {}
  for line in io.lines(reference .. name) do lines[#lines + 1] = line end
  return lines
end

local rows, counts, names, count_of = read "training_910b_2019.csv", read "training_910b_2019_steps.csv", {}, {}
for name in counts[1]:gmatch "[^,]+" do names[#names + 1] = name end
for i = 2, #counts do
  local list = {}
  for word in counts[i]:gmatch "[^,]+" do list[#list + 1] = tonumber(word) end
  count_of[i] = list
end

local function is_cube(row) return row:match "^[^,]*MatMul" or row:match "^[^,]*Conv2D" or row:match "^FusedDbnDw" end

-- The step's kernels as a profile, and what was measured of each.
local function profile(column)
  local path, known = os.tmpname(), {}
  local file = assert(io.open(path, "w"))
  file:write(rows[1], "\n")
  for i = 2, #rows do
    for _ = 1, count_of[i][column] do
      file:write(rows[i], "\n")
      known[#known + 1] = { us = tonumber(rows[i]:match ",([%d.]+)%s*$"), cube = is_cube(rows[i]) }
    end
  end
  file:close()
  return path, known
end

local soc, good, chosen = vinci.soc "Ascend910B", true, {}
for _, word in ipairs(arg) do
  if not MEASURED[word] then
    io.stderr:write(("error: no step '%s'\nhint: one of %s\n"):format(word, table.concat(names, ", ")))
    os.exit(2)
  end
  chosen[word] = true
end
print(("%-14s %8s %12s %12s %12s %8s %12s %12s %8s"):format("step", "kernels", "measured ms", "rows ms", "simulated",
  "error", "others ms", "simulated", "error"))
for column, name in ipairs(names) do
  if next(chosen) == nil or chosen[name] then
    local path, known = profile(column)
    local nodes = vinci.net(soc, vinci.net_profile(soc, path), { memory = "flat", ["repeat"] = 1 }).nodes
    os.remove(path)
    local all, own, others, own_others = 0, 0, 0, 0
    for i, kernel in ipairs(known) do
      all, own = all + kernel.us, own + nodes[i].us
      if not kernel.cube then others, own_others = others + kernel.us, own_others + nodes[i].us end
    end
    local error, rest = own / all - 1, own_others / others - 1
    local claimed = math.abs(rest) <= LIMIT and (not name:match "^resnet" or math.abs(error) <= LIMIT)
    good = good and claimed
    print(("%-14s %8d %12.2f %12.2f %12.2f %+6.1f %% %12.2f %12.2f %+6.1f %%%s"):format(name, #known, MEASURED[name], all / 1e3,
      own / 1e3, 100 * error, others / 1e3, own_others / 1e3, 100 * rest, claimed and "" or "  NO"))
  end
end
os.exit(good and 0 or 1, true)
