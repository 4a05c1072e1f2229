-- SPDX-License-Identifier: Apache-2.0
-- HBM2 at 2.0 Gbps, set A20 of the reference runs.
return memory {
  name = "hbm2_2000",
  base = "hbm2",
  description = "HBM2 at 2.0 Gbps, 16 GB/s a pseudo-channel, 256 GB/s a stack",

  clock = { tck = num(1 * ns, "s", "REF", "documented", "data rate = 2 / tCK") },
  timing = {
    CL = num(14, "cycle", "RAM", "documented"),
    CWL = num(5, "cycle", "RAM", "documented"),
    RCDRD = num(14, "cycle", "RAM", "documented"),
    RCDWR = num(12, "cycle", "RAM", "documented"),
    RP = num(14, "cycle", "RAM", "documented"),
    RAS = num(34, "cycle", "RAM", "documented"),
    RC = num(48, "cycle", "RAM", "documented"),
    RRDS = num(4, "cycle", "RAM", "documented"),
    RRDL = num(4, "cycle", "RAM", "documented"),
    FAW = num(15, "cycle", "RAM", "assumed", "vendor-specific, typical"),
    WTRS = num(6, "cycle", "RAM", "documented"),
    WTRL = num(8, "cycle", "RAM", "documented"),
    RTW = num(13, "cycle", "RAM", "derived", "CL + BL + 2 - CWL"),
    RTP = num(5, "cycle", "RAM", "documented"),
    WR = num(16, "cycle", "RAM", "documented"),
    REFI = num(3900, "cycle", "JHBM", "documented", "3.9 us"),
    RFC = num(260, "cycle", "RAM", "documented", "4 Gb: 260 ns"),
  },
}
