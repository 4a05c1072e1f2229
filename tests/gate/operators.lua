-- SPDX-License-Identifier: Apache-2.0
-- The suite that our own CI gates: operators of every kind on small shapes, the shipped traces, and
-- both memory models. `make gate` checks it against operators.csv, `make bless REASON=...` renews that.
local points = {}
local function point(name, fields)
  fields.name = name
  points[#points + 1] = fields
end

for _, shape in ipairs { { 256, 256, 256 }, { 512, 512, 512 }, { 1024, 512, 384 }, { 100, 70, 50 } } do
  local m, k, n = table.unpack(shape)
  point(("matmul-%dx%dx%d"):format(m, k, n), { op = "matmul", m = m, k = k, n = n, dtype = "fp16" })
end
point("matmul-bf16", { op = "matmul", m = 256, k = 512, n = 256, dtype = "bf16" })
point("matmul-cycle", { op = "matmul", m = 256, k = 256, n = 256, dtype = "fp16", memory = "cycle" })
point("matmul-910B1", { op = "matmul", m = 512, k = 512, n = 512, dtype = "fp16", soc = "Ascend910B1" })

for _, op in ipairs { "copy", "relu", "abs", "exp", "ln", "sqrt", "reciprocal", "neg", "sigmoid",
  "tanh", "gelu", "silu", "sin", "cos" } do
  point(op, { op = op, shape = "64x1000", dtype = "fp16" })
end
for _, op in ipairs { "add", "sub", "mul", "div", "max", "min" } do
  point(op, { op = op, shape = "64x1000", dtype = "fp16" })
end
point("add-fp32-cycle", { op = "add", shape = "64x1000", dtype = "fp32", memory = "cycle" })
point("muls", { op = "muls", shape = 65536, dtype = "fp16", alpha = 2 })
point("cast", { op = "cast", shape = 65536, dtype = "fp16", to = "fp32" })
point("trace-matmul", { trace = "../../traces/examples/matmul_2048_fp16.csv", soc = "Ascend910B1" })

return { soc = "Ascend910B4", memory = "flat", points = points }
