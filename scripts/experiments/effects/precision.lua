-- SPDX-License-Identifier: Apache-2.0
-- fp16 in place of fp32: bytes of a vector sum, and the cube's time of a product.
local vinci = require "vinci"

local function sum(dtype, n)
  return ("graph,version=1\ntensor,name=x,dtype=%s,shape=%d,io=in\ntensor,name=z,dtype=%s,shape=%d,io=in\n" ..
    "tensor,name=y,dtype=%s,shape=%d,io=out\nlayer,name=add,op=Add,in=x z,out=y\n")
    :format(dtype, n, dtype, n, dtype, n)
end

return function(E)
  local n = 1 << 22
  local wide = vinci.net(E.chip(), sum("fp32", n), { memory = E.memory, passes = "none" })
  local half = vinci.net(E.chip(), sum("fp16", n), { memory = E.memory, passes = "none" })
  local bytes = wide.input_bytes == 2 * half.input_bytes and wide.output_bytes == 2 * half.output_bytes
  local side = E.quick and 1024 or 2048
  local function cube(dtype)
    local run = vinci.run(E.chip(), vinci.compile(E.chip(), "matmul", { m = side, k = side, n = side, dtype = dtype }),
      { memory = E.memory })
    local busy = run:get "pipe.M.busy_cycles"
    return busy
  end
  local fp32, fp16 = cube "fp32", cube "fp16"
  E.table("precision", { "what", "fp32", "fp16", "ratio" }, {
    { "bytes of a sum", wide.input_bytes, half.input_bytes, wide.input_bytes / half.input_bytes },
    { "us of a sum", wide.us, half.us, wide.us / half.us },
    { "cube cycles of a product", fp32, fp16, fp32 / fp16 } })
  return { row = 10, effect = "half precision", claim = "bytes halve exactly; the cube takes 4 times as long for fp32",
    result = ("bytes %.2f times, cube %.2f times"):format(wide.input_bytes / half.input_bytes, fp32 / fp16),
    pass = bytes and math.abs(fp32 / fp16 - 4) < 0.4 }
end
