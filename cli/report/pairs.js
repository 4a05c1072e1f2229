// SPDX-License-Identifier: Apache-2.0
// Two lists, networks or sweeps: how long each takes, by which parts they differ.

function signedTime(us) {
  return (us > 0 ? "+" : us < 0 ? "\u2212" : "") + spell(Math.abs(us));
}

// How much longer or shorter B takes, as a sentence.
function verdictText(a, b) {
  const by = b - a,
    share = percent(Math.abs(by), a, 2);
  const verdict =
    by === 0
      ? "B takes as long as A"
      : b >= 2 * a
        ? `B takes ${short(b / a)} times as long as A`
        : `B takes ${share} ${by < 0 ? "less" : "more"} time than A`;
  return el(
    "p",
    {class: "lead", id: "verdict"},
    el("b", null, verdict),
    `: ${spell(a)} and ${spell(b)}.`,
  );
}

function changeText(row, heads) {
  if (row.a === undefined) return `only in ${heads.b || "B"}`;
  return row.b === undefined ? `only in ${heads.a || "A"}` : change(row.a, row.b);
}

// rows: {name, about, a, b}, times in us; undefined where a side has none. heads.more: columns behind the name.
function differenceTable(rows, id, heads) {
  const parts = rows
      .map(row => ({...row, by: (row.b || 0) - (row.a || 0)}))
      .sort((x, y) => Math.abs(y.by) - Math.abs(x.by)),
    most = Math.max(1e-9, ...parts.map(row => Math.abs(row.by))),
    plain = heads.text || spell,
    signed = heads.signed || signedTime,
    time = us => (us === undefined ? "-" : plain(us));
  return dataTable(
    [
      {title: heads.name, key: "name"},
      heads.about ? {title: heads.about, key: "about", code: true, more: true} : null,
      ...(heads.more || []),
      {title: heads.a || "A", number: true, key: "a", text: row => time(row.a)},
      {title: heads.b || "B", number: true, key: "b", text: row => time(row.b)},
      {title: "Difference", number: true, key: "by", text: row => signed(row.by)},
      {title: "Change", number: true, value: row => (row.a ? row.by / row.a : Infinity), text: row => changeText(row, heads)},
      {
        title: "Less | more",
        value: row => row.by,
        cell: row => twin(Math.max(0, -row.by), Math.max(0, row.by), most),
      },
    ].filter(Boolean),
    parts,
    {filter: heads.filter, shown: 25, id, class: "pairs"},
  );
}

// Rows of both sides by a name; equal names in order.
function pairRows(sides, nameOf, timeOf, aboutOf) {
  const found = new Map();
  sides.forEach((rows, side) => {
    const seen = new Map();
    for (const row of rows) {
      const name = nameOf(row),
        again = seen.get(name) || 0,
        key = name + "\n" + again;
      seen.set(name, again + 1);
      const pair = found.get(key) || {name, about: aboutOf(row)};
      pair["ab"[side]] = timeOf(row);
      found.set(key, pair);
    }
  });
  return [...found.values()];
}

function pairFirst(folders, about, a, b) {
  return section("first", "Comparison", `A is ${folders[0].name}, B is ${folders[1].name}. ${about}`, verdictText(a, b));
}

function sameOr(what, a, b) {
  return a === b ? `Both on ${a}.` : `The ${what} differ: ${a} and ${b}.`;
}

function listPairSections(folders) {
  const lists = folders.map(readList),
    [a, b] = lists.map(list => list.total);
  const rows = pairRows(
    lists.map(list => list.done),
    row => row["Op Name"],
    row => +row.sim_duration_us * weightOf(row),
    shapesOf,
  );
  const kinds = pairRows(
    lists.map(list => {
      const sums = new Map();
      for (const row of list.done) sums.set(row["OP Type"], (sums.get(row["OP Type"]) || 0) + list.sumOf(row));
      return [...sums];
    }),
    ([name]) => name,
    ([, us]) => us,
    () => "",
  );
  return [
    pairFirst(folders, sameOr("chips", ...lists.map(list => list.chips.join(", "))), a, b),
    section(
      "parts",
      "Difference by kind",
      `The differences sum to ${signedTime(b - a)}.`,
      differenceTable(kinds, "part-table", {name: "Kind"}),
    ),
    section(
      "operators",
      "Difference by operator",
      lists.some(list => list.weighted) ? "Each operator as often as its weight says." : null,
      differenceTable(rows, "pair-table", {name: "Operator", about: "Shapes", filter: "filter operators"}),
    ),
  ];
}

