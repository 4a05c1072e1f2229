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
point("matmul-int8", { op = "matmul", m = 128, k = 512, n = 128, dtype = "int8", out_dtype = "fp16", scale = 0.01 })
point("matmul-split", { op = "matmul", m = 32, k = 8192, n = 64, dtype = "fp16" })

local convolution = { n = 2, c = 32, h = 28, w = 28, k = 64, kernel = "3x3", pad = "1x1", dtype = "fp16" }
for _, op in ipairs { "conv2d", "conv2d_backprop_input", "conv2d_backprop_filter" } do
  local fields = { op = op }
  for key, value in pairs(convolution) do fields[key] = value end
  point(op, fields)
end
point("flash_attention", { op = "flash_attention", batch = 1, heads = 4, seq_q = 256, seq_k = 256, head_dim = 64,
  dtype = "fp16", causal = 1 })
point("softmax", { op = "softmax", shape = "80x1024", dtype = "fp16" })
point("layer_norm", { op = "layer_norm", shape = "80x1024", dtype = "fp16" })
point("reduce_sum", { op = "reduce_sum", shape = "80x1024", axis = 1, dtype = "fp32" })
point("transpose", { op = "transpose", shape = "100x512", perm = "2x1", dtype = "fp16" })
point("topk", { op = "topk", shape = "8x4096", k = 8, dtype = "fp32" })
point("max_pool", { op = "max_pool", shape = "1x2x56x56x16", kernel = "3x3", stride = "2x2", dtype = "fp16" })
point("trace-matmul", { trace = "../../traces/examples/matmul_2048_fp16.csv", soc = "Ascend910B1" })

return { soc = "Ascend910B4", memory = "flat", points = points }
