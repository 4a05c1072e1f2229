-- SPDX-License-Identifier: Apache-2.0
-- Winograd's F(2x2, 3x3) against conv2d: from how many channels on does it win? The claim, of articles on graph
-- compilers: 3x3 convolutions gain. It multiplies 2.25 times less, but moves 16 values for 4 pixels, twice.
local E = dofile((arg[0]:match ".*/" or "") .. "common.lua")
local chip = E.chip()
local n, side = 4, 28
local channels = E.quick and { 3, 64 } or { 3, 64, 256, 512, 768, 1024, 1536 }
local tiles, rows, threshold = n * (side // 2) ^ 2 // 1 | 0, {}, nil
for index, c in ipairs(channels) do
  local k, c1 = math.max(c, 16), (c + 15) // 16
  local direct = E.run(chip, "conv2d", { n = n, c = c, h = side, w = side, k = k, kernel = "3x3", pad = "1x1" })
  local before = E.run(chip, "winograd_input", { shape = ("%dx%dx%dx%dx16"):format(n, c1, side, side) })
  local product = E.run(chip, "batch_matmul",
    { m = tiles, k = c, n = k, batch = 16, format_a = "NZ", format_c = "NZ" })
  local behind = E.run(chip, "winograd_output", { shape = ("%dx%dx%dx%dx16"):format(n, k // 16, side, side) })
  local all = before.total_cycles + product.total_cycles + behind.total_cycles
  rows[index] = { c, k, direct.total_cycles, before.total_cycles, product.total_cycles, behind.total_cycles,
    direct.total_cycles / all }
  threshold = threshold or all < direct.total_cycles and c or nil
end
E.table("winograd", { "C", "K", "conv2d", "input", "products", "output", "gain" }, rows)
E.draw("winograd", { title = ("3x3 convolutions of %d maps of %dx%d on %s"):format(n, side, side, E.soc),
  xlabel = "channels", ylabel = "cycles of conv2d / cycles of Winograd", xlog = true }, rows, { { "gain", 1, 7 } })
print(("drawn: %s: 3 channels gain %.2f times (claim: no gain), first to win: %s"):format(
  rows[1][7] < 1 and "pass" or "FAIL", rows[1][7], threshold or "none"))
