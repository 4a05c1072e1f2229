-- SPDX-License-Identifier: Apache-2.0
-- HBM2E at 3.2 Gbps, 25.6 GB/s a pseudo-channel, 410 GB/s a stack
-- No timing of an HBM2E part of this family is public: the device times of HBM2 in ns,
-- rounded up to this clock.
local device = "the time of HBM2 in ns at this clock; no public figure for this part"

return memory {
  name = "hbm2e_3200",
  base = "hbm2",
  description = "HBM2E at 3.2 Gbps, 25.6 GB/s a pseudo-channel, 410 GB/s a stack",

  clock = { tck = num(0.625 * ns, "s", "JHBM", "assumed", "3.2 Gbps, the rate of the standard") },
  maps = { -- as those of HBM2 with another bit of the bank group
    M1 = "ro bg3 ba2 co5",
    M2 = "ro ba2 co5 bg3",
    M3 = "ro ba2 co4 bg3 co1",
    pair = "ro ba2 bg2 co2 bg1 co3",
    M1x16 = "ro bg3 ba2 co2 ch4 co3",
    M2x16 = "ro ba2 co4 ch4 co1 bg3",
    M3x16 = "ro ba2 co4 ch4 bg3 co1",
  },
  geometry = {
    bank_groups = num(8, "count", "JHBM", "assumed", "4 of each of two stack IDs: a stack of 16 GiB is eight dies high"),
    rows = num(32768, "count", "INI", "assumed", "8 Gb a pseudo-channel: stacks of 16 GiB"),
  },
  timing = {
    CL = num(23, "cycle", "RAM", "assumed", device),
    CWL = num(8, "cycle", "RAM", "assumed", device),
    RCDRD = num(23, "cycle", "RAM", "assumed", device),
    RCDWR = num(20, "cycle", "RAM", "assumed", device),
    RP = num(23, "cycle", "RAM", "assumed", device),
    RAS = num(55, "cycle", "RAM", "assumed", device),
    RC = num(77, "cycle", "RAM", "assumed", device),
    RRDS = num(7, "cycle", "RAM", "assumed", device),
    RRDL = num(7, "cycle", "RAM", "assumed", device),
    FAW = num(24, "cycle", "RAM", "assumed", device),
    WTRS = num(10, "cycle", "RAM", "assumed", device),
    WTRL = num(13, "cycle", "RAM", "assumed", device),
    RTP = num(8, "cycle", "RAM", "assumed", device),
    WR = num(26, "cycle", "RAM", "assumed", device),
    RTW = num(19, "cycle", "RAM", "assumed", "CL + BL + 2 - CWL"),
    REFI = num(6240, "cycle", "JHBM", "assumed", "3.9 us"),
    RFC = num(560, "cycle", "RAM", "assumed", "8 Gb: 350 ns"),
  },
  controller = {
    read_queue = num(96, "count", "MSI", "assumed", "as the write queue"),
    write_queue = num(96, "count", "MSI", "assumed", "with the 32 of the reference controller mixed traffic keeps less of the peak than the 71 to 83 % measured"),
  },
}
