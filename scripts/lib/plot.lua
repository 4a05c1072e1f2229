-- SPDX-License-Identifier: Apache-2.0
-- vinci.plot: curves to SVG, by svg.lua beside this file, or to PNG through gnuplot.
local known = { file = 1, title = 1, xlabel = 1, ylabel = 1, xlog = 1, ylog = 1, series = 1,
  width = 1, height = 1, xrange = 1, yrange = 1, key = 1 }

-- At the line of the script: that of the first frame outside this file.
local here = debug.getinfo(1, "S").source
local function refuse(format, ...)
  local level, place = 2, ""
  local frame = debug.getinfo(level, "Sl")
  while frame and (frame.source == here or frame.currentline <= 0) do
    level = level + 1
    frame = debug.getinfo(level, "Sl")
  end
  if frame then place = ("%s:%d: "):format(frame.short_src, frame.currentline) end
  error(place .. "vinci.plot: " .. format:format(...), 0)
end

-- A text in gnuplot's quotes: between single quotes nothing but the quote is special.
local function quoted(text, name)
  if type(text) ~= "string" then refuse("argument 'fields.%s' is a %s, not a string", name, type(text)) end
  return "'" .. text:gsub("[%c]", " "):gsub("'", "''") .. "'"
end

local function number(value, name)
  if type(value) ~= "number" then
    refuse("argument 'fields.%s' is a %s, not a number", name, type(value))
  end
  if value ~= value or value == math.huge or value == -math.huge then return "NaN" end -- a gap
  return ("%.17g"):format(value)
end

-- The data of one series: pairs of numbers; nil ends the series.
local function data(series, index)
  local name = ("series[%d]"):format(index)
  if type(series) ~= "table" then refuse("argument 'fields.%s' is not a table", name) end
  if type(series.x) ~= "table" or type(series.y) ~= "table" or #series.x ~= #series.y or #series.x == 0 then
    refuse("argument 'fields.%s' wants lists x and y of one length", name)
  end
  local lines = {}
  for i = 1, #series.x do
    lines[i] = number(series.x[i], name .. ".x") .. " " .. number(series.y[i], name .. ".y")
  end
  return table.concat(lines, "\n") .. "\ne\n"
end

local function extent(value, name)
  number(value, name)
  if not (value >= 100 and value <= 100000) then refuse("argument 'fields.%s' is not 100 to 100000", name) end
end

local styles = { lines = 1, points = 1, linespoints = 1, impulses = 1, steps = 1, boxes = 1 }

-- Everything gnuplot is to be told.
local function script(fields)
  local terminal = fields.file:match("%.svg$") and "svg" or fields.file:match("%.png$") and "pngcairo"
  if not terminal then refuse("argument 'fields.file' ends neither in .svg nor in .png") end
  local out = {
    ("set terminal %s size %s,%s"):format(terminal, number(fields.width or 800, "width"),
      number(fields.height or 500, "height")),
    "set output " .. quoted(fields.file, "file"), "set grid",
    "set key " .. (fields.key == false and "off" or "outside right top"),
  }
  for _, name in ipairs { "title", "xlabel", "ylabel" } do
    if fields[name] ~= nil then out[#out + 1] = ("set %s %s noenhanced"):format(name, quoted(fields[name], name)) end
  end
  for _, axis in ipairs { "x", "y" } do
    if fields[axis .. "log"] then out[#out + 1] = "set logscale " .. axis end
    local range = fields[axis .. "range"]
    if range ~= nil then
      if type(range) ~= "table" then refuse("argument 'fields.%srange' is not { low, high }", axis) end
      out[#out + 1] = ("set %srange [%s:%s]"):format(axis, number(range[1], axis .. "range"),
        number(range[2], axis .. "range"))
    end
  end
  local plots, tables = {}, {}
  for i, series in ipairs(fields.series) do
    tables[i] = data(series, i)
    local style = series.style or "linespoints"
    if not styles[style] then refuse("argument 'fields.series[%d].style' is '%s', which is none", i, tostring(style)) end
    plots[i] = "'-' with " .. style .. " title " .. quoted(series.title or ("series " .. i), "series.title") .. " noenhanced"
  end
  out[#out + 1] = "plot " .. table.concat(plots, ", ")
  return table.concat(out, "\n") .. "\n" .. table.concat(tables)
end

local function write_svg(fields)
  local draw = assert(loadfile(here:match("^@(.*/)") .. "svg.lua", "t"))()
  local file, why = io.open(fields.file, "w")
  if not file then refuse("cannot write %s", why) end
  file:write(draw(fields))
  if not file:close() then refuse("cannot write %s", fields.file) end
end

local function draw_png(file, text)
  if not os.execute("command -v gnuplot >/dev/null 2>&1") then
    refuse("%s needs gnuplot, which is not installed; a file that ends in .svg needs nothing", file)
  end
  local pipe = io.popen("gnuplot", "w")
  if not pipe then refuse("gnuplot cannot be started") end
  pipe:write(text)
  if not pipe:close() then refuse("gnuplot could not write %s", file) end
end

-- vinci.plot { file = "x.svg", series = { { title =, x = {}, y = {} [, style =] } }, ... }
return function(fields)
  if type(fields) ~= "table" then refuse("argument 'fields' is a %s, not a table", type(fields)) end
  for key in pairs(fields) do
    if not known[key] then refuse("argument 'fields' has an unknown field '%s'", tostring(key)) end
  end
  if type(fields.file) ~= "string" then
    refuse("argument 'fields.file' is %s, not a string", fields.file == nil and "missing" or "a " .. type(fields.file))
  end
  if type(fields.series) ~= "table" or fields.series[1] == nil then
    refuse("argument 'fields.series' is not a list of series")
  end
  local text = script(fields) -- refuses what is wrong
  extent(fields.width or 800, "width")
  extent(fields.height or 500, "height")
  if fields.file:match("%.svg$") then
    write_svg(fields)
  else
    draw_png(fields.file, text)
  end
  return fields.file
end
