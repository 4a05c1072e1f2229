-- SPDX-License-Identifier: Apache-2.0
-- The model of the case `group plan` of promises.cases.
return { layers = 2, hidden = 512, ffn = 1408, heads = 8, vocab = 8000, sequence = 256, global_batch = 8 }
