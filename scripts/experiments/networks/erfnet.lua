-- SPDX-License-Identifier: Apache-2.0
-- ERFNet (Romera et al. 2018, table I) for pictures of 512 x 1024 and 20 classes: residual blocks of four one-dimensional
-- convolutions, the last two of them dilated, and a decoder of transposed convolutions.
local build = ...
local M = {}

-- As the authors' own code has the block: the first convolution of each pair has a bias, the second a batch norm too.
local function block(net, x, dilation)
  local y = net:conv(x, x.c, { 3, 1 }, { bias = true, act = "relu" })
  y = net:conv(y, x.c, { 1, 3 }, { act = "relu", bias = "both" })
  y = net:conv(y, x.c, { 3, 1 }, { bias = true, act = "relu", dilation = dilation })
  y = net:conv(y, x.c, { 1, 3 }, { dilation = dilation, bias = "both" })
  return net:act(net:add(y, x), "relu")
end

-- Half the extents: a convolution beside a pool, to k channels together, then a batch norm.
local function down(net, x, k)
  local y = net:concat { net:conv(x, k - x.c, 3, { stride = 2, pad = 1, bias = true }), net:max_pool(x, 2, 2) }
  net.params = net.params + 2 * k
  return net:act(net:norm(y), "relu")
end

function M.erfnet(options)
  local net = build("erfnet", 3, 512, 1024, options)
  local x = down(net, down(net, net.input, 16), 64)
  for _ = 1, 5 do x = block(net, x, 1) end
  x = down(net, x, 128)
  for _ = 1, 2 do
    for _, dilation in ipairs { 2, 4, 8, 16 } do x = block(net, x, dilation) end
  end
  for _, k in ipairs { 64, 16 } do
    x = net:up(x, k, 3, 1, 1, { act = "relu", bias = "both" })
    for _ = 1, 2 do x = block(net, x, 1) end
  end
  return net, net:up(x, 20, 2, 0, 0, { bias = true })
end

return M
