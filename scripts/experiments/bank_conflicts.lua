-- SPDX-License-Identifier: Apache-2.0
-- Banks of UB: one vadd over operands whose distance varies. Where sources, or a source and the
-- destination, fall into one group of banks, repeats take longer.
local vinci = require "vinci"
local E = dofile((arg[0]:match ".*/" or "") .. "common.lua")
local chip = E.chip()
local repeats = 64

local function cycles(distance, block_stride)
  local k = vinci.kernel { soc = chip, name = "banks", blocks = 1 }
  k:stream "AIV"
  for _ = 1, 16 do
    k.vadd { dst = 2 * 65536, src0 = 0, src1 = 65536 - 2048 + distance, rep = repeats, type = "fp16",
      src0_block = block_stride, src1_block = block_stride, src0_repeat = 1, src1_repeat = 1, dst_repeat = 1 }
  end
  local trace = k:build()
  local _, result = E.run_trace(chip, trace)
  return result:get "pipe.V.busy_cycles" / 16 / repeats, result:get "vector.bankgroup_conflict_cycles" / 16 / repeats,
    result:get "vector.bank_conflict_cycles" / 16 / repeats
end

local rows = {}
for _, stride in ipairs(E.quick and { 1, 8 } or { 1, 2, 4, 8, 16 }) do
  for distance = 0, E.quick and 64 or 512, 32 do
    local total, group, bank = cycles(distance, stride)
    rows[#rows + 1] = { stride, distance, total, group, bank }
  end
end
E.table("bank_conflicts", { "block stride", "distance B", "cycles/repeat", "lost: groups", "lost: read-write" }, rows)
local series = {}
for _, stride in ipairs { 1, 8 } do
  local own = {}
  for _, row in ipairs(rows) do if row[1] == stride then own[#own + 1] = row end end
  series[#series + 1] = { "block stride " .. stride, 2, 3, own }
end
E.draw("bank_conflicts", { title = "vadd on " .. E.soc, xlabel = "distance of the sources, bytes beyond 62 KiB",
  ylabel = "cycles per repeat" }, rows, series)
