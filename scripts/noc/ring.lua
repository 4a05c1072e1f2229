-- SPDX-License-Identifier: Apache-2.0
-- A ring of links in both directions, a terminal on each router. Packets take the shorter
-- way; at the dateline, between the last and the first router, they change to the upper half
-- of the virtual channels, which keeps the ring free of deadlock (Dally and Seitz 1987).
return {
  routing = "ring",
  parameters = { "routers" },
  build = function(p)
    local routers, links = {}, {}
    local last = p.routers - 1
    for router = 0, last do
      routers[router + 1] = { column = router, row = 0, terminals = 1 }
      if last > 0 then
        links[#links + 1] = { from = router, to = (router + 1) % p.routers, dateline = router == last }
      end
      if last > 1 then
        links[#links + 1] = { from = router, to = (router + last) % p.routers, dateline = router == 0 }
      end
    end
    return routers, links
  end,
}
