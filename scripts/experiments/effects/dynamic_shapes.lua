-- SPDX-License-Identifier: Apache-2.0
-- Sequences of many lengths: padded to the longest, in buckets, or packed as they are; and the host, which works out a
-- tiling for each shape before a launch.
local vinci = require "vinci"

-- Two layers of an LSTM, 128 -> 256 -> 256: the products of all steps with the inputs, four gates at once.
local function cube_cycles(E, rows)
  local total = 0
  for _, k in ipairs { 128, 256 } do
    local result = vinci.run(E.chip(), vinci.compile(E.chip(), "matmul", { m = rows, k = k, n = 1024 }),
      { memory = E.memory })
    total = total + result:get "pipe.M.busy_cycles"
  end
  return total
end

-- Kernels in a row, each with a tiling of `tiling` us on the host before its launch.
local function chain(count, tiling)
  local text = { "graph,version=1", "tensor,name=t0,dtype=fp16,shape=512x512,io=in", "tensor,name=w,dtype=fp16,shape=512x512,io=weight" }
  for i = 1, count do
    text[#text + 1] = ("tensor,name=t%d,dtype=fp16,shape=512x512%s"):format(i, i == count and ",io=out" or "")
    text[#text + 1] = ("kernel,name=k%d,op=matmul,in=t%d w,out=t%d,args=m=512 k=512 n=512,tiling_us=%.6f"):format(i, i - 1, i, tiling)
  end
  return table.concat(text, "\n") .. "\n"
end

return function(E)
  local lengths, longest, sum, state = {}, 0, 0, 11
  for i = 1, E.quick and 32 or 128 do
    state = (state * 1103515245 + 12345) % 2147483648
    lengths[i] = 20 + state // 65536 % 81
    longest, sum = math.max(longest, lengths[i]), sum + lengths[i]
  end
  local buckets = 0
  for _, length in ipairs(lengths) do buckets = buckets + (length + 15) // 16 * 16 end
  local padded = #lengths * longest
  local exact_cycles, rows, good = cube_cycles(E, sum), {}, true
  for i, case in ipairs { { "padded", padded }, { "buckets of 16", buckets }, { "exact", sum } } do
    local ratio, expected = cube_cycles(E, case[2]) / exact_cycles, case[2] / sum
    good = good and math.abs(ratio / expected - 1) <= 0.05
    rows[i] = { case[1], case[2], ratio, expected }
  end
  E.table("dynamic_shapes", { "form", "rows", "compute", "closed form" }, rows)

  -- With host=graph a launch takes `call`; the kernel before hides the tiling while that and the call are shorter.
  local chip, hidden = E.chip(), {}
  local call = vinci.net(chip, chain(1, 0), { host = "graph" }).nodes[1].start_us
  for i, share in ipairs { 0.5, 0.9, 1.1, 2 } do
    local plain = vinci.net(chip, chain(6, 0), { host = "sink", memory = E.memory })
    local step = plain.nodes[6].start_us - plain.nodes[5].start_us
    local tiling = share * step - call
    local net = vinci.net(chip, chain(6, math.max(tiling, 0)), { host = "graph", memory = E.memory })
    local exposed = net.nodes[6].start_us - net.nodes[5].start_us - step
    local expected = math.max(0, math.max(tiling, 0) + call - step)
    good = good and math.abs(exposed - expected) < 0.001
    hidden[i] = { share, math.max(tiling, 0), exposed, expected }
  end
  E.table("host_tiling", { "of a kernel", "tiling us", "exposed us", "closed form" }, hidden)
  return { row = 4, effect = "dynamic shapes, tilings on the host",
    claim = "padded to exact compute is B*Tmax/sum(T), 5 %; a tiling is hidden exactly when the kernel before is longer",
    result = ("padded %.3f (closed form %.3f), buckets %.3f (%.3f); exposed %.3f us at 0.9 of a kernel, %.3f at 1.1")
      :format(rows[1][3], rows[1][4], rows[2][3], rows[2][4], hidden[2][3], hidden[3][3]),
    pass = good }
end
