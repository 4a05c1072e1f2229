// SPDX-License-Identifier: Apache-2.0
// A job of several devices: ranks in classes that do the same, what each class does in time, and which collectives
// nothing hides.

// A time that people read: three or four digits.
function spell(us) {
  const size = Math.abs(us);
  if (size >= 1e6) return short(us / 1e6) + " s";
  return size >= 1000 ? short(us / 1000) + " ms" : short(us) + " \u00b5s";
}

// "0-3 8-11" is "ranks 0-3 8-11", or "rank 0 and 7" (others) where that would be long.
function nameRanks(list) {
  const runs = list.split(" ").map(run => run.split("-").map(Number));
  if (list.length <= 11) return (list.includes("-") || list.includes(" ") ? "ranks " : "rank ") + list;
  const count = runs.reduce((sum, run) => sum + run[run.length - 1] - run[0] + 1, 0);
  return `rank ${runs[0][0]} and ${count - 1}`;
}

// Whole picoseconds, so that what ends where another begins has no sliver between.
const toPs = us => Math.round(us * 1e6) / 1e6;

// Rows of timeline.csv as classes: {ranks, rows in the order of their starts}. `come`: all ranks of a collective are there.
function readClasses(text) {
  const classes = [];
  for (const row of readCsv(text).rows) {
    const one = (classes[+row.class] = classes[+row.class] || {ranks: row.ranks, rows: []});
    one.rows.push({
      stream: +row.stream,
      kind: row.kind,
      name: row.name,
      op: row.op || "",
      bytes: +row.bytes,
      start: +row.start_us,
      wait: +row.wait_us,
      come: toPs(+row.start_us + +row.wait_us),
      end: toPs(+row.start_us + +row.duration_us),
    });
  }
  const known = classes.filter(Boolean); // ranks that do nothing have no rows
  for (const one of known) one.rows.sort((a, b) => a.start - b.start);
  return known;
}

// What each instant of a rank is, as in `vinci diff`: the first that holds of "computing", "moving" or "waiting" in the
// collective that began first, "host", "events", and behind its last row "ended". Calls give(part, us, row) for stretches of time.
function shareTime(rows, total, give) {
  const last = rows.reduce((end, row) => Math.max(end, row.end), 0),
    points = [...new Set([0, total, ...rows.flatMap(row => [row.start, row.come, row.end])])].sort((a, b) => a - b);
  let active = [],
    next = 0;
  for (let i = 0; i + 1 < points.length; i++) {
    const from = points[i];
    active = active.filter(row => row.end > from);
    for (; next < rows.length && rows[next].start <= from; next++) if (rows[next].end > from) active.push(rows[next]);
    const of = kind => active.find(row => row.kind === kind),
      work = of("work"),
      collective = of("collective"),
      idle = of("host") ? "host" : from >= last ? "ended" : "events";
    const part = work ? "computing" : !collective ? idle : collective.come > from ? "waiting" : "moving";
    give(part, points[i + 1] - from, work || collective);
  }
}

// By class, name, operation and bytes: how often, and the time that no work hides, of that waiting for others.
function exposedRows(classes) {
  const found = new Map();
  for (const one of classes) {
    const sumOf = row => {
      const key = [one.ranks, row.name, row.op, row.bytes].join("|");
      if (!found.has(key))
        found.set(key, {ranks: one.ranks, name: row.name, op: row.op, bytes: row.bytes, times: 0, us: 0, waiting: 0, moving: 0, exposed: 0});
      return found.get(key);
    };
    for (const row of one.rows) {
      if (row.kind !== "collective") continue;
      const sum = sumOf(row);
      sum.times++;
      sum.us += row.end - row.start;
    }
    shareTime(one.rows, 0, (part, us, row) => {
      if (part !== "waiting" && part !== "moving") return;
      const sum = sumOf(row);
      sum[part] += us;
      sum.exposed += us;
    });
  }
  return [...found.values()];
}

// ---- the timeline ----

// Collectives in the stream of the work have a lane of their own.
function laneOf(row) {
  return row.stream === 0 && row.kind === "collective" ? "0 net" : `${row.stream}`;
}

