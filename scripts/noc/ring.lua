-- SPDX-License-Identifier: Apache-2.0
-- A ring of links in both directions, a terminal on each router. Packets take the shorter
-- way; at the dateline, between the last and the first router, they change to the upper half
-- of the virtual channels, which keeps the ring free of deadlock (Dally and Seitz 1987).
return {
  routing = "ring",
  parameters = { "terminals" },
  build = function(p)
    local routers, links = {}, {}
    local last = p.terminals - 1
    for router = 0, last do
      routers[router + 1] = { column = router, row = 0, terminals = 1 }
      if last > 0 then
        links[#links + 1] = { from = router, to = (router + 1) % p.terminals, dateline = router == last }
      end
      if last > 1 then
        links[#links + 1] = { from = router, to = (router + last) % p.terminals, dateline = router == 0 }
      end
    end
    return routers, links
  end,
}
