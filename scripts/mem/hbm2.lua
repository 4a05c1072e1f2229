-- SPDX-License-Identifier: Apache-2.0
-- What all HBM2 pseudo-channels have in common.
return memory {
  name = "hbm2",
  base = "frfcfs",
  abstract = true,
  description = "HBM2 pseudo-channel of 64 bits, bursts of 4 beats",

  maps = {
    M1 = "ro bg2 ba2 co5", -- a row is contiguous
    M2 = "ro ba2 co5 bg2", -- the bank group changes every burst
    M3 = "ro ba2 co4 bg2 co1", -- the bank group changes every two bursts
    pair = "ro ba2 bg1 co2 bg1 co3", -- two bank groups take turns, 256 bytes each
    M1x16 = "ro bg2 ba2 co2 ch4 co3", -- the same over 16 channels, 256 bytes at a time
    M2x16 = "ro ba2 co4 ch4 co1 bg2",
    M3x16 = "ro ba2 co4 ch4 bg2 co1",
  },

  geometry = {
    pseudo_channels = num(1, "count", "REF", "assumed", "one controller each; 2 shares command buses and queues, as the channel of a stack does"),
    bank_groups = num(4, "count", "JHBM", "documented"),
    banks_per_group = num(4, "count", "JHBM", "documented"),
    rows = num(32768, "count", "REF", "documented", "4 Gb a pseudo-channel"),
    columns = num(32, "count", "JHBM", "documented", "rows of 1 KiB"),
    burst = num(32, "B", "JHBM", "documented", "64 bits x 4 beats"),
    stack_channels = num(16, "count", "JHBM", "documented", "8 channels of 2"),
  },
  timing = {
    BL = num(2, "cycle", "JHBM", "documented", "4 beats"),
    CCDS = num(2, "cycle", "RAM", "documented"),
    CCDL = num(4, "cycle", "RAM", "documented"),
    act_bus = num(2, "cycle", "JHBM", "documented", "two-cycle ACT"),
  },
}
