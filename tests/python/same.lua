-- SPDX-License-Identifier: Apache-2.0
-- Does what the lines of standard input ask for on a chip: Lua for test_same.sh. same.c says what comes out.
local vinci = require "vinci"
local soc, folder = vinci.soc(arg[1]), arg[2]

local function lower(text)
  local args = {}
  for key, value in text:gmatch "([%w_]+)=(%S+)" do args[key] = value end
  return vinci.compile(soc, text:match "%S+", args)
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local number = 0
local kinds = {
  run = function(rest) io.write(vinci.run(soc, lower(rest)):json()) end,
  trace = function(rest) io.write(vinci.run(soc, vinci.load(soc, rest)):json()) end,
  check = function(rest)
    local _, report = vinci.check(soc, vinci.load(soc, rest))
    io.write(report)
  end,
  values = function(rest)
    local trace = lower(rest)
    local values = vinci.values(soc, trace)
    values:fill(7):run()
    for name in trace:text():gmatch "\ntensor,name=([%w_]+)[^\n]*,io=out" do
      values:save(name, ("%s/%d.%s.npy"):format(folder, number, name))
    end
  end,
  list = function(rest)
    vinci.ops { list = rest, output = ("%s/%d"):format(folder, number), soc = arg[1], jobs = 1 }
  end,
  net = function(rest)
    local net = vinci.net(soc, { file = rest })
    print(("net %.6f %.6f %d %d %d"):format(net.us, net.first_us, net.kernels, net.hbm_bytes, net.memory_bytes))
  end,
  group = function(rest)
    local job = vinci.group_run(read(rest))
    for _, rank in ipairs(job.ranks) do
      print(("%.6f %.6f %.6f"):format(rank.computing_us, rank.exposed_us, rank.idle_us))
      local held = rank.held and rank.held.activations
      if held then print(("%d %.6f %d %d"):format(rank.peak_bytes, rank.peak_us, held.peak_bytes, held.most_bytes)) end
    end
    print(("group %.6f %d"):format(job.us, job.moved_bytes))
  end,
}
for line in io.lines() do
  number = number + 1
  local kind, rest = line:match "^(%S+) (.*)$"
  kinds[kind](rest)
end
