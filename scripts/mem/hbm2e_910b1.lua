-- SPDX-License-Identifier: Apache-2.0
-- HBM2E of the 910B1, four stacks at 3.516 Gbps, 1.8 TB/s
-- No timing of an HBM2E part of this family is public: the device times of HBM2 in ns,
-- rounded up to this clock.
local device = "the time of HBM2 in ns at this clock; no public figure for this part"

return memory {
  name = "hbm2e_910b1",
  base = "hbm2",
  description = "HBM2E of the 910B1, four stacks at 3.516 Gbps, 1.8 TB/s",

  clock = { tck = num(0.569 * ns, "s", "MOP", "assumed", "1.8 TB/s over 64 pseudo-channels, 3.516 Gbps") },
  geometry = {
    rows = num(65536, "count", "INI", "assumed", "8 Gb a pseudo-channel: stacks of 16 GiB"),
  },
  timing = {
    CL = num(25, "cycle", "RAM", "assumed", device),
    CWL = num(9, "cycle", "RAM", "assumed", device),
    RCDRD = num(25, "cycle", "RAM", "assumed", device),
    RCDWR = num(22, "cycle", "RAM", "assumed", device),
    RP = num(25, "cycle", "RAM", "assumed", device),
    RAS = num(60, "cycle", "RAM", "assumed", device),
    RC = num(85, "cycle", "RAM", "assumed", device),
    RRDS = num(8, "cycle", "RAM", "assumed", device),
    RRDL = num(8, "cycle", "RAM", "assumed", device),
    FAW = num(27, "cycle", "RAM", "assumed", device),
    WTRS = num(11, "cycle", "RAM", "assumed", device),
    WTRL = num(15, "cycle", "RAM", "assumed", device),
    RTP = num(9, "cycle", "RAM", "assumed", device),
    WR = num(29, "cycle", "RAM", "assumed", device),
    RTW = num(20, "cycle", "RAM", "assumed", "CL + BL + 2 - CWL"),
    REFI = num(0, "cycle", "MSI", "assumed", "none: writes reach over 99 % of the nominal bandwidth, so refresh is hidden, bank by bank"),
    RFC = num(616, "cycle", "RAM", "assumed", "8 Gb: 350 ns"),
  },
  controller = {
    read_queue = num(96, "count", "MSI", "assumed", "as the write queue"),
    write_queue = num(96, "count", "MSI", "assumed", "with the 32 of the reference controller mixed traffic keeps less of the peak than the 71 to 83 % measured"),
  },
}
