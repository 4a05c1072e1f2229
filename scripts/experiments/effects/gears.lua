-- SPDX-License-Identifier: Apache-2.0
-- Gears 1, 4, 8, 16 of one network against always 16, for requests that come at random.
local vinci = require "vinci"

local family = [[graph,version=1
tensor,name=x,dtype=fp16,shape={batch*64}x1024,io=in
tensor,name=w1,dtype=fp16,shape=1024x4096,io=weight
tensor,name=w2,dtype=fp16,shape=4096x1024,io=weight
tensor,name=h,dtype=fp16,shape={batch*64}x4096
tensor,name=a,dtype=fp16,shape={batch*64}x4096
tensor,name=y,dtype=fp16,shape={batch*64}x1024,io=out
kernel,name=fc1,op=matmul,in=x w1,out=h,args=m={batch*64} k=1024 n=4096
kernel,name=act,op=gelu,in=h,out=a,args=shape={batch*64}x4096
kernel,name=fc2,op=matmul,in=a w2,out=y,args=m={batch*64} k=4096 n=1024
]]

return function(E)
  local gears, rows, good = {}, {}, true
  for i, batch in ipairs { 1, 4, 8, 16 } do
    gears[i] = { batch = batch, us = vinci.net(E.chip(), family, { batch = batch, memory = E.memory }).us }
  end
  local count = E.quick and 300 or 2000
  for i, load in ipairs { 0.1, 0.3, 0.6 } do -- of what full batches of 16 can move
    local requests = ("poisson:rate=%.0f,count=%d,seed=%d"):format(load * 16e6 / gears[4].us, count, i)
    local some = vinci.serve { gears = gears, requests = requests }
    local always = vinci.serve { gears = { gears[4] }, requests = requests }
    local slots, empty = 0, 0
    for _, run in ipairs(some.runs) do
      local batch = gears[run.gear].batch
      local below = run.gear > 1 and gears[run.gear - 1].batch or 0
      good = good and run.samples <= batch and (run.samples > below or run.samples == 16)
      slots, empty = slots + batch, empty + batch - run.samples
    end
    good = good and some.slots == slots and some.slots - some.samples == empty and always.slots == 16 * always.batches
    good = good and some.p50_us < always.p50_us and empty / slots < (always.slots - always.samples) / always.slots
    rows[i] = { load, some.p50_us, always.p50_us, some.p99_us, always.p99_us, 100 * empty / slots,
      100 * (always.slots - always.samples) / always.slots }
  end
  E.table("gears", { "load", "p50 us", "always 16", "p99 us", "always 16", "waste %", "always 16" }, rows)
  return { row = 27, effect = "dynamic batch with gears 1, 4, 8, 16",
    claim = "the gear is the smallest that holds what waits; waste is (gear - b) / gear; better than always 16",
    result = ("at loads of 0.1, 0.3, 0.6 half of the requests take %.0f, %.0f, %.0f us, not %.0f, %.0f, %.0f; waste %.0f, %.0f, %.0f %%, not %.0f, %.0f, %.0f")
      :format(rows[1][2], rows[2][2], rows[3][2], rows[1][3], rows[2][3], rows[3][3], rows[1][6], rows[2][6], rows[3][6], rows[1][7],
        rows[2][7], rows[3][7]),
    pass = good }
end
