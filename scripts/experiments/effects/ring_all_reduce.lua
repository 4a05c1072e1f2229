-- SPDX-License-Identifier: Apache-2.0
-- A sum over all ranks: the ring, the star (the root gathers, then sends to all) and the tree, from small to large.
-- Each device has one port, which all its transfers share.
local ALPHA, RATE = 2, 20 -- microseconds of a transfer, GB/s of a port: round numbers, stated with the result

local function two(E, ranks, bytes, algorithm, set)
  local row = "collective,op=%s,group=all,algorithm=%s,bytes=%d"
  return E.job(ranks, { row:format("reduce", algorithm, bytes), row:format("broadcast", algorithm, bytes) }, set).us
end

return function(E)
  local set, table_rows, worst, crossed, least = E.plain_links(ALPHA, RATE), {}, 0, {}, math.huge
  for _, ranks in ipairs { 2, 4, 8 } do
    local bytes = 1 << 10
    while bytes <= 64 << 20 do
      local ring = E.job(ranks, { ("collective,op=all_reduce,group=all,algorithm=ring,bytes=%d"):format(bytes) }, set).us
      local star, tree = two(E, ranks, bytes, "star", set), two(E, ranks, bytes, "tree", set)
      local closed = 2 * (ranks - 1) * ALPHA + 2 * (ranks - 1) / ranks * bytes / (RATE * 1000)
      worst = math.max(worst, math.abs(ring / closed - 1))
      if ranks == 8 then
        if ring < math.min(star, tree) and not crossed.at then crossed.at = bytes end
        if ring >= math.min(star, tree) then crossed.loses = bytes end
        if bytes == 64 << 20 then least = 1 - ring / math.min(star, tree) end
      end
      table_rows[#table_rows + 1] = { ranks, bytes, ring, closed, star, tree }
      bytes = bytes * 4
    end
  end
  E.table("ring_all_reduce", { "ranks", "bytes", "ring us", "closed form us", "star us", "tree us" }, table_rows)
  return { row = 19, effect = "sum over ranks by a ring",
    claim = "2(N-1) alpha + 2(N-1)/N S/B within 1 %; 20 % faster than star and tree for large S, slower for small S",
    result = ("off by %.2f %% at most; 8 ranks, alpha %d us, %d GB/s: %.0f %% faster at 64 MiB, faster from %d KiB on"):format(
      100 * worst, ALPHA, RATE, 100 * least, (crossed.at or 0) >> 10),
    pass = worst < 0.01 and least >= 0.2 and crossed.at ~= nil and crossed.loses ~= nil and crossed.loses < crossed.at }
end
