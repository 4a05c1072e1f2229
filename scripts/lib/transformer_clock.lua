-- SPDX-License-Identifier: Apache-2.0
-- vinci.transformer_clock: times of operators on a chip, each simulated once. A part of vinci.transformer.
--
-- A clock with `scaled` does not simulate the largest operators whole: a part of such an operator is simulated, with the
-- tiling of the whole, and its time grows by the closed-form estimates of both. Operators that differ in the rest alone
-- share that part. tests/scripts/test_planner.sh compares scaled times with whole ones.
--
-- A clock with `sequence` also answers lists in their order on one chip (transformer_sequence.lua). There scaled operators take
-- their scaled time, and their tensors pass through L2.
local vinci = ...
local M = {}

local Clock = {}
Clock.__index = Clock

-- Estimated cycles above which an operator is scaled: a tenth of a second of simulation, more or less.
local LARGE = { matmul = 150000, flash_attention = 250000, flash_attention_grad = 300000 }
local SIDE, HEADS = 2048, 8 -- of the part: extents of a product, heads of attention
local FLAT = 1 << 22 -- elements of a tensor of one extent
local CACHES = 2.5 -- what the part of any other operator moves, in sizes of L2: L2 must not hold it

-- Options: memory, jobs, library, as of vinci.evaluate; scaled, sequence (true: see above); keep (a table with get(key) and put(key, us)
-- that remembers times beyond this clock).
function M.new(soc, options)
  options = options or {}
  return setmetatable({ soc = soc, memory = options.memory or "flat", jobs = options.jobs, scaled = options.scaled,
    sequence = options.sequence, library = options.library, keep = options.keep, followed = {}, known = {}, estimates = {}, factors = {}, simulated = 0, scaled_count = 0, learned = 0 }, Clock)
end

