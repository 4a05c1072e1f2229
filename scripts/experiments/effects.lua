-- SPDX-License-Identifier: Apache-2.0
-- Effects that users of the chips rely on, each with the claim that is made for it, what the simulator gives, and
-- whether that is the claim. Sizes and rates give most results in closed form. The scripts lie in effects/.
--
--     vinci lua effects.lua [--only=NAME] [--quick] [--soc=NAME] [--memory=flat|cycle] [--output=DIR]
--
-- Prints a line for each; with --only also the tables behind the result. Exit code 1 when one fails. A script of
-- effects/ returns a function of what common.lua has; that returns { row, effect, claim, result, pass }: row is the
-- number in the list of effects that the project keeps. A claim that does not hold here, for a reason that is known, has
-- the reason as `refuted`: "no" in place of "FAIL", and no failure.
local folder = arg[0]:match ".*/" or ""
local names = { "split_chain", "in_place", "fused_convolution", "precision", "dynamic_shapes", "bottlenecks", "swap_or_recompute", "data_loader", "chip_files", "gears",
  "overlapped_copies", "ablation", "lost_fusion", "output_type", "selection", "tuning", "ring_all_reduce", "gradient_compression",
  "asynchronous_gradients", "gradient_buckets", "weak_scaling", "parallel_split", "checkpoints" }
local only
for i = #arg, 1, -1 do
  local name = arg[i]:match "^%-%-only=(.+)$"
  if name then
    only = name
    table.remove(arg, i)
  end
end
local E = dofile(folder .. "common.lua")
E.silent = not only

local rows, failed, refuted, found = {}, 0, 0, false
for _, name in ipairs(names) do
  if not only or only == name then
    found = true
    local one = dofile(folder .. "effects/" .. name .. ".lua")(E)
    local verdict = one.pass and "pass" or one.refuted and "no" or "FAIL"
    failed = failed + (verdict == "FAIL" and 1 or 0)
    refuted = refuted + (verdict == "no" and 1 or 0)
    rows[#rows + 1] = { one.row, name, verdict, one }
  end
end
if not found then
  io.stderr:write(("error: no effect '%s'\nhint: one of %s\n"):format(only, table.concat(names, ", ")))
  os.exit(2)
end
for _, row in ipairs(rows) do
  local one = row[4]
  print(("%-4s %s, %s: %s\n     claim:  %s\n     result: %s"):format(row[3], one.row, row[2], one.effect, one.claim,
    one.result))
  if row[3] == "no" then print("     reason: " .. one.refuted) end
end
print(("%d effects, %d failed, %d claims do not hold here"):format(#rows, failed, refuted))
os.exit(failed == 0 and 0 or 1, true)
