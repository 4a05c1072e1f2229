-- SPDX-License-Identifier: Apache-2.0
-- What the buffers of a core are worth: L1 and L0C smaller and larger, tiles chosen anew for each.
local E = dofile((arg[0]:match ".*/" or "") .. "common.lua")
local size = E.quick and 512 or 2048
local factors = E.quick and { 0.5, 1 } or { 0.25, 0.5, 1, 2, 4 }
local base = E.chip()
local rows = {}
for _, key in ipairs { "l1.size", "l0c.size", "l0a.size" } do
  for _, factor in ipairs(factors) do
    local kib = math.floor(base:get(key) * factor / 1024)
    local set = { [key] = kib .. "KiB" }
    if key == "l0a.size" then set["l0b.size"] = set[key] end
    local summary, result = E.run(E.chip(set), "matmul", { m = size, k = size, n = size, dtype = "fp16" })
    rows[#rows + 1] = { key, kib, summary.total_cycles, result:get "bytes.GM_L1" / 2 ^ 20,
      summary.utilization.M, summary.bound }
  end
end
E.table("buffer_size", { "buffer", "KiB", "cycles", "GM to L1 MiB", "M", "bound" }, rows)
local series = {}
for _, key in ipairs { "l1.size", "l0c.size", "l0a.size" } do
  local own = {}
  for _, row in ipairs(rows) do if row[1] == key then own[#own + 1] = row end end
  series[#series + 1] = { key, 2, 3, own }
end
E.draw("buffer_size", { title = ("matmul %d on %s"):format(size, E.soc), xlabel = "KiB", ylabel = "cycles",
  xlog = true }, rows, series)
