-- SPDX-License-Identifier: Apache-2.0
-- A profiler shows the bottleneck: four networks with a bottleneck that was put there.
local vinci = require "vinci"

local function streams()
  return [[graph,version=1
tensor,name=a,dtype=fp16,shape=33554432,io=in
tensor,name=b,dtype=fp16,shape=33554432
tensor,name=c,dtype=fp16,shape=33554432,io=out
kernel,name=k1,op=relu,in=a,out=b,args=shape=33554432 blocks=0
kernel,name=k2,op=relu,in=b,out=c,args=shape=33554432 blocks=0
]]
end

local function products()
  return [[graph,version=1
tensor,name=a,dtype=fp16,shape=4096x4096,io=in
tensor,name=w,dtype=fp16,shape=4096x4096,io=weight
tensor,name=b,dtype=fp16,shape=4096x4096,io=out
kernel,name=k1,op=matmul,in=a w,out=b,args=m=4096 k=4096 n=4096
]]
end

local function small()
  local text = { "graph,version=1", "tensor,name=t0,dtype=fp16,shape=4096,io=in" }
  for i = 1, 8 do
    text[#text + 1] = ("tensor,name=t%d,dtype=fp16,shape=4096%s"):format(i, i == 8 and ",io=out" or "")
    text[#text + 1] = ("kernel,name=k%d,op=relu,in=t%d,out=t%d,args=shape=4096"):format(i, i - 1, i)
  end
  return table.concat(text, "\n") .. "\n"
end

local function copies()
  return [[graph,version=1
tensor,name=h,dtype=fp16,shape=33554432,io=in
tensor,name=a,dtype=fp16,shape=33554432
tensor,name=b,dtype=fp16,shape=33554432,io=out
copy,name=up,way=h2d,in=h,out=a
kernel,name=k1,op=relu,in=a,out=b,args=shape=33554432 blocks=0
]]
end

local parts = { "cube_us", "vector_us", "memory_us", "latency_us", "scalar_us", "task_us", "host_bound_us", "gap_us",
  "wait_us", "tail_us" }

return function(E)
  local rows, good, named = {}, true, 0
  for i, case in ipairs { { "memory", streams, "sink", 0.25 }, { "cube", products, "sink", 1 }, { "host", small, "eager", 1 },
    { "wait", copies, "sink", 1 } } do
    local net = vinci.net(E.chip { ["hbm.bandwidth_scale"] = case[4] }, case[2](), { host = case[3], memory = E.memory })
    local sum = 0
    for _, part in ipairs(parts) do sum = sum + net[part] end
    named = named + (net.bound == case[1] and 1 or 0)
    good = good and net.bound == case[1] and math.abs(sum - net.us) < 1e-6
    local share = net[(case[1] == "host" and "host_bound" or case[1]) .. "_us"] / net.us
    rows[i] = { case[1], net.bound, 100 * share, net.us, sum }
  end
  E.table("bottlenecks", { "put there", "named", "share %", "us", "sum of parts" }, rows)
  return { row = "11, 30", effect = "a report names the bottleneck",
    claim = "host, cube, memory or copies, as put there; busy, wait and idle add up to the time",
    result = ("%d of 4 are named, with %.0f, %.0f, %.0f and %.0f %% of the time; all sums are exact"):format(named, rows[1][3],
      rows[2][3], rows[3][3], rows[4][3]),
    pass = good }
end
