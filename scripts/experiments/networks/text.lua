-- SPDX-License-Identifier: Apache-2.0
-- Networks that read text in images: PP-OCRv3 for mobile devices (Li et al. 2022). The detector is a MobileNetV3 of half
-- width without squeezes, a pyramid of features (RSE-FPN) and the head of differentiable binarization (Liao et al. 2020);
-- the recognizer is a MobileNetV1 with wider kernels, two layers of attention (SVTR-LCNet), and a head of CTC for 6625
-- characters. Both as they are exported for inference.
local build = ...
local M = {}

-- Channels of half the width, in multiples of 8 that are not below 90 per cent.
local function half(n)
  local near = math.max(8, (n // 2 + 4) // 8 * 8)
  return near < 0.45 * n and near + 8 or near
end

-- The detector's features of a quarter, an eighth, a 16th and a 32nd of the input.
local function pyramid(net)
  local x, levels = net:conv(net.input, 8, 3, { stride = 2, act = "hard_swish" }), {}
  for i, row in ipairs { { 3, 16, 16, "relu", 1 }, { 3, 64, 24, "relu", 2 }, { 3, 72, 24, "relu", 1 },
    { 5, 72, 40, "relu", 2 }, { 5, 120, 40, "relu", 1 }, { 5, 120, 40, "relu", 1 }, { 3, 240, 80, "hard_swish", 2 },
    { 3, 200, 80, "hard_swish", 1 }, { 3, 184, 80, "hard_swish", 1 }, { 3, 184, 80, "hard_swish", 1 },
    { 3, 480, 112, "hard_swish", 1 }, { 3, 672, 112, "hard_swish", 1 }, { 5, 672, 160, "hard_swish", 2 },
    { 5, 960, 160, "hard_swish", 1 }, { 5, 960, 160, "hard_swish", 1 } } do
    local inner, k, act, stride = half(row[2]), half(row[3]), row[4], row[5]
    if i > 3 and stride == 2 then levels[#levels + 1] = x end
    local y = net:conv(net:conv(x, inner, 1, { act = act }), inner, row[1], { stride = stride, group = inner, act = act })
    y = net:conv(y, k, 1)
    x = stride == 1 and x.c == k and net:add(x, y) or y
  end
  levels[#levels + 1] = net:conv(x, 480, 1, { act = "hard_swish" })
  return levels
end

-- A convolution, and what its averages make of its channels added.
local function residual_squeeze(net, x, k, kernel)
  local y = net:conv(x, k, kernel, { plain = true })
  return net:add(y, net:squeeze(y, k // 4, "relu", "hard_sigmoid_5"))
end

function M.pp_ocrv3_det(options)
  local net = build("pp_ocrv3_det", 3, 640, 640, options)
  local levels, parts, above = pyramid(net), {}, nil
  for i, x in ipairs(levels) do levels[i] = residual_squeeze(net, x, 96, 1) end
  for i = 4, 1, -1 do
    local x = levels[i]
    if above then x = net:add(x, net:resize(above, x.h, x.w, true)) end
    above = x
    x = residual_squeeze(net, x, 24, 3)
    parts[#parts + 1] = i > 1 and net:resize(x, levels[1].h, levels[1].w, true) or x
  end
  local x = net:conv(net:concat(parts), 24, 3, { act = "relu" })
  x = net:up(x, 24, 2, 0, 0, { act = "relu" })
  return net, net:up(x, 1, 2, 0, 0, { bias = true, act = "sigmoid" })
end

-- A convolution of each channel, then one of single points.
local function separable(net, x, k, kernel, stride, stride_w, squeezed)
  local y = net:conv(x, x.c, kernel, { stride = stride, stride_w = stride_w, group = x.c, act = "hard_swish" })
  if squeezed then y = net:squeeze(y, y.c // 4, "relu", "hard_sigmoid") end
  return net:conv(y, k, 1, { act = "hard_swish" })
end

local function shape_of(...) return table.concat({ ... }, "x") end

-- Rows of a width times a matrix, with a bias.
local function dense(net, x, rows, from, to)
  net.macs = net.macs + rows * from * to
  local y = net:put("MatMul", { x, net:weight(shape_of(from, to), from * to) }, nil, shape_of(rows, to))
  return net:put("Add", { y, net:weight(to, to) }, nil, shape_of(rows, to))
end

local function norm(net, x, rows, width, epsilon)
  return net:put("LayerNormalization", { x, net:weight(width, width), net:weight(width, width) },
    "axis=2 epsilon=" .. epsilon, shape_of(rows, width))
end

-- A layer of attention, then two products of each row, with norms before.
local function block(net, x, rows, width, heads)
  local depth = width // heads
  local function part(i)
    return net:put("Slice", { x.all }, ("starts=0x0x%d sizes={batch}x%dx%d steps=1x1x1"):format(i * width, rows, width),
      shape_of(rows, width))
  end
  local function split(i, turned)
    local y = net:put("Reshape", { part(i) }, nil, shape_of(rows, heads, depth))
    if turned then return net:put("Transpose", { y }, "perm=0x2x3x1", shape_of(heads, depth, rows)) end
    return net:put("Transpose", { y }, "perm=0x2x1x3", shape_of(heads, rows, depth))
  end
  x.all = dense(net, norm(net, x, rows, width, "1e-5"), rows, width, 3 * width)
  local scale = net:tensor("", nil, (",io=weight,values=%.9g"):format(depth ^ -0.5))
  local q = net:put("Mul", { split(0), scale }, nil, shape_of(heads, rows, depth))
  local s = net:put("MatMul", { q, split(1, true) }, nil, shape_of(heads, rows, rows))
  local y = net:put("MatMul", { net:put("Softmax", { s }, "axis=3", shape_of(heads, rows, rows)), split(2) }, nil,
    shape_of(heads, rows, depth))
  net.macs = net.macs + 2 * rows * rows * width
  y = net:put("Transpose", { y }, "perm=0x2x1x3", shape_of(rows, heads, depth))
  y = dense(net, net:put("Reshape", { y }, nil, shape_of(rows, width)), rows, width, width)
  x = net:put("Add", { x, y }, nil, shape_of(rows, width))
  y = dense(net, norm(net, x, rows, width, "1e-5"), rows, width, 2 * width)
  y = net:put("Mul", { y, net:put("Sigmoid", { y }, nil, shape_of(rows, 2 * width)) }, nil, shape_of(rows, 2 * width))
  return net:put("Add", { x, dense(net, y, rows, 2 * width, width) }, nil, shape_of(rows, width))
end

-- Attention between the places of a map of one line, beside the map.
local function neck(net, map)
  local width, rows = 120, map.w
  local x = net:conv(net:conv(map, 64, 3, { act = "silu" }), width, 1, { act = "silu" })
  x = net:put("Transpose", { net:put("Reshape", { x }, nil, shape_of(width, rows)) }, "perm=0x2x1", shape_of(rows, width))
  for _ = 1, 2 do x = block(net, x, rows, width, 8) end
  x = net:put("Transpose", { norm(net, x, rows, width, "1e-6") }, "perm=0x2x1", shape_of(width, rows))
  x = net:put("Reshape", { x }, nil, shape_of(width, 1, rows))
  x.c, x.h, x.w = width, 1, rows
  x = net:concat { map, net:conv(x, map.c, 1, { act = "silu" }) }
  return net:conv(net:conv(x, 64, 3, { act = "silu" }), 64, 1, { act = "silu" })
end

function M.pp_ocrv3_rec(options)
  local characters = 6625
  local net = build("pp_ocrv3_rec", 3, 48, 320, options)
  local x = net:conv(net.input, 16, 3, { stride = 2, act = "hard_swish" })
  for _, row in ipairs { { 3, 32, 1 }, { 3, 64, 1 }, { 3, 64, 1 }, { 3, 128, 2 }, { 3, 128, 1 }, { 3, 256, 2 }, { 5, 256, 1 },
    { 5, 256, 1 }, { 5, 256, 1 }, { 5, 256, 1 }, { 5, 256, 1 } } do
    x = separable(net, x, row[2], row[1], row[3], 1)
  end
  x = separable(net, separable(net, x, 512, 5, 2, 1, true), 512, 5, 1, 2, true)
  x = neck(net, net:average_pool(x, 2, 2))
  local rows = x.w
  x = net:put("Transpose", { net:put("Reshape", { x }, nil, shape_of(64, rows)) }, "perm=0x2x1", shape_of(rows, 64))
  return net, net:put("Softmax", { dense(net, x, rows, 64, characters) }, "axis=2", shape_of(rows, characters))
end

return M
