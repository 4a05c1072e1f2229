-- SPDX-License-Identifier: Apache-2.0
-- vinci.tables_training: a training step of a transformer as the workload that SimAI (and the ASTRA-sim it is made of)
-- reads: a row for each part of a layer, with what it computes and what it sends, in the forward pass, in the backward
-- pass, and for the weights. That simulator has the network; the times of the kernels come from here.
local vinci = ...
local T, O, G = vinci.transformer, vinci.transformer_operators, vinci.tables
local M = {}

local NONE = { "NONE", 0 }

-- A row: forward, backward and update times in nanoseconds, each with what is sent after that.
local function row(name, forward, sent, backward, sent_back, weights, summed)
  local function ns(us) return ("%d"):format(math.max(us * 1000 // 1, 1)) end
  local cells = { name, "-1", ns(forward), sent[1], sent[2], ns(backward), sent_back[1], sent_back[2], ns(weights),
    summed[1], summed[2], "100" }
  return table.concat(cells, "\t")
end

-- The rows of one micro batch on a rank: layers in their order. `us`: microseconds of the parts.
local function micro_batch(lines, model, split, us, bytes)
  local sum = split.tp > 1 and { "ALLREDUCE", bytes } or NONE
  local exchange = split.ep > 1 and { "ALLTOALL_EP", bytes * model.top_k } or NONE
  local function add(name, forward, sent, backward, sent_back)
    lines[#lines + 1] = row(name, us[forward], sent, us[backward], sent_back, 0, NONE)
  end
  add("embedding_layer", "embedding", sum, "embedding_grad", NONE)
  for _ = 1, model.layers // split.pp do
    add("attention_layer", "attention", sum, "attention_grad", sum)
    if model.experts == 0 then
      add("mlp_layer", "mlp", sum, "mlp_grad", sum)
    else
      add("moe_router", "router", exchange, "router_grad", exchange)
      add("moe_experts", "experts", exchange, "experts_grad", exchange)
      add("moe_combine", "combine", sum, "combine_grad", sum)
    end
  end
  add("logits_layer", "head", NONE, "head_grad", sum)
end

-- The workload of one rank as { path =, text = }. Nil: the progress ended that.
function M.simai(request)
  for name in pairs(request.axes) do G.refuse("the form simai has no axis '%s': the model and the split say all sizes", name) end
  local model = T.model(request.model)
  local files = {}
  for _, tp in ipairs(request.tp) do
    local rest = request.devices // tp
    if request.devices % tp ~= 0 then G.refuse("%d devices over tp=%d", request.devices, tp) end
    local split = T.split(model, { tp = tp, dp = rest, ep = model.experts > 0 and math.min(rest, model.experts) or 1, sharded = rest > 1 })
    local own = O.shard(model, split)
    local parts, times, list = O.parts(model, own), G.times(request.soc, request), {}
    local optimizer = O.optimizer(model, O.sharded(split, O.weights(model, split, own, 0)))
    for _, one in pairs(parts) do table.move(one, 1, #one, #list + 1, list) end
    table.sort(list, function(a, b) return T.key_of(a) < T.key_of(b) end)
    if not times:learn(table.move(optimizer, 1, #optimizer, #list + 1, list)) then return nil end
    local us = {}
    for name, one in pairs(parts) do us[name] = times:us(one) end
    local weights, width = O.weights(model, split, own, 0).all, O.WIDTH[model.dtype]
    local lines = {}
    local gather = rest > 1 and { "ALLGATHER", weights * width } or NONE
    local scatter = rest > 1 and { "REDUCESCATTER", weights * 4 } or NONE
    lines[1] = row("grad_gather", 0, NONE, 0, NONE, 0, gather)
    lines[2] = row("grad_param_comm", 0, NONE, 0, NONE, 0, scatter)
    lines[3] = row("grad_param_compute", 0, NONE, times:us(optimizer), NONE, 0, NONE)
    for _ = 1, split.micro_batches do micro_batch(lines, model, split, us, own.tokens * own.hidden * width) end
    local head = ("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: %d ep: %d pp: 1 vpp: %d ga: %d all_gpus: %d " ..
      "checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0"):format(tp, split.ep, model.layers, split.micro_batches, request.devices)
    files[#files + 1] = { path = ("%s-tp%d-%d.txt"):format(model.name, tp, request.devices),
      text = head .. "\n" .. #lines .. "\n" .. table.concat(lines, "\n") .. "\n" }
  end
  return files
end

return M
