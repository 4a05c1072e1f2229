-- SPDX-License-Identifier: Apache-2.0
-- What plain streams reach on each chip, beside what its description promises.
--
--     vinci lua streams.lua [CHIP...]
--
-- All cores read, write, copy, or read and write at once, from device memory and from L2, in the cycle and
-- in the flat memory. Promised is the least of what all cores, L2, and device memory less its refresh
-- move; what L2 keeps does not count as moved by device memory. The cycle memory has a network too, whose
-- busiest link may carry less than that. A row below its floor ends with LOW, one above what is promised
-- with HIGH; either makes the exit code 1.
local vinci = require "vinci"

local TILE = 32 * 1024
local MODES = {
  { name = "read", reads = true },
  { name = "write", writes = true },
  { name = "copy", reads = true, writes = true, ordered = true },
  { name = "mix", reads = true, writes = true },
}
-- Of what is promised: bounds for the rates. Cores that take turns leave gaps, those that meet at a slice too.
local FLOOR, CEILING = { HBM = 0.88, L2 = 0.75 }, 1.03

-- A kernel in which each core moves `tiles` tiles `turns` times.
local function trace_of(soc, mode, core, cores, tiles, turns)
  local rows = { "trace,version=1", ("kernel,name=%s,arch=%s,blocks=%d"):format(mode.name, vinci.arch(soc), cores) }
  local function row(format, ...) rows[#rows + 1] = format:format(...) end
  local function flags(format)
    if mode.ordered then row(format, 0) row(format, 1) end
  end
  if mode.reads then row("tensor,name=x,dtype=fp16,shape=%d,io=in", cores * tiles * TILE // 2) end
  if mode.writes then row("tensor,name=y,dtype=fp16,shape=%d,io=out", cores * tiles * TILE // 2) end
  row("buffer,name=a,space=UB,address=0,size=%d", 2 * TILE)
  row("stream,core=%s", core)
  flags "set_flag,src=MTE3,dst=MTE2,id=%d"
  row("loop,r,%d", turns)
  row("loop,i,%d", tiles)
  row("let,s,i%%2")
  row("let,at,(blk*%d+i)*%d", tiles, TILE)
  if mode.ordered then row "wait_flag,src=MTE3,dst=MTE2,id=s" end
  if mode.reads then row("copy_gm_to_ubuf,dst=a+s*%d,src=x+at,len_burst=%d", TILE, TILE // 32) end
  if mode.ordered then
    row "set_flag,src=MTE2,dst=MTE3,id=s"
    row "wait_flag,src=MTE2,dst=MTE3,id=s"
  end
  if mode.writes then row("copy_ubuf_to_gm,dst=y+at,src=a+s*%d,len_burst=%d", TILE, TILE // 32) end
  if mode.ordered then row "set_flag,src=MTE3,dst=MTE2,id=s" end
  row "endloop"
  row "endloop"
  flags "wait_flag,src=MTE3,dst=MTE2,id=%d"
  row "pipe_barrier,pipe=ALL"
  return vinci.parse(soc, table.concat(rows, "\n") .. "\n", mode.name)
end

-- Cores that copy: kind, number, clock.
local function cores_of(soc)
  if vinci.arch(soc):match "^dav%-m" or soc:get "device.vector_cores" == 0 then
    return "AICORE", soc:get "device.cube_cores", soc:get "clock.core"
  end
  return "AIV", soc:get "device.vector_cores", soc:get "clock.vector"
end

-- Bytes per second of one core's engine in copies of TILE bytes. Their start-up shows, but for copies that follow each
-- other without: those into UB of coupled cores, whose plain copies do.
local function engine_rate(soc, path, clock, from_hbm)
  local rate = soc:get("path." .. path .. ".bytes_per_cycle")
  local hbm = from_hbm and soc:get("path." .. path .. ".hbm_bytes_per_cycle") or 0
  if hbm > 0 then rate = math.min(rate, hbm) end
  local coupled = vinci.arch(soc) == "dav-c100" or vinci.arch(soc):match "^dav%-m"
  local follow = coupled and soc:get("path." .. path .. ".overlap_issue_cycles") or 0
  if follow > 0 then return TILE / math.max(follow, TILE / rate) * clock end
  return TILE / (soc:get("path." .. path .. ".startup_cycles") + TILE / rate) * clock
end

-- What the description promises: least and most.
local function promise(soc, mode, level, cores, clock)
  local function engines(from_hbm)
    local read = cores * engine_rate(soc, "GM_UB", clock, from_hbm)
    local write = cores * engine_rate(soc, "UB_GM", clock, from_hbm)
    if mode.ordered then return 2 * math.min(read, write) end
    return (mode.reads and read or 0) + (mode.writes and write or 0)
  end
  local l2 = soc:get "l2.bandwidth"
  if level == "L2" then
    local rate = math.min(engines(false), l2)
    return rate, rate
  end
  local refi = soc:get "memory.timing.REFI"
  local hbm = soc:get "hbm.bandwidth" * soc:get "hbm.pin_share" * (refi > 0 and 1 - soc:get "memory.timing.RFC" / refi or 1)
  local mixed = mode.reads and mode.writes and soc:get "hbm.mixed_efficiency" or 1
  return math.min(engines(true), l2, hbm * mixed), math.min(engines(false), l2, hbm)
end

-- Where clusters of cores and slices sit in a mesh (noc/network.c): clusters by halving gaps, slices evenly.
local function places(routers, clusters, slices)
  local bits, core, slice, turn = 0, {}, {}, 0
  while 1 << bits < routers do bits = bits + 1 end
  while #core < clusters do
    local place = 0
    for bit = 0, bits - 1 do place = place | (turn >> bit & 1) << bits - 1 - bit end
    if place < routers then core[#core + 1] = place end
    turn = turn + 1
  end
  for i = 0, slices - 1 do slice[#slice + 1] = i * routers // slices end
  return core, slice
end

-- Bytes per second that a mesh carries from all slices to all cores, or back, by its busiest link: along rows first,
-- and each core to each slice alike. Reads and writes have a network each.
local function network_rate(soc, mode)
  if soc:get "noc.topology" ~= "mesh" then return math.huge end
  local columns = soc:get "noc.columns"
  local clusters, slices = soc:get "device.cube_cores", soc:get "l2.slices"
  local load, most = {}, 1
  local function pass(from, to)
    local link = from .. ">" .. to
    load[link] = (load[link] or 0) + 1
    most = math.max(most, load[link])
  end
  local core, slice = places(columns * soc:get "noc.rows", clusters, slices)
  for _, from in ipairs(slice) do
    for _, to in ipairs(core) do
      local at = from
      while at % columns ~= to % columns do
        local next = at + (at % columns < to % columns and 1 or -1)
        pass(at, next)
        at = next
      end
      while at ~= to do
        local next = at + (at < to and columns or -columns)
        pass(at, next)
        at = next
      end
    end
  end
  local ways = (mode.reads and 1 or 0) + (mode.writes and 1 or 0)
  return ways * soc:get "noc.flit" * soc:get "noc.clock" * clusters * slices / most
end

-- Bytes per second between a short and a long run of the same stream, without launch and start.
local function measured(soc, mode, level, memory, core, cores)
  local function run(count)
    local tiles, turns = count, 1
    if level == "L2" then tiles, turns = 4, count end
    local trace = trace_of(soc, mode, core, cores, tiles, turns)
    local result = vinci.run(soc, trace, { memory = memory })
    return result:summary().duration_us, tiles * turns
  end
  local short, few = run(12)
  local long, many = run(36)
  local ways = (mode.reads and 1 or 0) + (mode.writes and 1 or 0)
  return (many - few) * TILE * cores * ways / ((long - short) * 1e-6)
end

local wrong, chips = 0, #arg > 0 and arg or vinci.socs()
print "chip              from  stream   promised TB/s  network    cycle     flat"
for _, name in ipairs(chips) do
  for _, level in ipairs { "HBM", "L2" } do
    local soc = vinci.soc(name, level == "HBM" and { set = { ["l2.size"] = "1MiB" } } or nil)
    local core, cores, clock = cores_of(soc)
    for _, mode in ipairs(MODES) do
      local least, most = promise(soc, mode, level, cores, clock)
      local network = network_rate(soc, mode)
      local line = ("%-17s %-5s %-7s %14.3f %8.3f "):format(name, level, mode.name, least / 1e12, network / 1e12)
      for _, memory in ipairs { "cycle", "flat" } do
        local rate = measured(soc, mode, level, memory, core, cores)
        local limit = memory == "cycle" and network or math.huge
        local verdict = rate < FLOOR[level] * math.min(least, limit) and "LOW"
          or rate > CEILING * math.min(most, limit) and "HIGH" or ""
        wrong = wrong + (verdict == "" and 0 or 1)
        line = line .. (" %8.3f %s"):format(rate / 1e12, verdict)
      end
      print((line:gsub(" +$", "")))
    end
  end
end
os.exit(wrong == 0 and 0 or 1)
