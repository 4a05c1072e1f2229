-- SPDX-License-Identifier: Apache-2.0
-- What each pass saves of a network's time: added one after another, and each alone.
local vinci = require "vinci"
local networks = dofile((arg[0]:match ".*/" or "") .. "networks/all.lua")

local passes = { "fold", "dtype", "epilogue", "layout", "residual", "chain" } -- those that find something in ResNet

-- What single passes save, as a part of what all save, for a batch.
local function together(us, batch)
  local none, sum = us("none", batch), 0
  for _, pass in ipairs(passes) do sum = sum + none - us(pass, batch) end
  return 100 * sum / (none - us("all", batch))
end

return function(E)
  local name = "resnet50"
  local text = networks.family(name, { norms = true })
  local function us(list, batch)
    return vinci.net(E.chip(), text, { batch = batch or 1, passes = list, memory = E.memory }).us
  end
  local none, all = us "none", us "all"
  local rows, sum, before, list = {}, 0, none, nil
  for i, pass in ipairs(passes) do
    list = list and list .. "," .. pass or pass
    local added, alone = us(list), none - us(pass)
    rows[i] = { pass, before - added, alone, 100 * alone / (none - all) }
    sum, before = sum + alone, added
  end
  rows[#rows + 1] = { "all", none - all, sum, 100 * sum / (none - all) }
  E.table("ablation", { "pass", "added us", "alone us", "of all %" }, rows)
  return { row = 1, effect = "a whole network with more and more passes",
    claim = "what single passes save adds up to what all save, within 10 per cent, at batch 1",
    result = ("%s, fp32 without passes %.0f us, with all %.0f us, %.1f times faster; single passes add up to %.0f %% of what all save%s")
      :format(name, none, all, none / all, 100 * sum / (none - all), E.quick and "" or
        ("; at batch 16 to %.0f %%, as passes there need others to save"):format(together(us, 16))),
    pass = math.abs(sum / (none - all) - 1) <= 0.1 }
end
