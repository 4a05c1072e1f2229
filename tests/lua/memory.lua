-- SPDX-License-Identifier: Apache-2.0
-- Memory stays flat over many runs. Argument: how many.
local vinci = require "vinci"
local runs = tonumber(arg[1]) or 10000

local function resident_kib()
  for line in io.lines "/proc/self/status" do
    local kib = line:match "^RssAnon:%s+(%d+) kB"
    if kib then return tonumber(kib) end
  end
end

local soc = vinci.soc "Ascend910B4"
local early
for i = 1, runs do
  local trace = vinci.compile(soc, "copy", { shape = 64, blocks = 1 })
  assert(vinci.run(soc, trace):summary().total_cycles > 0)
  if i == math.max(runs // 10, 1) then early = resident_kib() end
end
local late = resident_kib()
print(("%d runs: %d KiB after a tenth of them, %d KiB after all"):format(runs, early, late))
assert(late <= early + 2048, "memory grows")
