// SPDX-License-Identifier: Apache-2.0
// Two jobs of several devices: what the time of each class of ranks is made of, collectives and memory, side by side. Parts,
// classes and pairs are those of `vinci diff`.

const jobParts = [
  ["computing", "blue", "computing"],
  ["moving", "orange", "communication that nothing hides"],
  ["waiting", "yellow", "waiting for other ranks in a collective"],
  ["host", "pink", "waiting for the host"],
  ["events", "grey", "waiting for events or times"],
  ["ended", "panel", "done before the last rank"],
];

// "0-3 8" as [0, 1, 2, 3, 8], and back.
function ranksOf(text) {
  return text.split(" ").flatMap(run => {
    const [from, to = from] = run.split("-").map(Number);
    return Array.from({length: to - from + 1}, (_, i) => from + i);
  });
}

function ranksText(ranks) {
  const runs = [];
  for (const rank of ranks) {
    const last = runs[runs.length - 1];
    if (last && rank === last[1] + 1) last[1] = rank;
    else runs.push([rank, rank]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(" ");
}

// A folder as {total, classes by rank}. A class: {ranks, rows, parts, end, memory}; ranks without rows are done at once.
function readJob(folder) {
  const total = folder.summary.time_us,
    classes = readClasses(folder.timeline),
    none = {ranks: "", rows: []},
    of = folder.summary.ranks.map(() => none);
  for (const one of classes) for (const rank of ranksOf(one.ranks)) of[rank] = one;
  for (const one of [...classes, none]) {
    one.parts = Object.fromEntries(jobParts.map(([name]) => [name, 0]));
    shareTime(one.rows, total, (part, us) => (one.parts[part] += us));
    one.end = one.rows.reduce((end, row) => Math.max(end, row.end), 0);
  }
  for (const one of folder.memory ? readLevels(folder.memory) : [])
    for (const rank of ranksOf(one.ranks)) of[rank] = Object.assign(of[rank], {memory: fullest(one.steps), names: one.names});
  return {total, of};
}

// Ranks that are of one class on each side: {ranks, a, b}; undefined where a side has not these ranks.
function pairClasses(a, b) {
  const pairs = [];
  for (let rank = 0; rank < Math.max(a.of.length, b.of.length); rank++) {
    let pair = pairs.find(one => one.a === a.of[rank] && one.b === b.of[rank]);
    if (!pair) pairs.push((pair = {list: [], a: a.of[rank], b: b.of[rank]}));
    pair.list.push(rank);
  }
  return pairs.map(pair => ({...pair, ranks: ranksText(pair.list)}));
}

// ---- the answer --------------------------------------------------------------------------------

const sumOf = (pair, part) => pair.a.parts[part] + pair.b.parts[part];

// The class that ends last, and of those that do so the one that waits least for others: for it the job waits.
function tellingPair(pairs) {
  const before = (x, y) =>
    sameTime(sumOf(x, "ended"), sumOf(y, "ended")) ? sumOf(x, "waiting") < sumOf(y, "waiting") : sumOf(x, "ended") < sumOf(y, "ended");
  return pairs.filter(pair => pair.a && pair.b).reduce((best, pair) => (!best || before(pair, best) ? pair : best), null);
}

// "ranks 0-1, which end last"
function tellingText(pair) {
  const s = pair.list.length > 1 ? "" : "s";
  return `${nameRanks(pair.ranks)}, which ${sameTime(sumOf(pair, "ended"), 0) ? `end${s} last` : `ha${s || "ve"} least time behind the end`}`;
}

function partRows(pair) {
  const of = (one, name) => one && toPs(one.parts[name]);
  return jobParts.map(([name, , text]) => ({name: text, a: of(pair.a, name), b: of(pair.b, name)})).filter(row => row.a || row.b);
}

// "+8.94 ms communication that nothing hides (98 % of the change)", the largest first; what is below a hundredth of the
// largest is left out.
function whyText(pair, by) {
  const rows = partRows(pair)
      .map(row => ({...row, by: toPs(row.b - row.a)}))
      .sort((x, y) => Math.abs(y.by) - Math.abs(x.by)),
    told = rows.filter(row => !sameTime(row.by, 0) && Math.abs(row.by) >= Math.abs(rows[0].by) / 100);
  if (!told.length) return "Each part of the time is the same.";
  const share = row => (!sameTime(by, 0) && row.by / by > 0 && row.by / by <= 1.01 ? ` (${percent(row.by / by, 1, 0)} of the change)` : "");
  const [first, ...rest] = told.map(row => `${signedTime(row.by)} ${row.name}${share(row)}`);
  return [`On ${tellingText(pair)}: `, el("b", null, first), rest.length ? `; ${rest.join("; ")}.` : "."];
}

// The collective of that class whose exposed time changes most.
function whichText(pair, rows) {
  const mine = rows.filter(row => row.ranks === pair.ranks && !sameTime(row.by, 0));
  if (!mine.length) return null;
  const most = mine.reduce((best, row) => (Math.abs(row.by) > Math.abs(best.by) ? row : best));
  return el("p", {id: "which"}, "The collective that changes most in what nothing hides: ", el("b", null, most.name), `, ${signedTime(most.by)}.`);
}

// ---- tables ------------------------------------------------------------------------------------

// Collectives of a class on both sides: those of one name, operation and size, then those of one name and operation in the
// order of their sizes.
function pairCollectives(pair) {
  const sides = [pair.a, pair.b].map(one => (one ? exposedRows([one]).sort((x, y) => x.bytes - y.bytes) : [])),
    rows = [],
    name = row => `${row.name}: ${row.op}`;
  for (const key of [row => `${name(row)}|${row.bytes}`, name])
    for (const a of sides[0].filter(row => !row.matched)) {
      const b = sides[1].find(row => !row.matched && key(row) === key(a));
      if (!b) continue;
      a.matched = b.matched = true;
      rows.push([a, b]);
    }
  rows.push(...sides[0].filter(row => !row.matched).map(a => [a]), ...sides[1].filter(row => !row.matched).map(b => [undefined, b]));
  return rows.map(([a, b]) => ({
    ranks: pair.ranks,
    name: name(a || b),
    left: a,
    right: b,
    a: a && toPs(a.exposed),
    b: b && toPs(b.exposed),
    by: toPs((b ? b.exposed : 0) - (a ? a.exposed : 0)),
  }));
}

// "4", or "4 → 8" where the sides differ.
function both(row, of, text) {
  const [a, b] = [row.left, row.right].map(one => one && of(one));
  return a === undefined || b === undefined || a === b ? text(a === undefined ? b : a) : `${text(a)} \u2192 ${text(b)}`;
}

function collectiveTable(rows) {
  const column = (title, of, text) => ({title, number: true, more: true, value: row => of(row.right || row.left), text: row => both(row, of, text)});
  return differenceTable(rows, "pair-table", {
    name: "Collective",
    filter: "filter collectives",
    more: [
      {title: "Ranks", key: "ranks", text: row => nameRanks(row.ranks)},
      column("In all", row => row.us, spell),
      column("Times", row => row.times, String),
      column("Bytes", row => row.bytes, bytes),
    ],
  });
}

function partSection(pairs, telling, sides) {
  const names = pairs.map(pair => nameRanks(pair.ranks)),
    most = Math.max(...sides.map(side => side.total)),
    place = el("div");
  const bar = one => shareBar(jobParts.map(([name, paint, text]) => ({amount: one.parts[name], colour: `var(--${paint})`, text})), most);
  const draw = pair =>
    place.replaceChildren(
      ...["a", "b"].filter(side => pair[side]).flatMap(side => [el("p", null, side.toUpperCase()), bar(pair[side])]),
      keyList(
        jobParts.filter(([name]) => [pair.a, pair.b].some(one => one && one.parts[name] > 0)).map(([, paint, text]) => [text, `var(--${paint})`]),
      ),
      differenceTable(partRows(pair), "part-table", {name: "Part"}),
    );
  draw(telling || pairs[0]);
  return section(
    "parts",
    "What the time is made of",
    `Each instant of a rank is one part: the parts sum to the time of the job, and their differences to ${signedTime(toPs(sides[1].total - sides[0].total))}. All but the first two are bubbles, in which the device waits.`,
    el("div", {class: "tools"}, picker("Each of", names, nameRanks((telling || pairs[0]).ranks), name => draw(pairs[names.indexOf(name)]))),
    place,
  );
}

function signedBytes(value) {
  return (value > 0 ? "+" : value < 0 ? "\u2212" : "") + bytes(Math.abs(value));
}

// Peaks of classes, and of the fullest class what it holds at its peak by name.
function memoryPairSection(pairs) {
  const peak = one => one && one.memory && one.memory.all,
    most = pair => Math.max(peak(pair.a) || 0, peak(pair.b) || 0),
    full = pairs.reduce((best, pair) => (most(pair) > most(best) ? pair : best), pairs[0]),
    heads = {text: bytes, signed: signedBytes};
  if (!most(full)) return null;
  const held = [full.a, full.b].map(one => (one && one.names ? one.names.map((name, i) => [name, one.memory.held[i]]) : [])),
    names = pairRows(held, ([name]) => name, ([, amount]) => amount, () => "").filter(row => row.a || row.b);
  return section(
    "memory",
    "Difference of memory",
    "The most that a rank of each class holds of the memory of its device.",
    differenceTable(
      pairs.filter(most).map(pair => ({name: nameRanks(pair.ranks), a: peak(pair.a), b: peak(pair.b)})),
      "memory-pair-table",
      {name: "Ranks", ...heads},
    ),
    el("h3", null, `At the peak of ${nameRanks(full.ranks)}, by name`),
    differenceTable(names, "memory-name-table", {name: "Name", ...heads}),
  );
}

// ---- the page ----------------------------------------------------------------------------------

function jobPairSections(folders) {
  const [a, b] = folders.map(folder => folder.summary),
    lacks = folders.find(folder => !folder.timeline);
  const which = a.job === b.job ? `Both are ${a.job}. ` : `The jobs differ: ${a.job} and ${b.job}. `,
    first = pairFirst(folders, which + sameOr("systems", a.system, b.system), a.time_us, b.time_us);
  if (lacks) {
    first.append(el("p", {class: "warn"}, `${lacks.name} has no timeline.csv: 'vinci group run --output' writes it anew.`));
    return [first];
  }
  const sides = folders.map(readJob),
    pairs = pairClasses(...sides),
    telling = tellingPair(pairs),
    collectives = pairs.flatMap(pairCollectives);
  if (telling) first.append(el("p", {id: "why"}, whyText(telling, b.time_us - a.time_us)), whichText(telling, collectives) || "");
  return [
    first,
    partSection(pairs, telling, sides),
    section(
      "ranks",
      "Difference by rank",
      "When the ranks of each class end. Ranks that do the same in the same time, on both sides, are a class.",
      differenceTable(
        pairs.map(pair => ({name: nameRanks(pair.ranks), a: pair.a && pair.a.end, b: pair.b && pair.b.end})),
        "rank-table",
        {name: "Ranks"},
      ),
    ),
    collectives.length
      ? section(
          "collectives",
          "Difference by collective",
          "What nothing hides of the collectives of one name, operation and size, on each rank of a class.",
          collectiveTable(collectives),
        )
      : null,
    memoryPairSection(pairs),
    energyPairSection(a.energy, b.energy, jobEnergySection),
  ].filter(Boolean);
}
