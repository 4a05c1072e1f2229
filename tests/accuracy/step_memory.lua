-- SPDX-License-Identifier: Apache-2.0
-- Memory of devices in training steps: what vinci.transformer counts, against the peaks that a framework's tests publish.
--
--     vinci lua tests/accuracy/step_memory.lua
--
-- The rows are those of tests/reference/step_memory_910b.csv. The framework prints its peak behind the first step, whose
-- update makes the moments of the optimizer: that is `first_step` of vinci.transformer.memory. `a step` is the peak of
-- later steps, `device` what a device needs for them. Rows that the model has no words for stand apart.
local vinci = require "vinci"
local T = vinci.transformer
local folder = (arg[0]:match ".*/" or "") .. "../reference/"
local MEDIAN, WORST, MIB = 0.10, 0.25, 1 << 20

local MODEL = { "layers", "hidden", "ffn", "heads", "kv_heads", "vocab", "sequence", "micro_batch", "global_batch", "dtype",
  "experts", "expert_ffn", "head_dim", "top_k", "shared_experts", "dense_layers", "kv_rank", "q_rank" }
local SPLIT = { "tp", "pp", "dp", "cp", "cp_heads", "ep", "swap", "vpp", "sequence_parallel", "recompute", "recompute_layers", "recompute_activation",
  "reuse_weights", "moments", "sharded", "overlap" }

local function value_of(text)
  if text == "true" or text == "false" then return text == "true" end
  return math.tointeger(tonumber(text)) or tonumber(text) or text
end

local function rows_of(path)
  local names, rows = nil, {}
  for line in io.lines(path) do
    local cells, row = {}, {}
    for cell in line:gmatch "[^,]+" do cells[#cells + 1] = cell end
    if line:sub(1, 1) == "#" then
      cells = nil
    elseif not names then
      names = cells
    else
      for i, name in ipairs(names) do row[name] = value_of(cells[i]) end
      rows[#rows + 1] = row
    end
  end
  return rows
end

local function picked(row, names)
  local out = {}
  for _, name in ipairs(names) do out[name] = row[name] end
  return out
end

-- The fullest device in the first step.
local function fullest(row)
  local model, split, most = picked(row, MODEL), picked(row, SPLIT), nil
  for stage = 0, split.pp - 1 do
    local one = T.memory(model, split, stage)
    if not most or one.first_step > most.first_step then most = one end
  end
  return most
end

local errors = {}
print(("%-16s %12s %12s %8s %12s %12s"):format("training step", "measured MiB", "counted MiB", "error", "a step", "device"))
for _, row in ipairs(rows_of(folder .. "step_memory_910b.csv")) do
  local most = fullest(row)
  local off = most.first_step / MIB / row.peak_mib - 1
  if row.described then errors[#errors + 1] = math.abs(off) end
  print(("%-16s %12.1f %12.1f %+7.1f %% %10.1f %12.1f%s"):format(row.name, row.peak_mib, most.first_step / MIB, off * 100,
    most.bytes / MIB, most.device / MIB, row.described and "" or "  apart: not described"))
end
table.sort(errors)
local median, worst = (errors[(#errors + 1) // 2] + errors[#errors // 2 + 1]) / 2, errors[#errors]
print(("%d steps: median %.1f %%, worst %.1f %% (limits %.0f and %.0f %%)"):format(#errors, median * 100, worst * 100, MEDIAN * 100,
  WORST * 100))
os.exit(median <= MEDIAN and worst <= WORST and 0 or 1)
