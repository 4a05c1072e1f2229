-- SPDX-License-Identifier: Apache-2.0
-- vinci.serving_costs: what a step of a serving engine takes on one device: prompts that are read, tokens that are made, or
-- both. A part of vinci.serving.
--
-- A step is made of parts that depend on one or two numbers: tokens, sequences, the length of what is in the cache. Each
-- part is simulated at powers of two, kernel by kernel, when it is first needed; between two powers of two it grows evenly.
-- Kernels are those of vinci.tables_serving: weights and caches push each other out of L2.
local vinci = ...
local T, O, S, G = vinci.transformer, vinci.transformer_operators, vinci.tables_serving, vinci.tables
local M = {}

local Costs = {}
Costs.__index = Costs

local COLD, USED = "empty", "used"
local SPREAD = 32 -- ranks: an exchange among more takes as long, since a rank's port has the same bytes (all but its own part)
local WIDEST = 8192 -- elements of a row that becomes eight bits
local LARGEST = 1 << 22 -- bytes that are simulated among many ranks; more are in proportion

local function refuse(format, ...) error(("vinci.serving: " .. format):format(...), 0) end

local HAS = { system = "string", data = "string", set = "table", tp = "number", ep = "number", block = "number", launch_us = "number",
  memory = "string", jobs = "number", weights = "string", apart = "number", code = "string" }

-- The model on one of tp ranks, whose experts ep devices share. Options: see LUA.md.
function M.new(soc, model, options)
  local given = {}
  for key, value in pairs(model) do given[key] = value end
  for key, value in pairs(options or {}) do
    if HAS[key] ~= type(value) then refuse(HAS[key] and "%s is a %s" or "there is no option '%s'", key, type(value)) end
  end
  local self = setmetatable({ soc = soc, options = options or {}, points = {}, waits = {} }, Costs)
  local where = self.options
  self.tp, self.ep, self.block = where.tp or 1, where.ep or 1, where.block or 128
  self.bytes8 = where.weights == "int8"
  if where.weights and where.weights ~= "int8" then refuse("weights are %s, not int8", where.weights) end
  if (self.tp > 1 or self.ep > 1) and not where.system then refuse("tp=%d ep=%d need a system of devices", self.tp, self.ep) end
  given.sequence, given.global_batch = given.sequence or 1, self.ep
  self.model = T.model(given)
  local split = { tp = self.tp, dp = self.ep, ep = self.model.experts > 0 and self.ep or 1 }
  local why = T.misfit(self.model, split)
  if why then refuse("cannot split %s", why) end
  self.split = T.split(self.model, split)
  self.own = O.shard(self.model, self.split)
  self.times = G.times(soc, { memory = where.memory, jobs = where.jobs, code = where.code })
  return self
end

-- ---- kernels ---------------------------------------------------------------------------------------------------------

local function rows(name, m, n, dtype, more)
  local args = { shape = ("%dx%d"):format(m, n), dtype = dtype }
  for key, value in pairs(more or {}) do args[key] = value end
  return { name, args, l2 = USED }
end

-- To eight bits with a scale for each row; rows that UB does not hold count as several.
local function quant(m, k, dtype)
  while k > WIDEST and k % 2 == 0 do m, k = 2 * m, k // 2 end
  return { "dynamic_quant", { shape = ("%dx%d"):format(m, k), dtype = dtype }, l2 = USED }
end

