-- SPDX-License-Identifier: Apache-2.0
-- Results in fp16 in place of fp32 (ATC's --output_type=FP16): the cast at the end goes.
local vinci = require "vinci"

-- A network whose result is a map: c channels of side x side.
local function network(dtype, c, side)
  local map = ("1x%dx%dx%d"):format(c, side, side)
  return table.concat({ "graph,version=1", "tensor,name=x,dtype=fp16,shape=" .. map .. ",io=in",
    ("tensor,name=w,dtype=fp16,shape=%dx%dx3x3,io=weight"):format(c, c), "tensor,name=m,dtype=fp32,shape=" .. map,
    ("tensor,name=y,dtype=%s,shape=%s,io=out"):format(dtype, map),
    "layer,name=conv,op=Conv,in=x w,out=m,args=kernel=3x3 strides=1x1 pads=1x1x1x1 dilations=1x1 group=1",
    "layer,name=act,op=Relu,in=m,out=y" }, "\n") .. "\n"
end

return function(E)
  local rows, good = {}, true
  for i, side in ipairs(E.quick and { 14, 112 } or { 7, 14, 28, 56, 112, 224 }) do
    local function run(dtype) return vinci.net(E.chip(), network(dtype, 64, side), { memory = E.memory }) end
    local wide, half = run "fp32", run "fp16"
    local cast, bytes = 0, 64 * side * side * 4
    for _, node in ipairs(wide.nodes) do
      if node.op == "cast" then cast = node.us + node.gap_us end
    end
    -- The cast reads half and writes whole numbers: its bytes are those that go.
    good = good and wide.kernels == half.kernels + 1 and wide.output_bytes - half.output_bytes == bytes
      and wide.input_bytes - half.input_bytes == bytes // 2 and half.us < wide.us
      and math.abs(wide.us - half.us - cast) < 0.02 * wide.us
    rows[i] = { side, wide.kernels, half.kernels, wide.us, half.us, wide.us / half.us }
  end
  E.table("output_type", { "side", "kernels", "fp16 kernels", "us", "fp16 us", "times faster" }, rows)
  return { row = 28, effect = "results of a network in fp16 (--output_type=FP16)",
    claim = "one launch and the cast's bytes go, and the time of the cast, nothing else",
    result = ("%.2f times faster with a result of 64x%dx%d, %.2f with 64x%dx%d"):format(rows[1][6], rows[1][1], rows[1][1],
      rows[#rows][6], rows[#rows][1], rows[#rows][1]),
    pass = good }
end
