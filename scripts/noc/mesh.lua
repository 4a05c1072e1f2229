-- SPDX-License-Identifier: Apache-2.0
-- A mesh: router x + y * columns at column x, row y; a terminal on each.
-- Links of a router in the order east, west, south, north.
return {
  routing = "xy",
  parameters = { "columns", "rows" },
  build = function(p)
    local routers, links = {}, {}
    local function join(from, column, row)
      if column >= 0 and column < p.columns and row >= 0 and row < p.rows then
        links[#links + 1] = { from = from, to = column + row * p.columns }
      end
    end
    for row = 0, p.rows - 1 do
      for column = 0, p.columns - 1 do
        local router = column + row * p.columns
        routers[router + 1] = { column = column, row = row, terminals = 1 }
        join(router, column + 1, row)
        join(router, column - 1, row)
        join(router, column, row + 1)
        join(router, column, row - 1)
      end
    end
    return routers, links
  end,
}
