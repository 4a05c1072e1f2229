-- SPDX-License-Identifier: Apache-2.0
-- What faster memory brings: a streaming operator and a matrix product over the bandwidth of HBM.
local E = dofile((arg[0]:match ".*/" or "") .. "common.lua")
local size = E.quick and 512 or 2048
local scales = E.quick and { 0.25, 1, 4 } or { 0.125, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4 }
local rows = {}
for _, scale in ipairs(scales) do
  local chip = E.chip { ["hbm.bandwidth_scale"] = scale }
  local add = E.run(chip, "add", { shape = size * size * 4, dtype = "fp16" })
  local matmul = E.run(chip, "matmul", { m = size, k = size, n = size, dtype = "fp16" })
  rows[#rows + 1] = { scale, chip:get "hbm.bandwidth" * scale / 1e9, add.total_cycles, matmul.total_cycles,
    add.bound, matmul.bound }
end
E.table("hbm_bandwidth", { "scale", "GB/s", "add cycles", "matmul cycles", "add bound", "matmul bound" }, rows)
E.draw("hbm_bandwidth", { title = E.soc, xlabel = "HBM, GB/s", ylabel = "cycles", xlog = true, ylog = true }, rows,
  { { "add", 2, 3 }, { "matmul", 2, 4 } })
