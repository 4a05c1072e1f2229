-- SPDX-License-Identifier: Apache-2.0
-- Networks without sums: AlexNet (one column, Krizhevsky 2014, table 1), VGG-16 (Simonyan and Zisserman 2014, table 1,
-- D), SqueezeNet 1.1 (Iandola et al. 2016), GoogLeNet (Szegedy et al. 2014, table 1, with batch norms and 3x3 in place
-- of 5x5 windows as torchvision has it), DenseNet (Huang et al. 2016, table 1).
local build = ...
local M = {}

function M.alexnet(options)
  local net = build("alexnet", 3, 224, 224, options)
  local function conv(x, k, kernel, o)
    o.bias, o.act = true, "relu"
    return net:conv(x, k, kernel, o)
  end
  local x = net:max_pool(conv(net.input, 64, 11, { stride = 4, pad = 2 }), 3, 2)
  x = net:max_pool(conv(x, 192, 5, {}), 3, 2)
  x = conv(conv(conv(x, 384, 3, {}), 256, 3, {}), 256, 3, {})
  x = net:flatten(net:max_pool(x, 3, 2))
  return net, net:linear(net:linear(net:linear(x, 4096, "relu"), 4096, "relu"), 1000)
end

function M.vgg16(options)
  local net = build("vgg16", 3, 224, 224, options)
  local x = net.input
  for _, block in ipairs { { 64, 2 }, { 128, 2 }, { 256, 3 }, { 512, 3 }, { 512, 3 } } do
    for _ = 1, block[2] do x = net:conv(x, block[1], 3, { bias = true, act = "relu" }) end
    x = net:max_pool(x, 2, 2)
  end
  return net, net:linear(net:linear(net:linear(net:flatten(x), 4096, "relu"), 4096, "relu"), 1000)
end

function M.squeezenet1_1(options)
  local net = build("squeezenet1_1", 3, 224, 224, options)
  local function conv(x, k, kernel, o)
    return net:conv(x, k, kernel, { bias = true, act = "relu", stride = o and o.stride, pad = o and o.pad })
  end
  local function fire(x, inner, outer)
    local s = conv(x, inner, 1)
    return net:concat { conv(s, outer, 1), conv(s, outer, 3) }
  end
  local x = net:max_pool(conv(net.input, 64, 3, { stride = 2, pad = 0 }), 3, 2, 0, true)
  x = net:max_pool(fire(fire(x, 16, 64), 16, 64), 3, 2, 0, true)
  x = net:max_pool(fire(fire(x, 32, 128), 32, 128), 3, 2, 0, true)
  x = fire(fire(fire(fire(x, 48, 192), 48, 192), 64, 256), 64, 256)
  return net, net:flatten(net:global_pool(conv(x, 1000, 1)))
end

function M.googlenet(options)
  local net = build("googlenet", 3, 224, 224, options)
  local function conv(x, k, kernel, stride) return net:conv(x, k, kernel, { stride = stride, act = "relu" }) end
  local function inception(x, a, b1, b2, c1, c2, d)
    return net:concat { conv(x, a, 1), conv(conv(x, b1, 1), b2, 3), conv(conv(x, c1, 1), c2, 3),
      conv(net:max_pool(x, 3, 1, 1, true), d, 1) }
  end
  local x = net:max_pool(conv(net.input, 64, 7, 2), 3, 2, 0, true)
  x = net:max_pool(conv(conv(x, 64, 1), 192, 3), 3, 2, 0, true)
  x = inception(inception(x, 64, 96, 128, 16, 32, 32), 128, 128, 192, 32, 96, 64)
  x = inception(net:max_pool(x, 3, 2, 0, true), 192, 96, 208, 16, 48, 64)
  x = inception(inception(x, 160, 112, 224, 24, 64, 64), 128, 128, 256, 24, 64, 64)
  x = inception(inception(x, 112, 144, 288, 32, 64, 64), 256, 160, 320, 32, 128, 128)
  x = inception(net:max_pool(x, 2, 2, 0, true), 256, 160, 320, 32, 128, 128)
  x = inception(x, 384, 192, 384, 48, 128, 128)
  return net, net:linear(net:flatten(net:global_pool(x)), 1000)
end

-- Batch norm and ReLU stand before the convolutions, so that they cannot be folded; they are one scale and shift.
local function densenet(name, blocks)
  M[name] = function(options)
    local net = build(name, 3, 224, 224, options)
    local function norm(x)
      net.params = net.params + 2 * x.c
      return net:act(net:norm(x), "relu")
    end
    local function plain(x, k, kernel, o) -- without a batch norm of its own, or bias
      net.params = net.params - (o and o.normed and 0 or 2 * k)
      return net:conv(x, k, kernel, o)
    end
    local x = net:max_pool(net:conv(net.input, 64, 7, { stride = 2, act = "relu" }), 3, 2, 1)
    for i, count in ipairs(blocks) do
      local all = { x }
      for _ = 1, count do
        local inner = plain(norm(#all > 1 and net:concat(all) or all[1]), 128, 1, { normed = true, act = "relu" })
        all[#all + 1] = plain(inner, 32, 3)
      end
      x = norm(net:concat(all))
      if i < #blocks then x = net:average_pool(plain(x, x.c // 2, 1), 2, 2) end
    end
    return net, net:linear(net:flatten(net:global_pool(x)), 1000)
  end
end
densenet("densenet121", { 6, 12, 24, 16 })
densenet("densenet169", { 6, 12, 32, 32 })

return M
