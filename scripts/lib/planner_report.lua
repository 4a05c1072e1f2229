-- SPDX-License-Identifier: Apache-2.0
-- vinci.planner_report: what `vinci group plan` prints and writes of a plan (vinci.planner).
local vinci = ...
local P, T = vinci.planner, vinci.transformer
local M = {}
local GIB = 1 << 30

local COLUMNS = { { "us", "step ms" }, { "computing_us", "computing" }, { "bubble_us", "bubble" }, { "exposed_us", "exposed" } }

-- On a narrow terminal the last column stands below the others.
local function text_of(rows, count, narrow)
  local form = narrow and "%-27s %10s %10s %9s %9s %10s\n      %s" or "%-36s %11s %11s %11s %11s %11s  %s"
  local lines = { form:format("split", "step ms", "computing", "bubble", "exposed", "memory GiB", "why") }
  for i = 1, math.min(count, #rows) do
    local row, cells = rows[i], {}
    for k, column in ipairs(COLUMNS) do
      cells[k] = row.us and ("%.3f"):format(math.max(row[column[1]], 0) / 1000) or "-" -- no -0.000
    end
    lines[#lines + 1] = form:format(row.name, cells[1], cells[2], cells[3], cells[4],
      row.memory and ("%.2f"):format(row.memory / GIB) or "-", row.why)
  end
  if count < #rows then lines[#lines + 1] = ("%d more; --rows=%d shows them"):format(#rows - count, #rows) end
  return table.concat(lines, "\n") .. "\n"
end

local function json_of(rows)
  local lines = {}
  for i, row in ipairs(rows) do
    local fields = { ('"split": "%s"'):format(row.name) }
    for _, key in ipairs { "us", "computing_us", "bubble_us", "exposed_us", "bound" } do
      if row[key] then fields[#fields + 1] = ('"%s": %.6f'):format(key == "bound" and "bound_us" or key, math.max(row[key], 0)) end
    end
    if row.memory then fields[#fields + 1] = ('"memory_bytes": %d'):format(row.memory) end
    fields[#fields + 1] = ('"why": "%s"'):format(row.why)
    lines[i] = "{" .. table.concat(fields, ", ") .. "}"
  end
  return table.concat(lines, "\n") .. "\n"
end

local CSV = { "split", "us", "computing_us", "bubble_us", "exposed_us", "bound_us", "memory_bytes", "why" }

local function csv_of(rows)
  local lines = { table.concat(CSV, ",") }
  for i, row in ipairs(rows) do
    local function us(value) return value and ("%.6f"):format(math.max(value, 0)) or "" end
    local cells = { row.name, us(row.us), us(row.computing_us), us(row.bubble_us), us(row.exposed_us), us(row.bound),
      row.memory and ("%d"):format(row.memory) or "", '"' .. row.why:gsub('"', '""') .. '"' }
    lines[i + 1] = table.concat(cells, ",")
  end
  return table.concat(lines, "\n") .. "\n"
end

-- What is known of kernels and sums, in a file: a table with get(key) and put(key, us). `head` says of what system.
function M.keeper(path, head)
  local known, first, file = {}, nil, io.open(path, "r")
  for line in file and file:lines "L" or function() end do
    local key, us = line:match "^(.*)\t([%d.e+-]+)\n$" -- a line that was cut off ends the file
    if not first then
      first = line
    elseif key then
      known[key] = tonumber(us)
    end
  end
  if file then file:close() end
  if first and first ~= head .. "\n" then
    error(("%s:1: the checkpoint is not one of this plan: found '%s', expected '%s'"):format(path, (first:gsub("\n$", "")), head), 0)
  end
  local out, message = io.open(path, "a")
  if not out then error(message, 0) end
  if not first then out:write(head, "\n") end
  return {
    get = function(key) return known[key] end,
    put = function(key, us)
      known[key] = us
      out:write(("%s\t%.17g\n"):format(key, us))
      out:flush()
    end,
  }
end

local function keeper_of(settings)
  if not settings.checkpoint then return nil end
  local sets = {}
  for name, value in pairs(settings.set or {}) do sets[#sets + 1] = name .. "=" .. value end
  table.sort(sets)
  return M.keeper(settings.checkpoint, ("vinci group plan,version=1,model_revision=%s,soc=%s,system=%s,data=%s,set=%s"):format(
    vinci.model_revision, settings.soc, settings.system, settings.data or "", table.concat(sets, " ")))
end

-- How the times of the table came about.
local function notes(search, rows)
  local steps, replica = 0, false
  for _, row in ipairs(rows) do steps, replica = steps + (row.us and 1 or 0), replica or row.replica end
  local text = ("%d splits, %d steps simulated; %d kernels simulated"):format(#rows, steps, search.clock.simulated)
  if search.clock.scaled_count > 0 then
    text = text .. (", %d scaled from a part of them (--exact simulates all)"):format(search.clock.scaled_count)
  end
  if replica then text = text .. "\nsteps are those of one replica; what replicas send each other takes what it takes alone" end
  return text .. "\n"
end

-- What other splits save against the row `own`, the most first: { lever =, text =, saved_us =, change = }.
function M.levers(rows, own)
  local levers = {}
  for _, row in ipairs(rows) do
    if row.us and own.us and row.us < own.us and row.name ~= own.name then
      local grouped = row.name == own.name .. " groups"
      levers[#levers + 1] = {
        lever = grouped and "buckets" or "split",
        text = grouped and "with the groups of gradients that dynamic programming finds" or
          "as " .. row.name,
        saved_us = own.us - row.us,
        change = "--split=" .. row.name:gsub("layers ", "layers="):gsub(" ", ","),
      }
    end
  end
  table.sort(levers, function(a, b) return a.saved_us > b.saved_us or a.saved_us == b.saved_us and a.change < b.change end)
  return levers
end

local function text_of_levers(levers, own, count)
  local lines = {}
  for i = 1, math.min(count, #levers) do
    local lever = levers[i]
    lines[i] = ("%-9s %s, the step takes %.1f %% less\n          (measured: %s)."):format(i == 1 and "Levers" or "", lever.text,
      100 * lever.saved_us / own.us, lever.change)
  end
  if #levers > count then lines[#lines + 1] = ("          and %d more that save less"):format(#levers - count) end
  if #levers == 0 then lines[1] = "Levers    none: no split is faster" end
  return table.concat(lines, "\n") .. "\n"
end

local function json_of_levers(levers)
  local lines = {}
  for i, lever in ipairs(levers) do
    lines[i] = ('{"lever": "%s", "text": "%s", "saved_us": %.6f, "measured": true, "origin": "measured", "change": "%s"}'):format(
      lever.lever, lever.text, lever.saved_us, lever.change)
  end
  return '{"levers": [' .. table.concat(lines, ", ") .. "]}\n"
end

-- The row of --split, simulated alone.
local function own_row(settings, model, options)
  local split, groups = P.split_of(settings.split, settings.devices)
  options.splits, options.alone, options.buckets = { split }, true, groups
  local rows, left, search = P.plan(model, options)
  options.splits, options.alone, options.buckets = nil, nil, nil
  if groups then
    for _, row in ipairs(rows) do
      if row.name:find " groups$" then return { row }, left, search end
    end
    error(("--split=%s: the split has no groups of gradients in one list"):format(settings.split), 0)
  end
  return rows, left, search
end

-- Puts the simulated row of --split where its time belongs, for the one that was not simulated again.
local function put_own(rows, own)
  for i, row in ipairs(rows) do
    if row.name == own.name then
      table.remove(rows, i)
      break
    end
  end
  local at = 1
  while rows[at] and rows[at].us and rows[at].us <= own.us do at = at + 1 end
  table.insert(rows, at, own)
  if at > 1 then own.why = ("+%.1f ms"):format((own.us - rows[1].us) / 1000) end
end

-- The line for scripts: the row is that of --split, or the fastest.
local function summary_of(rows, row, left)
  return ("summary: group plan splits=%d split=%s us=%s partial=%s\n"):format(#rows, row and row.name:gsub(" ", ",") or "none",
    row and row.us and ("%.6f"):format(math.max(row.us, 0)) or "none", left and "yes" or "no")
end

-- What the command prints, the job of the fastest split, whether the search was ended before, and the rows as CSV.
-- Settings are the options of `vinci group plan`.
function M.report(settings)
  local chip, keep = vinci.soc(settings.soc), keeper_of(settings)
  local clock = T.clock(chip, { scaled = not settings.exact, keep = keep })
  local model, own = P.read(settings.model), nil
  local options = { progress = settings.progress, clock = clock, keep = keep,
    devices = settings.devices, system = settings.system, set = settings.set, data = settings.data,
    faults = #settings.faults > 0 and settings.faults or nil, memory = chip:get "hbm.size", launch_us = settings.launch_us,
    all = settings.all, ranks = settings.exact and math.huge or nil }
  local rows, left, search
  if settings.split then
    rows, left, search = own_row(settings, model, options)
    own = rows[1]
    if not own.us and not left then error(("--split=%s: %s"):format(settings.split, own.why), 0) end
  end
  if not own or (settings.savings and not left) then
    options.than_us = own and own.us
    rows, left, search = P.plan(model, options)
    if own then put_own(rows, own) end
  end
  local text = settings.json and json_of(rows) or text_of(rows, settings.rows, settings.narrow) .. notes(search, rows)
  if own and settings.savings and not left then
    local levers = M.levers(rows, own)
    text = text .. (settings.json and json_of_levers(levers) or text_of_levers(levers, own, settings.rows))
  end
  if left and settings.json then
    text = text .. ('{"partial": true, "not_looked_at": %d, "not_simulated": %d, "lists": %d}\n'):format(left.not_looked_at,
      left.not_simulated, left.lists)
  elseif left then
    text = text .. ("partial: %d splits were not looked at, and %d not simulated; lists of layers were not decided for %d\n"):format(
      left.not_looked_at, left.not_simulated, left.lists)
  end
  if not settings.json then text = text .. summary_of(rows, own or rows[1], left) end
  return text, rows[1] and rows[1].job, left ~= nil, csv_of(rows)
end

return M
