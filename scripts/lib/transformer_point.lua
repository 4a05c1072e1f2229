-- SPDX-License-Identifier: Apache-2.0
-- vinci.transformer_point: the training step of a point of a sweep (`vinci sweep run model=MODEL.lua`). What a point says
-- of the model and of the split is "tp=2", and the step is the text of a job. A part of vinci.transformer.
local vinci = ...
local T = vinci.transformer
local M = {}
local UNITS = { KiB = 1 << 10, MiB = 1 << 20, GiB = 1 << 30 }
-- No fields of points: lists, what the job of a step does not hold, and a switch of the search.
local OTHERS = { bucket_ends = true, stage_layers = true, loader_us = true, communication = true, name = true }

local function refuse(format, ...) error(format:format(...), 0) end

-- What a field is by default; 0 of one that has to be given.
local function default_of(key)
  local fields = T.fields
  if OTHERS[key] then return nil end
  if fields.model[key] ~= nil then return fields.model[key] end
  if fields.split[key] ~= nil then return fields.split[key] end
  if fields.needed[key] or key == "devices" then return 0 end
end

-- All fields of points, sorted.
function M.names()
  local names = { "devices" }
  for _, list in pairs(T.fields) do
    for key in pairs(list) do
      if not OTHERS[key] then names[#names + 1] = key end
    end
  end
  table.sort(names)
  return names
end

-- A word as a value of the kind of the default: yes or no, a number, a size such as 25MiB, or a word.
local function value_of(key, word)
  local default = default_of(key)
  if default == nil then refuse("neither model nor split has a field '%s'", key) end
  if type(default) == "string" then return word end
  if type(default) == "boolean" then
    if word ~= "true" and word ~= "false" then refuse("%s is true or false, not '%s'", key, word) end
    return word == "true"
  end
  local digits, unit = word:match "^(%d+)(%a*)$"
  local whole = digits and math.tointeger(tonumber(digits))
  if math.type(default) == "integer" then
    local factor = unit == "" and 1 or UNITS[unit]
    if not whole or not factor then refuse("%s is a whole number, not '%s'", key, word) end
    if whole > math.maxinteger // factor then refuse("%s is too large: '%s'", key, word) end
    return whole * factor
  end
  local number = tonumber(word)
  if not number then refuse("%s is a number, not '%s'", key, word) end
  return number + 0.0
end

-- Data parallel ranks are what the other extents leave of the devices.
local function share_devices(devices, split)
  for _, extent in ipairs { "tp", "pp", "cp", "dp" } do
    if (split[extent] or 1) < 1 then refuse("%s is at least 1, not %d", extent, split[extent]) end
  end
  local others = (split.tp or 1) * (split.pp or 1) * (split.cp or 1)
  if devices % others ~= 0 then
    refuse("cannot split %d devices over tp=%d, pp=%d and cp=%d", devices, split.tp or 1, split.pp or 1, split.cp or 1)
  end
  split.dp = split.dp or devices // others
  if split.dp * others ~= devices then
    refuse("tp=%d, pp=%d, cp=%d and dp=%d are not %d devices", split.tp or 1, split.pp or 1, split.cp or 1, split.dp, devices)
  end
end

-- The clock of a chip, until another chip is asked for: the last parameter of a study varies fastest.
local last = {}
local function clock_of(request)
  local sets, names = {}, {}
  for _, set in ipairs(request.set) do
    local key, value = set:match "^([^=]*)=(.*)$"
    sets[key] = value -- of two for one number the second holds
  end
  for key, value in pairs(sets) do names[#names + 1] = key .. "=" .. value end
  table.sort(names)
  local text = table.concat({ request.soc, request.data or "", request.memory, table.unpack(names) }, "\n")
  if last.text ~= text then
    local soc = vinci.soc(request.soc, { set = sets, data = request.data })
    last = { text = text, clock = T.clock(soc, { memory = request.memory, jobs = 1 }) }
  end
  return last.clock
end

-- The text of the job of a step, and the bytes that the fullest device holds. Of the request: model, the file; soc, data,
-- set ("l2.size=96MiB") and memory of the chip; args, such as "tp=2".
function M.step(request)
  local model, split, devices = {}, {}, nil
  for key, value in pairs(T.read(request.model)) do model[key] = value end
  for _, argument in ipairs(request.args) do
    local key, word = argument:match "^([^=]*)=(.*)$"
    local value = value_of(key, word)
    if key == "devices" then
      devices = value
    elseif T.fields.split[key] ~= nil then
      split[key] = value
    else
      model[key] = value
    end
  end
  if devices then share_devices(devices, split) end
  local step = T.step(clock_of(request), model, split)
  return step.job, step.memory.bytes
end

return M
