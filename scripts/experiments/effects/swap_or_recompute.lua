-- SPDX-License-Identifier: Apache-2.0
-- What the backward pass needs of the forward pass: swapped out to the host and in again, or computed again?
local vinci = require "vinci"
local mib = 1 << 20

-- `count` kernels make the activation; a task stands for all between, in which the activation is copied to the host.
local function network(bytes, count, swap)
  local n, text = bytes // 2, { "graph,version=1" }
  local function add(format, ...) text[#text + 1] = format:format(...) end
  local function tensor(name, more) add("tensor,name=%s,dtype=fp16,shape=%d%s", name, n, more or "") end
  local function kernels(prefix)
    for i = 1, count do
      tensor(prefix .. i)
      add("kernel,name=%s_%d,op=relu,in=%s,out=%s%d,args=shape=%d%s", prefix, i, i == 1 and "x" or prefix .. (i - 1), prefix, i, n,
        prefix == "r" and i == 1 and ",after=between" or "")
    end
  end
  tensor("x", ",io=in")
  add "tensor,name=done,dtype=fp16,shape=16"
  kernels "f"
  if swap then
    tensor "host"
    add("copy,name=out,way=d2h,in=f%d,out=host,stream=1", count)
  end
  add("task,name=between,unit=AI_CORE,duration_us=20000,in=f%d,out=done", count)
  if swap then
    tensor "back"
    add "copy,name=in,way=h2d,in=host,out=back,stream=1,after=between"
  else
    kernels "r"
  end
  tensor("y", ",io=out")
  add("kernel,name=grad,op=relu,in=%s,out=y,args=shape=%d", swap and "back" or "r" .. count, n)
  return table.concat(text, "\n") .. "\n"
end

-- A product of m x k by k x n that waits while a task needs the memory: the passes choose by their estimates.
local function waiting(m, k, n)
  local text = { "graph,version=1" }
  local function add(format, ...) text[#text + 1] = format:format(...) end
  local function tensor(name, rows, columns, more) add("tensor,name=%s,dtype=fp16,shape=%dx%d%s", name, rows, columns, more or "") end
  tensor("a", m, k, ",io=in")
  tensor("b", k, n, ",io=weight")
  for _, name in ipairs { "x", "large", "end" } do tensor(name, m, n) end
  tensor("y", m, n, ",io=out")
  add "layer,name=product,op=MatMul,in=a b,out=x"
  add "task,name=first,unit=AI_CORE,duration_us=10,in=x,out=large"
  add "task,name=second,unit=AI_CORE,duration_us=10,in=large,out=end"
  add "layer,name=sum,op=Add,in=x end,out=y"
  return table.concat(text, "\n") .. "\n"
end

-- The passes take what is faster when they may take both, or lose 5 % at most where both are near; else false.
local function choices(E)
  local m, n, rows, good, ways = 4096, 1024, {}, true, {}
  for i, k in ipairs(E.quick and { 1024, 65536 } or { 1024, 8192, 32768, 65536 }) do
    local text, limit = waiting(m, k, n), ("%dKiB"):format((m * k + k * n + 3 * m * n) * 2 // 1024)
    local function run(passes)
      return vinci.net(E.chip(), text, { memory = E.memory, passes = passes, memory_limit = limit, host = "sink" })
    end
    local swap, again, both = run "swap", run "recompute", run "recompute,swap"
    local way = both.d2h_bytes > 0 and "swap" or "recompute"
    ways[way] = true
    good = good and both.us <= 1.05 * math.min(swap.us, again.us)
    rows[i] = { k, swap.us, again.us, both.us, way }
  end
  E.table("swap_or_recompute_pass", { "k", "swap us", "again us", "passes us", "chosen" }, rows)
  return good and ways.swap and ways.recompute
end

return function(E)
  local bytes, rows, good, flip = (E.quick and 4 or 8) * mib, {}, true, nil
  for i, count in ipairs { 8, 16, 32, 48, 64, 96, 128 } do
    local swap = vinci.net(E.chip(), network(bytes, count, true), { memory = E.memory })
    local again = vinci.net(E.chip(), network(bytes, count, false), { memory = E.memory })
    local copy, recompute = 0, 0
    for _, node in ipairs(swap.nodes) do copy = node.name == "in" and node.us or copy end
    for _, node in ipairs(again.nodes) do
      if node.name:find "^r_" then recompute = recompute + node.us + node.gap_us end
    end
    -- Beside both: the first kernel behind the copy, and that L2 holds its input.
    local rest = swap.nodes[#swap.nodes].us - again.nodes[#again.nodes].us - again.nodes[#again.nodes].gap_us
    good = good and math.abs(swap.us - again.us - (copy + rest - recompute)) < 0.1
    good = good and (swap.us < again.us) == (copy + rest < recompute)
    if swap.us < again.us and not flip then flip = { rows[i - 1], count, recompute } end
    rows[i] = { count, copy, recompute, swap.us, again.us, swap.us < again.us and "swap" or "recompute" }
  end
  E.table("swap_or_recompute", { "kernels", "S/B us", "recompute us", "swap us", "again us", "faster" }, rows)
  local changed = flip and flip[1]
  local chosen = choices(E)
  return { row = 23, effect = "swap against recompute",
    claim = "the faster one changes where S/B of the host link is the time of computing again; the passes take the faster (or lose 5 % at most)",
    result = changed and ("a copy of %.0f us is worth its time from between %.0f and %.0f us of computing on"):format(rows[1][2],
      flip[1][3], flip[3]) .. (chosen and "; so do the passes" or "; the passes take the slower one") or "never changes",
    pass = good and chosen and changed ~= nil and flip[1][3] < rows[1][2] + 20 and flip[3] > rows[1][2] - 20 }
end