// Classes as the slices that a timeline draws: a lane for each stream of a class. A collective that waits for others is
// a slice that waits.
function slicesOf(classes) {
  const kinds = [],
    numbers = new Map(),
    lanes = [];
  const kindOf = (name, kind, amount, waits) => {
    const key = [name, kind, amount, waits].join("|");
    if (!numbers.has(key)) {
      numbers.set(key, kinds.length);
      kinds.push([0, name, kind, amount, waits ? "waits for others" : "", waits]);
    }
    return numbers.get(key);
  };
  for (const one of classes)
    for (const stream of [...new Set(one.rows.map(laneOf))].sort()) {
      const slices = [];
      let at = 0;
      const add = (from, to, kind) => {
        if (to <= at) return;
        slices.push(Math.max(0, from - at), to - Math.max(from, at), kind);
        at = to;
      };
      for (const row of one.rows) {
        if (laneOf(row) !== stream) continue;
        const moves = row.start + row.wait;
        if (row.wait > 0) add(row.start, moves, kindOf(row.name, row.kind, row.bytes, 1));
        add(moves, row.end, kindOf(row.name, row.kind, row.bytes, 0));
      }
      lanes.push({core: nameRanks(one.ranks), pipe: stream, hz: 1e6, slices});
    }
  return {kinds, lanes};
}

class JobTimeline extends Timeline {
  constructor(slices, total, names) {
    super(slices, total, {causes: {}}, names);
    this.unit = total >= 2e6 ? {name: "s", us: 1e6} : total >= 2e3 ? {name: "ms", us: 1e3} : this.unit;
  }

  readColours() {
    super.readColours();
    for (const lane of this.lanes) this.hues[lane.pipe] = rgba(lane.pipe === "0" ? "blue" : "orange");
  }

  tellRange() {
    return `${spell(this.view.from)} to ${spell(this.view.to)} of ${spell(this.total)}`;
  }

  tell(x, y) {
    const lane = this.shown[Math.floor((y - TOP + this.box.scrollTop) / ROW)];
    const index = lane && x > LABEL && y > TOP ? lane.at(this.timeAt(x)) : -1;
    if (index < 0) return;
    const kind = this.kinds[lane.kind[index]],
      length = lane.end[index] - lane.start[index];
    this.told.replaceChildren(
      el("b", null, kind.instruction),
      ` (${kind.path}${kind.waits ? ", waits for other ranks" : ""}) in stream ${lane.pipe} of ${lane.core}: `,
      `from ${spell(lane.start[index])} for ${spell(length)}`,
      kind.bytes ? `; ${bytes(kind.bytes)}` : "",
    );
  }
}

function jobTimeline(classes, total) {
  const timeline = new JobTimeline(slicesOf(classes), total, ["Ranks", "Stream", "name of work or of a collective"]);
  window.vinciTimeline = timeline; // for those who script the page
  return section(
    "timeline",
    "Timeline of ranks",
    `${classes.length} class${classes.length === 1 ? "" : "es"} of ranks, each with those that run one program and take the same in all; a row is a stream of the first rank of a class. ` +
      "Blue: work; orange: a collective that moves data (0 net: those in the stream of the work); grey: a collective waits until its last rank has come.",
    timeline.tools,
    timeline.box,
    timeline.told,
    el("p", {class: "faint", id: "timeline-keys"}, timelineKeys),
  );
}

// By kind and name: time on the critical path, pieces, and how many ranks these are on.
function pathRows(rows) {
  const found = new Map();
  for (const row of rows) {
    const key = row.kind + "|" + row.name;
    const sum = found.get(key) || {kind: row.kind, name: row.name || "nothing", us: 0, times: 0, on: new Set()};
    sum.us += +row.duration_us;
    sum.times++;
    sum.on.add(row.rank);
    found.set(key, sum);
  }
  return [...found.values()];
}

