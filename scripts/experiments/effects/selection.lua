-- SPDX-License-Identifier: Apache-2.0
-- What the compiler chooses by estimates against the best of all choices, each simulated: tilings of products, and how
-- 1x1 convolutions are computed.
local vinci = require "vinci"

-- Regret of a product: the chosen tiling against the best of all legal ones.
local function product(E, m, k, n)
  local chip, args, questions = E.chip(), { m = m, k = k, n = n }, {}
  local chosen = vinci.tiling(chip, "matmul", args).args
  local at
  for i, tiling in ipairs(vinci.tilings(chip, "matmul", args)) do
    local one = { m = m, k = k, n = n }
    for key, value in tiling.args:gmatch "([%w_]+)=(%S+)" do one[key] = value end
    questions[i] = { op = "matmul", args = one }
    at = tiling.args == chosen and i or at
  end
  local best
  local answers = vinci.evaluate(chip, questions, { memory = E.memory, jobs = 1 })
  for _, answer in ipairs(answers) do best = math.min(best or answer.cycles or best, answer.cycles or math.huge) end
  local again = vinci.tiling(E.chip(), "matmul", args).args == chosen
  return #questions, answers[at].cycles / best - 1, again
end

local function network(c, k, side, way)
  return table.concat({ "graph,version=1", ("tensor,name=x,dtype=fp16,shape=1x%dx%dx%d,io=in"):format(c, side, side),
    ("tensor,name=w,dtype=fp16,shape=%dx%dx1x1,io=weight"):format(k, c),
    ("tensor,name=y,dtype=fp16,shape=1x%dx%dx%d,io=out"):format(k, side, side),
    "layer,name=conv,op=Conv,in=x w,out=y,args=kernel=1x1 strides=1x1 pads=0x0x0x0 dilations=1x1 group=1" .. way }, "\n") .. "\n"
end

-- Regret of a convolution: direct, or as a product of pixels.
local function convolution(E, c, k, side)
  local function us(way, passes)
    local net = vinci.net(E.chip(), network(c, k, side, way), { memory = E.memory, passes = passes })
    return net.refused == 0 and net.us or math.huge
  end
  local direct, pixels, chosen = us("", "-algorithm"), us(" algorithm=pixels", "all"), us("", "all")
  return 2, chosen / math.min(direct, pixels) - 1, chosen == direct or chosen == pixels
end

return function(E)
  local rows, sum, worst, same = {}, 0, 0, true
  local function add(what, count, regret, again)
    rows[#rows + 1] = { what, count, 100 * regret }
    sum, worst, same = sum + regret, math.max(worst, regret), same and again
  end
  for _, m in ipairs(E.quick and { 16 } or { 16, 48, 128 }) do
    for _, k in ipairs { 64, 256 } do
      for _, n in ipairs(E.quick and { 64 } or { 48, 160 }) do
        add(("product %dx%dx%d"):format(m, k, n), product(E, m, k, n))
      end
    end
  end
  for _, side in ipairs(E.quick and { 28 } or { 16, 28, 56, 112 }) do
    for _, channels in ipairs(E.quick and { { 256, 64 } } or { { 64, 256 }, { 256, 64 }, { 512, 512 } }) do
      add(("1x1 convolution %dx%dx%d to %d"):format(channels[1], side, side, channels[2]), convolution(E, channels[1], channels[2], side))
    end
  end
  E.table("selection", { "what", "choices", "regret %" }, rows)
  return { row = 8, effect = "selection of tilings and of algorithms by estimates",
    claim = "against the best of all choices a mean regret of at most 5 per cent, at worst 15, always the same choice",
    result = ("%d shapes: mean regret %.1f %%, worst %.1f %%, choices are%s always the same"):format(#rows, 100 * sum / #rows,
      100 * worst, same and "" or " not"),
    pass = sum / #rows <= 0.05 and worst <= 0.15 and same }
end