function Costs:product(list, m, k, n)
  local d = self.model.dtype
  if self.bytes8 then
    list[#list + 1] = quant(m, k, d)
    list[#list + 1] = { "quant_matmul", { m = m, k = k, n = n }, l2 = COLD }
  else
    list[#list + 1] = { "matmul", { m = m, k = k, n = n, dtype = d, transpose_b = 1 }, l2 = COLD }
  end
end

-- Latent attention of t tokens without its scores. Tokens that are made attend in the space of the latent rows: queries are
-- multiplied with what would make keys of these (DeepSeek-V2, 2024). Prompts make keys and values.
function Costs:latent(t, prompts)
  local model, own, d, list = self.model, self.own, self.model.dtype, {}
  list[1] = rows("add_rms_norm", t, own.hidden, d)
  if model.q_rank > 0 then
    self:product(list, t, own.hidden, model.q_rank)
    list[#list + 1] = rows("rms_norm", t, model.q_rank, d)
  end
  self:product(list, t, model.q_rank > 0 and model.q_rank or own.hidden, own.heads * own.head)
  self:product(list, t, own.hidden, model.kv_rank + own.rope)
  list[#list + 1] = rows("rms_norm", t, model.kv_rank, d)
  for _, heads in ipairs { own.heads, 1 } do
    list[#list + 1] = { "rope", { shape = ("%dx%dx%d"):format(t, heads, own.rope), dtype = d }, l2 = USED }
  end
  if prompts then
    self:product(list, t, model.kv_rank, 2 * own.attention)
  else
    list[#list + 1] = { "batch_matmul", { batch = own.heads, m = t, k = own.dim, n = model.kv_rank, dtype = d }, l2 = COLD }
    list[#list + 1] = { "batch_matmul", { batch = own.heads, m = t, k = model.kv_rank, n = own.dim, dtype = d }, l2 = COLD }
  end
  self:product(list, t, own.attention, own.hidden)
  return list
end

function Costs:attention(t, prompts)
  local model, own, list = self.model, self.own, {}
  if model.kv_rank > 0 then return self:latent(t, prompts) end
  local layers = S.dense(model, own, t)
  list[1] = layers.layernorm[1]
  self:product(list, t, own.hidden, own.qkv)
  for _, one in ipairs(layers.rotary_emb) do list[#list + 1] = one end
  self:product(list, t, own.attention, own.hidden)
  return list
end

function Costs:mlp(t, up, ffn)
  local own, list = self.own, { rows("add_rms_norm", t, self.own.hidden, self.model.dtype) }
  self:product(list, t, own.hidden, up)
  list[#list + 1] = rows(self.model.gated and "swiglu" or "gelu", t, up, self.model.dtype)
  self:product(list, t, ffn, own.hidden)
  return list
end

-- The experts of a device: as many rows as a device sends, over the experts that it has.
function Costs:experts(t)
  local model, own, d, h = self.model, self.own, self.model.dtype, self.own.hidden
  local routed = math.ceil(t * model.top_k * model.imbalance)
  local active, counts = math.min(own.experts, routed), {}
  for i = 1, active do counts[i] = routed // active + (i <= routed % active and 1 or 0) end
  local list = { rows("add_rms_norm", t, h, d) }
  if own.shared_up > 0 then
    list = self:mlp(t, own.shared_up, own.shared_ffn)
    list[#list + 1] = rows("add", t, h, d)
  end
  local function grouped(k, n)
    if self.bytes8 then list[#list + 1] = quant(routed, k, d) end
    list[#list + 1] = { "grouped_matmul", { rows = table.concat(counts, "x"), k = k, n = n, dtype = self.bytes8 and "int8" or d,
      transpose_b = 1 }, l2 = COLD }
  end
  list[#list + 1] = { "matmul", { m = t, k = h, n = model.experts, dtype = d, transpose_b = 1 }, l2 = COLD }
  list[#list + 1] = { "moe_gating_top_k_softmax", { shape = ("%dx%d"):format(t, model.experts), k = model.top_k }, l2 = USED }
  list[#list + 1] = { "gather", { shape = ("%dx%d"):format(t, h), count = routed, dtype = d }, l2 = USED }
  grouped(h, own.up)
  list[#list + 1] = rows(model.gated and "swiglu" or "gelu", routed, own.up, d)
  grouped(own.ffn, h)
  list[#list + 1] = rows("mul", routed, h, d)
  for _ = 2, model.top_k do list[#list + 1] = rows("add", t, h, d) end
  return list
end

-- Scores of `batch` sequences that each get a token, with `length` in the cache; and of a part of a prompt.
function Costs:made(batch, length)
  local model, own = self.model, self.own
  local args = { batch = batch, heads = own.heads, kv_heads = own.kv_heads, seq_q = 1, seq_k = length, head_dim = own.dim, dtype = model.dtype,
    block_size = self.block }
  if model.kv_rank > 0 then args.kv_heads, args.head_dim, args.v_dim, args.latent = 1, model.kv_rank + own.rope, model.kv_rank, 1 end
  return { { "paged_attention", args, l2 = COLD } }
end

function Costs:read(chunk, history)
  local own = self.own
  return { { "flash_attention", { heads = own.heads, kv_heads = own.kv_heads, seq_q = chunk, seq_k = chunk + history, head_dim = own.head,
    dtype = self.model.dtype, layout = "BSND", causal = 1 }, l2 = COLD } }
end

-- ---- times -----------------------------------------------------------------------------------------------------------

-- Microseconds and kernels of a list, simulated once.
function Costs:of(key, make)
  local known = self.points[key]
  if not known then
    local list = make()
    self.times:learn(list)
    known = { us = self.times:us(list), kernels = #list }
    self.points[key] = known
  end
  return known
end

-- The value at x of what is known at powers of two.
local function between(x, at)
  local low = 1
  while low * 2 <= x do low = low * 2 end
  local first = at(low)
  return low == x and first or first + (at(2 * low) - first) * (x - low) / low
end

function Costs:part(name, x, make)
  if x == 0 then return 0 end
  return between(x, function(low)
    local point = self:of(("%s %d"):format(name, low), function() return make(low) end)
    self.counted[name] = math.max(self.counted[name] or 0, point.kernels)
    return point.us
  end)
end

function Costs:score(name, x, y, make)
  if x == 0 then return 0 end
  return between(x, function(a)
    local function at(b)
      local point = self:of(("%s %d %d"):format(name, a, b), function() return make(a, b) end)
      self.counted[name] = math.max(self.counted[name] or 0, point.kernels)
      return point.us
    end
    return y == 0 and at(0) or between(y, at)
  end)
end

-- One collective of all ranks, alone; `more` changes numbers of the system.
function Costs:wait(op, ranks, bytes, algorithm, more)
  local key = ("%s %d %d %s"):format(op, ranks, bytes, algorithm or "")
  if not self.waits[key] then
    local text = ("job,version=1,ranks=%d\ngroup,name=g,ranks=0-%d\nprogram,ranks=0-%d\ncollective,op=%s,group=g,bytes=%d%s\n"):format(ranks,
      ranks - 1, ranks - 1, op, bytes, algorithm and ",algorithm=" .. algorithm or "")
    local set = {}
    for _, changes in ipairs { self.options.set or {}, more or {} } do
      for name, value in pairs(changes) do set[name] = value end
    end
    self.waits[key] = vinci.group_run(text, { system = self.options.system, data = self.options.data, set = set }).us
  end
  return self.waits[key]
end

-- Tokens go to their experts, or back: a kernel writes into the memory of all others at once and sets flags there, without
-- notifies of the library, which would cost 2 us for each rank.
function Costs:exchange(bytes)
  if self.ep == 1 or bytes == 0 then return 0 end
  local ranks = math.min(self.ep, SPREAD)
  return between(bytes, function(size)
    if size > LARGEST then return self:exchange(LARGEST) + (size - LARGEST) * (self:exchange(LARGEST) - self:exchange(LARGEST // 2)) / (LARGEST // 2) end
    return self:wait("all_to_all", ranks, -(-size // ranks) * ranks, "mesh", { ["notify.issue"] = "0us", ["notify.wait"] = "0us" })
  end)
end

-- Bytes of a device: weights, and of the cache a token's part.
function Costs:memory()
  local held = O.weights(self.model, self.split, self.own, 0)
  local width = self.bytes8 and 1 or 2
  local model, own = self.model, self.own
  local row = model.kv_rank > 0 and model.kv_rank + own.rope or 2 * own.kv_heads * own.dim
  return { weights = (held.all - held.embedding - held.head) * width + (held.embedding + held.head) * 2, token = model.layers * row * 2 }
end

-- Microseconds of a step by part. `prompts`: a list of { tokens that are read, tokens before these }; `batch` sequences get
-- a token each, with `length` in the cache in the mean; `ends`: prompts that get their first token.
function Costs:step(prompts, batch, length, ends)
  local model, own, out, read = self.model, self.own, {}, 0
  self.counted = {} -- kernels of a layer, by part
  for _, prompt in ipairs(prompts) do read = read + prompt[1] end
  local t = read + batch
  local dense = model.experts == 0 and model.layers or model.dense_layers
  local routed = model.layers - dense
  local function pieces(name, prompt_too) return function(n) return self:attention(n, prompt_too) end end
  local attention = model.kv_rank == 0 and self:part("attention", t, pieces()) or
    self:part("made", batch, pieces()) + self:part("read", read, pieces(nil, true))
  local scores = self:score("scores of tokens", batch, math.max(length, 1), function(b, n) return self:made(b, n) end)
  for _, prompt in ipairs(prompts) do
    scores = scores + self:score("scores of prompts", prompt[1], prompt[2], function(c, h) return self:read(c, h) end)
  end
  out.products, out.scores = model.layers * attention, model.layers * scores
  out.mlp = dense > 0 and dense * self:part("mlp", t, function(n) return self:mlp(n, own.dense_up, own.dense_ffn) end) or 0
  out.experts = routed > 0 and routed * self:part("experts", t, function(n) return self:experts(n) end) or 0
  local sent = math.ceil(t * model.top_k * model.imbalance) * own.hidden
  out.exchange = routed > 0 and routed * (self:exchange(self.bytes8 and sent or 2 * sent) + self:exchange(2 * sent)) or 0
  out.sums = self.tp > 1 and 2 * model.layers * between(t * own.hidden * 2, function(n) return self:wait("all_reduce", self.tp, n) end) or 0
  out.head = self:part("head", batch + ends, function(n)
    return { { "matmul", { m = n, k = own.hidden, n = own.vocab, dtype = model.dtype, transpose_b = 1 }, l2 = COLD },
      rows("argmax", n, own.vocab, model.dtype) }
  end)
  out.us = out.products + out.scores + out.mlp + out.experts + out.exchange + out.sums + out.head
  -- The host issues kernels ahead: the slower of both sets the pace.
  local function of(name) return self.counted[name] or 0 end
  local layer = of "attention" + of "made" + of "read" + of "scores of tokens" + #prompts * of "scores of prompts"
  local kernels = model.layers * layer + dense * of "mlp" + routed * of "experts" + of "head"
  out.host = kernels * (self.options.launch_us or 0)
  out.us = math.max(out.us, out.host)
  return out
end

-- What the cache of a prompt takes to another device, `apart` devices away.
function Costs:cache_us(tokens)
  local apart = self.options.apart or 8
  return between(math.max(tokens * self:memory().token, 1), function(bytes)
    local key = "cache " .. bytes
    if not self.waits[key] then
      local text = ("job,version=1,ranks=%d\ngroup,name=g,ranks=0 %d\nprogram,ranks=0 %d\ncollective,op=send_recv,group=g,bytes=%d\n" ..
        "program,ranks=%s\nhost,us=0\n"):format(apart + 1, apart, apart, bytes, apart > 1 and "1-" .. apart - 1 or "")
      if apart == 1 then text = text:gsub("program,ranks=\nhost.*", "") end
      self.waits[key] = vinci.group_run(text, { system = self.options.system, data = self.options.data, set = self.options.set }).us
    end
    return self.waits[key]
  end)
end

return M
