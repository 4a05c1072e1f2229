-- SPDX-License-Identifier: Apache-2.0
-- Networks of inverted residuals: MobileNetV2 (Sandler et al. 2018, table 2), MobileNetV3-large (Howard et al. 2019,
-- table 1), the segmentation head LR-ASPP on the latter (section 6.4), MnasNet-B1 (Tan et al. 2018), EfficientNet-B1 (Tan and Le 2019: B0 of table 1, 1.1 times as deep).
local build = ...
local M = {}

-- o: expanded channels inner, kernel, stride, act, squeezed channels, gate.
local function inverted(net, x, k, o)
  local y = x
  if o.inner ~= x.c then y = net:conv(y, o.inner, 1, { act = o.act }) end
  y = net:conv(y, o.inner, o.kernel, { stride = o.stride, group = o.inner, act = o.act, dilation = o.dilation })
  if o.squeezed then y = net:squeeze(y, o.squeezed, o.squeeze_act, o.gate) end
  y = net:conv(y, k, 1)
  return o.stride == 1 and x.c == k and net:add(x, y) or y
end

function M.mobilenet_v2(options)
  local net = build("mobilenet_v2", 3, 224, 224, options)
  local x = net:conv(net.input, 32, 3, { stride = 2, act = "relu6" })
  for _, row in ipairs { { 1, 16, 1, 1 }, { 6, 24, 2, 2 }, { 6, 32, 3, 2 }, { 6, 64, 4, 2 }, { 6, 96, 3, 1 }, { 6, 160, 3, 2 },
    { 6, 320, 1, 1 } } do
    for i = 1, row[3] do
      x = inverted(net, x, row[2], { inner = row[1] * x.c, kernel = 3, stride = i == 1 and row[4] or 1, act = "relu6" })
    end
  end
  x = net:conv(x, 1280, 1, { act = "relu6" })
  return net, net:linear(net:flatten(net:global_pool(x)), 1000)
end

-- The nearest multiple of 8, not below 90 per cent.
local function eights(n)
  local near = math.max(8, math.floor(n + 4) // 8 * 8)
  return near < 0.9 * n and near + 8 or near
end

-- The features of MobileNetV3-large, and those of an eighth of the input's height; dilation: of the last blocks, which
-- then keep the height.
local function v3_large(net, dilation)
  local x, eighth = net:conv(net.input, 16, 3, { stride = 2, act = "hard_swish" }), nil
  for _, row in ipairs { { 3, 16, 16, false, "relu", 1 }, { 3, 64, 24, false, "relu", 2 }, { 3, 72, 24, false, "relu", 1 },
    { 5, 72, 40, true, "relu", 2 }, { 5, 120, 40, true, "relu", 1 }, { 5, 120, 40, true, "relu", 1 },
    { 3, 240, 80, false, "hard_swish", 2 }, { 3, 200, 80, false, "hard_swish", 1 }, { 3, 184, 80, false, "hard_swish", 1 },
    { 3, 184, 80, false, "hard_swish", 1 }, { 3, 480, 112, true, "hard_swish", 1 }, { 3, 672, 112, true, "hard_swish", 1 },
    { 5, 672, 160, true, "hard_swish", 2 }, { 5, 960, 160, true, "hard_swish", 1 }, { 5, 960, 160, true, "hard_swish", 1 } } do
    local dilated = dilation and row[3] == 160
    if row[3] == 80 and not eighth then eighth = x end
    x = inverted(net, x, row[3], { inner = row[2], kernel = row[1], stride = dilated and 1 or row[6], act = row[5],
      dilation = dilated and dilation or 1,
      squeezed = row[4] and eights(row[2] / 4), squeeze_act = "relu", gate = "hard_sigmoid" })
  end
  return net:conv(x, 960, 1, { act = "hard_swish" }), eighth
end

function M.mobilenet_v3_large(options)
  local net = build("mobilenet_v3_large", 3, 224, 224, options)
  local x = net:flatten(net:global_pool((v3_large(net))))
  return net, net:linear(net:linear(x, 1280, "hard_swish"), 1000)
end

-- 21 classes for each point of an image.
function M.lraspp_mobilenet_v3_large(options)
  local net = build("lraspp_mobilenet_v3_large", 3, 520, 520, options)
  local high, low = v3_large(net, 2)
  local gate = net:conv(net:global_pool(high), 128, 1, { plain = true, act = "sigmoid" })
  local x = net:mul(net:conv(high, 128, 1, { act = "relu" }), gate)
  x = net:conv(net:resize(x, low.h, low.w), 21, 1, { bias = true })
  return net, net:resize(net:add(net:conv(low, 21, 1, { bias = true }), x), 520, 520)
end

function M.mnasnet1_0(options)
  local net = build("mnasnet1_0", 3, 224, 224, options)
  local x = net:conv(net.input, 32, 3, { stride = 2, act = "relu" })
  x = net:conv(net:conv(x, 32, 3, { group = 32, act = "relu" }), 16, 1)
  for _, row in ipairs { { 3, 24, 3, 3, 2 }, { 5, 40, 3, 3, 2 }, { 5, 80, 3, 6, 2 }, { 3, 96, 2, 6, 1 }, { 5, 192, 4, 6, 2 },
    { 3, 320, 1, 6, 1 } } do
    for i = 1, row[3] do
      x = inverted(net, x, row[2], { inner = row[4] * x.c, kernel = row[1], stride = i == 1 and row[5] or 1, act = "relu" })
    end
  end
  x = net:conv(x, 1280, 1, { act = "relu" })
  return net, net:linear(net:flatten(net:global_pool(x)), 1000)
end

function M.efficientnet_b1(options)
  local net = build("efficientnet_b1", 3, 240, 240, options)
  local x = net:conv(net.input, 32, 3, { stride = 2, act = "silu" })
  for _, row in ipairs { { 1, 3, 16, 1, 1 }, { 6, 3, 24, 2, 2 }, { 6, 5, 40, 2, 2 }, { 6, 3, 80, 3, 2 }, { 6, 5, 112, 3, 1 },
    { 6, 5, 192, 4, 2 }, { 6, 3, 320, 1, 1 } } do
    for i = 1, math.ceil(row[4] * 1.1) do
      x = inverted(net, x, row[3], { inner = row[1] * x.c, kernel = row[2], stride = i == 1 and row[5] or 1, act = "silu",
        squeezed = x.c // 4, squeeze_act = "silu", gate = "sigmoid" })
    end
  end
  x = net:conv(x, 1280, 1, { act = "silu" })
  return net, net:linear(net:flatten(net:global_pool(x)), 1000)
end

return M
