-- SPDX-License-Identifier: Apache-2.0
-- Data parallel training where each device has the same share of samples, on 1 to 8 devices.
local vinci = require "vinci"

return function(E)
  local T = vinci.transformer
  local clock, table_rows, one, worst = T.clock(vinci.soc "Ascend910B4", { memory = E.memory }), {}, nil, 0
  for _, ranks in ipairs { 1, 2, 4, 8 } do
    local model = { layers = E.quick and 2 or 12, hidden = 1024, ffn = 4096, heads = 16, vocab = 8192, sequence = 512, gated = false,
      global_batch = 2 * ranks }
    local run = T.run(clock, model, { dp = ranks }, { system = "atlas_a2_910b4" })
    local rank = run.ranks_us[1]
    one = one or run.us
    local efficiency = rank.computing_us / (rank.computing_us + rank.exposed_us)
    worst = math.max(worst, math.abs(efficiency / ((one + rank.slowed_us) / run.us) - 1))
    table_rows[#table_rows + 1] = { ranks, run.us, rank.computing_us, rank.exposed_us, efficiency, one / run.us }
  end
  E.table("weak_scaling", { "ranks", "step us", "computing us", "exposed us", "efficiency", "time of one / time" }, table_rows)
  return { row = 22, effect = "shares of the data on more devices",
    claim = "efficiency is computing / (computing + exposed), and is the time of one device over the time of N",
    result = ("%.1f, %.1f, %.1f %% on 2, 4, 8 devices; off by %.2f %% at most"):format(100 * table_rows[2][5], 100 * table_rows[3][5],
      100 * table_rows[4][5], 100 * worst),
    pass = worst < 0.005 and table_rows[1][5] == 1 and table_rows[4][5] < 1 }
end
