// SPDX-License-Identifier: Apache-2.0
// The account of energy of a run, a network or a job that kept one.

function energyText(uj) {
  if (uj === 0) return "0 J";
  const units = [
    [1e6, "J"],
    [1e3, "mJ"],
    [1, "\u00b5J"],
    [1e-3, "nJ"],
  ];
  const [size, unit] = units.find(([least]) => uj >= least) || [1e-6, "pJ"];
  return (uj / size).toFixed(2) + " " + unit;
}

// parts: {name, uj, low_uj, high_uj, text}; lead: words behind the sum.
function energySection(whole, parts, lead, about) {
  const rows = parts.filter(part => part.high_uj > 0),
    most = Math.max(...rows.map(part => part.uj));
  return section(
    "energy",
    "Energy",
    about,
    el(
      "p",
      {class: "lead", id: "energy-total"},
      el("b", {title: `${whole.uj} \u00b5J`}, energyText(whole.uj)),
      `, between ${energyText(whole.low_uj)} and ${energyText(whole.high_uj)}: ${lead}`,
    ),
    dataTable(
      [
        {title: "Part", key: "name"},
        {title: "Energy", key: "uj", number: true, text: part => energyText(part.uj)},
        {title: "Share", number: true, value: part => part.uj, text: part => percent(part.uj, whole.uj)},
        {
          title: "",
          value: () => "",
          cell: part =>
            el(
              "div",
              {style: "width:8rem"},
              shareBar([{amount: part.uj, colour: "var(--blue)", text: "energy"}], most),
            ),
        },
        {title: "At least", key: "low_uj", number: true, text: part => energyText(part.low_uj)},
        {title: "At most", key: "high_uj", number: true, text: part => energyText(part.high_uj)},
        {title: "What", key: "text"},
      ],
      rows,
      {id: "energy-table", shown: 12},
    ),
  );
}

const energyTexts = {
  cube: "multiply-accumulates, and cycles of the cubes",
  buffers: "bytes of the buffers and of the paths within cores",
  vector: "lane operations of the vector units",
  scalar: "instructions",
  l2: "bytes of L2",
  network: "bytes from router to router",
  memory: "bytes, rows and refreshes of device memory",
  links: "bytes to other devices",
  active: "cores while they have a block",
  idle: "cores, all the time",
  static: "the rest of the card, all the time",
};
const energyAbout =
  "The vendor publishes no energies: each number behind these is known by its source within a range, and the interval has all of them at one end. ENERGY.md says how far predictions lie from published watts.";

// lone: a sentence before what is said of all accounts.
function chipEnergySection(energy, lone = "") {
  if (!energy) return null;
  const parts = Object.entries(energy.parts).map(([name, part]) => ({name, text: energyTexts[name], ...part}));
  const each = energy.macs > 0 ? ` ${short((energy.uj * 1e6) / energy.macs)} pJ a multiply-accumulate.` : "";
  const assumed = `${percent(energy.confidence.assumed, 1)} of it by numbers that are assumed.`;
  return energySection(
    energy,
    parts,
    `${short(energy.average_w)} W on average.${each} ${assumed}`,
    lone + energyAbout,
  );
}

function jobEnergySection(energy, lone = "") {
  if (!energy) return null;
  const texts = {
    work: "what was simulated",
    links: "bytes between devices",
    time: "devices, all the time: idle and static",
  };
  const parts = Object.entries(texts).map(([name, text]) => ({name, text, ...energy[name]}));
  const given = energy.operations_without_energy;
  return energySection(
    energy.whole,
    parts,
    `${short(energy.average_w_of_a_device)} W for each device.` +
      (given ? ` ${grouped(given)} operations have given times, and no energy here.` : ""),
    lone + energyAbout + " Memory traffic of collectives is left out.",
  );
}

// ---- two accounts ----

// The sum and the parts of an account, of a chip or of a job.
function accountOf(energy) {
  const {whole = energy, parts = {work: energy.work, links: energy.links, time: energy.time}} = energy;
  return {whole, parts: Object.entries(parts).map(([name, part]) => [name, part.uj])};
}

// How two results differ in energy; the account of one, by `sectionOf`, where the other kept none. The intervals hold
// for one result alone: what two have in common, the same errors of numbers, is not a part of the difference.
function energyPairSection(first, second, sectionOf) {
  if (!first || !second)
    return sectionOf(first || second, `Of ${first ? "A" : "B"}: the other result has no account of energy to compare with. `);
  const [a, b] = [accountOf(first), accountOf(second)],
    by = b.whole.uj - a.whole.uj,
    signed = uj => `${uj > 0 ? "+" : uj < 0 ? "\u2212" : ""}${energyText(Math.abs(uj))}`;
  return section(
    "energy",
    "Energy",
    `The differences sum to ${signed(by)}. ${energyAbout}`,
    el(
      "p",
      {class: "lead", id: "energy-verdict"},
      el("b", null, by === 0 ? "B takes as much energy as A" : `B takes ${percent(Math.abs(by), a.whole.uj, 2)} ${by < 0 ? "less" : "more"} energy than A`),
      `: ${energyText(a.whole.uj)} and ${energyText(b.whole.uj)}.`,
    ),
    differenceTable(
      pairRows([a.parts, b.parts], ([name]) => name, ([, uj]) => uj, () => "").filter(row => row.a || row.b),
      "energy-pair-table",
      {name: "Part", text: energyText, signed},
    ),
  );
}
