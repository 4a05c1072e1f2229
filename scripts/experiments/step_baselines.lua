-- SPDX-License-Identifier: Apache-2.0
-- Training steps that the vendor publishes for its framework, beside what vinci.transformer gives for their description.
--
-- Times and memory are those of the tests of MindSpeed-LLM (Ascend/MindSpeed-LLM: the baselines of its tests, medians
-- of their iterations), extents and splits those of the scripts beside them. All have sequence
-- parallelism. The files do not name the chip: --soc says which is assumed. Products of coc are joined with their sums in
-- four pieces (assumed).
local vinci = require "vinci"
local E = dofile((arg[0]:match ".*/" or "") .. "common.lua")
if not table.concat(arg, " "):find("--soc=", 1, true) then E.soc = "Ascend910B3" end

-- Name, ms, MiB, model, split. Vocabularies are those of the models' public tokenizers.
local baselines = {
  { "glm4_9b_8k_tp2_pp2", 367.0, 5526.6, { layers = 2, hidden = 4096, ffn = 13696, heads = 32, kv_heads = 2, vocab = 151552,
    sequence = 1024, global_batch = 16 }, { tp = 2, pp = 2, dp = 2, sharded = true } },
  { "llama2_tp8_pp1_coc", 1033.9, 4080.5, { layers = 8, hidden = 4096, ffn = 11008, heads = 32, vocab = 32000,
    sequence = 4096, global_batch = 16 }, { tp = 8, sharded = true, fused = 4 } },
  { "qwen3_8b_tp2_pp4_vpp2", 933.1, 5557.3, { layers = 16, hidden = 2048, ffn = 12288, heads = 32, kv_heads = 8, head_dim = 128,
    vocab = 151936, sequence = 2048, global_batch = 16 }, { tp = 2, pp = 4 } },
  { "llama3_tp2_pp2_vpp1", 4715.7, 21069.3, { layers = 16, hidden = 4096, ffn = 14336, heads = 32, kv_heads = 8, vocab = 128256,
    sequence = 8192, global_batch = 16 }, { tp = 2, pp = 2, dp = 2 } },
  { "llama2_tp2_pp4_vpp2_swap", 7659.4, 13767.1, { layers = 32, hidden = 4096, ffn = 11008, heads = 32, vocab = 32000,
    sequence = 4096, global_batch = 32 }, { tp = 2, pp = 4, vpp = 4, recompute_activation = true, reuse_weights = true, sharded = true,
    swap = "attention" } },
  { "deepseek_v2_tp1_pp1_ep8", 4617.7, 28277.3, { layers = 2, hidden = 5120, ffn = 12288, expert_ffn = 1536, experts = 160, top_k = 6,
    heads = 128, head_dim = 128, kv_rank = 512, q_rank = 1536, shared_experts = 2, dense_layers = 1, vocab = 102400, sequence = 8192,
    global_batch = 64 }, { dp = 8, ep = 8, sharded = true, overlap = false, recompute_activation = true } },
}

local clock = vinci.transformer.clock(E.chip(), { memory = E.memory, scaled = true })
local function off(got, published) return ("%+.1f %%"):format(100 * (got / published - 1)) end
local rows, memory, errors, memory_errors, drawn = {}, {}, {}, {}, {}
for i = 1, E.quick and 1 or #baselines do
  local name, ms, mib, model, split = table.unpack(baselines[i])
  split.sequence_parallel = true
  if E.quick then model.vocab, model.ffn = model.vocab // 16, model.ffn // 4 end -- to see the script run
  local step = vinci.transformer.run(clock, model, split, { system = "atlas_a2_910b2" })
  local got = step.us / 1000
  rows[i] = { name, ms, got, off(got, ms), step.computing_us / 1000, step.exposed_us / 1000, step.bubble_us / 1000 }
  local peak = step.memory.first_step / (1 << 20)
  memory[i] = { name, mib, peak, off(peak, mib) }
  errors[i], memory_errors[i], drawn[i] = math.abs(got / ms - 1), math.abs(peak / mib - 1), { ms, got }
end
E.table("step_baselines", { "baseline", "published ms", "ms", "off by", "compute ms", "exposed ms", "bubble ms" }, rows)
E.table("step_memory", { "baseline", "published MiB", "MiB", "off by" }, memory)
E.draw("step_baselines", { title = "training steps", xlabel = "published ms", ylabel = "ms" }, drawn, { { "steps", 1, 2, style = "points" } })

local right, pairs_of_two = 0, 0
for i = 1, #rows do
  for j = i + 1, #rows do
    pairs_of_two = pairs_of_two + 1
    right = right + ((rows[i][2] < rows[j][2]) == (rows[i][3] < rows[j][3]) and 1 or 0)
  end
end
if pairs_of_two > 0 then
  print(("median error %.1f %% of the time, %.1f %% of the memory; %d of %d pairs in the right order"):format(
    100 * E.median(errors), 100 * E.median(memory_errors), right, pairs_of_two))
end
