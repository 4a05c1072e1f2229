-- SPDX-License-Identifier: Apache-2.0
-- A chain of kernels whose tensors between are larger than L2, in parts of its rows: chosen by the pass, and in any
-- number of parts by hand.
local vinci = require "vinci"
local mib = 1 << 20
local ops = { "relu", "abs", "neg" }

local function header(n)
  local text = { "graph,version=1" }
  local function add(format, ...) text[#text + 1] = format:format(...) end
  local function tensor(name, size, more) add("tensor,name=%s,dtype=fp16,shape=%d%s", name, size, more or "") end
  tensor("t0", n, ",io=in")
  tensor("t" .. #ops, n, ",io=out")
  return text, add, tensor
end

local function layers(n)
  local text, add, tensor = header(n)
  for i = 1, #ops - 1 do tensor("t" .. i, n) end
  for i, op in ipairs { "Relu", "Abs", "Neg" } do add("layer,name=%s,op=%s,in=t%d,out=t%d", op, op, i - 1, i) end
  return table.concat(text, "\n") .. "\n"
end

-- All kernels on the first part, then all on the next.
local function kernels(n, parts)
  local text, add, tensor = header(n)
  local size, results = n // parts, {}
  for part = 0, parts - 1 do
    local function name(i) return ("t%d_%d"):format(i, part) end
    tensor(name(0), size, (",memory=t0,skip=%d"):format(2 * size * part))
    for i = 1, #ops - 1 do tensor(name(i), size) end
    tensor(name(#ops), size, (",memory=t%d,skip=%d"):format(#ops, 2 * size * part))
    add("view,name=v%d,in=t0,out=%s", part, name(0))
    for i, op in ipairs(ops) do add("kernel,name=%s_%d,op=%s,in=%s,out=%s,args=shape=%d", op, part, op, name(i - 1), name(i), size) end
    results[#results + 1] = name(#ops)
  end
  add("view,name=whole,in=%s,out=t%d", table.concat(results, " "), #ops)
  return table.concat(text, "\n") .. "\n"
end

return function(E)
  local chip = E.chip { ["l2.size"] = "192MiB" }
  local large, small = 512 * mib, 32 * mib
  local function run(text, passes) return vinci.net(chip, text, { memory = E.memory, passes = passes }) end
  local rows = {}
  local function row(bytes, how, net)
    rows[#rows + 1] = { bytes // mib, how, net.launches, net.hbm_bytes / bytes, net.us }
    return net
  end
  local whole = row(large, "whole", run(layers(large // 2), "none"))
  local split = row(large, "pass", run(layers(large // 2), "split"))
  local best, least = split.us, split.hbm_bytes
  for _, parts in ipairs(E.quick and { 16, 128 } or { 4, 8, 16, 32, 64, 128 }) do
    local net = row(large, parts, run(kernels(large // 2, parts)))
    best, least = math.min(best, net.us), math.min(least, net.hbm_bytes)
  end
  local fits = row(small, "whole", run(layers(small // 2), "none"))
  local refused = row(small, "pass", run(layers(small // 2), "split"))
  local lost = row(small, 8, run(kernels(small // 2, 8)))
  E.table("split_chain", { "MiB", "parts", "launches", "HBM bytes / tensor", "us" }, rows)
  local faster = whole.us / split.us
  return { row = 15, effect = "chain in parts that stay in L2",
    claim = "device memory moves 2 tensors in place of 6 (within 10 % with small parts); 1.3 times faster; no gain within L2",
    result = ("%.2f tensors become %.2f with %d launches, %.2f in small parts; %.2f times faster; within L2 the pass refuses, and 8 parts take %.2f times as long")
      :format(whole.hbm_bytes / large, split.hbm_bytes / large, split.launches, least / large, faster, lost.us / fits.us),
    pass = least <= 2.2 * large and faster >= 1.3 and split.us <= 1.05 * best and refused.launches == fits.launches
      and lost.us > fits.us }
end
