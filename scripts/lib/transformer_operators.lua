-- SPDX-License-Identifier: Apache-2.0
-- vinci.transformer_operators: what one rank holds of a transformer, and the operators of each part of a step on that
-- rank. A part of vinci.transformer, whose models and splits it takes complete.
-- PART: elements of a kernel of the optimizer; the library takes tensor by tensor.
local M = { WIDTH = { fp16 = 2, bf16 = 2, fp32 = 4 }, PART = 1 << 24 }
local PART = M.PART
local BLOCK = 1024 -- elements of a gradient that share a scale

-- What one rank holds of a layer: extents after the tensor parallel split.
function M.shard(model, split)
  local own = { tokens = model.micro_batch * model.sequence // split.cp, sequence = model.sequence // split.cp, cp = split.cp, heads = model.heads // split.tp,
    kv_heads = math.max(1, model.kv_heads // split.tp), dim = model.head_dim, hidden = model.hidden,
    vocab = -(-model.vocab // split.tp), recompute_activation = split.recompute_activation,
    lora = split.lora_rank, fused = split.tp > 1 and split.fused or 1 }
  own.rows = split.sequence_parallel and own.tokens // split.tp or own.tokens -- between the parts of a layer
  local function widths(ffn) return ffn // split.tp, (model.gated and 2 or 1) * ffn // split.tp end
  own.dense_ffn, own.dense_up = widths(model.ffn)
  own.ffn, own.up = widths(model.experts > 0 and model.expert_ffn or model.ffn)
  own.shared_ffn, own.shared_up = widths(model.shared_experts * model.expert_ffn)
  -- A head of latent attention has `dim` elements by content and `rope` by position; V is padded to both (the vendor's framework).
  own.rope = model.kv_rank > 0 and model.rope_dim or 0
  own.head = own.dim + own.rope
  own.qkv = (own.heads + 2 * own.kv_heads) * own.dim
  own.attention = own.heads * own.dim
  -- Ranks that exchange heads have the sequence of all of them, and a part of the heads.
  own.exchange, own.ring = split.cp_heads, split.cp // split.cp_heads
  own.score_sequence = own.sequence * own.exchange
  own.score_heads, own.score_kv_heads = own.heads // own.exchange, math.max(1, own.kv_heads // own.exchange)
  own.experts = model.experts // split.ep
  -- Rows that the experts of the fullest rank get: the ranks of a group wait for that. What is beyond the capacity is dropped.
  local share = model.imbalance
  if model.capacity > 0 then share = model.pad_experts and model.capacity or math.min(share, model.capacity) end
  own.routed, own.sent = math.ceil(own.tokens * model.top_k * share), math.ceil(own.rows * model.top_k * share)
  own.of_expert = own.experts > 0 and -(-own.routed // own.experts) or 0
  return own
end

-- Layers of a part of a stage (both from 0). A list has them by stage, or, with parts in turn, in the order of the model.
function M.layers_of_part(model, split, stage, part)
  local listed = split.stage_layers[split.vpp > 1 and part * split.pp + stage + 1 or stage + 1]
  return listed or model.layers // (split.pp * split.vpp)
end

-- Layers of a stage.
function M.layers_of(model, split, stage)
  if #split.stage_layers == 0 then return model.layers // split.pp end
  local sum = 0
  for part = 0, split.vpp - 1 do sum = sum + M.layers_of_part(model, split, stage, part) end
  return sum
end

-- How many layers of a part of a stage have no experts, and how many there are; those without come first.
function M.kinds_of_part(model, split, stage, part)
  local here, before = M.layers_of_part(model, split, stage, part), 0
  if model.experts == 0 then return here, here end
  if model.dense_layers == 0 then return 0, here end
  for at = 0, part * split.pp + stage - 1 do
    before = before + M.layers_of_part(model, split, at % split.pp, at // split.pp)
    if before >= model.dense_layers then return 0, here end
  end
  return math.min(model.dense_layers - before, here), here
end

-- Of all parts of a stage.
local function without_experts(model, split, stage)
  if model.experts == 0 then return M.layers_of(model, split, stage) end
  local sum = 0
  for part = 0, model.dense_layers > 0 and split.vpp - 1 or -1 do sum = sum + M.kinds_of_part(model, split, stage, part) end
  return sum
end

local function latent_weights(model, own)
  local queries = own.heads * own.head
  return (model.q_rank > 0 and own.hidden * model.q_rank + model.q_rank * (queries + 1) or own.hidden * queries) +
    own.hidden * (model.kv_rank + own.rope) + model.kv_rank * (2 * own.attention + 1) + own.attention * own.hidden
end

-- Elements of adapters on products [k,n]: two thin matrices each.
local function adapters(own, ...)
  local sum = 0
  for _, extents in ipairs { ... } do sum = sum + own.lora * (extents[1] + extents[2]) end
  return sum
end

-- Elements of weights of a stage (from 0) on one rank: of a layer, with experts and without, and of the experts among
-- these; of all layers, embedding and head; of all, and of all experts. `trained` has the same of what is trained.
function M.weights(model, split, own, stage)
  local attention = (model.kv_rank > 0 and latent_weights(model, own) or own.hidden * own.qkv + own.attention * own.hidden) + 2 * own.hidden
  local function mlp(up, ffn) return own.hidden * up + ffn * own.hidden end
  local out = { experts_layer = own.experts * mlp(own.up, own.ffn), embedding = stage == 0 and own.vocab * own.hidden or 0,
    head = stage == split.pp - 1 and (own.vocab + 1) * own.hidden or 0 }
  local with_experts = attention + out.experts_layer + own.hidden * model.experts + mlp(own.shared_up, own.shared_ffn)
  out.dense_layer = attention + mlp(own.dense_up, own.dense_ffn)
  out.layer = model.experts > 0 and with_experts or out.dense_layer
  local of_others = without_experts(model, split, stage)
  local of_experts = M.layers_of(model, split, stage) - of_others
  out.layers, out.experts = of_experts * out.layer + of_others * out.dense_layer, of_experts * out.experts_layer
  out.all = out.layers + out.embedding + out.head
  out.trained = out
  if own.lora > 0 then
    local layer = adapters(own, { own.hidden, own.qkv }, { own.attention, own.hidden }, { own.hidden, own.dense_up }, { own.dense_ffn, own.hidden })
    out.trained = { layer = layer, dense_layer = layer, layers = of_others * layer, all = of_others * layer, embedding = 0, head = 0,
      experts = 0, experts_layer = 0 }
    out.all = out.all + out.trained.all
  end
  return out
end

-- Elements of the optimizer on one rank: experts are on fewer ranks than the rest.
function M.sharded(split, held)
  local trained = held.trained
  if not split.sharded then return trained.all end
  local ranks = split.dp * split.cp
  return -(-(trained.all - trained.experts) // ranks) + -(-trained.experts // (ranks // split.ep))
end

-- ---- operators: lists of { name, arguments, bound by memory } ------------------------------------------------

-- A product y = x W^T as the framework has it, and its two gradients. That of W is added to what earlier micro
-- batches gave, in fp32.
local function product(dtype, m, k, n) return { "matmul", { m = m, k = k, n = n, dtype = dtype, transpose_b = 1 } } end
local function product_of_input(dtype, m, k, n) return { "matmul", { m = m, k = n, n = k, dtype = dtype } } end

local function product_of_weights(list, dtype, m, k, n)
  list[#list + 1] = { "matmul", { m = n, k = m, n = k, dtype = dtype, out_dtype = "fp32", transpose_a = 1 } }
  list[#list + 1] = { "add", { shape = ("%dx%d"):format(n, k), dtype = "fp32" }, true }
end

local function product_grad(list, dtype, m, k, n)
  list[#list + 1] = product_of_input(dtype, m, k, n)
  product_of_weights(list, dtype, m, k, n)
end

local function rows(name, m, n, dtype, more)
  local args = { shape = ("%dx%d"):format(m, n), dtype = dtype }
  for key, value in pairs(more or {}) do args[key] = value end
  return { name, args, true }
end

-- A product with weights that adapters stand beside (LoRA: Hu et al., 2021): the weights have no gradient, and two thin
-- products do, whose result is added.
local function linear(list, model, own, m, k, n)
  local d = model.dtype
  list[#list + 1] = product(d, m, k, n)
  if own.lora == 0 then return end
  list[#list + 1], list[#list + 2], list[#list + 3] = product(d, m, k, own.lora), product(d, m, own.lora, n), rows("add", m, n, d)
end

local function linear_grad(list, model, own, m, k, n)
  local d = model.dtype
  if own.lora == 0 then return product_grad(list, d, m, k, n) end
  list[#list + 1] = product_of_input(d, m, k, n)
  product_grad(list, d, m, own.lora, n)
  product_grad(list, d, m, k, own.lora)
  list[#list + 1] = rows("add", m, k, d)
end

local function with_linear(list, model, own, m, k, n)
  linear(list, model, own, m, k, n)
  return list
end

local function attention_args(model, own, ring)
  local args = { batch = model.micro_batch, heads = own.score_heads, kv_heads = own.score_kv_heads, seq_q = own.score_sequence,
    head_dim = own.head, dtype = model.dtype, layout = "SBH" }
  if ring then args.seq_k = own.score_sequence // 2 else args.causal = 1 end
  return args
end

local function rope(name, model, own, heads)
  return { name, { shape = ("%dx%dx%d"):format(own.tokens, heads, own.rope > 0 and own.rope or own.dim), dtype = model.dtype }, true }
end

-- Q, K and V of latent attention (DeepSeek-V2, 2024): queries through q_rank elements a token where there are such, keys and
-- values through kv_rank, and one key by position for all heads.
local function latent_forward(model, own)
  local t, d, queries = own.tokens, model.dtype, own.heads * own.head
  local list = { rows("rms_norm", own.rows, own.hidden, d) }
  if model.q_rank > 0 then
    linear(list, model, own, t, own.hidden, model.q_rank)
    list[#list + 1] = rows("rms_norm", t, model.q_rank, d)
  end
  linear(list, model, own, t, model.q_rank > 0 and model.q_rank or own.hidden, queries)
  linear(list, model, own, t, own.hidden, model.kv_rank + own.rope)
  list[#list + 1] = rows("rms_norm", t, model.kv_rank, d)
  linear(list, model, own, t, model.kv_rank, 2 * own.attention)
  list[#list + 1], list[#list + 2] = rope("rope", model, own, own.heads), rope("rope", model, own, 1)
  return list
end

local function latent_backward(model, own)
  local t, d, queries = own.tokens, model.dtype, own.heads * own.head
  local list = { rope("rope_grad", model, own, own.heads), rope("rope_grad", model, own, 1) }
  linear_grad(list, model, own, t, model.kv_rank, 2 * own.attention)
  list[#list + 1] = rows("rms_norm_grad", t, model.kv_rank, d)
  linear_grad(list, model, own, t, own.hidden, model.kv_rank + own.rope)
  linear_grad(list, model, own, t, model.q_rank > 0 and model.q_rank or own.hidden, queries)
  if model.q_rank > 0 then
    list[#list + 1] = rows("rms_norm_grad", t, model.q_rank, d)
    linear_grad(list, model, own, t, own.hidden, model.q_rank)
  end
  list[#list + 1] = rows("add", t, own.hidden, d)
  return list
end

-- Attention in three pieces: up to Q, K and V; the scores; behind. The scores of a ring are those of the rank's own
-- part of the sequence, causal, and then of the parts of others. Each rank has one part from the front and one from the
-- back of the sequence, so that half of the scores of each other part count, on all ranks alike.
local function attention_forward(model, own)
  local t, d, args, ring = own.tokens, model.dtype, attention_args(model, own), attention_args(model, own, true)
  args.statistics, ring.statistics = 1, 1
  local before = model.kv_rank > 0 and latent_forward(model, own)
  if not before then
    before = { rows("rms_norm", own.rows, own.hidden, d) }
    linear(before, model, own, t, own.hidden, own.qkv)
    before[#before + 1], before[#before + 2] = rope("rope", model, own, own.heads), rope("rope", model, own, own.kv_heads)
  end
  -- The result so far is scaled and added to, with the weights of both.
  local update = { rows("mul", t, own.attention, "fp32"), rows("add", t, own.attention, "fp32") }
  return before, { { "flash_attention", args } }, { { "flash_attention", ring }, update[1], update[2] },
    with_linear({}, model, own, t, own.attention, own.hidden)
end

local function attention_backward(model, own)
  local t, d, before, behind = own.tokens, model.dtype, {}, nil
  linear_grad(before, model, own, t, own.attention, own.hidden)
  if model.kv_rank > 0 then
    behind = latent_backward(model, own)
  else
    behind = { rope("rope_grad", model, own, own.heads), rope("rope_grad", model, own, own.kv_heads) }
    linear_grad(behind, model, own, t, own.hidden, own.qkv)
  end
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
  local list = { rows("add", own.rows, own.hidden, d), rows("rms_norm", own.rows, own.hidden, d) }
  linear(list, model, own, t, own.hidden, own.dense_up)
  list[#list + 1] = rows(model.gated and "swiglu" or "gelu", t, own.dense_up, d)
  return with_linear(list, model, own, t, own.dense_ffn, own.hidden)
end

local function mlp_backward(model, own)
  local t, d, list = own.tokens, model.dtype, {}
  linear_grad(list, model, own, t, own.dense_ffn, own.hidden)
  list[#list + 1] = rows(model.gated and "swiglu_grad" or "gelu_grad", t, own.dense_up, d)
  linear_grad(list, model, own, t, own.hidden, own.dense_up)
  return list
end

-- The experts that all tokens pass, as one MLP.
local function shared_forward(model, own)
  local t, d = own.tokens, model.dtype
  return { product(d, t, own.hidden, own.shared_up), rows(model.gated and "swiglu" or "gelu", t, own.shared_up, d),
    product(d, t, own.shared_ffn, own.hidden), rows("add", t, own.hidden, d) }
end

local function shared_backward(model, own)
  local t, d, list = own.tokens, model.dtype, {}
  product_grad(list, d, t, own.shared_ffn, own.hidden)
  list[#list + 1] = rows(model.gated and "swiglu_grad" or "gelu_grad", t, own.shared_up, d)
  product_grad(list, d, t, own.hidden, own.shared_up)
  list[#list + 1] = rows("add", t, own.hidden, d)
  return list
end

-- Experts: the router chooses top_k of them for each token; tokens are put in their order, and back behind the experts.
local function moved(model, own, count)
  return { "gather", { shape = ("%dx%d"):format(own.rows * model.top_k, own.hidden), count = count, dtype = model.dtype }, true }
end

local function router_forward(model, own)
  local t, d = own.rows, model.dtype
  return { rows("add", own.rows, own.hidden, d), rows("rms_norm", own.rows, own.hidden, d), product(d, t, own.hidden, model.experts),
    rows("softmax", t, model.experts, "fp32"), rows("topk", t, model.experts, "fp32", { k = model.top_k }),
    moved(model, own, t * model.top_k) }
end

local function router_backward(model, own)
  local t, d, list = own.rows, model.dtype, { moved(model, own, own.rows * model.top_k) }
  for _ = 2, model.top_k do list[#list + 1] = rows("add", t, own.hidden, d) end
  list[#list + 1] = rows("softmax_grad", t, model.experts, "fp32")
  product_grad(list, d, t, own.hidden, model.experts)
  return list
end

local function combine(model, own)
  local list = { moved(model, own, own.rows * model.top_k), rows("mul", own.rows * model.top_k, own.hidden, model.dtype) }
  for _ = 2, model.top_k do list[#list + 1] = rows("add", own.rows, own.hidden, model.dtype) end
  return list
end

local function combine_backward(model, own)
  return { rows("mul", own.rows * model.top_k, own.hidden, model.dtype), moved(model, own, own.rows * model.top_k) }
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
  list[#list + 1] = product_of_input(d, t, own.hidden, own.vocab)
  if own.lora == 0 then product_of_weights(list, d, t, own.hidden, own.vocab) end
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

-- Products that stand at a sum over tensor parallel ranks, in `fused` pieces that are joined with it: taken out of the
-- lists, and a piece of each on its own.
local function cut_sums(model, own, lists)
  local d, piece = model.dtype, -(-own.tokens // own.fused)
  local function last(name, k, n)
    local list = lists[name]
    table.remove(list)
    lists[name .. "_out"] = { product(d, piece, k, n) }
  end
  local function input(name, k, n) -- the gradient of the input comes before that of the weights
    local list = lists[name]
    table.remove(list, #list - 2)
    lists[name .. "_out"] = { product_of_input(d, piece, k, n) }
  end
  local behind = own.cp > 1 and "_behind" or ""
  last("attention" .. behind, own.attention, own.hidden)
  input("attention_grad" .. behind, own.hidden, own.qkv)
  if lists.mlp then
    last("mlp", own.dense_ffn, own.hidden)
    input("mlp_grad", own.hidden, own.dense_up)
  end
end

-- Operators of a step by part.
function M.parts(model, own)
  local lists = { residual = residual(model, own), norm_grad = norm_backward(model, own),
    embedding = embedding(model, own, "gather"), embedding_grad = own.lora == 0 and embedding(model, own, "scatter_add") or {},
    head = head_forward(model, own), head_grad = head_backward(model, own) }
  attention(lists, "attention", own, attention_forward(model, own))
  attention(lists, "attention_grad", own, attention_backward(model, own))
  if own.recompute_activation then
    local routed = model.experts > 0
    lists.activation = { rows(model.gated and "swiglu" or "gelu", routed and own.routed or own.tokens, own.up, model.dtype) }
  end
  if model.experts == 0 or model.dense_layers > 0 then
    lists.mlp, lists.mlp_grad = mlp_forward(model, own), mlp_backward(model, own)
  end
  if model.experts > 0 then
    lists.router, lists.router_grad = router_forward(model, own), router_backward(model, own)
    lists.experts, lists.experts_grad = experts_forward(model, own), experts_backward(model, own)
    lists.combine, lists.combine_grad = combine(model, own), combine_backward(model, own)
  end
  if model.shared_experts > 0 then lists.shared, lists.shared_grad = shared_forward(model, own), shared_backward(model, own) end
  if own.fused > 1 then cut_sums(model, own, lists) end
  return lists
end

return M
