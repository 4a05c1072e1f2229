-- SPDX-License-Identifier: Apache-2.0
-- Energies of the split Da Vinci cores of the 910B family. The vendor publishes none. So arithmetic,
-- buffers and memories have the figures of comparable processes, and what these leave of the watts of
-- measured products is that of the cycle of the cube (ENERGY.md: how, and what that predicts).
--
-- num(value, unit, source, confidence, note, low, high)

local bank8 = 1000 * 7.5 / 8    -- fJ of a byte, SRAM of 8 KB at 7 nm
local bank32 = 1000 * 8.5 / 8   -- of 32 KB
local bank1024 = 1000 * 14 / 8  -- of 1 MB
local wire = 1000 * 0.07 * 8    -- fJ for a byte and a mm, half of the bits toggle

local low_sram = "low: half, as rows are wider than 64 bits; high: twice"
local tree = "the product, and an addition of aligned integers in the adder tree of 16 products; high: a whole addition of fp32 for each product"
local mean = "between an addition (low) and a product with addition (high)"

return energy {
  name = "davinci_7nm",
  description = "split cores of the 910B family, published energies of 7 nm and one measured product",

  mac = {
    fp16 = num(340 + 30, "fJ", "TPU4", "derived", tree, 200, 340 + 380),
    bf16 = num(210 + 30, "fJ", "TPU4", "derived", tree, 120, 210 + 380),
    fp32 = num(1310 + 30, "fJ", "TPU4", "derived", tree, 700, 1310 + 380),
    hf32 = num(380 + 30, "fJ", "TPU4", "assumed", "fp16 by the square of 12 significant bits over 11", 200, 450 + 380),
    int8 = num(70 + 30, "fJ", "TPU4", "derived", "product of 8 bits and addition of 32", 50, 200),
    int4 = num(18 + 30, "fJ", "TPU4", "assumed", "a quarter of the product of 8 bits, and the addition", 25, 120),
    fp8 = num(60 + 30, "fJ", "TPU4", "assumed", "a product of 4 significant bits, and the addition", 40, 250),
    fp4 = num(15 + 30, "fJ", "TPU4", "assumed", "a quarter of the product of fp8, and the addition", 25, 120),
  },
  cube = {
    cycle = num(1366000, "fJ", "FLP", "derived", "what the other numbers leave of 364 W in products of fp16, bf16, int8 and fp32: 499, 1234, 1316 and 2417 pJ, their mean; range: the four", 499000, 2417000),
  },
  buffer = {
    L0A = num(round(bank8), "fJ", "TPU4", "derived", "SRAM of 8 KB, the least that is published; " .. low_sram, 469, 1875),
    L0B = num(round(bank8), "fJ", "TPU4", "derived", "as L0A", 469, 1875),
    L0C = num(round(bank8), "fJ", "TPU4", "derived", "16 banks of 8 KB (DK); " .. low_sram, 469, 1875),
    L1 = num(round(bank32), "fJ", "TPU4", "derived", "16 banks of 32 KB (DK); " .. low_sram, 531, 2125),
    UB = num(round(bank8), "fJ", "TPU4", "derived", "48 banks of 4 KB (DK), here as 8 KB; " .. low_sram, 469, 1875),
    BT = num(round(bank8), "fJ", "TPU4", "assumed", "as 8 KB", 235, 1875),
    FB = num(round(bank8), "fJ", "TPU4", "assumed", "as 8 KB", 235, 1875),
  },
  path = {
    wire = num(round(wire), "fJ", "KEC", "assumed", "a way of 1 mm; high: 3 mm at 0.08 pJ for a bit and a mm", 240, 1920),
  },
  lane = {
    fp16 = num(250, "fJ", "TPU4", "derived", mean, 160, 500),
    bf16 = num(160, "fJ", "TPU4", "derived", mean, 110, 320),
    fp32 = num(845, "fJ", "TPU4", "derived", mean .. "; exponentials and quotients take more", 380, 1690),
    int8 = num(39, "fJ", "TPU4", "derived", mean, 7, 77),
    int16 = num(200, "fJ", "TPU4", "assumed", "between 8 and 32 bits", 15, 400),
    int32 = num(755, "fJ", "TPU4", "derived", mean, 30, 1510),
  },
  scalar = {
    instruction = num(30000, "fJ", "HOR", "derived", "70 pJ of a simple core at 45 nm, times 0.43 as buffers of 32 KB (TPU4); high: as at 45 nm", 10000, 70000),
  },
  l2 = {
    byte = num(round(bank1024), "fJ", "TPU4", "derived", "SRAM of 1 MB; high: 1.6 pJ a bit of an A100's L2, control left out (SC25)", 875, 12800),
  },
  noc = {
    hop = num(4700, "fJ", "KEC", "assumed", "5 mm of wire at 0.07 pJ for a bit and a mm, and a buffer of a router written and read (8 KB)", 1900, 9400),
  },
  dram = {
    read = num(27840, "fJ", "FGD", "documented", "1.51 + 1.17 + 0.80 pJ a bit; low: 0.30 for the pins; high: 13.11 pJ a bit of an A100, controllers and ways included (SC25)", 23840, 104880),
    write = num(27840, "fJ", "FGD", "documented", "as a byte read", 23840, 104880),
    activate = num(909000, "fJ", "FGD", "documented", "a row of 1 KB", 450000, 1400000),
    refresh = num(32 * 909000, "fJ", "FGD", "derived", "a refresh is a 8192nd of the rows (JHBM): 32 of 16 banks of 16384 rows", 14000000, 60000000),
  },
  link = {
    byte = num(80000, "fJ", "KEC", "assumed", "no public figure; 10 pJ a bit for both ends of a serial link on a board", 40000, 160000),
  },
  active = {
    cube_core = num(0.3, "W", "FLP", "assumed", "clocks, caches and queues of a core at work", 0, 1),
    vector_core = num(0.2, "W", "FLP", "assumed", "clocks, caches and queues of a core at work", 0, 0.7),
  },
  idle = {
    cube_core = num(0.6, "W", "NPU", "assumed", "of the idle card, a share by area", 0.2, 1.2),
    vector_core = num(0.3, "W", "NPU", "assumed", "of the idle card, a share by area", 0.1, 0.6),
  },
  static = {
    dram_channel = num(0.25, "W", "SC25", "assumed", "4 W for a stack of 16; high: 40 W that five stacks of an A100 take idle", 0.1, 0.5),
    chip = num(52.7, "W", "NPU", "derived", "four idle 910B3 take 88.8 to 97.5 W, mean 93.2; less 24 W of cores, 16 W of memory and 0.5 W of refreshes", 35, 70),
  },
  flat = {
    hops = num(2.5, "ratio", "KEC", "assumed", "mean of a mesh of 4 x 4", 1, 6),
    row = num(256, "B", "FGD", "assumed", "a quarter of a row before another is wanted", 128, 1024),
  },
}