function pathSection(text, total) {
  const pieces = readCsv(text).rows,
    rows = pathRows(pieces),
    most = Math.max(1e-9, ...rows.map(row => row.us));
  const jumps = pieces.filter((row, i) => i > 0 && row.rank !== pieces[i - 1].rank).length;
  return section(
    "path",
    "What the critical path crosses",
    "From the end of the job back to what ended last before, and from a collective to the rank that came last. " +
      `It goes from rank to rank ${jumps === 1 ? "once" : `${grouped(jumps)} times`}.`,
    dataTable(
      [
        {title: "Name", key: "name"},
        {title: "Kind", key: "kind"},
        {title: "Time", key: "us", number: true, text: row => spell(row.us)},
        {title: "Share", number: true, value: row => row.us, text: row => percent(row.us, total)},
        {title: "Pieces", key: "times", number: true},
        {title: "Ranks", number: true, value: row => row.on.size},
        {title: "", value: () => "", cell: row => timeBar(row.us, most)},
      ],
      rows,
      {sort: 2, shown: 25, id: "path-table"},
    ),
  );
}

// ---- links ----

// Rows of links.csv: by level and slice of time, the share of what the links of all ranks can move.
function linkSection(text) {
  const rows = readCsv(text).rows,
    levels = [...new Set(rows.map(row => row.level))];
  if (!levels.length) return null;
  const of = level => rows.filter(row => row.level === level),
    xs = of(levels[0]).map(row => +row.from_us),
    most = level => Math.max(...of(level).map(row => +row.share));
  return section(
    "links",
    "Links over time",
    `Share of what the links out of all ranks could move: ${levels.map(level => `${level} ${percent(most(level), 1)} at most`).join(", ")}.`,
    linePlot(xs, levels.map(level => ({label: level, values: of(level).map(row => 100 * row.share)})), {
      x: "time, \u00b5s",
      y: "%",
      stepped: true,
      label: "Links over time",
    }),
    dataTable(
      [
        {title: "Level", key: "level"},
        {title: "Moved", key: "bytes", number: true, text: row => bytes(row.bytes)},
        {title: "Busiest", key: "most", number: true, text: row => percent(row.most, 1)},
        {title: "In the mean", key: "mean", number: true, text: row => percent(row.mean, 1)},
      ],
      levels.map(level => ({
        level,
        bytes: of(level).reduce((sum, row) => sum + +row.bytes, 0),
        most: most(level),
        mean: of(level).reduce((sum, row) => sum + row.share * (row.to_us - row.from_us), 0) / of(level).at(-1).to_us,
      })),
      {id: "link-table"},
    ),
  );
}

function exposedSection(classes) {
  const rows = exposedRows(classes),
    most = Math.max(1e-9, ...rows.map(row => row.exposed));
  return section(
    "exposed",
    "Communication that nothing hides",
    "By ranks, name and size, on one rank of a class, in all. Waiting: until the last rank of the group has come.",
    dataTable(
      [
        {title: "Ranks", key: "ranks", text: row => nameRanks(row.ranks)},
        {title: "Name", key: "name"},
        {title: "Bytes", key: "bytes", number: true, text: row => bytes(row.bytes)},
        {title: "Times", key: "times", number: true},
        {title: "In all", key: "us", number: true, text: row => spell(row.us)},
        {title: "Not hidden", key: "exposed", number: true, text: row => spell(row.exposed)},
        {title: "Waiting", key: "waiting", number: true, text: row => spell(row.waiting)},
        {title: "Moving", key: "moving", number: true, text: row => spell(row.moving)},
        {title: "", value: () => "", cell: row => timeBar(row.exposed, most)},
      ],
      rows,
      {filter: "filter names", sort: 5, shown: 25, id: "exposed-table"},
    ),
  );
}

// ---- why a rank is late ----

// Times this near to each other, in microseconds, are told as one time.
const sameTime = (a, b) => Math.abs(a - b) < 0.01;

// "Rank 2 ends last", "2 ranks end last, rank 0 among them; that one", "All 8 ranks end together; rank 0".
function endText(ranks, slowest) {
  const last = ranks.filter(rank => sameTime(rank.end_us, slowest.end_us)).length;
  if (last === ranks.length) return ranks.length > 1 ? `All ${ranks.length} ranks end together; rank ${slowest.rank}` : `Rank ${slowest.rank}`;
  return last === 1 ? `Rank ${slowest.rank} ends last` : `${last} ranks end last, rank ${slowest.rank} among them; that one`;
}

