-- SPDX-License-Identifier: Apache-2.0
-- Writes convolutional networks as families of graphs (GRAPH.md): layers in which {batch} stands for the number of
-- images. A tensor is { name, c, h, w }, or { name, c } behind flatten(). The builder counts multiplications of one
-- image (macs) and parameters (params, those of batch norms included).
--
--     local net = build("name", 3, 224, 224)
--     local x = net:conv(net.input, 64, 7, { stride = 2, act = "relu" })
--     print(net:text(net:linear(net:flatten(net:global_pool(x)), 1000)))
--
-- Without extents the network has no input yet. With norms = true a batch norm stands behind each convolution; else it
-- is folded into weights and bias, as exporters do.
local Net = {}
Net.__index = Net

local function build(name, c, h, w, options)
  local net = setmetatable({ name = name, rows = {}, tensors = 0, layers = 0, macs = 0, params = 0,
    norms = options and options.norms }, Net)
  net.rows[1] = ("graph,version=1,name=%s"):format(name)
  if not c then return net end
  net.input = net:tensor(("{batch}x%dx%dx%d"):format(c, h, w), "x", ",io=in")
  net.input.c, net.input.h, net.input.w = c, h, w
  return net
end

function Net:tensor(shape, name, more, dtype)
  self.tensors = self.tensors + 1
  name = name or ("t%d"):format(self.tensors)
  self.rows[#self.rows + 1] = ("tensor,name=%s,dtype=%s,shape=%s%s"):format(name, dtype or "fp32", shape, more or "")
  return { name = name }
end

function Net:weight(shape, count)
  self.params = self.params + (count or 0)
  return self:tensor(shape, nil, ",io=weight").name
end

-- The result of a layer of c channels, h x w.
function Net:layer(op, inputs, args, c, h, w)
  local out = self:tensor(h and ("{batch}x%dx%dx%d"):format(c, h, w) or ("{batch}x%d"):format(c))
  out.c, out.h, out.w = c, h, w
  self.layers = self.layers + 1
  self.rows[#self.rows + 1] = ("layer,name=%s_%d,op=%s,in=%s,out=%s%s"):format(op:lower(), self.layers, op,
    table.concat(inputs, " "), out.name, args and ",args=" .. args or "")
  return out
end

local acts = { relu = { "Relu" }, relu6 = { "Clip", "min=0 max=6" }, sigmoid = { "Sigmoid" },
  hard_sigmoid = { "HardSigmoid", "alpha=0.16666666666666666 beta=0.5" } }

function Net:act(x, act)
  if not act then return x end
  if act == "silu" or act == "hard_swish" then
    return self:mul(x, self:act(x, act == "silu" and "sigmoid" or "hard_sigmoid"))
  end
  return self:layer(acts[act][1], { x.name }, acts[act][2], x.c, x.h, x.w)
end

function Net:norm(x)
  local row = {}
  for i = 1, 4 do row[i] = self:weight(x.c, 0) end
  return self:layer("BatchNormalization", { x.name, table.unpack(row) }, "epsilon=1e-5", x.c, x.h, x.w)
end

local function extent(x, kernel, stride, pad, dilation)
  return (x + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
end

-- Parameters of a bias, of a batch norm, or of both.
function Net:count_ends(k, o)
  self.params = self.params + (o.bias == "both" and 3 or o.bias and 1 or 2) * k
end

-- Convolution to k channels with kernel x kernel, or { height, width }; o: stride (1), dilation (1), pad (a result of
-- the input's size at stride 1), group (1), act, bias = true: a bias, no batch norm; bias = "both".
function Net:conv(x, k, kernel, o)
  o = o or {}
  local kh, kw = kernel, kernel
  if type(kernel) == "table" then kh, kw = kernel[1], kernel[2] end
  local stride, group, dilation = o.stride or 1, o.group or 1, o.dilation or 1
  local dh, dw = kh > 1 and dilation or 1, kw > 1 and dilation or 1
  local ph, pw = o.pad or kh // 2 * dh, o.pad or kw // 2 * dw
  local h, w = extent(x.h, kh, stride, ph, dh), extent(x.w, kw, stride, pw, dw)
  local size = k * (x.c // group) * kh * kw
  local inputs = { x.name, self:weight(("%dx%dx%dx%d"):format(k, x.c // group, kh, kw), size) }
  local norms = self.norms and o.bias ~= true
  if not norms or o.bias then inputs[3] = self:weight(k, 0) end
  self:count_ends(k, o)
  self.macs = self.macs + size * h * w
  local y = self:layer("Conv", inputs, ("kernel=%dx%d strides=%dx%d pads=%dx%dx%dx%d dilations=%dx%d group=%d")
    :format(kh, kw, stride, stride, ph, pw, ph, pw, dh, dw, group), k, h, w)
  return self:act(norms and self:norm(y) or y, o.act)
end

-- Transposed convolution of stride 2 to k channels and twice the size; more: rows that its result has beyond those of
-- the window.
function Net:up(x, k, kernel, pad, more, o)
  o = o or {}
  local size = x.c * k * kernel * kernel
  local h, w = 2 * x.h, 2 * x.w
  local inputs = { x.name, self:weight(("%dx%dx%dx%d"):format(x.c, k, kernel, kernel), size), self:weight(k, 0) }
  self:count_ends(k, o)
  self.macs = self.macs + size * x.h * x.w
  local y = self:layer("ConvTranspose", inputs, ("kernel=%dx%d strides=2x2 pads=%dx%dx%dx%d dilations=1x1 group=1 " ..
    "output_padding=%dx%d"):format(kernel, kernel, pad, pad, pad, pad, more, more), k, h, w)
  return self:act(y, o.act)
end

-- Largest of each window; ceil: a window that lies partly outside counts too.
function Net:max_pool(x, kernel, stride, pad, ceil)
  pad = pad or 0
  local function size(n)
    local out = (n + 2 * pad - kernel + (ceil and stride - 1 or 0)) // stride + 1
    return ceil and (out - 1) * stride >= n + pad and out - 1 or out
  end
  return self:layer("MaxPool", { x.name }, ("kernel=%dx%d strides=%dx%d pads=%dx%dx%dx%d dilations=1x1 ceil=%d " ..
    "count_include_pad=0"):format(kernel, kernel, stride, stride, pad, pad, pad, pad, ceil and 1 or 0), x.c, size(x.h),
    size(x.w))
end

function Net:average_pool(x, kernel, stride)
  return self:layer("AveragePool", { x.name }, ("kernel=%dx%d strides=%dx%d pads=0x0x0x0 dilations=1x1 ceil=0 " ..
    "count_include_pad=0"):format(kernel, kernel, stride, stride), x.c, x.h // stride, x.w // stride)
end

function Net:global_pool(x) return self:layer("GlobalAveragePool", { x.name }, nil, x.c, 1, 1) end
function Net:flatten(x) return self:layer("Reshape", { x.name }, nil, x.c * x.h * x.w) end
function Net:add(x, y) return self:layer("Add", { x.name, y.name }, nil, x.c, x.h, x.w) end
function Net:mul(x, y) return self:layer("Mul", { x.name, y.name }, nil, x.c, x.h, x.w) end

function Net:concat(list)
  local names, c = {}, 0
  for i, x in ipairs(list) do names[i], c = x.name, c + x.c end
  return self:layer("Concat", names, "axis=1", c, list[1].h, list[1].w)
end

function Net:linear(x, k, act)
  self.params, self.macs = self.params + (x.c + 1) * k, self.macs + x.c * k
  return self:act(self:layer("Gemm", { x.name, self:weight(("%dx%d"):format(k, x.c)), self:weight(k) },
    "alpha=1 beta=1 trans_a=0 trans_b=1", k), act)
end

-- Channels times what a small network makes of their averages; inner: channels between.
function Net:squeeze(x, inner, act, gate)
  local s = self:conv(self:global_pool(x), inner, 1, { bias = true, act = act })
  return self:mul(x, self:conv(s, x.c, 1, { bias = true, act = gate }))
end

-- The family as text; y is its result.
function Net:text(y)
  local text = table.concat(self.rows, "\n") .. "\n"
  return (text:gsub("(tensor,name=" .. y.name .. ",[^\n]*)", "%1,io=out", 1))
end

return build
