-- SPDX-License-Identifier: Apache-2.0
-- vinci.tables: latencies of operators over a grid of shapes, for tools that look times up instead of simulating
-- kernels. `vinci table` and scripts call the same functions. tables_serving.lua and tables_training.lua write the forms
-- that simulators of serving and of training read.
local vinci = ...
local M = {}

local MOST = 1000000 -- points of a table
local PIECE = 32 -- points that are simulated between two looks at the progress

local function refuse(format, ...) error(("vinci.tables: " .. format):format(...), 0) end
M.refuse = refuse

-- Adds the values of one part of an axis: a number, a word, or a range.
local function add_values(list, name, part)
  local first, last, step = part:match "^(%d+)%.%.(%d+)%+?(%d*)$"
  if not first then
    if part == "" or part:find("..", 1, true) then
      refuse("'%s' of %s is not a value or a range; ranges are 1..4096 (each twice the one before) and 16..64+16 (in steps of 16)",
        part, name)
    end
    list[#list + 1] = math.tointeger(tonumber(part)) or part
    return
  end
  local value, to, by = math.tointeger(first), math.tointeger(last), math.tointeger(step)
  if value < 1 or to < value or by == 0 then refuse("the range %s of %s does not go up from 1 or more", part, name) end
  while value < to do
    list[#list + 1] = value
    value = by and value + by or 2 * value
    if #list > MOST then refuse("%s has more than %d values", name, MOST) end
  end
  list[#list + 1] = to
end

-- The values of an axis: "1,2,8", "1..4096", "16..64+16", or several of these with commas between. Repeated ones count once.
function M.values(name, text)
  local list, once, seen = {}, {}, {}
  for part in (text .. ","):gmatch "([^,]*)," do add_values(list, name, part) end
  for _, value in ipairs(list) do
    if not seen[value] then once[#once + 1] = value end
    seen[value] = true
  end
  return once
end

-- ---- many operators ------------------------------------------------------------------------------------------------

local function key_of(operator) return vinci.transformer.key_of(operator) .. " " .. (operator.l2 or "") end

local Times = {}
Times.__index = Times

-- What keeps times of operators { name, arguments, l2 = state of L2 }, each simulated once. Options: memory, code, jobs as
-- of vinci.evaluate; progress(done, all), which ends the table when it returns false.
function M.times(soc, options) return setmetatable({ soc = soc, options = options or {}, known = {} }, Times) end

-- The operators whose times are not known, by state of L2.
function Times:unknown(list)
  local states, by_state, count = {}, {}, 0
  for _, operator in ipairs(list) do
    local key, state = key_of(operator), operator.l2 or "empty"
    if not self.known[key] then
      self.known[key] = {}
      if not by_state[state] then states[#states + 1], by_state[state] = state, {} end
      by_state[state][#by_state[state] + 1] = operator
      count = count + 1
    end
  end
  return states, by_state, count
end

-- Simulates what is not known of a list; false when the progress ended that.
function Times:learn(list)
  local states, by_state, all = self:unknown(list)
  local done, options = 0, self.options
  for _, state in ipairs(states) do
    local operators = by_state[state]
    for first = 1, #operators, PIECE do
      local piece, questions = table.move(operators, first, math.min(first + PIECE - 1, #operators), 1, {}), {}
      if options.progress and options.progress(done, all) == false then return false end
      for i, one in ipairs(piece) do questions[i] = { op = one[1], args = one[2] } end
      local answers = vinci.evaluate(self.soc, questions,
        { memory = options.memory or "flat", code = options.code, l2 = state, jobs = options.jobs })
      for i, one in ipairs(piece) do self.known[key_of(one)] = answers[i] end
      done = done + #piece
    end
  end
  return true
end

-- The answer of one operator, as of vinci.evaluate; an operator that was not simulated has none of the fields.
function Times:answer(operator) return self.known[key_of(operator)] end

-- Microseconds of operators one after the other.
function Times:us(list)
  local us = 0
  for _, operator in ipairs(list) do
    local answer = self:answer(operator)
    if not answer.us then refuse("%s: %s", key_of(operator), answer.text or "was not simulated") end
    us = us + answer.us
  end
  return us
end

-- ---- a grid --------------------------------------------------------------------------------------------------------

-- Arguments of a point: {name} in a value stands for the axis, else the axis is an argument.
local function arguments(args, axes, point)
  local out, used = {}, {}
  for key, value in pairs(args) do
    out[key] = (tostring(value):gsub("{([%w_]+)}", function(name)
      if point[name] == nil then refuse("%s=%s: no --over gives values of {%s}", key, value, name) end
      used[name] = true
      return tostring(point[name])
    end))
  end
  for _, axis in ipairs(axes) do
    if not used[axis.name] then
      if args[axis.name] ~= nil then refuse("%s is given twice, as a value and as an axis", axis.name) end
      out[axis.name] = point[axis.name]
    end
  end
  return out
end

-- All points of the axes, the last axis fastest.
local function points_of(axes)
  local points = { {} }
  for _, axis in ipairs(axes) do
    if #points * #axis.values > MOST then refuse("the table has more than %d rows", MOST) end
    local next_points = {}
    for _, point in ipairs(points) do
      for _, value in ipairs(axis.values) do
        next_points[#next_points + 1] = setmetatable({ [axis.name] = value }, { __index = point })
      end
    end
    points = next_points
  end
  return points
end

-- Rows { name = value of each axis, us =, cycles =, or text = why not } of an operator over axes { name =, values = }.
-- `request`: soc, op, args, over, l2, and the options of times(). Second: false when the progress ended the table.
function M.grid(request)
  local points, list, rows = points_of(request.over), {}, {}
  for i, point in ipairs(points) do
    list[i] = { request.op, arguments(request.args or {}, request.over, point), l2 = request.l2 }
  end
  local times = M.times(request.soc, request)
  local whole = times:learn(list)
  for i, operator in ipairs(list) do
    local answer = times:answer(operator)
    if answer.us or answer.text then
      local row = { us = answer.us, cycles = answer.cycles, text = answer.text }
      for _, axis in ipairs(request.over) do row[axis.name] = points[i][axis.name] end
      rows[#rows + 1] = row
    end
  end
  return rows, whole
end

-- A cell of CSV.
function M.cell(value)
  local text = tostring(value)
  return text:find '[,"\r\n]' and '"' .. text:gsub('"', '""') .. '"' or text
end

-- Lines of CSV from lists of cells.
function M.csv(lines)
  local out = {}
  for i, line in ipairs(lines) do
    local cells = {}
    for k, value in ipairs(line) do cells[k] = M.cell(value) end
    out[i] = table.concat(cells, ",") .. "\n"
  end
  return table.concat(out)
end

-- The table of a grid: a column for each axis, then us, total_cycles and error.
function M.text(request, rows)
  local head, lines = {}, {}
  for k, axis in ipairs(request.over) do head[k] = axis.name end
  lines[1] = table.move({ "us", "total_cycles", "error" }, 1, 3, #head + 1, head)
  for _, row in ipairs(rows) do
    local cells = {}
    for k, axis in ipairs(request.over) do cells[k] = row[axis.name] end
    local last = { row.us and ("%.3f"):format(row.us) or "", row.cycles or "", row.text or "" }
    lines[#lines + 1] = table.move(last, 1, 3, #cells + 1, cells)
  end
  return M.csv(lines)
end

-- ---- what `vinci table` asks ---------------------------------------------------------------------------------------

local FORMS = { llmservingsim = "tables_serving", vidur = "tables_serving", simai = "tables_training" }

-- "NAME=VALUES" of --over, in their order and by name.
local function axes_of(texts)
  local list, by_name = {}, {}
  for i, text in ipairs(texts) do
    local name, values = text:match "^([%w_]+)=(.*)$"
    if not name then refuse("--over=%s is not NAME=VALUES, such as m=1..4096", text) end
    if by_name[name] then refuse("--over gives %s twice", name) end
    by_name[name] = M.values(name, values)
    list[i] = { name = name, values = by_name[name] }
  end
  return list, by_name
end

local function grid_file(settings, request)
  request.op, request.args = settings.words[1], {}
  for i = 2, #settings.words do
    local key, value = settings.words[i]:match "^([%w_]+)=(.*)$"
    if not key then refuse("'%s' is not KEY=VALUE", settings.words[i]) end
    request.args[key] = value
  end
  if #request.over == 0 then refuse "give at least one axis, such as --over m=1..4096" end
  local rows, whole = M.grid(request)
  local failed, first = 0, nil
  for _, row in ipairs(rows) do
    if row.text then failed, first = failed + 1, first or row.text end
  end
  if failed == #rows and first then refuse("no point can be simulated; the first: %s", first) end
  return { { path = "", text = M.text(request, rows) } }, not whole, #rows, failed, first
end

-- Settings are the options of `vinci table`. Gives a list of files { path, text } (the path of a grid is ""), whether the
-- table was ended before, and of a grid how many rows there are, how many of these have no time, and why the first has none.
function M.report(settings)
  local request = { soc = vinci.soc(settings.soc, { set = settings.set, data = settings.data }), form = settings.form,
    memory = settings.memory, code = settings.code, l2 = settings.l2, jobs = settings.jobs, progress = settings.progress,
    block = settings.block, devices = settings.devices, system = settings.system, data = settings.data }
  local part = FORMS[settings.form]
  request.over, request.axes = axes_of(settings.over)
  if not part then return grid_file(settings, request) end
  if #settings.words ~= 1 then refuse("the form %s takes one MODEL.lua, not %d words", settings.form, #settings.words) end
  request.model = vinci.transformer.read(settings.words[1])
  request.tp = M.values("tp", settings.tp)
  for _, tp in ipairs(request.tp) do
    if math.type(tp) ~= "integer" then refuse("--tp=%s is not a list of numbers of ranks", settings.tp) end
  end
  local files = vinci[part][settings.form](request)
  return files or {}, files == nil
end

return M
