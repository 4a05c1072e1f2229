-- SPDX-License-Identifier: Apache-2.0
-- One buffer against two: y = f(x) in tiles, with more and more arithmetic per tile. Two buffers hide
-- the shorter of copying and computing behind the longer; the gain is largest where they are equal.
local vinci = require "vinci"
local E = dofile((arg[0]:match ".*/" or "") .. "common.lua")
local chip = E.chip()
local tiles = E.quick and 8 or 64
local bytes = 16384

local function kernel(buffers, operations)
  local k = vinci.kernel { soc = chip, name = ("tiles-%d"):format(buffers), blocks = 1 }
  local x = k:tensor { name = "x", dtype = "fp16", shape = tiles * bytes // 2, io = "in" }
  local y = k:tensor { name = "y", dtype = "fp16", shape = tiles * bytes // 2, io = "out" }
  local from = k:buffer { name = "from", space = "UB", size = buffers * bytes }
  local to = k:buffer { name = "to", space = "UB", size = buffers * bytes }
  k:stream "AIV"
  for slot = 0, buffers - 1 do
    k:set_flag("V", "MTE2", slot)
    k:set_flag("MTE3", "V", slot)
  end
  k:loop(tiles, function(i)
    local slot = k:let(i % buffers)
    local source, target = from + slot * bytes, to + slot * bytes
    k:wait_flag("V", "MTE2", slot)
    k.copy_gm_to_ubuf { dst = source, src = x + i * bytes, len_burst = bytes // 32 }
    k:sync("MTE2", "V", slot)
    k:wait_flag("MTE3", "V", slot)
    for _ = 1, operations do
      k.vadd { dst = target, src0 = source, src1 = source, rep = bytes // 256, type = "fp16" }
    end
    k:set_flag("V", "MTE2", slot)
    k:sync("V", "MTE3", slot)
    k.copy_ubuf_to_gm { dst = y + i * bytes, src = target, len_burst = bytes // 32 }
    k:set_flag("MTE3", "V", slot)
  end)
  for slot = 0, buffers - 1 do
    k:wait_flag("V", "MTE2", slot)
    k:wait_flag("MTE3", "V", slot)
  end
  return k:build()
end

local rows = {}
for _, operations in ipairs(E.quick and { 1, 4 } or { 1, 2, 3, 4, 6, 8, 12, 16 }) do
  local one, two = E.run_trace(chip, kernel(1, operations)), E.run_trace(chip, kernel(2, operations))
  rows[#rows + 1] = { operations, one.total_cycles, two.total_cycles, one.total_cycles / two.total_cycles,
    two.utilization.V, two.utilization.MTE2 }
end
E.table("double_buffering", { "adds a tile", "one buffer", "two buffers", "gain", "V of two", "MTE2 of two" }, rows)
E.draw("double_buffering", { title = "one core of " .. E.soc, xlabel = "vadd per tile of 16 KiB", ylabel = "gain" },
  rows, { { "one buffer / two", 1, 4 } })
