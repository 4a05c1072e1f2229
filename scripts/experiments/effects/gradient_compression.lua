-- SPDX-License-Identifier: Apache-2.0
-- Gradients summed as fp32, as fp16, and as 8 bits. For 8 bits the ranks agree on a scale for each 1024 elements
-- first, and keep what a sum of all ranks needs as room above. Kernels that convert are simulated on the chip.
local vinci = require "vinci"
local RANKS, ALPHA, RATE, BLOCK = 8, 2, 20, 1024

-- Microseconds of kernels in turn.
local function kernels(E, list)
  local us = 0
  for _, answer in ipairs(vinci.evaluate(vinci.soc "Ascend910B4", list, { memory = E.memory })) do us = us + answer.us end
  return us
end

local function sum(bytes) return ("collective,op=all_reduce,group=all,algorithm=ring,bytes=%d"):format(bytes) end
local function work(us) return ("work,us=%.6f,memory=1"):format(us) end

-- Rows of a job for a kind of gradients; without the kernels when bare.
local function rows_of(E, kind, elements, bare)
  local shape = { shape = ("%dx%d"):format(elements // BLOCK, BLOCK), dtype = "fp32" }
  local function cast(from, to) return { op = "cast", args = { shape = shape.shape, dtype = from, to = to } } end
  local rows = {}
  local function add(list) if not bare then rows[#rows + 1] = work(kernels(E, list)) end end
  if kind == "fp32" then return { sum(4 * elements) } end
  if kind == "fp16" then
    add { cast("fp32", "fp16") }
    rows[#rows + 1] = sum(2 * elements)
    add { cast("fp16", "fp32") }
    return rows
  end
  add { { op = "reduce_max", args = { shape = shape.shape, dtype = "fp32", axes = "1" } } }
  rows[#rows + 1] = sum(4 * elements // BLOCK)
  add { { op = "muls", args = shape }, cast("fp32", "int8") }
  rows[#rows + 1] = sum(elements)
  add { cast("int8", "fp32"), { op = "muls", args = shape } }
  return rows
end

return function(E)
  local set, table_rows, first = E.plain_links(ALPHA, RATE), {}, {}
  local saved, won, latency = {}, {}, {}
  for _, kind in ipairs { "fp32", "fp16", "int8" } do
    for _, elements in ipairs { 1 << 13, 1 << 16, 1 << 20, E.quick and 1 << 22 or 1 << 24 } do
      local run = E.job(RANKS, rows_of(E, kind, elements, false), set)
      local bare = E.job(RANKS, rows_of(E, kind, elements, true), set)
      local base = first[elements] or run
      first[elements] = base
      saved[kind], won[kind] = 1 - run.moved_bytes / base.moved_bytes, 1 - run.us / base.us
      -- What the bytes do not explain is the latency of the transfers.
      latency[kind] = bare.us - bare.moved_bytes / RANKS / (RATE * 1000)
      table_rows[#table_rows + 1] = { kind, elements, run.moved_bytes, run.us, bare.us, latency[kind], won[kind] }
      if elements == 1 << 13 then won[kind .. " small"] = won[kind] end
    end
  end
  E.table("gradient_compression", { "type", "elements", "bytes moved", "us", "without kernels us", "latency us", "gain" }, table_rows)
  local alpha = 2 * (RANKS - 1) * ALPHA
  return { row = 17, effect = "gradients of fewer bits",
    claim = "bytes -50.0 % and about -75 %; latency does not shrink; the net gain includes the kernels that convert",
    result = ("bytes %.1f %% and %.1f %%; latency %.1f, %.1f, %.1f us; time %.0f %% and %.0f %% less when large, %.0f %% and %.0f %% when small")
      :format(-100 * saved.fp16, -100 * saved.int8, latency.fp32, latency.fp16, latency.int8, 100 * won.fp16, 100 * won.int8,
        100 * won["fp16 small"], 100 * won["int8 small"]),
    pass = math.abs(saved.fp16 - 0.5) < 0.0005 and math.abs(saved.int8 - 0.75) < 0.005 and won.fp16 > 0 and won.int8 > 0 and
      latency.fp16 >= 0.99 * alpha and latency.int8 >= 0.99 * alpha }
end
