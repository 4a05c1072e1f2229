-- SPDX-License-Identifier: Apache-2.0
-- Static memory planning: what do plans of one network need, and what does L2 find? The claim, of articles on
-- graph compilers: sharing memory between tensors that are not alive together saves at least 30 % of what they take
-- without sharing, and comes within 10 % of what is alive at once.
local vinci = require "vinci"
local E = dofile((arg[0]:match ".*/" or "") .. "common.lua")
local chip = E.chip()
local layers = E.quick and 3 or 8
local rows_of_x, width, inner = 512, 512, 2048

-- Blocks of two products with an activation between, and a sum with what came in.
local function network()
  local text = { "graph,version=1,name=blocks" }
  local function add(format, ...) text[#text + 1] = format:format(...) end
  local function tensor(name, columns, io)
    add("tensor,name=%s,dtype=fp16,shape=%dx%d%s", name, rows_of_x, columns, io and ",io=" .. io or "")
  end
  tensor("x0", width, "in")
  for i = 1, layers do
    add("tensor,name=a%d,dtype=fp16,shape=%dx%d,io=weight", i, width, inner)
    add("tensor,name=b%d,dtype=fp16,shape=%dx%d,io=weight", i, inner, width)
    tensor("h" .. i, inner)
    tensor("g" .. i, inner)
    tensor("y" .. i, width)
    tensor("x" .. i, width, i == layers and "out" or nil)
    add("kernel,name=up%d,op=matmul,in=x%d a%d,out=h%d,args=m=%d k=%d n=%d", i, i - 1, i, i, rows_of_x, width, inner)
    add("kernel,name=act%d,op=gelu,in=h%d,out=g%d,args=shape=%dx%d", i, i, i, rows_of_x, inner)
    add("kernel,name=down%d,op=matmul,in=g%d b%d,out=y%d,args=m=%d k=%d n=%d", i, i, i, i, rows_of_x, inner, width)
    add("kernel,name=sum%d,op=add,in=y%d x%d,out=x%d,args=shape=%dx%d", i, i, i - 1, i, rows_of_x, width)
  end
  return table.concat(text, "\n") .. "\n"
end

local text, rows, shared = network(), {}, {}
for index, plan in ipairs { "none", "first", "best", "pack" } do
  local net = vinci.net(chip, text, { plan = plan, memory = "flat" })
  local read, found = 0, 0
  for _, node in ipairs(net.nodes) do
    read, found = read + node.input_bytes, found + node.l2_found_bytes
  end
  shared[plan] = net.memory_bytes - net.fixed_bytes
  shared.alive = net.live_bytes - net.fixed_bytes
  rows[index] = { plan, shared[plan] / 2 ^ 20, shared[plan] / shared.alive, 100 * found / read, net.us, index }
end
E.table("memory_plans", { "plan", "MiB shared", "times alive", "L2 found %", "us", "number" }, rows)
E.draw("memory_plans", { title = "Memory of intermediate tensors, " .. layers .. " blocks on " .. E.soc,
  xlabel = "plan: none, first, best, pack", ylabel = "MiB" }, rows, { { "MiB", 6, 2, rows } })
local saved = 1 - shared.pack / shared.none
local good = saved >= 0.3 and shared.pack <= 1.1 * shared.alive
print(("drawn: %s: saved %.1f %% (claim 30), %.1f %% over what is alive (claim 10)"):format(
  good and "pass" or "FAIL", 100 * saved, 100 * (shared.pack / shared.alive - 1)))
