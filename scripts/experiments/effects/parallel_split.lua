-- SPDX-License-Identifier: Apache-2.0
-- A transformer of 12 layers, 1024 columns and 16 heads on 8 devices: data parallel, tensor parallel, and both. The
-- bytes that the devices send, and what of a sum stays exposed behind a window of work.
local vinci = require "vinci"

-- Bytes that all ranks send: each sum over n ranks sends 2 (n - 1) / n of its bytes from each rank.
local function closed_bytes(T, model, split)
  local ranks, tokens = split.tp * split.dp, model.micro_batch * model.sequence
  local own = T.memory(model, { tp = split.tp, dp = split.dp }, 0)
  local data = own.gradients * 2 * (split.dp - 1) // split.dp * ranks
  local micro_batches = model.global_batch // (split.dp * model.micro_batch)
  -- Two sums of each layer and pass, one behind the embedding, one behind the gradient of the head.
  local tensor = (4 * model.layers + 2) * micro_batches * tokens * model.hidden * 2 * 2 * (split.tp - 1) // split.tp * ranks
  return data + tensor
end

-- A sum beside a window of work: what of the sum is longer than the window.
local function exposed(E, us, factor)
  local sum = "collective,op=all_reduce,group=all,bytes=33554432,stream=1"
  local one = E.job(8, { sum }).us
  local window = us * factor
  local run = E.job(8, { "work,us=100", "record,event=ready", ("work,us=%.6f"):format(window), "wait,event=ready,stream=1", sum })
  return run.ranks[1].exposed_us, math.max(0, one - window), one, window
end

return function(E)
  local T, table_rows, same, worst = vinci.transformer, {}, true, 0
  local clock = T.clock(vinci.soc "Ascend910B4", { memory = E.memory })
  local model = T.model { layers = E.quick and 4 or 12, hidden = 1024, ffn = 4096, heads = 16, vocab = 8192, sequence = 512,
    gated = false, global_batch = 8 }
  for _, split in ipairs { { dp = 8 }, { tp = 8 }, { tp = 2, dp = 4 }, { tp = 4, dp = 2 } } do
    local run = T.run(clock, model, split, { system = "atlas_a2_910b4" })
    local closed = closed_bytes(T, model, run.split)
    same = same and run.moved_bytes == closed
    table_rows[#table_rows + 1] = { ("tp%d dp%d"):format(run.split.tp, run.split.dp), run.us, run.computing_us, run.exposed_us,
      run.moved_bytes, closed }
  end
  E.table("parallel_split", { "split", "step us", "computing us", "exposed us", "bytes sent", "closed form" }, table_rows)
  local windows = {}
  local layer = clock:time(T.operators(model, { tp = 1, dp = 8, pp = 1 }).mlp_grad).us
  for i, factor in ipairs { 0, 0.25, 0.5, 1, 2, 4 } do
    local got, closed, one, window = exposed(E, layer, factor)
    worst = math.max(worst, math.abs(got - closed) / one)
    windows[i] = { one, window, got, closed }
  end
  E.table("parallel_split_windows", { "sum us", "window us", "exposed us", "closed form us" }, windows)
  return { row = 9, effect = "splits of a transformer over 8 devices",
    claim = "bytes sent are the closed form; exposed = max(0, sum - window) within 2 %",
    result = ("bytes of 4 splits %s; exposed time off by %.2f %% of the sum at most"):format(same and "equal" or "DIFFER", 100 * worst),
    pass = same and worst < 0.02 }
end
