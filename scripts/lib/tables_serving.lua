-- SPDX-License-Identifier: Apache-2.0
-- vinci.tables_serving: the layers of a transformer that serves requests, as the profiles that LLMServingSim (its "output
-- bundle") and Vidur (mlp.csv, attention.csv, all_reduce.csv) read instead of measuring a device.
--
-- Weights and caches of other layers push each other out of L2, so products and attention find L2 empty; the kernels
-- between find what the kernel before left. Kernels follow each other on the stream: a layer takes the sum of its kernels.
local vinci = ...
local T, O, G = vinci.transformer, vinci.transformer_operators, vinci.tables
local M = {}

local COLD, USED = "empty", "used"

-- A model without the fields that only a training step has.
local function complete(given)
  local model = {}
  for key, value in pairs(given) do model[key] = value end
  model.sequence, model.global_batch = model.sequence or 1, 1
  return T.model(model)
end

-- What one of tp ranks holds.
local function share(model, tp)
  local why = T.misfit(model, { tp = tp })
  if why then G.refuse("cannot split %s", why) end
  return O.shard(model, T.split(model, { tp = tp }))
end

local function product(model, m, k, n)
  return { "matmul", { m = m, k = k, n = n, dtype = model.dtype, transpose_b = 1 }, l2 = COLD }
end

local function rows(name, m, n, dtype, more)
  local args = { shape = ("%dx%d"):format(m, n), dtype = dtype }
  for key, value in pairs(more or {}) do args[key] = value end
  return { name, args, l2 = USED }
end

local function rope(model, own, t, heads)
  return { "rope", { shape = ("%dx%dx%d"):format(t, heads, own.dim), dtype = model.dtype }, l2 = USED }
end

-- Layers of a rank by name, each a list of operators, for t tokens of a step.
function M.dense(model, own, t)
  local h, d = own.hidden, model.dtype
  local norm = { rows("add_rms_norm", t, h, d) }
  return {
    embedding = { { "gather", { shape = ("%dx%d"):format(own.vocab, h), count = t, dtype = d }, l2 = COLD } },
    layernorm = norm,
    final_layernorm = norm,
    norm = { rows("rms_norm", t, h, d) },
    add = { rows("add", t, h, d) },
    qkv_proj = { product(model, t, h, own.qkv) },
    qk_norm = { rows("rms_norm", t * own.heads, own.dim, d), rows("rms_norm", t * own.kv_heads, own.dim, d) },
    rotary_emb = { rope(model, own, t, own.heads), rope(model, own, t, own.kv_heads) },
    o_proj = { product(model, t, own.attention, h) },
    gate_up_proj = { product(model, t, h, own.up) },
    act_fn = { rows(model.gated and "swiglu" or "gelu", t, own.up, d) },
    down_proj = { product(model, t, own.ffn, h) },
  }
end

-- Layers of the sequences of a step that get a token: logits, and the most probable token of all ranks' logits.
local function per_sequence(model, own, s)
  return {
    lm_head = { product(model, s, own.hidden, own.vocab) },
    sampler = { rows("cast", s, model.vocab, model.dtype, { to = "fp32" }), rows("softmax", s, model.vocab, "fp32"),
      rows("argmax", s, model.vocab, "fp32") },
  }
end

-- K and V of t tokens go to the cache.
local function save(model, own, t, block)
  local cache = { shape = ("%dx%d"):format(-(-t // block) * block, own.kv_heads * own.dim), count = t, dtype = model.dtype }
  return { { "scatter_update", cache, l2 = USED }, { "scatter_update", cache, l2 = USED } }
end

-- A part of a prompt behind `history` tokens that are in the cache.
local function prefill(model, own, chunk, history)
  return { "flash_attention", { heads = own.heads, kv_heads = own.kv_heads, seq_q = chunk, seq_k = chunk + history,
    head_dim = own.dim, dtype = model.dtype, layout = "BSND", causal = 1 }, l2 = COLD }
end

-- A token each of `batch` sequences with `length` tokens in the cache.
local function decode(model, own, batch, length, block)
  return { "paged_attention", { batch = batch, heads = own.heads, kv_heads = own.kv_heads, seq_q = 1, seq_k = length,
    head_dim = own.dim, dtype = model.dtype, block_size = block }, l2 = COLD }
end

-- Experts of t tokens of which `active` get some: the router, rows in the order of experts, both products, rows back.
local function experts(model, own, t, active)
  local routed, h, d = t * model.top_k, own.hidden, model.dtype
  local counts = {}
  for i = 1, active do counts[i] = routed // active + (i <= routed % active and 1 or 0) end
  local function grouped(k, n)
    return { "grouped_matmul", { rows = table.concat(counts, "x"), k = k, n = n, dtype = d, transpose_b = 1 }, l2 = COLD }
  end
  local moved = { "gather", { shape = ("%dx%d"):format(routed, h), count = routed, dtype = d }, l2 = USED }
  local list = { product(model, t, h, model.experts), rows("softmax", t, model.experts, "fp32"),
    rows("topk", t, model.experts, "fp32", { k = model.top_k }), moved, grouped(h, own.up),
    rows(model.gated and "swiglu" or "gelu", routed, own.up, d), grouped(own.ffn, h), moved, rows("mul", routed, h, d) }
  for _ = 2, model.top_k do list[#list + 1] = rows("add", t, h, d) end
  return list
end

-- ---- what is asked -------------------------------------------------------------------------------------------------

-- A question is a list of operators and the row that it fills; all are simulated before a row is written.
local function learn(times, questions)
  local all = {}
  for _, question in ipairs(questions) do table.move(question.list, 1, #question.list, #all + 1, all) end
  return times:learn(all)
end

local function us_text(us) return ("%.5f"):format(us) end

local function sorted(names)
  local list = {}
  for name in pairs(names) do list[#list + 1] = name end
  table.sort(list)
  return list
end

-- The values of an axis of a request, or of its default.
local function axis(request, name, default) return request.axes[name] or G.values(name, default) end

local function with_zero(values) return table.move(values, 1, #values, 2, { 0 }) end

local function need(request, names)
  for name in pairs(request.axes) do
    if not names[name] then
      G.refuse("the form %s has no axis '%s'; it has %s", request.form, name, table.concat(sorted(names), ", "))
    end
  end
end

-- ---- LLMServingSim -------------------------------------------------------------------------------------------------

local DENSE = { "act_fn", "down_proj", "embedding", "final_layernorm", "gate_up_proj", "layernorm", "o_proj", "qk_norm",
  "qkv_proj", "rotary_emb" }
local OF_EXPERTS = { act_fn = true, down_proj = true, gate_up_proj = true } -- a model with experts has moe.csv for them

-- Rows of a file of layers by tokens or sequences.
local function layer_rows(model, names, values, layers_at)
  local questions = {}
  for _, name in ipairs(names) do
    if model.experts == 0 or not OF_EXPERTS[name] then
      for _, value in ipairs(values) do
        questions[#questions + 1] = { list = layers_at(value)[name], cells = { name, value } }
      end
    end
  end
  return questions
end

-- Rows of attention: prompts and tokens of one step are kernels one after the other.
local function attention_rows(model, own, axes, block)
  local questions = {}
  local function row(chunk, history, batch, length)
    local list = save(model, own, chunk + batch, block)
    if chunk > 0 then list[#list + 1] = prefill(model, own, chunk, history) end
    if batch > 0 then list[#list + 1] = decode(model, own, batch, length, block) end
    questions[#questions + 1] = { list = list, cells = { chunk, history, batch, length } }
  end
  local histories, lengths = with_zero(axes.kv), axes.kv
  for _, chunk in ipairs(with_zero(axes.chunk)) do
    for _, history in ipairs(chunk > 0 and histories or { 0 }) do
      if chunk > 0 then row(chunk, history, 0, 0) end
      for _, batch in ipairs(axes.sequences) do
        for _, length in ipairs(lengths) do row(chunk, history, batch, length) end
      end
    end
  end
  return questions
end

local function expert_rows(model, own, tokens)
  local questions = {}
  for _, t in ipairs(tokens) do
    local active = model.top_k
    while active <= math.min(t * model.top_k, model.experts) do
      questions[#questions + 1] = { list = experts(model, own, t, active), cells = { t, active } }
      active = active * 2
    end
  end
  return questions
end

local function meta(request, model, axes)
  local tps = table.concat(request.tp, ", ")
  return table.concat({
    "profiler_version: vinci " .. vinci.version,
    "gpu: " .. request.soc:name() .. " (simulated)",
    "hardware: " .. request.soc:name(),
    "model: " .. model.name,
    "variant: " .. model.dtype,
    "tp_degrees: [" .. tps .. "]",
    "engine_effective:",
    "  block_size: " .. request.block,
    "  max_num_batched_tokens: " .. axes.tokens[#axes.tokens],
    "  max_num_seqs: " .. axes.sequences[#axes.sequences],
    "skew_fit:",
    "  enabled: false",
    "model_revision: " .. vinci.model_revision,
    "memory_model: " .. (request.memory or "flat"),
    "assumed: L2 empty for products and attention; a step's prompts and tokens attend one kernel after the other;" ..
      " the most probable token is taken",
    "",
  }, "\n")
end

-- The files of an output bundle: { path =, text = } below the folder of the hardware. Nil: the progress ended that.
function M.llmservingsim(request)
  need(request, { tokens = true, sequences = true, chunk = true, kv = true })
  local model = complete(request.model)
  local axes = { tokens = axis(request, "tokens", "1..2048"), sequences = axis(request, "sequences", "1..256"),
    chunk = axis(request, "chunk", "16..2048"), kv = axis(request, "kv", "16..16384") }
  local times, files, tables = G.times(request.soc, request), {}, {}
  local root = ("%s/%s"):format(model.name, model.dtype)
  for _, tp in ipairs(request.tp) do
    local own = share(model, tp)
    local function table_of(name, head, questions) tables[#tables + 1] = { tp = tp, name = name, head = head, questions = questions } end
    table_of("dense.csv", { "layer", "tokens", "time_us" },
      layer_rows(model, DENSE, axes.tokens, function(t) return M.dense(model, own, t) end))
    table_of("per_sequence.csv", { "layer", "sequences", "time_us" },
      layer_rows(model, { "lm_head", "sampler" }, axes.sequences, function(s) return per_sequence(model, own, s) end))
    table_of("attention.csv", { "prefill_chunk", "kv_prefill", "n_decode", "kv_decode", "time_us" },
      attention_rows(model, own, axes, request.block))
    if model.experts > 0 and tp == request.tp[1] then
      table_of("moe.csv", { "tokens", "activated_experts", "time_us" }, expert_rows(model, share(model, 1), axes.tokens))
    end
  end
  local all = {}
  for _, one in ipairs(tables) do table.move(one.questions, 1, #one.questions, #all + 1, all) end
  if not learn(times, all) then return nil end
  for _, one in ipairs(tables) do
    local lines = { one.head }
    for _, question in ipairs(one.questions) do
      question.cells[#question.cells + 1] = us_text(times:us(question.list))
      lines[#lines + 1] = question.cells
    end
    files[#files + 1] = { path = ("%s/tp%d/%s"):format(root, one.tp, one.name), text = G.csv(lines) }
  end
  files[#files + 1] = { path = root .. "/meta.yaml", text = meta(request, model, axes) }
  return files
end

-- ---- Vidur ---------------------------------------------------------------------------------------------------------

-- Vidur's names of layers, in the order of its columns.
local VIDUR = { { "emb", "embedding" }, { "input_layernorm", "norm" }, { "attn_pre_proj", "qkv_proj" },
  { "attn_rope", "rotary_emb" }, { "attn_post_proj", "o_proj" }, { "post_attention_layernorm", "norm" },
  { "mlp_up_proj", "gate_up_proj" }, { "mlp_act", "act_fn" }, { "mlp_down_proj", "down_proj" }, { "add", "add" } }
local STATISTICS = { "min", "max", "mean", "median", "std" }

local function statistics_head(head, name)
  for _, one in ipairs(STATISTICS) do head[#head + 1] = ("time_stats.%s.%s"):format(name, one) end
end

-- A simulation repeats exactly: all statistics are its time in milliseconds, and nothing scatters.
local function statistics(cells, us)
  for _ = 1, 4 do cells[#cells + 1] = ("%.6f"):format(us / 1000) end
  cells[#cells + 1] = "0"
end

local function vidur_layers(model, tps, tokens)
  local head, questions = {}, {}
  for _, layer in ipairs(VIDUR) do statistics_head(head, layer[1]) end
  for _, name in ipairs { "n_head", "n_kv_head", "n_embd", "n_expanded_embd", "vocab_size", "use_gated_mlp", "num_tokens",
    "num_tensor_parallel_workers" } do head[#head + 1] = name end
  for _, tp in ipairs(tps) do
    local own = share(model, tp)
    for _, t in ipairs(tokens) do
      local layers, list, lists = M.dense(model, own, t), {}, {}
      for k, layer in ipairs(VIDUR) do
        lists[k] = layers[layer[2]]
        table.move(lists[k], 1, #lists[k], #list + 1, list)
      end
      questions[#questions + 1] = { list = list, lists = lists, more = { model.heads, model.kv_heads, model.hidden, model.ffn,
        model.vocab, model.gated and "True" or "False", t, tp } }
    end
  end
  return head, questions
end

local function vidur_attention(model, tps, axes, block)
  local head, questions = {}, {}
  for _, name in ipairs { "attn_kv_cache_save", "attn_prefill", "attn_decode" } do statistics_head(head, name) end
  for _, name in ipairs { "n_embd", "n_q_head", "n_kv_head", "block_size", "num_tensor_parallel_workers", "batch_size",
    "prefill_chunk_size", "kv_cache_size", "is_prefill" } do head[#head + 1] = name end
  for _, tp in ipairs(tps) do
    local own = share(model, tp)
    local function row(batch, chunk, length)
      local kept = save(model, own, math.max(chunk, batch), block)
      local lists = { kept, chunk > 0 and { prefill(model, own, chunk, length) } or {},
        chunk == 0 and { decode(model, own, batch, length, block) } or {} }
      local list = table.move(lists[2], 1, #lists[2], #kept + 1, table.move(kept, 1, #kept, 1, {}))
      questions[#questions + 1] = { list = table.move(lists[3], 1, #lists[3], #list + 1, list), lists = lists,
        more = { model.hidden, model.heads, model.kv_heads, block, tp, batch, chunk, length, chunk > 0 and "True" or "False" } }
    end
    for _, chunk in ipairs(axes.chunk) do
      for _, length in ipairs(with_zero(axes.kv)) do row(1, chunk, length) end
    end
    for _, batch in ipairs(axes.sequences) do
      for _, length in ipairs(axes.kv) do row(batch, 0, length) end
    end
  end
  return head, questions
end

-- Sums of all ranks over links of a system, by bytes of a step's tokens.
local function vidur_sums(request, model, tokens)
  local sums, lines = vinci.planner_bounds.sums { system = request.system, data = request.data }, {}
  lines[1] = { "" }
  statistics_head(lines[1], "all_reduce")
  table.move({ "rank", "num_workers", "size", "collective", "devices_per_node", "max_devices_per_node" }, 1, 6, #lines[1] + 1, lines[1])
  for _, tp in ipairs(request.tp) do
    for _, t in ipairs(tp > 1 and tokens or {}) do
      local bytes, cells = t * model.hidden * 2, { #lines - 1 }
      statistics(cells, sums:exactly({ tp = tp, pp = 1, dp = 1, cp = 1, ep = 1 }, "tensor", "all_reduce", bytes))
      table.move({ 0, tp, bytes, "all_reduce", tp, tp }, 1, 6, #cells + 1, cells)
      lines[#lines + 1] = cells
    end
  end
  return G.csv(lines)
end

-- The files of Vidur's folder of profiles. Nil: the progress ended that.
function M.vidur(request)
  need(request, { tokens = true, sequences = true, chunk = true, kv = true })
  local model = complete(request.model)
  if model.experts > 0 then G.refuse "Vidur's profiles have no experts" end
  local axes = { tokens = axis(request, "tokens", "1..4096"), sequences = axis(request, "sequences", "1..128"),
    chunk = axis(request, "chunk", "64..4096"), kv = axis(request, "kv", "64..8192") }
  local times, files = G.times(request.soc, request), {}
  local root = ("compute/%s/%s"):format(request.soc:name():lower(), model.name)
  local tables = { {}, {} }
  tables[1].head, tables[1].questions = vidur_layers(model, request.tp, axes.tokens)
  tables[2].head, tables[2].questions = vidur_attention(model, request.tp, axes, request.block)
  local all = table.move(tables[1].questions, 1, #tables[1].questions, 1, {})
  if not learn(times, table.move(tables[2].questions, 1, #tables[2].questions, #all + 1, all)) then return nil end
  for i, name in ipairs { "mlp.csv", "attention.csv" } do
    local lines = { tables[i].head }
    for _, question in ipairs(tables[i].questions) do
      local cells = {}
      for _, list in ipairs(question.lists) do statistics(cells, times:us(list)) end
      lines[#lines + 1] = table.move(question.more, 1, #question.more, #cells + 1, cells)
    end
    files[i] = { path = root .. "/" .. name, text = G.csv(lines) }
  end
  if request.system then
    files[3] = { path = ("network/%s/all_reduce.csv"):format(request.system), text = vidur_sums(request, model, axes.tokens) }
  end
  return files
end

return M
