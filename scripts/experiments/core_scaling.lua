-- SPDX-License-Identifier: Apache-2.0
-- How a matrix product scales with cores: speed-up over one core, and what is the limit.
local E = dofile((arg[0]:match ".*/" or "") .. "common.lua")
local size = E.quick and 512 or 2048
local counts = E.quick and { 1, 4, 16 } or { 1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 48 }
local rows, alone = {}, nil
for _, cores in ipairs(counts) do
  local chip = E.chip { ["device.cube_cores"] = cores }
  local summary = E.run(chip, "matmul", { m = size, k = size, n = size, dtype = "fp16" })
  alone = alone or summary.total_cycles
  local speedup = alone / summary.total_cycles
  rows[#rows + 1] = { cores, summary.total_cycles, speedup, speedup / cores, summary.utilization.M,
    summary.hbm_peak_fraction, summary.bound }
end
E.table("core_scaling", { "cores", "cycles", "speed-up", "efficiency", "M", "HBM share", "bound" }, rows)
E.draw("core_scaling", { title = ("matmul %d on %s"):format(size, E.soc), xlabel = "cores", ylabel = "speed-up" },
  rows, { { "measured", 1, 3 }, { "ideal", 1, 1, style = "lines" } })
