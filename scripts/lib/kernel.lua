-- SPDX-License-Identifier: Apache-2.0
-- vinci.kernel: builds a trace from Lua with the instructions of the table. Loops, lets and
-- expressions stay what they are in the trace; only loops of Lua itself are unrolled.
local vinci = ...

local names -- of instructions, by name: table of operands as a set
local function instruction(name)
  if not names then
    names = {}
    for key, row in pairs(vinci.instructions()) do
      local operands = {}
      for _, operand in ipairs(row.operands) do operands[operand] = true end
      names[key] = operands
    end
  end
  return names[name]
end

-- Where in the user's script a row comes from: the first frame outside this file.
local here = debug.getinfo(1, "S").source
local function place()
  for level = 3, 30 do
    local frame = debug.getinfo(level, "Sl")
    if not frame then break end
    if frame.source ~= here and frame.currentline > 0 then
      return ("%s:%d: "):format(frame.short_src, frame.currentline)
    end
  end
  return ""
end

local function refuse(format, ...)
  error(place() .. format:format(...), 0)
end

-- ---- expressions --------------------------------------------------------------------------

local Expression = {}
Expression.__index = Expression
Expression.__name = "vinci.expression"

local function make(text) return setmetatable({ text = text }, Expression) end

local function text_of(value, what)
  if getmetatable(value) == Expression then return value.text end
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if type(value) == "number" and value == math.floor(value) then return ("%d"):format(value) end
  if type(value) == "boolean" then return value and "1" or "0" end
  refuse("%s is a %s, not a whole number or an expression", what, type(value))
end

local function binary(operator)
  return function(left, right)
    return make("(" .. text_of(left, "the left side of " .. operator) .. operator ..
      text_of(right, "the right side of " .. operator) .. ")")
  end
end

Expression.__add = binary("+")
Expression.__sub = binary("-")
Expression.__mul = binary("*")
Expression.__div = binary("/") -- cuts towards zero, as in traces
Expression.__idiv = Expression.__div
Expression.__mod = binary("%")
Expression.__unm = function(value) return make("(-" .. value.text .. ")") end
Expression.__tostring = function(value) return value.text end
-- Lua's own comparisons give true or false at once; these give expressions.
Expression.lt, Expression.le = binary("<"), binary("<=")
Expression.gt, Expression.ge = binary(">"), binary(">=")
Expression.eq, Expression.ne = binary("=="), binary("!=")

local function call(name)
  return function(left, right)
    return make(name .. "(" .. text_of(left, "the first argument of " .. name) .. "," ..
      text_of(right, "the second argument of " .. name) .. ")")
  end
end

-- ---- kernels ------------------------------------------------------------------------------

local Kernel = {}
Kernel.__name = "vinci.kernel"

