-- SPDX-License-Identifier: Apache-2.0
-- Calls every function and method of the module with arguments of all sorts. Whatever happens, it is
-- a Lua error with a message, never a crash. Arguments: calls, seed.
local vinci = require "vinci"
local calls, seed = tonumber(arg[1]) or 20000, tonumber(arg[2]) or 1
print(("%d calls, seed %d"):format(calls, seed))
math.randomseed(seed)

local soc = vinci.soc "Ascend910B4"
local trace = vinci.compile(soc, "copy", { shape = 256 })
local freed = vinci.soc "Ascend910B4"
freed:free()
local kernel = vinci.kernel { soc = soc, name = "k", blocks = 1 }
local expression = kernel:tensor { name = "x", dtype = "fp16", shape = 64, io = "in" }

local function objects()
  return { soc = soc:copy(), trace = vinci.compile(soc, "copy", { shape = 256 }),
    result = vinci.run(soc, trace), values = vinci.values(soc, trace), kernel = vinci.kernel {
      soc = soc, name = "k", blocks = 1 } }
end
local made = objects()

local self_referring = {}
self_referring[1] = self_referring
local function something()
  local pool = { nil, true, false, 0, 1, -1, 0.5, 1 / 0, 0 / 0, math.maxinteger, math.mininteger, 1e300,
    "", "x", "\0", "Ascend910B4", "matmul", "copy", "l2.size", "96MiB", "total_cycles", "flat", "%s%n%d",
    ("y"):rep(5000), "y", "MTE2", "AIV", "../..", {}, { 1, 2, 3 }, { m = 1 }, { shape = 64 }, { [1.5] = {} },
    { memory = "flat" }, { memory = {} }, { set = { ["l2.size"] = "1MiB" } }, { set = 1 }, { checks = { "x" } },
    { atol = "a" }, { max_cycles = 10 }, { max_cycles = -1 }, { name = "n", space = "UB", size = 32 },
    { name = "t", dtype = "fp16", shape = { 4 }, io = "in" },
    { progress = print }, { progress = function() return trace:text() end, l2 = "warm" }, { progress = function() return false end },
    { shape = { 17, 3 } }, { shape = { 17, m = 3 } }, { l2 = "hot" }, { progress = 1 }, { [1] = "a", b = print }, self_referring, print,
    function() end, coroutine.create(print), io.stdout, soc, trace, freed, expression, made.result,
    made.values, made.kernel }
  return pool[math.random(1, 63)]
end

local function arguments()
  local list, count = {}, math.random(0, 4)
  for i = 1, count do list[i] = something() end
  return list, count
end

local functions = {}
for name, value in pairs(vinci) do
  if type(value) == "function" then functions[#functions + 1] = { name = name, call = value } end
end
for _, name in ipairs { "kernel", "plot" } do functions[#functions + 1] = { name = name, call = vinci[name] } end
local methods = {
  soc = { "name", "set", "get", "keys", "describe", "copy" },
  trace = { "text", "tensors" },
  result = { "counters", "get", "summary", "cores", "events", "json", "text" },
  values = { "load", "load_files", "fill", "run", "save", "expect", "bytes" },
  kernel = { "tensor", "buffer", "stream", "loop", "when", "let", "set_flag", "wait_flag", "sync", "barrier",
    "text", "build", "vadd", "copy_gm_to_ubuf" },
}
for kind, names in pairs(methods) do
  for _, name in ipairs(names) do
    functions[#functions + 1] = { name = kind .. ":" .. name, kind = kind, method = name }
  end
end
table.sort(functions, function(a, b) return a.name < b.name end)

local failed, worked = 0, 0
for i = 1, calls do
  local chosen = functions[math.random(#functions)]
  local list, count = arguments()
  local good, message
  if chosen.kind then
    if math.random(10) == 1 then -- a method of another object, or of nothing
      good, message = pcall(made[chosen.kind][chosen.method], table.unpack(list, 1, count))
    else
      good, message = pcall(made[chosen.kind][chosen.method], made[chosen.kind], table.unpack(list, 1, count))
    end
  else
    good, message = pcall(chosen.call, table.unpack(list, 1, count))
  end
  if good then
    worked = worked + 1
  else
    failed = failed + 1
    assert(tostring(message) ~= "" and message ~= nil, chosen.name .. ": an error without a message")
  end
  if i % 1000 == 0 then made = objects() end
end
assert(failed > calls / 2 and worked > 0)

-- Wrong types in each place of each function name that place.
local places = {
  { "vinci.soc", "name", vinci.soc, {} }, { "vinci.soc", "options", vinci.soc, { "Ascend910B4" }, 1 },
  { "vinci.load", "soc", vinci.load, {} }, { "vinci.load", "path", vinci.load, { soc } },
  { "vinci.parse", "text", vinci.parse, { soc } }, { "vinci.parse", "name", vinci.parse, { soc, "" } },
  { "vinci.compile", "soc", vinci.compile, {} }, { "vinci.compile", "op", vinci.compile, { soc } },
  { "vinci.compile", "args", vinci.compile, { soc, "copy" } }, { "vinci.run", "soc", vinci.run, {} },
  { "vinci.run", "trace", vinci.run, { soc } }, { "vinci.run", "options", vinci.run, { soc, trace } },
  { "vinci.check", "soc", vinci.check, {} }, { "vinci.check", "trace", vinci.check, { soc } },
  { "vinci.values", "soc", vinci.values, {} }, { "vinci.values", "trace", vinci.values, { soc } },
  { "soc:get", "key", soc.get, { soc } }, { "soc:set", "key", soc.set, { soc } },
  { "soc:describe", "key", soc.describe, { soc } }, { "soc:get", "soc", soc.get, {} },
  { "soc:set", "value", soc.set, { soc, "l2.size" } },
  { "result:get", "name", made.result.get, { made.result } },
  { "result:write_folder", "folder", made.result.write_folder, { made.result } },
  { "values:load", "tensor", made.values.load, { made.values } },
  { "values:load", "path", made.values.load, { made.values, "x" } },
  { "values:save", "tensor", made.values.save, { made.values } },
  { "values:fill", "seed", made.values.fill, { made.values } },
  { "values:expect", "options", made.values.expect, { made.values, "x", "x.npy" } },
  { "values:bytes", "tensor", made.values.bytes, { made.values } },
  { "vinci.kernel", "fields", vinci.kernel, {} }, { "vinci.plot", "fields", vinci.plot, {} },
  { "kernel:loop", "body", kernel.loop, { kernel, 4 } }, { "kernel:tensor", "fields", kernel.tensor, { kernel } },
  { "kernel:set_flag", "src", kernel.set_flag, { kernel } },
}
for _, place in ipairs(places) do
  local name, argument, call, before = table.unpack(place)
  for _, wrong in ipairs { 12, true, print } do
    local right = name == "values:fill" and wrong == 12 or argument == "value" and wrong == 12 or
      argument == "body" and wrong == print
    if not right then
      local list = table.move(before, 1, #before, 1, {})
      list[#list + 1] = wrong
      local good, message = pcall(call, table.unpack(list))
      local wanted = ("%s: argument '%s"):format(name, argument)
      assert(not good and tostring(message):find(wanted, 1, true), wanted .. ": " .. tostring(message))
    end
  end
end
print "ok"
