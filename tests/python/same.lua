-- SPDX-License-Identifier: Apache-2.0
-- Runs operators, one a line, on a chip, and prints summary.json of each: Lua for test_same.sh.
local vinci = require "vinci"
local soc = vinci.soc(arg[1])
for line in io.lines() do
  local args, op = {}, line:match "%S+"
  for key, value in line:gmatch "([%w_]+)=(%S+)" do args[key] = value end
  io.write(vinci.run(soc, vinci.compile(soc, op, args)):json())
end
