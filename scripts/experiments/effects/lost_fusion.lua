-- SPDX-License-Identifier: Apache-2.0
-- A fusion that loses: with one tile for all, two results leave no room in UB for a second buffer.
local vinci = require "vinci"

-- us, and the share of its time that pipe V waits for flags of the copies.
local function run(E, op, args, n, tile, buffers)
  args.shape, args.dtype, args.rows, args.cols, args.blocks, args.buffers = n, "fp16", 1, tile, 8, buffers
  local summary, result = E.run(E.chip(), op, args)
  return summary.duration_us, 100 * result:get "pipe.V.wait_flag_cycles" / result:get "pipe.V.total_cycles"
end

return function(E)
  local n, rows = E.quick and 1 << 21 or 1 << 24, {}
  for i, tile in ipairs { 4096, 8192 } do
    local gelu, waits = run(E, "gelu", {}, n, tile, 2)
    local apart = gelu + run(E, "exp", {}, n, tile, 2)
    local double, us, fused_waits = pcall(run, E, "chain", { steps = "y=gelu:x,y1=exp:y" }, n, tile, 2)
    if not double then us, fused_waits = run(E, "chain", { steps = "y=gelu:x,y1=exp:y" }, n, tile, 1) end
    rows[i] = { tile, double and 2 or 1, apart, us, us / apart, waits, fused_waits }
  end
  E.table("lost_fusion", { "tile", "buffers", "apart us", "fused us", "fused/apart", "V waits %", "fused waits %" }, rows)
  local small, large = rows[1], rows[2]
  return { row = 3, effect = "a fusion of elementwise operators that loses",
    claim = "a fused kernel that cannot double-buffer is slower than its parts, and its vector unit waits more",
    result = ("in tiles of %d the fused kernel has one buffer and takes %.2f of the time of its parts: V waits %.0f %%, not %.0f %%; in tiles of %d it has two and takes %.2f")
      :format(large[1], large[5], large[7], large[6], small[1], small[5]),
    pass = small[2] == 2 and large[2] == 1 and large[5] > 1 and small[5] < 1 and large[7] > large[6] + 5 }
end