local function key_of(operator)
  local names = {}
  for name, value in pairs(operator[2]) do names[#names + 1] = name .. "=" .. tostring(value) end
  table.sort(names)
  return operator[1] .. " " .. table.concat(names, " ")
end
M.key_of, Clock.key_of = key_of, key_of

-- The closed-form estimate of an operator: { total_cycles =, args = the tiling }, or nil where none is known.
function Clock:estimate(operator, key)
  key = key or key_of(operator)
  local known = self.estimates[key]
  if known == nil then
    local good, tiling = pcall(vinci.tiling, self.soc, operator[1], operator[2])
    known = good and tiling or false
    self.estimates[key] = known
  end
  return known or nil
end

local function power_of_two(n)
  local p = 1
  while p * 2 <= n do p = p * 2 end
  return p
end

-- Arguments of the part of an operator that stands for the whole; nil where the operator is small, or has no such part.
local function part_of(name, args, whole, l2_bytes)
  local part = {}
  if whole.total_cycles <= (LARGE[name] or 0) then return nil end
  for key, value in pairs(args) do part[key] = value end
  if name == "matmul" then
    part.m, part.n, part.k = math.min(args.m, SIDE), math.min(args.n, SIDE), math.min(power_of_two(args.k), SIDE)
  elseif args.heads then
    local share = args.heads // (args.kv_heads or args.heads)
    if args.heads < math.max(HEADS, share) then return nil end
    part.heads = math.max(HEADS // share, 1) * share
    if args.kv_heads then part.kv_heads = part.heads // share end
  elseif args.shape and not args.count then
    local rows, rest = tostring(args.shape):match "^(%d+)(.*)$"
    rows = tonumber(rows)
    local fewer = power_of_two(math.max(math.tointeger(rows * CACHES * l2_bytes // whole.gm_bytes), 1))
    if rest == "" and rows > FLAT then -- what is left over for an optimizer has many sizes
      fewer = math.min(fewer, power_of_two(rows))
    elseif whole.gm_bytes <= CACHES * l2_bytes then
      return nil
    end
    if fewer >= rows then return nil end
    part.shape = fewer .. rest
  else
    return nil
  end
  return part
end

-- The part of an operator with the tiling of the whole, and the estimates of both; nil: simulate all of the operator.
function Clock:scaling(operator, key)
  local whole = self:estimate(operator, key)
  local part = whole and part_of(operator[1], operator[2], whole, self.soc:get "l2.size")
  if not part then return nil end
  for name, value in whole.args:gmatch "(%S+)=(%S+)" do
    if name ~= "cores" and name ~= "blocks" then part[name] = value end
  end
  local one = { operator[1], part }
  local estimate = self:estimate(one)
  return estimate and one, estimate and whole.total_cycles / estimate.total_cycles
end

-- What of the lists is not known yet: questions { key, operator, scale }; scaled ones share their part.
function Clock:unknown(lists)
  local questions, asked = {}, {}
  for _, list in ipairs(lists) do
    for _, operator in ipairs(list) do
      local key = key_of(operator)
      if not self.known[key] and not asked[key] then
        asked[key] = true
        local one, scale
        if self.scaled then one, scale = self:scaling(operator, key) end
        questions[#questions + 1] = { key = key, operator = one or operator, scale = scale }
      end
    end
  end
  return questions
end

local PIECE = 4 -- operators that are simulated between two looks at the time

-- Simulates operators that are not known: the answers are in self.factors (parts) or self.known.
function Clock:simulate(list)
  local size = self.goes_on and PIECE or math.max(#list, 1)
  for first = 1, #list, size do
    self.ended = self.goes_on ~= nil and not self.goes_on()
    if self.ended then error("vinci.transformer: the search was ended", 0) end
    local piece, questions = table.move(list, first, math.min(first + size - 1, #list), 1, {}), {}
    for i, one in ipairs(piece) do questions[i] = { op = one.operator[1], args = one.operator[2] } end
    for i, answer in ipairs(vinci.evaluate(self.soc, questions, { memory = self.memory, jobs = self.jobs, library = self.library })) do
      if not answer.us then error(("vinci.transformer: %s: %s"):format(piece[i].key, answer.text), 0) end
      self.factors[piece[i].key] = answer.us
      if self.keep then self.keep.put("kernel " .. piece[i].key, answer.us) end
    end
  end
  self.simulated = self.simulated + #list
end

-- Simulates what of the lists is not known yet; with a function goes_on of the clock, in pieces, until that says false. Then
-- the clock has `ended`, and what is not simulated stays unknown.
function Clock:learn(lists)
  local questions, missing, asked = self:unknown(lists), {}, {}
  for _, question in ipairs(questions) do
    local key = question.scale and key_of(question.operator) or question.key
    question.part = key
    self.factors[key] = self.factors[key] or self.keep and self.keep.get("kernel " .. key)
    if not self.factors[key] and not asked[key] then
      asked[key] = true
      missing[#missing + 1] = { key = key, operator = question.operator }
    end
  end
  self:simulate(missing)
  for _, question in ipairs(questions) do
    self.known[question.key] = self.factors[question.part] * (question.scale or 1)
    self.scaled_count = self.scaled_count + (question.scale and 1 or 0)
  end
  self.learned = self.learned + #questions
end

-- Questions to vinci.evaluate of operators, and of false: communication.
function Clock:questions(list)
  local questions = {}
  for i, operator in ipairs(list) do
    local scaled = operator and self.scaled and self:scaling(operator)
    questions[i] = not operator and { communication = true } or
      { op = operator[1], args = operator[2], us = scaled and self.known[key_of(operator)] or nil }
  end
  return questions
end

-- Microseconds of each operator of a list that runs in its order on one chip; false in the list is communication.
function Clock:follow(list)
  local keys, scaled = {}, {}
  for i, operator in ipairs(list) do
    keys[i] = operator and key_of(operator) or "communication"
    if operator and self.scaled and self:scaling(operator) then scaled[#scaled + 1] = operator end
  end
  local text = table.concat(keys, "\n")
  if self.followed[text] then return self.followed[text] end
  self:learn { scaled }
  local us, options = {}, { memory = self.memory, sequence = true, library = self.library }
  for i, answer in ipairs(vinci.evaluate(self.soc, self:questions(list), options)) do
    if not answer.us then error(("vinci.transformer: %s: %s"):format(keys[i], answer.text), 0) end
    us[i] = answer.us
  end
  self.followed[text] = us
  return us
end

-- Of a list whose operators take `us`: microseconds, the share of these that memory bounds, and how many kernels there are.
function Clock:sum(list, us)
  local sum, bound = 0, 0
  for i, operator in ipairs(list) do sum, bound = sum + us[i], bound + (operator[3] and us[i] or 0) end
  return { us = sum, memory = sum > 0 and bound / sum or 0, kernels = #list }
end

-- Microseconds of a list, the share of these that memory bounds, and how many kernels there are.
function Clock:time(list)
  local us = {}
  for i, operator in ipairs(list) do us[i] = self.known[key_of(operator)] end
  return self:sum(list, us)
end

return M
