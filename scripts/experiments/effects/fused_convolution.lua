-- SPDX-License-Identifier: Apache-2.0
-- Convolution, batch norm and ReLU as one kernel in place of three, on maps of several sizes.
local vinci = require "vinci"

local function network(side, channels)
  local map = ("1x%dx%dx%d"):format(channels, side, side)
  local text = { "graph,version=1" }
  local function add(format, ...) text[#text + 1] = format:format(...) end
  local function tensor(name, shape, more) add("tensor,name=%s,dtype=fp16,shape=%s%s", name, shape, more or "") end
  tensor("x", map, ",io=in")
  tensor("w", ("%dx%dx3x3"):format(channels, channels), ",io=weight")
  for _, name in ipairs { "scale", "shift", "mean", "var" } do tensor(name, channels, ",io=weight") end
  tensor("c", map)
  tensor("n", map)
  tensor("y", map, ",io=out")
  add "layer,name=conv,op=Conv,in=x w,out=c,args=kernel=3x3 strides=1x1 pads=1x1x1x1 dilations=1x1 group=1"
  add "layer,name=norm,op=BatchNormalization,in=c scale shift mean var,out=n,args=epsilon=1e-5"
  add "layer,name=act,op=Relu,in=n,out=y"
  return table.concat(text, "\n") .. "\n"
end

-- What lies between the two conversions of layout, which both forms have.
local function inside(net)
  local us, kernels = 0, 0
  for _, node in ipairs(net.nodes) do
    if node.us > 0 and node.op ~= "transdata" then
      us, kernels = us + node.us + node.gap_us, kernels + 1
    end
  end
  return us, kernels
end

return function(E)
  local rows, good, small = {}, true, nil
  for i, side in ipairs(E.quick and { 14, 56, 112 } or { 14, 28, 56, 112, 224 }) do
    local text = network(side, 64)
    local apart = vinci.net(E.chip(), text, { memory = E.memory, passes = "layout" })
    local fused = vinci.net(E.chip(), text, { memory = E.memory, passes = "fold,epilogue,layout" })
    local one, ones = inside(apart)
    local other, others = inside(fused)
    good = good and ones == 3 and others == 1
    small = small or one / other
    rows[i] = { side, ones, others, one, other, one / other }
  end
  E.table("fused_convolution", { "side", "kernels", "fused", "us", "fused us", "times faster" }, rows)
  return { row = 2, effect = "convolution, batch norm and ReLU as one kernel",
    claim = "three launches become one, and small maps gain 1.35 times or more",
    result = ("%d kernels become %d; %.2f times faster on the smallest map, %.2f on the largest"):format(rows[1][2],
      rows[1][3], small, rows[#rows][6]),
    pass = good and small >= 1.35 }
end
