-- SPDX-License-Identifier: Apache-2.0
-- One layer of Llama-7B (Touvron et al. 2023, table 2) over 512 tokens, as exporters write it: RMS norms taken apart,
-- rotary positions as halves that change places, SwiGLU. A triangle of -65504 hides later tokens. cos and sin are inputs.
local build = ...
local M = {}
local WIDTH, HEADS, INNER, ROWS = 4096, 32, 11008, 512
local DEPTH = WIDTH // HEADS

local function number(net, value) return net:tensor("", nil, ",io=weight,values=" .. value) end

local function dense(net, x, from, to)
  net.macs = net.macs + ROWS * from * to
  return net:put("MatMul", { x, net:weight(("%dx%d"):format(from, to), from * to) }, nil, ("%dx%d"):format(ROWS, to))
end

local function norm(net, x)
  local rows, row = ("%dx%d"):format(ROWS, WIDTH), ("%dx1"):format(ROWS)
  local mean = net:put("ReduceMean", { net:put("Pow", { x, number(net, 2) }, nil, rows) }, "axes=2 keepdims=1", row)
  local root = net:put("Sqrt", { net:put("Add", { mean, number(net, "1e-6") }, nil, row) }, nil, row)
  return net:put("Mul", { net:put("Div", { x, root }, nil, rows), net:weight(WIDTH, WIDTH) }, nil, rows)
end

local function heads(net, x)
  local y = net:put("Reshape", { dense(net, x, WIDTH, WIDTH) }, nil, ("%dx%dx%d"):format(ROWS, HEADS, DEPTH))
  return net:put("Transpose", { y }, "perm=0x2x1x3", ("%dx%dx%d"):format(HEADS, ROWS, DEPTH))
end

local function rotary(net, x, cos, sin)
  local whole, half = ("%dx%dx%d"):format(HEADS, ROWS, DEPTH), ("%dx%dx%d"):format(HEADS, ROWS, DEPTH // 2)
  local function part(start)
    return net:put("Slice", { x }, ("starts=0x0x0x%d sizes={batch}x%s steps=1x1x1x1"):format(start, half), half)
  end
  local turned = net:put("Concat", { net:put("Neg", { part(DEPTH // 2) }, nil, half), part(0) }, "axis=3", whole)
  return net:put("Add", { net:put("Mul", { x, cos }, nil, whole), net:put("Mul", { turned, sin }, nil, whole) }, nil, whole)
end

local function attention(net, x, cos, sin, mask)
  local scores = ("%dx%dx%d"):format(HEADS, ROWS, ROWS)
  local q, k = rotary(net, heads(net, x), cos, sin), rotary(net, heads(net, x), cos, sin)
  local v = heads(net, x)
  k = net:put("Transpose", { k }, "perm=0x1x3x2", ("%dx%dx%d"):format(HEADS, DEPTH, ROWS))
  net.macs = net.macs + 2 * ROWS * ROWS * WIDTH
  local s = net:put("Div", { net:put("MatMul", { q, k }, nil, scores), number(net, math.sqrt(DEPTH)) }, nil, scores)
  s = net:put("Softmax", { net:put("Add", { s, mask }, nil, scores) }, "axis=3", scores)
  local y = net:put("MatMul", { s, v }, nil, ("%dx%dx%d"):format(HEADS, ROWS, DEPTH))
  y = net:put("Transpose", { y }, "perm=0x2x1x3", ("%dx%dx%d"):format(ROWS, HEADS, DEPTH))
  return dense(net, net:put("Reshape", { y }, nil, ("%dx%d"):format(ROWS, WIDTH)), WIDTH, WIDTH)
end

local function feed_forward(net, x)
  local inner = ("%dx%d"):format(ROWS, INNER)
  local gate = dense(net, x, WIDTH, INNER)
  local silu = net:put("Mul", { gate, net:put("Sigmoid", { gate }, nil, inner) }, nil, inner)
  return dense(net, net:put("Mul", { silu, dense(net, x, WIDTH, INNER) }, nil, inner), INNER, WIDTH)
end

function M.llama_7b_layer()
  local net = build("llama_7b_layer")
  local rows = ("%dx%d"):format(ROWS, WIDTH)
  local function input(name, shape) return net:tensor(shape, name, ",io=in") end
  local x = input("x", "{batch}x" .. rows)
  local cos, sin = input("cos", ("1x1x%dx%d"):format(ROWS, DEPTH)), input("sin", ("1x1x%dx%d"):format(ROWS, DEPTH))
  local square = ("1x1x%dx%d"):format(ROWS, ROWS)
  local function constant(op, x, args)
    local out = net:tensor(square)
    net.layers = net.layers + 1
    net.rows[#net.rows + 1] = ("layer,name=%s,op=%s,in=%s,out=%s,args=%s"):format(op:lower(), op, x.name, out.name, args)
    return out
  end
  local mask = constant("Trilu", constant("Expand", number(net, -65504), "shape=" .. square), "upper=1 k=1")
  x = net:put("Add", { x, attention(net, norm(net, x), cos, sin, mask) }, nil, rows)
  return net, net:put("Add", { x, feed_forward(net, norm(net, x)) }, nil, rows)
end

return M
