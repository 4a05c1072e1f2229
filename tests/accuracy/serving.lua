-- SPDX-License-Identifier: Apache-2.0
-- Serving against published figures of the A3 kind: what the table of LUA.md has.
--
--     vinci lua tests/accuracy/serving.lua [--decode]
--
-- Dispatch and combine: sgl-project/sgl-kernel-npu at f425bdf1, README (hidden 7168, 8 experts a token; dispatch in 8 bits with its
-- scales, 7480 bytes a row by its latency and bandwidth). Decode: arXiv 2506.12708. --decode takes minutes.
local vinci = require "vinci"
local V, chip = vinci.serving, vinci.soc "Ascend910_9392"
local rows = { { 8, 132, 126, 146, 125 }, { 16, 139, 135, 107, 103 }, { 32, 153, 151, 102, 95 }, { 64, nil, nil, 81, 91 }, { 128, nil, nil, 57, 81 } }
local model = { layers = 1, hidden = 7168, ffn = 18432, expert_ffn = 2048, experts = 256, top_k = 8, heads = 128, head_dim = 128, vocab = 1000 }
print "EP   dispatch us published here | combine us | dispatch GB/s | combine GB/s"
for _, row in ipairs(rows) do
  local costs, few, many = V.costs(chip, model, { system = "atlas_a3", ep = row[1] }), 128 * 8, 4096 * 8
  local function rate(bytes) return bytes / costs:exchange(bytes) / 1e3 end
  local here = { costs:exchange(few * 7480), costs:exchange(few * 7168 * 2), rate(many * 7168), rate(many * 7168 * 2) }
  local cells = {}
  for i, value in ipairs(here) do
    local published = row[i + 1]
    cells[i] = published and ("%6.0f %6.1f %+5.0f %%"):format(published, value, (value / published - 1) * 100) or ("%22s"):format ""
  end
  print(("%-4d %s"):format(row[1], table.concat(cells, " | ")))
end
if arg[1] ~= "--decode" then os.exit(0) end
local deepseek = { layers = 61, hidden = 7168, ffn = 18432, expert_ffn = 2048, experts = 320, top_k = 8, shared_experts = 1, dense_layers = 3,
  heads = 128, head_dim = 128, kv_rank = 512, q_rank = 1536, rope_dim = 64, vocab = 129280 }
for _, code in ipairs { "cold", "warm" } do
  local costs = V.costs(chip, deepseek, { system = "atlas_a3", ep = 320, weights = "int8", code = code })
  local most = V.most(costs, 4096, 50, 256)
  print(("decode within 50 ms, code %s: %d sequences, %.0f tokens/s of two dies, published 1943 (%+.0f %%)"):format(code, most.batch,
    2 * most.tokens_s, (2 * most.tokens_s / 1943 - 1) * 100))
  for _, name in ipairs { "products", "scores", "mlp", "experts", "exchange", "head" } do
    print(("  %-9s %8.0f us"):format(name, most.step[name]))
  end
  -- Scores of latent attention: 128 heads, 4096 rows of 576, of which 512 are values. Published: AMLA, arXiv 2509.25224, 614 TFLOPS
  -- of two dies.
  local scores = costs:step({}, 64, 4096, 0).scores / 61
  local speed = 64 * 128 * 4096 * (576 + 512) * 2 / scores / 1e6
  print(("  latent attention of 64 sequences: %.0f TFLOPS of a die, published 307 (%+.0f %%)"):format(speed, (speed / 307 - 1) * 100))
end
