-- SPDX-License-Identifier: Apache-2.0
-- LPDDR4X-4266 as on the 310P: one channel of 16 bits, bursts of 16 beats, 8 banks without
-- groups. Its one command bus of several cycles a command is treated as two buses like
-- HBM's; at 8 data cycles a burst it is not what limits.
local least = "least value of the standard at this clock"

return memory {
  name = "lpddr4x_4266",
  base = "frfcfs",
  description = "LPDDR4X at 4266 MT/s, 8.5 GB/s a channel of 16 bits, 204.8 GB/s with 24",

  maps = {
    row = "ro ba3 co6", -- a row is contiguous
    bank = "ro co4 ba3 co2", -- the bank changes every 128 bytes
  },
  clock = { tck = num(0.469 * ns, "s", "JLP4", "documented", "4266 MT/s") },
  geometry = {
    pseudo_channels = num(1, "count", "JLP4", "documented"),
    bank_groups = num(1, "count", "JLP4", "documented"),
    banks_per_group = num(8, "count", "JLP4", "documented"),
    rows = num(65536, "count", "INI", "assumed", "24 GB over 24 channels, 8 Gb each"),
    columns = num(64, "count", "JLP4", "documented", "rows of 2 KiB"),
    burst = num(32, "B", "JLP4", "documented", "16 bits x 16 beats"),
    stack_channels = num(24, "count", "INI", "assumed", "384 bits make the 204.8 GB/s commonly stated for the 310P"),
  },
  timing = {
    BL = num(8, "cycle", "JLP4", "documented", "16 beats"),
    CL = num(36, "cycle", "JLP4", "assumed", "RL of set A; tDQSCK is left to the fixed overhead of the user"),
    CWL = num(18, "cycle", "JLP4", "assumed", "WL of set A"),
    RCDRD = num(39, "cycle", "JLP4", "assumed", "18 ns, " .. least),
    RCDWR = num(39, "cycle", "JLP4", "assumed", "18 ns, " .. least),
    RP = num(39, "cycle", "JLP4", "assumed", "18 ns per bank; all banks together, 21 ns, are only closed before a refresh"),
    RAS = num(90, "cycle", "JLP4", "assumed", "42 ns, " .. least),
    RC = num(129, "cycle", "JLP4", "assumed", "RAS + RP"),
    CCDS = num(8, "cycle", "JLP4", "documented"),
    CCDL = num(8, "cycle", "JLP4", "documented", "no bank groups"),
    RRDS = num(22, "cycle", "JLP4", "assumed", "10 ns, " .. least),
    RRDL = num(22, "cycle", "JLP4", "assumed", "10 ns, " .. least),
    FAW = num(86, "cycle", "JLP4", "assumed", "40 ns, " .. least),
    WTRS = num(22, "cycle", "JLP4", "assumed", "10 ns, " .. least),
    WTRL = num(22, "cycle", "JLP4", "assumed", "10 ns, " .. least),
    RTW = num(36, "cycle", "JLP4", "assumed", "RL + tDQSCK 8 + BL 8 + 2 - WL"),
    RTP = num(16, "cycle", "JLP4", "assumed", "7.5 ns, " .. least),
    WR = num(39, "cycle", "JLP4", "assumed", "18 ns, " .. least),
    REFI = num(8324, "cycle", "JLP4", "assumed", "3.904 us"),
    RFC = num(598, "cycle", "JLP4", "assumed", "8 Gb a channel: 280 ns"),
    act_bus = num(4, "cycle", "JLP4", "documented", "ACT-1 and ACT-2, two cycles each"),
  },
  controller = {
    read_queue = num(96, "count", "MSI", "assumed", "as hbm2e_3200"),
    write_queue = num(96, "count", "MSI", "assumed", "as hbm2e_3200"),
  },
}
