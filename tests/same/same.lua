-- SPDX-License-Identifier: Apache-2.0
-- What same.py asks of a program in one process: `vinci lua same.lua operators`, `points SUITE`, or
-- `texts LIST`, which writes the canonical form of traces.
local vinci = require "vinci"

local function sorted(table_of)
  local names = {}
  for name in pairs(table_of) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- A line for each key: operator, key, kind, choices, default, "tiling" or nothing.
local function operators()
  local all = vinci.operators()
  for _, op in ipairs(sorted(all)) do
    for _, key in ipairs(all[op].keys) do
      print(table.concat({ op, key.name, key.kind, key.choices or "", key.default or "required",
        key.tiling and "tiling" or "" }, "\t"))
    end
  end
end

-- A line for each operator of a suite of `vinci gate`: chip, memory, operator, arguments.
local function points(path)
  local suite = dofile(path)
  local own = { name = true, op = true, soc = true, memory = true, network = true, l2 = true, set = true }
  for _, point in ipairs(suite.points) do
    if point.op then
      local words = { point.soc or suite.soc, point.memory or suite.memory, point.op }
      for _, key in ipairs(sorted(point)) do
        if not own[key] then words[#words + 1] = key .. "=" .. tostring(point[key]) end
      end
      print(table.concat(words, "\t"))
    end
  end
end

-- LIST has a line for each trace: where its form goes, the trace, its chip, KEY=VALUE of the chip ...
local function texts(list)
  for line in io.lines(list) do
    local words = {}
    for word in line:gmatch "[^\t]+" do words[#words + 1] = word end
    local set = {}
    for i = 4, #words do
      local key, value = words[i]:match "^(.-)=(.*)$"
      set[key] = value
    end
    local good, text = pcall(function()
      local trace <close> = vinci.load(vinci.soc(words[3], { set = set }), words[2])
      return trace:text()
    end)
    local out = assert(io.open(words[1], "w"))
    out:write(good and text or "not a trace: " .. tostring(text)):close()
  end
end

local command, argument = ...
local commands = { operators = operators, points = points, texts = texts }
commands[command](argument)