function networkPairSections(folders) {
  const [a, b] = folders.map(folder => folder.summary);
  const parts = networkPartNames
    .map(name => ({name, a: a[name + "_us"] || 0, b: b[name + "_us"] || 0}))
    .filter(part => part.a || part.b);
  const nodes = pairRows(
    folders.map(folder => readCsv(folder.table).rows.filter(row => +row.duration_us > 0)),
    row => row.node,
    row => +row.duration_us,
    row => row.args,
  );
  const which =
    a.network === b.network ? `Both are ${a.network}. ` : `The networks differ: ${a.network} and ${b.network}. `;
  const about = which + sameOr("chips", a.chip, b.chip);
  return [
    pairFirst(folders, about, a.time_us, b.time_us),
    section(
      "parts",
      "What the time is made of",
      "Kernels by what bounds them; what the AI Cores wait for.",
      el("p", null, "A"),
      shareBar(networkParts(a), Math.max(a.time_us, b.time_us)),
      el("p", null, "B"),
      shareBar(networkParts(b), Math.max(a.time_us, b.time_us)),
      keyList(
        networkParts(a)
          .filter((part, i) => part.amount || networkParts(b)[i].amount)
          .map(part => [part.text, part.colour]),
      ),
      differenceTable(parts, "part-table", {name: "Part"}),
    ),
    section(
      "nodes",
      "Difference by node",
      "Nodes of one name.",
      differenceTable(nodes, "pair-table", {name: "Node", about: "Arguments", filter: "filter nodes"}),
    ),
    energyPairSection(a.energy, b.energy, chipEnergySection),
  ].filter(Boolean);
}

// ---- sweeps ----

// Points of both studies that have the same values of the parameters that both have.
function sweepPairSections(folders) {
  const sweeps = folders.map(folder => readSweep(folder.table)),
    [a, b] = sweeps,
    measure = a.measure,
    common = a.params.filter(name => b.params.includes(name)),
    named = common.filter(name => a.varied.includes(name) || b.varied.includes(name)),
    nameOf = row => named.map(name => `${name} = ${row[name] || "as it is"}`).join(", ") || "the point";
  if (measure.name !== b.measure.name) throw new Error("the studies measure different things");
  const inCycles = measure.name === "total_cycles",
    rows = pairRows(sweeps.map(sweep => sweep.done), nameOf, row => +row[measure.name], () => ""),
    both = rows.filter(row => row.a !== undefined && row.b !== undefined),
    best = sweeps.map(sweep => sweep.done.reduce((x, y) => (x && +x[measure.name] <= +y[measure.name] ? x : y), null)),
    ratios = both.map(row => Math.log(row.b / row.a)),
    mean = ratios.length ? Math.exp(ratios.reduce((sum, x) => sum + x, 0) / ratios.length) - 1 : 0,
    subjects = folders.map(sweepSubject);
  // What the choice that A asks for takes in B.
  const movedText = () => {
    const there = best[0] && best[1] && both.find(row => row.name === nameOf(best[0]));
    if (!there) return "The fastest point of A is not in B.";
    const least = +best[1][measure.name];
    return there.b <= least
      ? "The fastest point of A is also the fastest of B."
      : `The fastest point of A takes ${percent(there.b - least, least, 2)} more in B than the fastest of B.`;
  };
  const lone = side => rows.filter(row => row["ab"[1 - side]] === undefined).length,
    loneText = [0, 1].filter(lone).map(side => `${lone(side)} only in ${"AB"[side]}`).join(", ");
  const bestLine = (side, row) =>
    row ? el("li", null, `Fastest of ${side}: `, el("b", null, nameOf(row)), ` with ${measure.text(+row[measure.name])}.`) : "";
  return [
    section(
      "first",
      "Comparison",
      `A is ${folders[0].name}, ${subjects[0]}; B is ${folders[1].name}, ${subjects[1]}.`,
      el(
        "p",
        {class: "lead", id: "verdict"},
        both.length
          ? el("b", null, `B takes ${percent(Math.abs(mean), 1, 2)} ${mean < 0 ? "less" : "more"} in the mean`)
          : el("b", null, "No point is in both"),
        ` of ${both.length} points that both have (geometric mean).`,
      ),
      el("ul", null, bestLine("A", best[0]), bestLine("B", best[1])),
      el("p", {id: "moved"}, movedText()),
    ),
    section(
      "points",
      "Difference by point",
      `Points with the same values of the parameters that both studies have${loneText ? `; not shown: ${loneText}` : ""}.`,
      differenceTable(both, "pair-table", {
        name: "Point",
        filter: "filter points",
        text: measure.text,
        signed: inCycles ? value => `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${grouped(Math.abs(value))}` : null,
      }),
    ),
  ];
}
