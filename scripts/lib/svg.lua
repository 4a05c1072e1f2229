-- SPDX-License-Identifier: Apache-2.0
-- Curves as SVG, for vinci.plot: axes with ticks, a grid, a key. The same bytes on every host.
local margin = { left = 80, right = 20, top = 44, bottom = 56 }
local key_width, line_height, font = 170, 18, 12
local colours = { "#1b6ca8", "#c8553d", "#3a7d44", "#8d5a97", "#b8860b", "#4d4d4d", "#008b8b", "#a0522d" }

local function escape(text)
  return (text:gsub("[%c]", " "):gsub("&", "&amp;"):gsub("<", "&lt;"):gsub(">", "&gt;"))
end

local function finite(value) return value == value and value ~= math.huge and value ~= -math.huge end

-- One decimal of a pixel is finer than anybody sees.
local function pixel(value) return ("%.1f"):format(value) end

-- The range of an axis: what is given, or what the values take. A logarithm knows only what is above 0.
local function range_of(fields, axis)
  local log, low, high = fields[axis .. "log"], nil, nil
  for _, series in ipairs(fields.series) do
    for _, value in ipairs(series[axis]) do
      if finite(value) and (not log or value > 0) then
        low, high = math.min(low or value, value), math.max(high or value, value)
      end
    end
    local from_zero = series.style == "boxes" or series.style == "impulses"
    if axis == "y" and from_zero and low and not log then low, high = math.min(low, 0), math.max(high, 0) end
  end
  local given = fields[axis .. "range"]
  if given then low, high = given[1], given[2] end
  low, high = low or (log and 1 or 0), high or (log and 10 or 1)
  if low == high then
    if log then low, high = low / 2, high * 2 else low, high = low - 1, high + 1 end
  end
  if log and low <= 0 then low = high > 0 and high / 1000 or 1 end
  if log and high <= low then high = low * 10 end
  return low + 0.0, high + 0.0
end

local function text_of(value)
  if math.abs(value) < 1e-12 then return "0" end
  return (("%.4g"):format(value):gsub("e%+?(%-?)0*", "e%1"))
end

