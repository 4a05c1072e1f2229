-- SPDX-License-Identifier: Apache-2.0
-- A compiled operator belongs to the chip that it was compiled for: other cores refuse it, and other counts of cores
-- of the same kind want another tiling.
local vinci = require "vinci"

return function(E)
  local rows, good, named = {}, true, 0
  local text = vinci.compile(E.chip(), "matmul", { m = 1024, k = 1024, n = 1024 }):text()
  for i, name in ipairs { "Ascend310P3", "Ascend910A", "Ascend950PR_9589" } do
    local done, problem = pcall(function()
      local chip = vinci.soc(name)
      return vinci.run(chip, vinci.parse(chip, text))
    end)
    local message = done and "" or type(problem) == "table" and problem.message or tostring(problem)
    local says = not done and message:find("dav-", 1, true) ~= nil
    named, good = named + (says and 1 or 0), good and says
    rows[i] = { name, done and "runs" or "refused", (message:gsub("\n.*", "")) }
  end
  E.table("chip_files", { "chip", "trace", "reason" }, rows)
  local blocks, tiled = {}, {}
  for i, name in ipairs { "Ascend910B1", "Ascend910B4" } do
    local chip = vinci.soc(name)
    local net = vinci.net(chip, [[graph,version=1
tensor,name=a,dtype=fp16,shape=1024x1024,io=in
tensor,name=w,dtype=fp16,shape=1024x1024,io=weight
tensor,name=b,dtype=fp16,shape=1024x1024,io=out
kernel,name=k,op=matmul,in=a w,out=b,args=m=1024 k=1024 n=1024
]], { memory = E.memory })
    blocks[i], tiled[i] = net.nodes[1].blocks, net.nodes[1].us
  end
  good = good and blocks[1] ~= blocks[2]
  return { row = 26, effect = "the chip's name decides cores and tiling",
    claim = "a trace for another kind of core is refused with a named error; other counts of cores give other tilings",
    result = ("%d of 3 refusals name the architecture; %d and %d blocks on 910B1 and 910B4"):format(named, blocks[1], blocks[2]),
    pass = good }
end