// What a rank waits before its end, for example for its host. Its idle time has the time after its end too.
function waitOf(rank) {
  return Math.round((rank.end_us - rank.computing_us - rank.exposed_us) * 1e6) / 1e6; // whole picoseconds
}

// What a class does by name: work, waiting for others and moving in collectives that nothing hides; and what its rank
// waits besides.
function piecesOf(one, rank) {
  const found = new Map();
  const add = (name, kind, us) => {
    const key = kind + "|" + name,
      sum = found.get(key) || {name, kind, us: 0};
    sum.us += us;
    if (us > 0) found.set(key, sum);
  };
  for (const row of one.rows) if (row.kind === "work") add(row.name, "work", row.end - row.start);
  for (const row of exposedRows([one])) {
    add(row.name, "waits for others", row.waiting);
    add(row.name, "moves bytes", row.moving);
  }
  add("nothing", "waits before its end", waitOf(rank));
  return [...found.values()].map(sum => ({...sum, us: Math.round(sum.us * 1000) / 1000})); // whole nanoseconds
}

// The first rank of a class stands for all of them.
function rankOf(summary, one) {
  const first = +one.ranks.split(/[ -]/)[0];
  return summary.ranks.find(rank => rank.rank === first);
}

// "Ranks 0-1 end 8.34 ms after ranks 2-3: 8.94 ms more communication that nothing hides, 600 us less computing."
function lateText(summary, a, b) {
  const [late, early] = [a, b].map(one => rankOf(summary, one)),
    by = late.end_us - early.end_us,
    names = [a, b].map(one => nameRanks(one.ranks)),
    ends = names[0].startsWith("ranks") || names[0].includes(" and ") ? "end" : "ends";
  const parts = [
    ["communication that nothing hides", rank => rank.exposed_us],
    ["computing", rank => rank.computing_us],
    ["waiting before its end", waitOf],
  ]
    .map(([text, of]) => ({text, us: of(late) - of(early)}))
    .filter(part => !sameTime(part.us, 0))
    .map(part => `${spell(Math.abs(part.us))} ${part.us > 0 ? "more" : "less"} ${part.text}`);
  const same = sameTime(by, 0),
    when = same ? `${ends} with ${names[1]}` : `${ends} ${spell(Math.abs(by))} ${by > 0 ? "after" : "before"} ${names[1]}`;
  const why = parts.length ? `: ${parts.join(", ")}.` : same ? ": both take the same for all." : ".";
  return [el("b", null, `${names[0][0].toUpperCase()}${names[0].slice(1)} ${when}`), why];
}

// Two classes side by side: first the class that ends last against the class that ends first. When both end together,
// the class that waits least is that for which the others wait.
function lateSection(summary, classes) {
  const waits = one => exposedRows([one]).reduce((sum, row) => sum + row.waiting, 0),
    order = classes
      .map(one => ({one, end: rankOf(summary, one).end_us, waits: waits(one)}))
      .sort((x, y) => (sameTime(x.end, y.end) ? x.waits - y.waits : y.end - x.end))
      .map(entry => entry.one),
    state = {a: order[0], b: order[order.length - 1]},
    place = el("div");
  const draw = () =>
    place.replaceChildren(
      el("p", {id: "late"}, lateText(summary, state.a, state.b)),
      differenceTable(
        pairRows([state.b, state.a].map(one => piecesOf(one, rankOf(summary, one))), row => `${row.name} (${row.kind})`, row => row.us, () => ""),
        "late-table",
        {name: "What", a: nameRanks(state.b.ranks), b: nameRanks(state.a.ranks)},
      ),
    );
  const names = order.map(one => nameRanks(one.ranks)),
    choose = (label, side) =>
      picker(label, names, nameRanks(state[side].ranks), name => {
        state[side] = order[names.indexOf(name)];
        draw();
      });
  draw();
  return section(
    "why-late",
    "Why a rank is late",
    "Ranks that do the same, against others: by name, work and what nothing hides of collectives; and waits for anything else, such as the host.",
    el("div", {class: "tools"}, choose("Why do", "a"), choose("end later than", "b")),
    place,
  );
}

