-- SPDX-License-Identifier: Apache-2.0
-- How much L2 a matrix product needs: time and traffic to device memory over the size of L2.
local E = dofile((arg[0]:match ".*/" or "") .. "common.lua")
local size = E.quick and 512 or 4096
local sizes = E.quick and { 1, 8, 64 } or { 4, 8, 16, 32, 48, 64, 96, 128, 192, 384 }
local rows = {}
for _, mib in ipairs(sizes) do
  local chip = E.chip { ["l2.size"] = mib .. "MiB" }
  local summary, result = E.run(chip, "matmul", { m = size, k = size, n = size, dtype = "fp16" })
  rows[#rows + 1] = { mib, summary.total_cycles, summary.l2_hit_rate, result:get "hbm.read_bytes" / 2 ^ 20,
    summary.hbm_peak_fraction }
end
E.table("l2_size", { "L2 MiB", "cycles", "hit rate", "HBM read MiB", "HBM share" }, rows)
E.draw("l2_size", { title = ("matmul %d on %s"):format(size, E.soc), xlabel = "L2, MiB", ylabel = "cycles",
  xlog = true }, rows, { { "cycles", 1, 2 } })
