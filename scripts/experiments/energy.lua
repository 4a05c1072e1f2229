-- SPDX-License-Identifier: Apache-2.0
-- Energy beside published watts: idle cards, products of four types, and what each of these products
-- says when the others alone calibrate the cycle of the cube (leave one out). --quick takes products
-- of 2048 in place of 8192, for which the calibration was made.
local here = arg[0]:match ".*/" or ""
local E = dofile(here .. "common.lua")
local vinci = require "vinci"
local side = E.quick and 2048 or 8192

-- FlagOpen/FlagPerf at 1b5a030, base/benchmarks/computation-TYPE/ascend/README.md: mean watts of 8 cards of
-- an Atlas 800T A2 (350 W stated) while products run, and the rate in TFLOPS or TOPS.
local measured = {
  { "fp16", 364.513, 313.182 }, { "bf16", 364.671, 304.277 }, { "int8", 364.571, 608.554 }, { "fp32", 364.275, 82.920 },
}
-- npu-smi of idle cards: vllm-project/vllm-ascend, issues 1130, and 2526, 2534, 4513, 12980 for a package of two dies.
local idle = {
  { "Ascend910B3", { 97.5, 93.9, 88.8, 92.7 }, "calibration of static.chip" },
  { "Ascend910_9392", { 178.5 / 2, 186.3 / 2, 162.6 / 2, 178.9 / 2, 184.2 / 2, 175.0 / 2 }, "independent" },
}

local function watts(pj, seconds) return pj / 1e12 / seconds end

-- A kernel of next to nothing that waits for a second: what is left is time.
local function idle_watts(name)
  local soc = vinci.soc(name, { set = { energy = "on" } })
  local result = vinci.run(soc, vinci.compile(soc, "add", { shape = 64, dtype = "fp16" }), { memory = "flat" })
  local energy, us = result:energy(), result:summary().duration_us
  local pj, low, high = 0, 0, 0
  for _, part in ipairs { "idle", "static" } do
    local one = energy.parts[part]
    pj, low, high = pj + one.pj, low + one.low_pj, high + one.high_pj
  end
  return watts(pj, us / 1e6), watts(low, us / 1e6), watts(high, us / 1e6)
end

local rows, good = {}, true
for _, card in ipairs(idle) do
  local name, list, use = table.unpack(card)
  local value, low, high = idle_watts(name)
  good = good and low <= math.min(table.unpack(list)) and high >= math.max(table.unpack(list))
  rows[#rows + 1] = { name, math.min(table.unpack(list)), math.max(table.unpack(list)), value, low, high, use }
end
print "Idle, watts (of a die); refreshes of device memory, half a watt, are left out"
E.table("energy_idle", { "chip", "measured from", "to", "vinci", "low", "high", "use of the measurement" }, rows)

-- Energy of a product at the measured rate: events as they are, powers for the measured time.
local chip = E.chip { energy = "on" }
local products = {}
for _, row in ipairs(measured) do
  local dtype, power, rate = table.unpack(row)
  local _, result = E.run(chip, "matmul", { m = side, k = side, n = side, dtype = dtype })
  local energy, simulated = result:energy(), result:summary().duration_us / 1e6
  local seconds = 2.0 * side ^ 3 / (rate * 1e12)
  local joule = 0 -- without the cycles of the cube
  for key, event in pairs(energy.events) do
    if event.ps then
      joule = joule + event.ps * event.mw * 1e-15 * (seconds / simulated)
    elseif key ~= "cube.cycle" then
      joule = joule + event.count * event.fj * 1e-15 * (key == "dram.refresh" and seconds / simulated or 1)
    end
  end
  local cycles = energy.events["cube.cycle"].count
  products[#products + 1] = { dtype = dtype, power = power, seconds = seconds, joule = joule, cycles = cycles,
    pj = (power * seconds - joule) / cycles * 1e12, price = energy.events["cube.cycle"].fj / 1000, simulated = simulated,
    own = watts(energy.pj, simulated), low = watts(energy.low_pj, simulated), high = watts(energy.high_pj, simulated) }
end
rows = {}
for _, one in ipairs(products) do
  local sum, others = 0, 0
  for _, other in ipairs(products) do
    if other ~= one then sum, others = sum + other.pj, others + 1 end
  end
  local function power(pj) return (one.joule + pj * 1e-12 * one.cycles) / one.seconds end
  local alone = power(sum / others)
  rows[#rows + 1] = { one.dtype, one.power, power(one.price), one.own, one.low, one.high, one.pj, alone,
    ("%+.1f %%"):format((alone / one.power - 1) * 100) }
  good = good and one.low <= one.power and one.high >= one.power
end
print(("\nProducts of %d, watts: at the measured rate, and as simulated with its interval; pJ that the measurement leaves\n" ..
  "for a cycle of the cube, and the watts when the three other types alone say that"):format(side))
E.table("energy", { "type", "measured", "at its rate", "simulated", "low", "high", "pJ a cycle", "left out", "error" }, rows)
local numbered = {}
for i, row in ipairs(rows) do numbered[i] = { i, row[2], row[4], row[8] } end
E.draw("energy", { title = "products of " .. side, xlabel = "fp16, bf16, int8, fp32", ylabel = "W" }, numbered,
  { { "measured", 1, 2 }, { "simulated", 1, 3 }, { "left out", 1, 4 } })
print(good and "\nall measurements lie within the intervals" or "\nNOT all measurements lie within the intervals")
os.exit(good)
