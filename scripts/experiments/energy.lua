-- SPDX-License-Identifier: Apache-2.0
-- Energy beside published watts: idle cards, products of four types, and what each of these products
-- says when the others alone calibrate the cycle of the cube (leave one out); then a product, a network and a step of
-- training. --quick takes products of 2048 in place of 8192, for which the calibration was made.
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
print(("\nProducts of %d, watts: at the measured rate, and as simulated with its\n" ..
  "interval; pJ that the measurement leaves for a cycle of the cube, and the watts\nwhen the three other types alone say that"):format(side))
E.table("energy", { "type", "measured", "at its rate", "simulated", "low", "high", "pJ a cycle", "left out", "error" }, rows)
local numbered = {}
for i, row in ipairs(rows) do numbered[i] = { i, row[2], row[4], row[8] } end
E.draw("energy", { title = "products of " .. side, xlabel = "fp16, bf16, int8, fp32", ylabel = "W" }, numbered,
  { { "measured", 1, 2 }, { "simulated", 1, 3 }, { "left out", 1, 4 } })

-- ---- a product, a network, a step of training ----

-- Two linear layers with an activation between, 32 rows, of which L2 holds the weights.
local network = [[
graph,version=1,name=two_layers
tensor,name=x,dtype=fp16,shape=32x1024,io=in
tensor,name=w1,dtype=fp16,shape=1024x4096,io=weight
tensor,name=w2,dtype=fp16,shape=4096x1024,io=weight
tensor,name=h,dtype=fp16,shape=32x4096
tensor,name=a,dtype=fp16,shape=32x4096,memory=h
tensor,name=y,dtype=fp16,shape=32x1024,io=out
kernel,name=fc1,op=matmul,in=x w1,out=h,args=m=32 k=1024 n=4096
kernel,name=act,op=gelu,in=h,out=a,args=shape=32x4096
kernel,name=fc2,op=matmul,in=a w2,out=y,args=m=32 k=4096 n=1024
]]

-- Forward, backward with both gradients, their sum among 8 devices, the optimizer: one transformer layer, hidden size H.
local function step_rows(tokens, h)
  local heads, inner, rows = h // 128, 4 * h, {}
  local function work(text, ...) rows[#rows + 1] = ("work,op=" .. text):format(...) end
  local function product(m, k, n) work("matmul m=%d k=%d n=%d dtype=fp16", m, k, n) end
  local function attention(k, n) work("batch_matmul batch=%d m=%d k=%d n=%d dtype=fp16", heads, tokens, k, n) end
  work("layer_norm shape=%dx%d dtype=fp16", tokens, h)
  product(tokens, h, 3 * h)
  attention(128, tokens)
  work("softmax shape=%dx%d dtype=fp16", heads * tokens, tokens)
  attention(tokens, 128)
  product(tokens, h, h)
  product(tokens, h, inner)
  work("gelu shape=%dx%d dtype=fp16", tokens, inner)
  product(tokens, inner, h)
  for _, sizes in ipairs { { h, inner }, { inner, h }, { h, h }, { 3 * h, h } } do -- of the input, of the weights
    product(tokens, sizes[1], sizes[2])
    product(sizes[2], tokens, sizes[1])
  end
  attention(128, tokens)
  attention(tokens, 128)
  rows[#rows + 1] = ("collective,name=gradients,op=all_reduce,group=all,bytes=%d"):format(2 * (4 * h * h + 2 * h * inner))
  work("add shape=%d dtype=fp16", 4 * h * h + 2 * h * inner)
  return rows
end

-- The sums of a step, as `vinci group run --energy` has them: what the kernels of all devices take besides idle and
-- static power, bytes between devices, and idle and static power of all devices for the whole step.
local function step_energy(name, tokens, hidden)
  local ranks, sums = 8, { pj = 0, low_pj = 0, high_pj = 0 }
  local soc, rows = vinci.soc(name, { set = { energy = "on" } }), step_rows(tokens, hidden)
  local step = E.job(ranks, rows)
  local function add(one, times)
    for key in pairs(sums) do sums[key] = sums[key] + one[key] * times end
  end
  for _, row in ipairs(rows) do
    local op, args = row:match "^work,op=(%S+) (.+)$"
    if op then
      local keys = {}
      for key, value in args:gmatch "(%w+)=(%S+)" do keys[key] = value end
      local energy = vinci.run(soc, vinci.compile(soc, op, keys), { memory = "flat" }):energy()
      add(energy, ranks)
      add(energy.parts.idle, -ranks)
      add(energy.parts.static, -ranks)
    end
  end
  local value, low, high = idle_watts(name)
  add({ pj = value * step.us * 1e6, low_pj = low * step.us * 1e6, high_pj = high * step.us * 1e6 }, ranks)
  local byte, range = soc:get "energy.link.byte", soc:describe "energy.link.byte" -- fJ
  add({ pj = byte, low_pj = range.low, high_pj = range.high }, step.moved_bytes / 1000)
  return sums, step.us, ranks
end

rows = {}
local function row(what, sums, us, devices, published)
  local function power(pj) return watts(pj, us / 1e6) / devices end
  rows[#rows + 1] = { what, sums.pj / 1e9, sums.low_pj / 1e9, sums.high_pj / 1e9, power(sums.pj), power(sums.low_pj),
    power(sums.high_pj), published and ("%.1f (a limit holds it)"):format(published) or "none (88.8 idle; 364.7 at most)" }
  good = good and (not published or (power(sums.low_pj) <= published and power(sums.high_pj) >= published))
end
local model = E.quick and "flat" or "cycle"
local function account(name) return vinci.soc(name, { set = { energy = "on" } }) end
do
  local soc, n = account "Ascend910B2", E.quick and 1024 or 4096
  local result = vinci.run(soc, vinci.compile(soc, "matmul", { m = n, k = n, n = n, dtype = "fp16" }), { memory = model })
  row(("product of %d on 910B2"):format(n), result:energy(), result:summary().duration_us, 1, measured[1][2])
end
do
  local net = vinci.net(account "Ascend910B4", network, { memory = model })
  local sums = { pj = net.energy_pj, low_pj = net.energy_low_pj, high_pj = net.energy_high_pj }
  row("network of two layers on 910B4", sums, net.us, 1)
end
do
  local sums, us, devices = step_energy("Ascend910B4", E.quick and 256 or 2048, E.quick and 512 or 2048)
  row("step of a layer on 8 x 910B4", sums, us, devices)
end
print "\nA product, a network and a step of training: mJ with the interval, watts of a\ndevice with the interval, published watts"
E.table("energy_of", { "what", "mJ", "low", "high", "W", "low", "high", "published" }, rows)
print(good and "\nall measurements lie within the intervals" or "\nNOT all measurements lie within the intervals")
os.exit(good)
