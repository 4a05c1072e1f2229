-- SPDX-License-Identifier: Apache-2.0
-- Public networks by name, each a function of { norms = true } (optional) that returns what build.lua makes, and the
-- result's tensor. As a program this prints one as a family of graphs:
--
--     vinci lua scripts/experiments/networks/all.lua resnet50 >resnet50.graph.csv
--     vinci lua scripts/experiments/networks/all.lua                                   # names, sizes
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or ""
local build = dofile(folder .. "build.lua")
local M, names = {}, {}
for _, file in ipairs { "classic", "residual", "mobile", "encoder", "erfnet", "llama" } do
  for name, make in pairs(assert(loadfile(folder .. file .. ".lua"))(build)) do
    M[name] = make
    names[#names + 1] = name
  end
end
table.sort(names)

-- The text of a family, and the counts of one image.
local function family(name, options)
  local net, y = M[name](options)
  return net:text(y), net
end

if arg and arg[0] and arg[0]:match "networks/all%.lua$" then
  if not arg[1] then
    for _, name in ipairs(names) do
      local _, net = family(name)
      print(("%-20s %8.3f G multiplications %11d parameters %4d layers"):format(name, net.macs / 1e9, net.params, net.layers))
    end
  elseif M[arg[1]] then
    io.write((family(arg[1])))
  else
    io.stderr:write(("error: no network '%s'\nhint: one of %s\n"):format(arg[1], table.concat(names, ", ")))
    os.exit(2)
  end
end
return { names = names, family = family }
