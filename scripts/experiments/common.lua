-- SPDX-License-Identifier: Apache-2.0
-- What the experiments share: their arguments, tables on stdout, CSV and SVG files.
--
--     vinci lua EXPERIMENT.lua [--quick] [--soc=NAME] [--memory=flat|cycle] [--output=DIR]
--
-- --quick takes small sizes, for a first look and for the tests. With --output the table is also
-- written as CSV and drawn as SVG there.
local vinci = require "vinci"
local M = { soc = "Ascend910B1", memory = "flat", quick = false, silent = false }

for _, word in ipairs(arg) do
  local key, value = word:match "^%-%-(%a+)=(.+)$"
  if word == "--quick" then
    M.quick = true
  elseif key == "soc" or key == "memory" or key == "output" then
    M[key] = value
  else
    io.stderr:write(("usage: vinci lua %s [OPTION]...\n  options: --quick --soc=NAME --memory=flat|cycle --output=DIR\n")
      :format(arg[0]))
    os.exit(2)
  end
end
if M.output then os.execute(("mkdir -p '%s'"):format((M.output:gsub("'", "'\\''")))) end

-- The chip with overrides.
function M.chip(set) return vinci.soc(M.soc, { set = set or {} }) end

-- Compiles and runs an operator; the result's summary, the result, the trace.
function M.run(chip, op, args)
  local trace = vinci.compile(chip, op, args)
  local result = vinci.run(chip, trace, { memory = M.memory })
  return result:summary(), result, trace
end

-- Runs a trace that was built.
function M.run_trace(chip, trace)
  local result = vinci.run(chip, trace, { memory = M.memory })
  return result:summary(), result
end

-- Runs a job (devices/GROUP.md) of ranks that all do the same rows, with one group "all".
function M.job(ranks, rows, set)
  local text = ('job,version=1,ranks=%d\ngroup,name=all,ranks=0-%d\nprogram,ranks=0-%d\n'):format(ranks, ranks - 1, ranks - 1)
  return vinci.group_run(text .. table.concat(rows, "\n") .. "\n", { system = "atlas_a2_910b4", set = set })
end

-- Numbers of a system whose devices have one port each and no other cost: a transfer takes alpha + bytes / rate.
function M.plain_links(alpha_us, gigabytes)
  local rate, none = ("%gGB/s"):format(gigabytes), "0B/s"
  return { ["hccs.latency"] = ("%gus"):format(alpha_us), ["hccs.copy"] = rate, ["hccs.reduce"] = rate, ["hccs.device"] = rate,
    ["hccs.device_reduce"] = rate, ["notify.latency"] = "0us", ["notify.issue"] = "0us", ["notify.wait"] = "0us",
    ["memory.latency"] = "0us", ["memory.copy"] = none, ["memory.fresh"] = none, ["collective.slice"] = "1B",
    ["collective.buffer"] = "0B" }
end

-- The middle of numbers; the mean of the two in the middle where their count is even.
function M.median(numbers)
  local sorted = table.move(numbers, 1, #numbers, 1, {})
  table.sort(sorted)
  return (sorted[(#sorted + 1) // 2] + sorted[#sorted // 2 + 1]) / 2
end

-- Numbers in a table have as many digits as they need, up to four.
local function cell(value)
  if math.type(value) == "float" then return ("%.4g"):format(value) end
  return tostring(value)
end

-- Splits a text at blanks into lines of at most width characters; a longer word has a line of its own.
local function fold(text, width)
  local lines = { "" }
  for word in text:gmatch "%S+" do
    local line = lines[#lines]
    if line == "" then
      lines[#lines] = word
    elseif #line + 1 + #word <= width then
      lines[#lines] = line .. " " .. word
    else
      lines[#lines + 1] = word
    end
  end
  return lines
end

-- The longest of some lines.
local function longest(lines)
  local width = 0
  for _, line in ipairs(lines) do width = math.max(width, #line) end
  return width
end

local COLUMNS <const> = 80 -- of the narrowest terminal
local INDENT <const> = (" "):rep(4)

-- Prints cells, each a list of lines, side by side and aligned to the right; names of columns stand on their rows.
local function print_cells(cells, widths, are_names)
  local height = 0
  for i = 1, #widths do height = math.max(height, #cells[i]) end
  for k = 1, height do
    local out = {}
    for i, width in ipairs(widths) do
      out[i] = ("%" .. width .. "s"):format(cells[i][are_names and k - height + #cells[i] or k] or "")
    end
    print((table.concat(out, "  "):gsub(" +$", "")))
  end
end

local function sum_of(widths)
  local sum = 2 * (#widths - 1) -- what stands between columns
  for _, width in ipairs(widths) do sum = sum + width end
  return sum
end

-- Widths of the columns of a table, whose first line are the names. Where the table is wider than a terminal, names are
-- folded to what their column needs. Returns the names' cells, too.
local function widths_of(lines)
  local needed, whole, names = {}, {}, {}
  for i, name in ipairs(lines[1]) do
    needed[i] = 1
    for k = 2, #lines do needed[i] = math.max(needed[i], #lines[k][i]) end
    whole[i], names[i] = math.max(needed[i], #name), { name }
  end
  if sum_of(whole) <= COLUMNS then return whole, names end
  for i, name in ipairs(lines[1]) do
    names[i] = fold(name, needed[i])
    needed[i] = math.max(needed[i], longest(names[i]))
  end
  return needed, names
end

-- Prints a table. What the last column has stands below each row if the table is too wide with this column.
local function print_table(lines)
  local widths, names = widths_of(lines)
  local last = #widths
  local below = sum_of(widths) > COLUMNS
  if below then widths[last] = nil end
  for k, line in ipairs(lines) do
    local cells = names
    if k > 1 then
      cells = {}
      for i, text in ipairs(line) do cells[i] = { text } end
    end
    print_cells(cells, widths, k == 1)
    for _, text in ipairs(below and fold(line[last], COLUMNS - #INDENT) or {}) do print(INDENT .. text) end
  end
end

-- Prints rows (lists) below the names of their columns, and keeps them as CSV.
function M.table(name, columns, rows)
  local lines = { columns }
  for _, row in ipairs(rows) do
    local line = {}
    for i = 1, #columns do line[i] = cell(row[i]) end
    lines[#lines + 1] = line
  end
  if not M.silent then print_table(lines) end
  if not M.output then return end
  local file = assert(io.open(("%s/%s.csv"):format(M.output, name), "w"))
  for _, line in ipairs(lines) do
    local cells = {}
    for i, text in ipairs(line) do cells[i] = text:find '[,"\n]' and '"' .. text:gsub('"', '""') .. '"' or text end
    file:write(table.concat(cells, ","), "\n")
  end
  file:close()
end

-- Draws series of a table: { title, column of x, column of y [, rows] }.
function M.draw(name, fields, rows, series)
  if not M.output then return end
  fields.file = ("%s/%s.svg"):format(M.output, name)
  fields.series = {}
  for _, one in ipairs(series) do
    local x, y = {}, {}
    for _, row in ipairs(one[4] or rows) do x[#x + 1], y[#y + 1] = row[one[2]], row[one[3]] end
    fields.series[#fields.series + 1] = { title = one[1], x = x, y = y, style = one.style }
  end
  vinci.plot(fields)
  print("drawn: " .. fields.file)
end

return M