// ---- the page of a job ----

const rankParts = [
  ["computing", "blue"],
  ["exposed", "orange"],
  ["idle", "panel"],
];
const rankTexts = {computing: "computing", exposed: "communication that nothing hides", idle: "waiting"};

function jobSections(folder) {
  const summary = folder.summary,
    table = readCsv(folder.table),
    classes = folder.timeline ? readClasses(folder.timeline) : [],
    most = table.rows.reduce((longest, row) => Math.max(longest, +row.duration_us), 1e-9);
  const parts = rank =>
    rankParts.map(([name, paint]) => ({amount: rank[name + "_us"], colour: `var(--${paint})`, text: name}));
  const slowest = summary.ranks.reduce((a, b) => (b.end_us > a.end_us ? b : a));
  return [
    section(
      "first",
      "Where the time of the job goes",
      null,
      el(
        "p",
        {class: "lead", id: "job-total"},
        el("b", null, summary.job),
        ` on ${summary.ranks.length} devices of ${summary.system}: `,
        el("b", {title: `${summary.time_us.toFixed(3)} \u00b5s`}, spell(summary.time_us)),
        `, ${grouped(summary.transfers)} transfers, ${bytes(summary.moved_bytes)} moved.`,
      ),
      el(
        "p",
        null,
        `${endText(summary.ranks, slowest)}: ${percent(slowest.computing_us, summary.time_us)} of the time computing, ${percent(slowest.exposed_us, summary.time_us)} in communication that nothing hides, ${percent(slowest.idle_us, summary.time_us)} waiting.`,
      ),
      dataTable(
        [
          {title: "Rank", key: "rank", number: true},
          {title: "Computing", key: "computing_us", number: true, text: row => spell(row.computing_us)},
          {title: "Communication", key: "exposed_us", number: true, text: row => spell(row.exposed_us), about: "that nothing hides"},
          {title: "Hidden", key: "overlapped_us", number: true, text: row => spell(row.overlapped_us)},
          {title: "Waiting", key: "idle_us", number: true, text: row => spell(row.idle_us)},
          {title: "Ends at", key: "end_us", number: true, text: row => spell(row.end_us)},
          {
            title: "",
            value: () => "",
            cell: rank => el("div", {style: "width:16rem"}, shareBar(parts(rank), summary.time_us)),
          },
        ],
        summary.ranks,
        {shown: 16, id: "rank-table"},
      ),
      keyList(rankParts.map(([name, paint]) => [rankTexts[name], `var(--${paint})`])),
    ),
    leverSection(summary),
    classes.length ? jobTimeline(classes, summary.time_us) : null,
    jobMemorySection(folder.memory, summary),
    classes.length > 1 ? lateSection(summary, classes) : null,
    folder.path ? pathSection(folder.path, summary.time_us) : null,
    classes.length ? exposedSection(classes) : null,
    folder.links ? linkSection(folder.links) : null,
    jobEnergySection(summary.energy),
    section(
      "collectives",
      "Collectives by time",
      null,
      dataTable(
        [
          {title: "Name", key: "name"},
          {title: "Rank", key: "rank", number: true},
          {title: "Operation", key: "op"},
          {title: "Algorithm", key: "algorithm"},
          {title: "Bytes", key: "bytes", number: true, text: row => bytes(+row.bytes)},
          {title: "Start", key: "start_us", number: true, text: row => spell(+row.start_us)},
          {title: "Time", key: "duration_us", number: true, text: row => spell(+row.duration_us)},
          {
            title: "GB/s",
            number: true,
            value: row => row.bytes / row.duration_us,
            text: row => short(row.bytes / row.duration_us / 1000),
          },
          {title: "", value: () => "", cell: row => timeBar(+row.duration_us, most)},
        ],
        table.rows,
        {filter: "filter collectives", sort: 6, shown: 25, id: "collective-table"},
      ),
    ),
  ].filter(Boolean);
}
