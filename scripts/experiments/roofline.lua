-- SPDX-License-Identifier: Apache-2.0
-- Where operators stand below the roofs of the chip: operations per byte of device memory against
-- operations per second, beside the peak of the cube and the slope of the memory.
local here = arg[0]:match ".*/" or ""
local E = dofile(here .. "common.lua")
local size = E.quick and 256 or 2048
local chip = E.chip()

-- Multiply-accumulates count two operations, a lane of a vector 1.
local work = {
  { "matmul-" .. size, "matmul", { m = size, k = size, n = size, dtype = "fp16" }, 2.0 * size ^ 3 },
  { "matmul-thin", "matmul", { m = 16, k = size, n = size, dtype = "fp16" }, 2.0 * 16 * size ^ 2 },
  { "matmul-small", "matmul", { m = 128, k = 128, n = 128, dtype = "fp16" }, 2.0 * 128 ^ 3 },
  { "add", "add", { shape = size * size, dtype = "fp16" }, 1.0 * size ^ 2 },
  { "gelu", "gelu", { shape = size * size, dtype = "fp16" }, 10.0 * size ^ 2 },
  { "softmax", "softmax", { shape = ("%dx%d"):format(size, size), dtype = "fp16" }, 5.0 * size ^ 2 },
}
local known = require("vinci").operators()
local rows = {}
for _, one in ipairs(work) do
  local name, op, args, operations = table.unpack(one)
  if known[op] then
    local summary, result = E.run(chip, op, args)
    local bytes = 0 -- what the operator reads and writes, wherever it finds it
    for path in ("GM_L1 GM_UB GM_L0A GM_L0B UB_GM L0C_GM L1_GM"):gmatch "%S+" do
      bytes = bytes + result:get("bytes." .. path)
    end
    local seconds = summary.duration_us / 1e6
    rows[#rows + 1] = { name, operations / bytes, operations / seconds / 1e12, bytes / seconds / 1e9,
      summary.bound }
  end
end
local cube = 2.0 * chip:get "cube.m" * chip:get "cube.n" * chip:get "cube.k_bytes" / 2 * chip:get "clock.core" *
  chip:get "device.cube_cores" / chip:get "cube.fp16_cycles" / 1e12
local memory = chip:get "hbm.bandwidth" / 1e12
print(("%s: %.0f TFLOP/s fp16, %.2f TB/s, ridge at %.0f FLOP/byte"):format(E.soc, cube, memory, cube / memory))
E.table("roofline", { "operator", "FLOP/byte", "TFLOP/s", "GB/s", "bound" }, rows)
local roof = {}
for exponent = -4, 10 do
  local intensity = 2.0 ^ exponent
  roof[#roof + 1] = { intensity, math.min(cube, memory * intensity) }
end
E.draw("roofline", { title = E.soc, xlabel = "operations per byte", ylabel = "TFLOP/s", xlog = true, ylog = true },
  rows, { { "roof", 1, 2, roof, style = "lines" }, { "operators", 2, 3, style = "points" } })
