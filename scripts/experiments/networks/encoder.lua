-- SPDX-License-Identifier: Apache-2.0
-- Encoders of transformers, as exporters write them: BERT-base (Devlin et al. 2018) on sequences of 384 tokens, of which
-- a mask hides some, and ViT-B/16 (Dosovitskiy et al. 2020), whose norms stand before the parts that they belong to.
local build = ...
local M = {}
local WIDTH, HEADS, INNER, LAYERS = 768, 12, 3072, 12

local function number(net, value)
  return net:tensor("", nil, ",io=weight,values=" .. value)
end

local function dense(net, x, rows, from, to)
  net.macs = net.macs + rows * from * to
  local y = net:put("MatMul", { x, net:weight(("%dx%d"):format(from, to), from * to) }, nil, ("%dx%d"):format(rows, to))
  return net:put("Add", { y, net:weight(to, to) }, nil, ("%dx%d"):format(rows, to))
end

local function norm(net, x, rows, epsilon)
  return net:put("LayerNormalization", { x, net:weight(WIDTH, WIDTH), net:weight(WIDTH, WIDTH) },
    "axis=2 epsilon=" .. epsilon, ("%dx%d"):format(rows, WIDTH))
end

local function add(net, x, y, rows) return net:put("Add", { x, y }, nil, ("%dx%d"):format(rows, WIDTH)) end

-- hidden: what is added to the scores of each key; nil: nothing.
local function attention(net, x, rows, hidden)
  local depth = WIDTH // HEADS
  local heads, scores = ("%dx%dx%d"):format(HEADS, rows, depth), ("%dx%dx%d"):format(HEADS, rows, rows)
  local function split(turned)
    local y = net:put("Reshape", { dense(net, x, rows, WIDTH, WIDTH) }, nil, ("%dx%dx%d"):format(rows, HEADS, depth))
    if turned then return net:put("Transpose", { y }, "perm=0x2x3x1", ("%dx%dx%d"):format(HEADS, depth, rows)) end
    return net:put("Transpose", { y }, "perm=0x2x1x3", heads)
  end
  local q, k, v = split(), split(true), split()
  net.macs = net.macs + 2 * rows * rows * WIDTH
  local s = net:put("Div", { net:put("MatMul", { q, k }, nil, scores), number(net, 8) }, nil, scores)
  if hidden then s = net:put("Add", { s, hidden }, nil, scores) end
  local y = net:put("MatMul", { net:put("Softmax", { s }, "axis=3", scores), v }, nil, heads)
  y = net:put("Transpose", { y }, "perm=0x2x1x3", ("%dx%dx%d"):format(rows, HEADS, depth))
  return dense(net, net:put("Reshape", { y }, nil, ("%dx%d"):format(rows, WIDTH)), rows, WIDTH, WIDTH)
end

local function feed_forward(net, x, rows)
  local inner = ("%dx%d"):format(rows, INNER)
  local y = dense(net, x, rows, WIDTH, INNER)
  local e = net:put("Erf", { net:put("Div", { y, number(net, 1.4142135381698608) }, nil, inner) }, nil, inner)
  y = net:put("Mul", { y, net:put("Add", { e, number(net, 1) }, nil, inner) }, nil, inner)
  return dense(net, net:put("Mul", { y, number(net, 0.5) }, nil, inner), rows, INNER, WIDTH)
end

-- The first row of each sequence.
local function first_row(net, x, rows)
  local y = net:put("Slice", { x }, ("starts=0x0x0 sizes={batch}x1x%d steps=1x1x1"):format(WIDTH), ("1x%d"):format(WIDTH))
  y = net:put("Reshape", { y }, nil, WIDTH)
  y.c = WIDTH
  return y
end

function M.bert_base()
  local rows, epsilon = 384, "1e-12"
  local net = build("bert_base")
  local shape = ("%dx%d"):format(rows, WIDTH)
  local function embedded(name, count)
    local ids = net:tensor(("{batch}x%d"):format(rows), name, ",io=in", "int64")
    return net:put("Gather", { net:weight(("%dx%d"):format(count, WIDTH), count * WIDTH), ids }, "axis=0", shape)
  end
  local x = add(net, embedded("input_ids", 30522), embedded("token_type_ids", 2), rows)
  x = norm(net, add(net, x, net:weight(("1x%dx%d"):format(rows, WIDTH), 512 * WIDTH), rows), rows, epsilon)
  local mask = net:tensor(("1x1x1x%d"):format(rows), "attention_mask", ",io=in")
  local function of_mask(op, a, b)
    local out = net:tensor(("1x1x1x%d"):format(rows))
    net.layers = net.layers + 1
    net.rows[#net.rows + 1] = ("layer,name=%s_%d,op=%s,in=%s %s,out=%s"):format(op:lower(), net.layers, op, a.name, b.name,
      out.name)
    return out
  end
  local hidden = of_mask("Mul", of_mask("Sub", number(net, 1), mask), number(net, -10000))
  for _ = 1, LAYERS do
    x = norm(net, add(net, x, attention(net, x, rows, hidden), rows), rows, epsilon)
    x = norm(net, add(net, x, feed_forward(net, x, rows), rows), rows, epsilon)
  end
  local y = net:linear(first_row(net, x, rows), WIDTH)
  return net, net:layer("Tanh", { y.name }, nil, WIDTH)
end

function M.vit_b_16(options)
  local rows, side, epsilon = 197, 14, "1e-6"
  local net = build("vit_b_16", 3, 224, 224, options)
  local patches = net:conv(net.input, WIDTH, 16, { stride = 16, pad = 0, bias = true })
  local x = net:put("Reshape", { patches }, nil, ("%dx%d"):format(WIDTH, side * side))
  x = net:put("Transpose", { x }, "perm=0x2x1", ("%dx%d"):format(side * side, WIDTH))
  local class = net:put("Expand", { net:weight(("1x1x%d"):format(WIDTH), WIDTH) }, nil, ("1x%d"):format(WIDTH))
  x = net:put("Concat", { class, x }, "axis=1", ("%dx%d"):format(rows, WIDTH))
  x = add(net, x, net:weight(("1x%dx%d"):format(rows, WIDTH), rows * WIDTH), rows)
  for _ = 1, LAYERS do
    x = add(net, x, attention(net, norm(net, x, rows, epsilon), rows), rows)
    x = add(net, x, feed_forward(net, norm(net, x, rows, epsilon), rows), rows)
  end
  return net, net:linear(first_row(net, norm(net, x, rows, epsilon), rows), 1000)
end

return M