-- Powers of ten, with 2 and 5 between when they are few.
local function log_ticks(low, high)
  local ticks, decades = {}, math.log(high / low, 10)
  local steps = decades > 3 and { 1 } or decades > 1.5 and { 1, 2, 5 } or { 1, 2, 3, 4, 5, 6, 7, 8, 9 }
  local every = math.max(1, math.ceil(decades / 8))
  for power = math.floor(math.log(low, 10)), math.ceil(math.log(high, 10)) do
    for _, step in ipairs(steps) do
      local value = step * 10.0 ^ power
      if power % every == 0 and value >= low * 0.999999 and value <= high * 1.000001 then ticks[#ticks + 1] = value end
    end
  end
  return ticks
end

-- Five to ten round numbers.
local function plain_ticks(low, high)
  local ticks, span = {}, high - low
  local unit = 10.0 ^ math.floor(math.log(span / 5, 10))
  local step = unit
  for _, times in ipairs { 2, 5, 10 } do
    if span / step > 8 then step = unit * times end
  end
  for i = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) do ticks[#ticks + 1] = i * step end
  return ticks
end

-- From a value to a pixel.
local function scale_of(fields, axis, from, to)
  local low, high = range_of(fields, axis)
  local log = fields[axis .. "log"]
  local place = function(value)
    if not finite(value) or (log and value <= 0) then return nil end
    local share = log and math.log(value / low) / math.log(high / low) or (value - low) / (high - low)
    return from + math.max(-1, math.min(2, share)) * (to - from)
  end
  return { place = place, ticks = log and log_ticks(low, high) or plain_ticks(low, high),
    base = place(log and low or math.max(low, math.min(high, 0))) }
end

local function draw_axes(out, box, x, y, fields)
  for _, value in ipairs(x.ticks) do
    local at = pixel(x.place(value))
    out(('<path class="grid" d="M%s %sV%s"/>'):format(at, pixel(box.top), pixel(box.bottom)))
    out(('<text x="%s" y="%s" text-anchor="middle">%s</text>'):format(at, pixel(box.bottom + line_height), text_of(value)))
  end
  for _, value in ipairs(y.ticks) do
    local at = y.place(value)
    out(('<path class="grid" d="M%s %sH%s"/>'):format(pixel(box.left), pixel(at), pixel(box.right)))
    out(('<text x="%s" y="%s" text-anchor="end">%s</text>'):format(pixel(box.left - 6), pixel(at + 4), text_of(value)))
  end
  out(('<path class="frame" d="M%s %sH%sV%sH%sZ"/>'):format(pixel(box.left), pixel(box.top), pixel(box.right),
    pixel(box.bottom), pixel(box.left)))
  local middle_x, middle_y = pixel((box.left + box.right) / 2), pixel((box.top + box.bottom) / 2)
  local function label(text, place) out(('<text text-anchor="middle" %s>%s</text>'):format(place, escape(text))) end
  if fields.title then label(fields.title, ('class="title" x="%s" y="26"'):format(middle_x)) end
  if fields.xlabel then label(fields.xlabel, ('x="%s" y="%s"'):format(middle_x, pixel(box.bottom + 42))) end
  if fields.ylabel then label(fields.ylabel, ('transform="translate(20 %s) rotate(-90)"'):format(middle_y)) end
end

-- A curve; a point that cannot be drawn leaves a gap.
local function draw_series(out, series, colour, x, y, box)
  local style, path, last = series.style or "linespoints", {}, nil
  local lines = style == "lines" or style == "linespoints" or style == "steps"
  local half = math.max(2, math.min(20, (box.right - box.left) / #series.x / 3))
  for i = 1, #series.x do
    local at_x, at_y = x.place(series.x[i]), y.place(series.y[i])
    if not at_x or not at_y then
      last = nil
    elseif lines then
      local step = last and style == "steps" and "H" .. pixel(at_x) or ""
      path[#path + 1] = step .. (last and "L" or "M") .. pixel(at_x) .. " " .. pixel(at_y)
      last = true
    elseif style == "impulses" then
      path[#path + 1] = ("M%s %sV%s"):format(pixel(at_x), pixel(y.base), pixel(at_y))
    elseif style == "boxes" then
      path[#path + 1] = ("M%s %sV%sH%sV%sZ"):format(pixel(at_x - half), pixel(y.base), pixel(at_y), pixel(at_x + half),
        pixel(y.base))
    end
    if at_x and at_y and (style == "points" or style == "linespoints") then
      out(('<circle cx="%s" cy="%s" r="3" fill="%s"/>'):format(pixel(at_x), pixel(at_y), colour))
    end
  end
  local fill = style == "boxes" and colour or "none"
  if #path > 0 then
    out(('<path d="%s" stroke="%s" fill="%s" fill-opacity="0.4" stroke-width="1.6"/>'):format(table.concat(path), colour, fill))
  end
end

local function draw_key(out, fields, left, top)
  for i, series in ipairs(fields.series) do
    local at, colour = top + (i - 1) * line_height, colours[(i - 1) % #colours + 1]
    out(('<path d="M%s %sh20" stroke="%s" stroke-width="3"/>'):format(pixel(left), pixel(at + 6), colour))
    out(('<text x="%s" y="%s">%s</text>'):format(pixel(left + 26), pixel(at + 10),
      escape(series.title or ("series " .. i))))
  end
end

-- The text of a picture; the fields are those of vinci.plot, which has checked them.
return function(fields)
  local lines, width, height = {}, fields.width or 800, fields.height or 500
  local function out(line) lines[#lines + 1] = line end
  local keyed = fields.key ~= false
  local box = { left = margin.left, top = margin.top, bottom = height - margin.bottom,
    right = width - margin.right - (keyed and key_width or 0) }
  local x = scale_of(fields, "x", box.left, box.right)
  local y = scale_of(fields, "y", box.bottom, box.top)
  out(('<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" ' ..
    'font-family="sans-serif" font-size="%d">'):format(text_of(width), text_of(height), text_of(width), text_of(height), font))
  out "<style>.grid{stroke:#ddd}.frame{stroke:#444;fill:none}.title{font-size:15px}</style>"
  out '<rect width="100%" height="100%" fill="white"/>'
  out(('<clipPath id="box"><rect x="%s" y="%s" width="%s" height="%s"/></clipPath>'):format(pixel(box.left - 4),
    pixel(box.top - 4), pixel(box.right - box.left + 8), pixel(box.bottom - box.top + 8)))
  draw_axes(out, box, x, y, fields)
  out '<g clip-path="url(#box)">'
  for i, series in ipairs(fields.series) do
    draw_series(out, series, colours[(i - 1) % #colours + 1], x, y, box)
  end
  out "</g>"
  if keyed then draw_key(out, fields, box.right + 14, box.top) end
  out "</svg>\n"
  return table.concat(lines, "\n")
end
