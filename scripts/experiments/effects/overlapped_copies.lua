-- SPDX-License-Identifier: Apache-2.0
-- Copies to the device beside kernels: one stream, and two with double buffers.
local vinci = require "vinci"

-- The host's data for each step; with two streams the copy of a step waits until the step before last has ended.
local function network(steps, bytes, two)
  local text = { "graph,version=1", "tensor,name=w,dtype=fp16,shape=2048x2048,io=weight", "tensor,name=a,dtype=fp16,shape=2048x2048,io=in" }
  local function add(format, ...) text[#text + 1] = format:format(...) end
  for i = 1, steps do
    add("tensor,name=host%d,dtype=int8,shape=%d,io=in", i, bytes)
    add("tensor,name=x%d,dtype=int8,shape=%d%s", i, bytes, i > 2 and ",memory=x" .. (i - 2) or "")
    add("tensor,name=y%d,dtype=fp16,shape=2048x2048,io=out", i)
    add("copy,name=up%d,way=h2d,in=host%d,out=x%d%s%s", i, i, i, two and ",stream=1" or "", two and i > 2 and ",after=step" .. (i - 2) or "")
    add("kernel,name=step%d,op=matmul,in=a w,out=y%d,args=m=2048 k=2048 n=2048,after=up%d", i, i, i)
  end
  return table.concat(text, "\n") .. "\n"
end

return function(E)
  local steps, rows, good = 8, {}, true
  for i, mib in ipairs { 1, 2, 4, 8, 16, 32 } do
    local bytes = mib << 20
    local one = vinci.net(E.chip(), network(steps, bytes, false), { memory = E.memory })
    local two = vinci.net(E.chip(), network(steps, bytes, true), { memory = E.memory })
    -- From the end of a kernel to the start of the next.
    local function between(net)
      local last, before = net.nodes[2 * steps], net.nodes[2 * steps - 2]
      return last.start_us - before.start_us - before.us
    end
    local copy, compute, gap = two.nodes[2 * steps - 1].us, two.nodes[2 * steps - 2].us, 0.03
    local exposed, single = between(two), between(one)
    local expected = math.max(gap, copy - compute)
    good = good and math.abs(exposed - expected) < 1e-3 and math.abs(single - copy) < 1e-3
    rows[i] = { mib, copy, compute, single, exposed, expected }
  end
  E.table("overlapped_copies", { "MiB", "copy us", "compute us", "one stream", "two", "closed form" }, rows)
  return { row = 29, effect = "copies beside kernels with double buffers",
    claim = "of a copy, max(0, copy - compute) is exposed; on one stream all of it",
    result = ("compute %.1f us; copies of %.1f and %.1f us expose %.2f and %.1f us, on one stream %.1f and %.1f"):format(rows[1][3],
      rows[1][2], rows[6][2], rows[1][5], rows[6][5], rows[1][4], rows[6][4]),
    pass = good }
end
