-- SPDX-License-Identifier: Apache-2.0
-- vinci.transformer_operators: what one rank holds of a transformer, and the operators of each part of a step on that
-- rank. A part of vinci.transformer, whose models and splits it takes complete.
local M = { WIDTH = { fp16 = 2, bf16 = 2, fp32 = 4 } }
local PART = 1 << 24 -- elements of a kernel of the optimizer; the library takes tensor by tensor
local BLOCK = 1024 -- elements of a gradient that share a scale

-- What one rank holds of a layer: extents after the tensor parallel split.
function M.shard(model, split)
  local ffn = model.experts > 0 and model.expert_ffn or model.ffn
  local own = { tokens = model.micro_batch * model.sequence // split.cp, sequence = model.sequence // split.cp, cp = split.cp, heads = model.heads // split.tp,
    kv_heads = math.max(1, model.kv_heads // split.tp), dim = model.head_dim, hidden = model.hidden,
    ffn = ffn // split.tp, vocab = -(-model.vocab // split.tp),
    recompute_activation = split.recompute_activation }
  own.rows = split.sequence_parallel and own.tokens // split.tp or own.tokens -- between the parts of a layer
  own.up = model.gated and 2 * own.ffn or own.ffn
  own.qkv = (own.heads + 2 * own.kv_heads) * own.dim
  own.attention = own.heads * own.dim
  own.experts = model.experts // split.ep
  -- Rows that the experts of the fullest rank get: the ranks of a group wait for that.
  own.routed = math.ceil(own.tokens * model.top_k * model.imbalance)
  own.of_expert = own.experts > 0 and -(-own.routed // own.experts) or 0
  return own
end

-- Layers of a stage (from 0): as many as of the others, unless the split says how many.
function M.layers_of(model, split, stage) return split.stage_layers[stage + 1] or model.layers // split.pp end

-- Elements of weights of a stage (from 0) on one rank: of a layer, of its experts among these; of all layers, embedding
-- and head; of all, and of all experts.
function M.weights(model, split, own, stage)
  local attention = own.hidden * own.qkv + own.attention * own.hidden + 2 * own.hidden
  local mlp, layers = own.hidden * own.up + own.ffn * own.hidden, M.layers_of(model, split, stage)
  local out = { experts_layer = own.experts * mlp, embedding = stage == 0 and own.vocab * own.hidden or 0,
    head = stage == split.pp - 1 and (own.vocab + 1) * own.hidden or 0 }
  out.layer = attention + (model.experts > 0 and out.experts_layer + own.hidden * model.experts or mlp)
  out.layers, out.experts = layers * out.layer, layers * out.experts_layer
  out.all = out.layers + out.embedding + out.head
  return out
end

-- Elements of the optimizer on one rank: experts are on fewer ranks than the rest.
function M.sharded(split, held)
  if not split.sharded then return held.all end
  local ranks = split.dp * split.cp
  return -(-(held.all - held.experts) // ranks) + -(-held.experts // (ranks // split.ep))
end

-- ---- operators: lists of { name, arguments, bound by memory } ------------------------------------------------

-- A product y = x W^T as the framework has it, and its two gradients. That of W is added to what earlier micro
-- batches gave, in fp32.
local function product(dtype, m, k, n) return { "matmul", { m = m, k = k, n = n, dtype = dtype, transpose_b = 1 } } end

local function product_grad(list, dtype, m, k, n)
  list[#list + 1] = { "matmul", { m = m, k = n, n = k, dtype = dtype } }
  list[#list + 1] = { "matmul", { m = n, k = m, n = k, dtype = dtype, out_dtype = "fp32", transpose_a = 1 } }
  list[#list + 1] = { "add", { shape = ("%dx%d"):format(n, k), dtype = "fp32" }, true }
end

local function rows(name, m, n, dtype, more)
  local args = { shape = ("%dx%d"):format(m, n), dtype = dtype }
  for key, value in pairs(more or {}) do args[key] = value end
  return { name, args, true }
end

local function attention_args(model, own, ring)
  local args = { batch = model.micro_batch, heads = own.heads, kv_heads = own.kv_heads, seq_q = own.sequence,
    head_dim = own.dim, dtype = model.dtype, layout = "SBH" }
  if ring then args.seq_k = own.sequence // 2 else args.causal = 1 end
  return args
end

local function rope(name, model, own, heads)
  return { name, { shape = ("%dx%dx%d"):format(own.tokens, heads, own.dim), dtype = model.dtype }, true }
end

-- Attention in three pieces: up to Q, K and V; the scores; behind. The scores of a ring are those of the rank's own
-- part of the sequence, causal, and then of the parts of others. Each rank has one part from the front and one from the
-- back of the sequence, so that half of the scores of each other part count, on all ranks alike.
local function attention_forward(model, own)
  local t, d, args, ring = own.tokens, model.dtype, attention_args(model, own), attention_args(model, own, true)
  args.statistics, ring.statistics = 1, 1
  local before = { rows("rms_norm", own.rows, own.hidden, d), product(d, t, own.hidden, own.qkv), rope("rope", model, own, own.heads),
    rope("rope", model, own, own.kv_heads) }
  -- The result so far is scaled and added to, with the weights of both.
  local update = { rows("mul", t, own.attention, "fp32"), rows("add", t, own.attention, "fp32") }
  return before, { { "flash_attention", args } }, { { "flash_attention", ring }, update[1], update[2] },
    { product(d, t, own.attention, own.hidden) }
end

local function attention_backward(model, own)
  local t, d, before, behind = own.tokens, model.dtype, {}, {}
  product_grad(before, d, t, own.attention, own.hidden)
  behind[1], behind[2] = rope("rope_grad", model, own, own.heads), rope("rope_grad", model, own, own.kv_heads)
  product_grad(behind, d, t, own.hidden, own.qkv)
  return before, { { "flash_attention_grad", attention_args(model, own) } },
    { { "flash_attention_grad", attention_args(model, own, true) }, rows("add", t, own.attention, d) }, behind
end

local function joined(...)
  local out = {}
  for _, list in ipairs { ... } do table.move(list, 1, #list, #out + 1, out) end
  return out
end

-- Names of the parts: attention as a whole, or its pieces for a ring.
local function attention(lists, name, own, before, core, ring, behind)
  if own.cp == 1 then
    lists[name] = joined(before, core, behind)
  else
    lists[name .. "_before"], lists[name .. "_own"], lists[name .. "_ring"], lists[name .. "_behind"] = before, core, ring, behind
  end
end

local function mlp_forward(model, own)
  local t, d = own.tokens, model.dtype
  return { rows("add", own.rows, own.hidden, d), rows("rms_norm", own.rows, own.hidden, d), product(d, t, own.hidden, own.up),
    rows(model.gated and "swiglu" or "gelu", t, own.up, d), product(d, t, own.ffn, own.hidden) }
end

local function mlp_backward(model, own)
  local t, d, list = own.tokens, model.dtype, {}
  product_grad(list, d, t, own.ffn, own.hidden)
  list[#list + 1] = rows(model.gated and "swiglu_grad" or "gelu_grad", t, own.up, d)
  product_grad(list, d, t, own.hidden, own.up)
  return list
end

-- Experts: the router chooses top_k of them for each token; tokens are put in their order, and back behind the experts.
local function moved(model, own, count)
  return { "gather", { shape = ("%dx%d"):format(own.tokens * model.top_k, own.hidden), count = count, dtype = model.dtype }, true }
end

local function router_forward(model, own)
  local t, d = own.tokens, model.dtype
  return { rows("add", own.rows, own.hidden, d), rows("rms_norm", own.rows, own.hidden, d), product(d, t, own.hidden, model.experts),
    rows("softmax", t, model.experts, "fp32"), rows("topk", t, model.experts, "fp32", { k = model.top_k }),
    moved(model, own, t * model.top_k) }
end

local function router_backward(model, own)
  local t, d, list = own.tokens, model.dtype, { moved(model, own, own.tokens * model.top_k) }
  for _ = 2, model.top_k do list[#list + 1] = rows("add", t, own.hidden, d) end
  list[#list + 1] = rows("softmax_grad", t, model.experts, "fp32")
  product_grad(list, d, t, own.hidden, model.experts)
  return list
end

local function combine(model, own)
  local list = { moved(model, own, own.tokens * model.top_k), rows("mul", own.tokens * model.top_k, own.hidden, model.dtype) }
  for _ = 2, model.top_k do list[#list + 1] = rows("add", own.tokens, own.hidden, model.dtype) end
  return list
end

local function combine_backward(model, own)
  return { rows("mul", own.tokens * model.top_k, own.hidden, model.dtype), moved(model, own, own.tokens * model.top_k) }
end

local function grouped(model, own, k, n, transposed)
  return { "grouped_matmul", { rows = tostring(own.of_expert), groups = own.experts, k = k, n = n, dtype = model.dtype,
    transpose_b = transposed and 1 or 0 } }
end

local function experts_forward(model, own)
  return { grouped(model, own, own.hidden, own.up, true), rows(model.gated and "swiglu" or "gelu", own.routed, own.up, model.dtype),
    grouped(model, own, own.ffn, own.hidden, true) }
end

local function experts_backward(model, own)
  local list = {}
  local function grad(k, n)
    list[#list + 1] = grouped(model, own, n, k, false)
    for _ = 1, own.experts do
      list[#list + 1] = { "matmul", { m = n, k = own.of_expert, n = k, dtype = model.dtype, out_dtype = "fp32", transpose_a = 1 } }
      list[#list + 1] = { "add", { shape = ("%dx%d"):format(n, k), dtype = "fp32" }, true }
    end
  end
  grad(own.ffn, own.hidden)
  list[#list + 1] = rows(model.gated and "swiglu_grad" or "gelu_grad", own.routed, own.up, model.dtype)
  grad(own.hidden, own.up)
  return list
end

-- Behind the sum of a gradient over tensor parallel ranks: the norm, and the sum with the residual.
local function norm_backward(model, own)
  return { rows("rms_norm_grad", own.rows, own.hidden, model.dtype), rows("add", own.rows, own.hidden, model.dtype) }
end

local function residual(model, own) return { rows("add", own.rows, own.hidden, model.dtype) } end

local function embedding(model, own, name)
  return { { name, { shape = ("%dx%d"):format(own.vocab, own.hidden), count = own.tokens,
    dtype = name == "gather" and model.dtype or "fp32" }, true } }
end

local function head_forward(model, own)
  local t, d = own.tokens, model.dtype
  return { rows("rms_norm", own.rows, own.hidden, d), product(d, t, own.hidden, own.vocab),
    rows("cast", t, own.vocab, d, { to = "fp32" }), rows("log_softmax", t, own.vocab, "fp32") }
end

local function head_backward(model, own)
  local t, d = own.tokens, model.dtype
  local list = { rows("log_softmax_grad", t, own.vocab, "fp32"), rows("cast", t, own.vocab, "fp32", { to = d }) }
  product_grad(list, d, t, own.hidden, own.vocab)
  list[#list + 1] = rows("rms_norm_grad", own.rows, own.hidden, d)
  return list
end

-- The squares of gradients for their norm, a step of AdamW on the fp32 weights, and the weights of the forward pass.
function M.optimizer(model, elements)
  local list = {}
  while elements > 0 do
    local part = math.min(elements, PART)
    local shape = ("%d"):format(part)
    list[#list + 1] = { "lp_norm_reduce", { shape = shape, dtype = "fp32" }, true }
    list[#list + 1] = { "adamw", { shape = shape, dtype = "fp32" }, true }
    list[#list + 1] = { "cast", { shape = shape, dtype = "fp32", to = model.dtype }, true }
    elements = elements - part
  end
  return list
end

-- Gradients of fewer bits, before their sum and behind it: `to` is fp16 or int8, with a scale for each BLOCK elements.
function M.compression(to, elements)
  local before, behind = {}, {}
  while elements > 0 do
    local part = math.min(-(-elements // BLOCK) * BLOCK, PART)
    local shape = ("%dx%d"):format(part // BLOCK, BLOCK)
    local function cast(from, into) return { "cast", { shape = shape, dtype = from, to = into }, true } end
    if to == "int8" then
      before[#before + 1] = { "reduce_max", { shape = shape, dtype = "fp32", axes = "1" }, true }
      before[#before + 1] = { "muls", { shape = shape, dtype = "fp32" }, true }
    end
    before[#before + 1], behind[#behind + 1] = cast("fp32", to), cast(to, "fp32")
    if to == "int8" then behind[#behind + 1] = { "muls", { shape = shape, dtype = "fp32" }, true } end
    elements = elements - part
  end
  return before, behind
end

-- Bytes of a sum of gradients, and of the scales that the ranks agree on before (0: none).
function M.gradient_bytes(to, elements)
  return elements * ({ fp32 = 4, fp16 = 2, int8 = 1 })[to], to == "int8" and -(-elements // BLOCK) * 4 or 0
end

-- Operators of a step by part.
function M.parts(model, own)
  local lists = { residual = residual(model, own), norm_grad = norm_backward(model, own),
    embedding = embedding(model, own, "gather"), embedding_grad = embedding(model, own, "scatter_add"),
    head = head_forward(model, own), head_grad = head_backward(model, own) }
  attention(lists, "attention", own, attention_forward(model, own))
  attention(lists, "attention_grad", own, attention_backward(model, own))
  if own.recompute_activation then
    local count = model.experts > 0 and own.routed or own.tokens
    lists.activation = { rows(model.gated and "swiglu" or "gelu", count, own.up, model.dtype) }
  end
  if model.experts == 0 then
    lists.mlp, lists.mlp_grad = mlp_forward(model, own), mlp_backward(model, own)
  else
    lists.router, lists.router_grad = router_forward(model, own), router_backward(model, own)
    lists.experts, lists.experts_grad = experts_forward(model, own), experts_backward(model, own)
    lists.combine, lists.combine_grad = combine(model, own), combine_backward(model, own)
  end
  return lists
end

return M
