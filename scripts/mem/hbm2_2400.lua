-- SPDX-License-Identifier: Apache-2.0
-- HBM2 at 2.4 Gbps, set A24 of the reference runs.
return memory {
  name = "hbm2_2400",
  base = "hbm2",
  description = "HBM2 at 2.4 Gbps, 19.2 GB/s a pseudo-channel, 307 GB/s a stack",

  clock = { tck = num(0.833 * ns, "s", "REF", "documented", "data rate = 2 / tCK") },
  timing = {
    CL = num(17, "cycle", "RAM", "documented"),
    CWL = num(6, "cycle", "RAM", "documented"),
    RCDRD = num(17, "cycle", "RAM", "documented"),
    RCDWR = num(14, "cycle", "RAM", "documented"),
    RP = num(17, "cycle", "RAM", "documented"),
    RAS = num(40, "cycle", "RAM", "documented"),
    RC = num(57, "cycle", "RAM", "documented"),
    RRDS = num(5, "cycle", "RAM", "documented"),
    RRDL = num(5, "cycle", "RAM", "documented"),
    FAW = num(19, "cycle", "RAM", "assumed", "vendor-specific, typical"),
    WTRS = num(8, "cycle", "RAM", "documented"),
    WTRL = num(10, "cycle", "RAM", "documented"),
    RTW = num(15, "cycle", "RAM", "derived", "CL + BL + 2 - CWL"),
    RTP = num(6, "cycle", "RAM", "documented"),
    WR = num(19, "cycle", "RAM", "documented"),
    REFI = num(4682, "cycle", "JHBM", "documented", "3.9 us"),
    RFC = num(313, "cycle", "RAM", "documented", "4 Gb: 260 ns"),
  },
}
