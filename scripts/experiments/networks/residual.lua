-- SPDX-License-Identifier: Apache-2.0
-- Networks of blocks with sums: ResNet (He et al. 2015, table 1; the stride of a bottleneck is on its 3x3, as
-- torchvision has it), ResNeXt (Xie et al. 2016), wide ResNet (Zagoruyko and Komodakis 2016), RegNetX (Radosavovic et
-- al. 2020).
local build = ...
local M = {}

local function basic(net, x, k, stride)
  local y = net:conv(net:conv(x, k, 3, { stride = stride, act = "relu" }), k, 3)
  if stride > 1 or x.c ~= k then x = net:conv(x, k, 1, { stride = stride }) end
  return net:act(net:add(y, x), "relu")
end

-- To k channels, with inner channels between.
local function bottleneck(net, x, k, stride, inner, group)
  local y = net:conv(net:conv(x, inner, 1, { act = "relu" }), inner, 3, { stride = stride, group = group, act = "relu" })
  y = net:conv(y, k, 1)
  if stride > 1 or x.c ~= k then x = net:conv(x, k, 1, { stride = stride }) end
  return net:act(net:add(y, x), "relu")
end

-- width: inner channels of the first stage's blocks; nil: blocks of two 3x3.
local function resnet(name, blocks, width, group)
  M[name] = function(options)
    local net = build(name, 3, 224, 224, options)
    local x = net:max_pool(net:conv(net.input, 64, 7, { stride = 2, act = "relu" }), 3, 2, 1)
    for stage, count in ipairs(blocks) do
      for i = 1, count do
        local stride, scale = (stage > 1 and i == 1) and 2 or 1, 1 << (stage - 1)
        if width then
          x = bottleneck(net, x, 256 * scale, stride, width * scale, group)
        else
          x = basic(net, x, 64 * scale, stride)
        end
      end
    end
    return net, net:linear(net:flatten(net:global_pool(x)), 1000)
  end
end
resnet("resnet18", { 2, 2, 2, 2 })
resnet("resnet34", { 3, 4, 6, 3 })
resnet("resnet50", { 3, 4, 6, 3 }, 64)
resnet("resnet101", { 3, 4, 23, 3 }, 64)
resnet("resnet152", { 3, 8, 36, 3 }, 64)
resnet("resnext50_32x4d", { 3, 4, 6, 3 }, 128, 32)
resnet("resnext101_32x8d", { 3, 4, 23, 3 }, 256, 32)
resnet("wide_resnet50_2", { 3, 4, 6, 3 }, 128)
resnet("wide_resnet101_2", { 3, 4, 23, 3 }, 128)

function M.regnet_x_1_6gf(options)
  local net = build("regnet_x_1_6gf", 3, 224, 224, options)
  local x = net:conv(net.input, 32, 3, { stride = 2, act = "relu" })
  for _, stage in ipairs { { 72, 2 }, { 168, 4 }, { 408, 10 }, { 912, 2 } } do
    for i = 1, stage[2] do x = bottleneck(net, x, stage[1], i == 1 and 2 or 1, stage[1], stage[1] // 24) end
  end
  return net, net:linear(net:flatten(net:global_pool(x)), 1000)
end

return M
