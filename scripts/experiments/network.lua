-- SPDX-License-Identifier: Apache-2.0
-- How much of a result rests on the network between cores and L2, whose form is not published: cycles in cycle
-- memory with the chip's mesh, and with a crossbar, in which no message waits for another's link.
local E = dofile((arg[0]:match ".*/" or "") .. "common.lua")
E.memory = "cycle" -- flat memory has no network
local SIDE <const> = E.quick and 256 or 2048

local square = ("%dx%d"):format(SIDE, SIDE)
local operators = {
  { "matmul", { m = SIDE, k = SIDE, n = SIDE, dtype = "fp16" } },
  { "matmul", { m = 512, k = 512, n = 512, dtype = "fp16" } },
  { "conv2d", { n = 2, c = 32, h = 28, w = 28, k = 64, kernel = "3x3", pad = "1x1", dtype = "fp16" } },
  { "add", { shape = square, dtype = "fp16" } },
  { "add", { shape = "64x1000", dtype = "fp16" } },
  { "copy", { shape = square, dtype = "fp16" } },
  { "exp", { shape = "64x1000", dtype = "fp16" } },
  { "cast", { shape = square, dtype = "fp16", to = "fp32" } },
  { "softmax", { shape = square, dtype = "fp16" } },
  { "layer_norm", { shape = square, dtype = "fp16" } },
  { "reduce_sum", { shape = square, axis = 1, dtype = "fp32" } },
  { "transpose", { shape = square, perm = "2x1", dtype = "fp16" } },
}

local function shape_of(args)
  if args.shape then return args.shape end
  return args.m and ("%dx%dx%d"):format(args.m, args.k, args.n) or ("%dx%dx%dx%d"):format(args.n, args.c, args.h, args.w)
end

local mesh, crossbar = E.chip(), E.chip { ["noc.topology"] = "crossbar" }
local rows, sum, farthest = {}, 0, 0
for i, operator in ipairs(operators) do
  local op, args = table.unpack(operator)
  local own = E.run(mesh, op, args).total_cycles
  local other = E.run(crossbar, op, args).total_cycles
  local change = 100 * (other - own) / own
  sum, farthest = sum + math.abs(change), math.max(farthest, math.abs(change))
  rows[i] = { i, op, shape_of(args), own, other, change }
end
E.table("network", { "row", "operator", "shape", "mesh cycles", "crossbar cycles", "change %" }, rows)
print(("%s: the network decides %.2f %% in the mean, %.2f %% at most"):format(E.soc, sum / #rows, farthest))
E.draw("network", { title = "a crossbar in place of the mesh, " .. E.soc, xlabel = "row of the table", ylabel = "change of cycles, %" },
  rows, { { "change", 1, 6, style = "impulses" } })
