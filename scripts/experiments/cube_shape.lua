-- SPDX-License-Identifier: Apache-2.0
-- Another cube: the same product on cubes of other rows and columns, with what feeds them as it is.
local E = dofile((arg[0]:match ".*/" or "") .. "common.lua")
local size = E.quick and 256 or 1024
local shapes = E.quick and { { 16, 16 }, { 32, 16 } } or
  { { 8, 8 }, { 16, 8 }, { 8, 16 }, { 16, 16 }, { 32, 16 }, { 16, 32 }, { 32, 32 }, { 64, 32 } }
local rows = {}
for _, shape in ipairs(shapes) do
  local chip = E.chip { ["cube.m"] = shape[1], ["cube.n"] = shape[2] }
  local summary = E.run(chip, "matmul", { m = size, k = size, n = size, dtype = "fp16" })
  rows[#rows + 1] = { ("%dx%d"):format(shape[1], shape[2]), shape[1] * shape[2], summary.total_cycles,
    summary.utilization.M, summary.utilization.MTE1, summary.utilization.MTE2, summary.bound }
end
E.table("cube_shape", { "cube", "MACs/16", "cycles", "M", "MTE1", "MTE2", "bound" }, rows)
E.draw("cube_shape", { title = ("matmul %d on %s"):format(size, E.soc), xlabel = "rows x columns of the cube",
  ylabel = "cycles", xlog = true }, rows, { { "cycles", 2, 3, style = "points" } })
