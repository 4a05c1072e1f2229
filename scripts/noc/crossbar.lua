-- SPDX-License-Identifier: Apache-2.0
-- A crossbar: all terminals on one router.
return {
  routing = "direct",
  parameters = { "terminals" },
  build = function(p)
    return { { column = 0, row = 0, terminals = p.terminals } }, {}
  end,
}
