-- SPDX-License-Identifier: Apache-2.0
-- A data loader on the host, a copy to the device and a training step, side by side: what does a step take?
local vinci = require "vinci"

local function network(steps, loader)
  local text = { "graph,version=1", "tensor,name=w,dtype=fp16,shape=2048x24576,io=weight" }
  local function add(format, ...) text[#text + 1] = format:format(...) end
  for i = 1, steps do
    for _, name in ipairs { "file", "host", "x" } do
      add("tensor,name=%s%d,dtype=fp16,shape=1024x2048%s", name, i, name == "file" and ",io=in" or "")
    end
    add("tensor,name=y%d,dtype=fp16,shape=1024x24576,io=out", i)
    add("task,name=load%d,unit=LOADER,duration_us=%.6f,in=file%d,out=host%d,stream=1", i, loader, i, i)
    add("copy,name=up%d,way=h2d,in=host%d,out=x%d,stream=2", i, i, i)
    add("kernel,name=step%d,op=matmul,in=x%d w,out=y%d,args=m=1024 k=2048 n=24576", i, i, i)
  end
  return table.concat(text, "\n") .. "\n"
end

return function(E)
  local steps, rows, good = 6, {}, true
  for i, loader in ipairs { 0, 100, 400, 600, 1000 } do
    local net = vinci.net(E.chip(), network(steps, loader), { memory = E.memory })
    local last, before = net.nodes[3 * steps], net.nodes[3 * steps - 3]
    local step = last.start_us + last.us - before.start_us - before.us
    local copy = net.nodes[3 * steps - 1].us
    local longest = math.max(loader, copy, last.us + 0.03)
    good = good and math.abs(step - longest) < 1e-3
    rows[i] = { loader, copy, last.us, step, longest }
  end
  E.table("data_loader", { "loader us", "copy us", "compute us", "step us", "longest stage" }, rows)
  return { row = 24, effect = "data loader beside copies and computing", claim = "a step takes as long as its longest stage",
    result = ("copy %.1f us, compute %.1f us; with loaders of 0 to 1000 us a step takes %.1f, %.1f, %.1f, %.1f, %.1f us"):format(
      rows[1][2], rows[1][3], rows[1][4], rows[2][4], rows[3][4], rows[4][4], rows[5][4]),
    pass = good }
end