local function add(kernel, fields)
  local row = {}
  for i, field in ipairs(fields) do
    if field:find "[\0\r\n]" then refuse("a text has a zero byte or the end of a line in it") end
    row[i] = field:find(",", 1, true) and '"' .. field .. '"' or field
  end
  kernel.rows[#kernel.rows + 1] = table.concat(row, ",")
  kernel.places[#kernel.rows] = place()
end

local function check_table(fields, function_name, known)
  if type(fields) ~= "table" then
    refuse("%s: argument 'fields' is a %s, not a table", function_name, type(fields))
  end
  for key in pairs(fields) do
    if not known[key] then
      refuse("%s: argument 'fields' has an unknown field '%s'", function_name, tostring(key))
    end
  end
end

local function need(fields, function_name, key, wanted)
  local value = fields[key]
  if type(value) ~= wanted and not (wanted == "integer" and math.type(value) == "integer") then
    refuse("%s: argument 'fields.%s' is %s, not a %s", function_name, key,
      value == nil and "missing" or "a " .. type(value), wanted)
  end
  return value
end

local function check_name(name, function_name)
  if not name:match("^[%a_][%w_]*$") then
    refuse("%s: '%s' is not a name: letters, digits and _", function_name, name)
  end
end

local methods = {}

-- kernel:tensor { name =, dtype =, shape = { ... }, io = "in" [, file =, format =] }: its address.
function methods:tensor(fields)
  local f = "kernel:tensor"
  check_table(fields, f, { name = 1, dtype = 1, shape = 1, io = 1, file = 1, format = 1 })
  check_name(need(fields, f, "name", "string"), f)
  local shape = fields.shape
  if math.type(shape) == "integer" then shape = { shape } end
  if type(shape) ~= "table" or shape[1] == nil then
    refuse("%s: argument 'fields.shape' is not a list of extents", f)
  end
  local extents = {}
  for i, extent in ipairs(shape) do
    if math.type(extent) ~= "integer" then
      refuse("%s: argument 'fields.shape' has an extent that is not a whole number", f)
    end
    extents[i] = ("%d"):format(extent)
  end
  local row = { "tensor", "name=" .. fields.name, "dtype=" .. need(fields, f, "dtype", "string"),
    "shape=" .. table.concat(extents, "x"), "io=" .. need(fields, f, "io", "string") }
  if fields.file then row[#row + 1] = "file=" .. need(fields, f, "file", "string") end
  if fields.format then row[#row + 1] = "format=" .. need(fields, f, "format", "string") end
  add(self, row)
  return make(fields.name)
end

-- kernel:buffer { name =, space = "UB", size = bytes [, address = bytes] }: its address. Without
-- an address it lies after the buffers of that space so far, at a multiple of 512 bytes.
function methods:buffer(fields)
  local f = "kernel:buffer"
  check_table(fields, f, { name = 1, space = 1, size = 1, address = 1 })
  check_name(need(fields, f, "name", "string"), f)
  local space, size = need(fields, f, "space", "string"), need(fields, f, "size", "integer")
  local address = fields.address
  if address == nil then
    address = self.used[space] or 0
  elseif math.type(address) ~= "integer" then
    refuse("%s: argument 'fields.address' is not a whole number", f)
  end
  self.used[space] = math.max(self.used[space] or 0, (address + size + 511) // 512 * 512)
  add(self, { "buffer", "name=" .. fields.name, "space=" .. space,
    ("address=%d"):format(address), ("size=%d"):format(size) })
  return make(fields.name)
end

-- kernel:stream(core): what follows is of this core type, "AIC", "AIV" or "AICORE".
function methods:stream(core)
  if type(core) ~= "string" then
    refuse("kernel:stream: argument 'core' is a %s, not a string", type(core))
  end
  self.scope = {}
  add(self, { "stream", "core=" .. core })
  return self
end

local function fresh(kernel, name, function_name)
  if name ~= nil and type(name) ~= "string" then
    refuse("%s: argument 'name' is a %s, not a string", function_name, type(name))
  end
  if name then check_name(name, function_name) end
  kernel.count = kernel.count + 1
  return name or ("v%d"):format(kernel.count)
end

-- kernel:loop(count, body) or kernel:loop(name, count, body): body(i) gives the rows inside.
function methods:loop(name, count, body)
  if body == nil then name, count, body = nil, name, count end
  if type(body) ~= "function" then
    refuse("kernel:loop: argument 'body' is a %s, not a function", type(body))
  end
  local variable = fresh(self, name, "kernel:loop")
  add(self, { "loop", variable, text_of(count, "kernel:loop: argument 'count'") })
  body(make(variable))
  add(self, { "endloop" })
  return self
end

-- kernel:when(condition, body): the rows of body run when the condition is not 0.
function methods:when(condition, body)
  if type(body) ~= "function" then
    refuse("kernel:when: argument 'body' is a %s, not a function", type(body))
  end
  add(self, { "loop", fresh(self), text_of(condition, "kernel:when: argument 'condition'") .. "!=0" })
  body()
  add(self, { "endloop" })
  return self
end

-- kernel:let(expression) or kernel:let(name, expression): a name for its value.
function methods:let(name, value)
  if value == nil then name, value = nil, name end
  local variable = fresh(self, name, "kernel:let")
  add(self, { "let", variable, text_of(value, "kernel:let: argument 'value'") })
  return make(variable)
end

-- Flags between pipes: "MTE2", "V", id.
for _, name in ipairs { "set_flag", "wait_flag" } do
  methods[name] = function(self, src, dst, id)
    local f = "kernel:" .. name
    if type(src) ~= "string" then refuse("%s: argument 'src' is a %s, not a pipe", f, type(src)) end
    if type(dst) ~= "string" then refuse("%s: argument 'dst' is a %s, not a pipe", f, type(dst)) end
    add(self, { name, "src=" .. src, "dst=" .. dst,
      "id=" .. text_of(id == nil and 0 or id, f .. ": argument 'id'") })
    return self
  end
end

-- kernel:sync(src, dst [, id]): dst waits until src has done what came before.
function methods:sync(src, dst, id)
  return self:set_flag(src, dst, id):wait_flag(src, dst, id)
end

function methods:barrier(pipe)
  if pipe ~= nil and type(pipe) ~= "string" then
    refuse("kernel:barrier: argument 'pipe' is a %s, not a pipe", type(pipe))
  end
  add(self, { "pipe_barrier", "pipe=" .. (pipe or "ALL") })
  return self
end

-- kernel:text(): the trace so far.
function methods:text() return table.concat(self.rows, "\n") .. "\n" end

-- kernel:build(): the trace, checked; a fault is reported at the line of the script it comes from.
function methods:build()
  local good, trace = pcall(vinci.parse, self.soc, self:text(), self.name)
  if good then return trace end
  if type(trace) == "table" and self.places[trace.line] then
    trace.where = self.places[trace.line]
    trace.message = ("%s\n  in row: %s"):format(trace.text, self.rows[trace.line])
  end
  error(trace, 0) -- of a status: the exit code is that of a rejected trace
end

-- kernel.NAME { operand = value }: an instruction. `repeat` is a word of Lua: write rep.
function Kernel.__index(kernel, key)
  if methods[key] then return methods[key] end
  local operands = type(key) == "string" and instruction(key)
  if not operands then refuse("kernel.%s: there is no such method or instruction", tostring(key)) end
  local function emit(fields, extra)
    if fields == kernel then fields = extra end -- kernel:vadd { } is the same as kernel.vadd { }
    if fields == nil then fields = {} end
    if type(fields) ~= "table" then
      refuse("kernel.%s: argument 'operands' is a %s, not a table", key, type(fields))
    end
    local row, sorted = { key }, {}
    for operand in pairs(fields) do
      if not operands[operand == "rep" and "repeat" or operand] then
        refuse("kernel.%s: there is no operand '%s'", key, tostring(operand))
      end
      sorted[#sorted + 1] = operand
    end
    table.sort(sorted)
    for _, operand in ipairs(sorted) do
      local value = fields[operand]
      if operand == "rep" then operand = "repeat" end
      row[#row + 1] = operand .. "=" ..
        (type(value) == "string" and value or text_of(value, "operand '" .. operand .. "'"))
    end
    add(kernel, row)
    return kernel
  end
  return emit
end

-- vinci.kernel { soc =, name =, blocks = [, vectors_per_cube =] }
return function(fields)
  local f = "vinci.kernel"
  check_table(fields, f, { soc = 1, name = 1, blocks = 1, vectors_per_cube = 1 })
  if getmetatable(fields.soc) == nil or type(fields.soc) ~= "userdata" then
    refuse("%s: argument 'fields.soc' is a %s, not a vinci.soc", f, type(fields.soc))
  end
  local kernel = { soc = fields.soc, name = need(fields, f, "name", "string"), rows = {},
    places = {}, used = {}, count = 0,
    blk = make("blk"), sub = make("sub"), blocks = make("blocks"),
    min = call("min"), max = call("max") }
  local row = { "kernel", "name=" .. kernel.name, "arch=" .. vinci.arch(fields.soc),
    ("blocks=%d"):format(need(fields, f, "blocks", "integer")) }
  if fields.vectors_per_cube then
    row[#row + 1] = ("vectors_per_cube=%d"):format(need(fields, f, "vectors_per_cube", "integer"))
  end
  add(kernel, { "trace", "version=1" })
  add(kernel, row)
  return setmetatable(kernel, Kernel)
end
