// SPDX-License-Identifier: Apache-2.0
// Lists of operators and networks: what takes the time, as tables that sort.

function timeBar(value, most, wide = 8) {
  return el(
    "div",
    {class: "time", style: `width:${wide}rem`},
    shareBar([{amount: value, colour: "var(--blue)", text: "time"}], most),
  );
}

// One unit for a column of times, which its longest chooses: {name, text(us)}.
function timeUnit(most) {
  const [name, us] = most >= 1e6 ? ["s", 1e6] : most >= 1e4 ? ["ms", 1e3] : ["\u00b5s", 1];
  return {name, text: value => (value / us).toFixed(3)};
}

// Rows by kind: how many, their time, the share of all. timeOf(row) in us.
function kindSection(rows, kindOf, timeOf, total, about) {
  const found = new Map();
  for (const row of rows) {
    const kind = found.get(kindOf(row)) || {kind: kindOf(row), count: 0, us: 0};
    kind.count++;
    kind.us += timeOf(row);
    found.set(kind.kind, kind);
  }
  const kinds = [...found.values()],
    most = Math.max(1e-9, ...kinds.map(kind => kind.us)),
    unit = timeUnit(most);
  return section(
    "kinds",
    "Time by kind of operator",
    about,
    dataTable(
      [
        {title: "Kind", key: "kind"},
        {title: "Operators", number: true, key: "count"},
        {title: unit.name, number: true, key: "us", text: kind => unit.text(kind.us)},
        {title: "Share", number: true, value: kind => kind.us, text: kind => percent(kind.us, total)},
        {title: "", value: () => "", cell: kind => timeBar(kind.us, most)},
      ],
      kinds,
      {sort: 2, shown: 12, id: "kind-table"},
    ),
  );
}

// ---- lists ----

function errorRange(row) {
  return isNumber(row.expected_median) && +row.expected_rows > 0
    ? `\u00b1\u00a0${(100 * row.expected_median).toFixed(1)}\u00a0%, 9 of 10 \u00b1\u00a0${(100 * row.expected_p90).toFixed(1)}\u00a0%`
    : "";
}

// Tables of older versions have no weights.
function weightOf(row) {
  return row.weight === undefined ? 1 : +row.weight;
}

// Rows of a list do not say what ran before: that is assumed, or asked for. A sequence knows.
function startOfL2(row) {
  if (row.status !== "ok") return "";
  if (row.l2_start === "sequence") return "by the rows before";
  return `${row.l2_start} (assumed)${+row.l2_owed_bytes > 0 ? `, owes ${(row.l2_owed_bytes / 1048576).toFixed(1)} MiB` : ""}`;
}

// Operator, shapes and types, as the list was lowered or as it states them.
function shapesOf(row) {
  return row.lowered || [row["Input Shapes"], row["Input Data Types"]].filter(Boolean).join(" ");
}

function operatorText(row) {
  const name = row["Op Name"],
    shapes = shapesOf(row);
  return shapes.startsWith(name) ? shapes : [name, shapes].filter(Boolean).join(": ");
}

function readList(folder) {
  const table = readCsv(folder.table),
    done = table.rows.filter(row => row.status === "ok"),
    sumOf = row => +row.sim_duration_us * weightOf(row);
  return {
    ...table,
    done,
    sumOf,
    weighted: done.some(row => weightOf(row) !== 1),
    total: done.reduce((sum, row) => sum + sumOf(row), 0),
    chips: [...new Set(table.rows.map(row => row.soc).filter(Boolean))],
  };
}

// The range of the duration: that of the states of L2 and code where the list was asked for these, else
// that in which 9 of 10 measured operators of the class lie.
function rangeOf(row) {
  if (row.sim_duration_low_us) return [+row.sim_duration_low_us, +row.sim_duration_high_us];
  if (!(+row.expected_rows > 0)) return null;
  return [Math.max(0, 1 - row.expected_p90), 1 + +row.expected_p90].map(share => share * row.sim_duration_us);
}

function rangeBar(row, most) {
  const range = rangeOf(row),
    bar = timeBar(+row.sim_duration_us, most, 5);
  if (!range) return bar;
  const [low, high] = range.map(us => Math.min(100, 100 * us / most / 2)); // the bar is half as wide as its place
  return el(
    "div",
    {style: "position:relative;width:10rem;height:1.4rem"},
    bar,
    el("i", {
      class: "range",
      title: `${range[0].toFixed(3)} to ${range[1].toFixed(3)} \u00b5s`,
      style: `position:absolute;top:1.05rem;height:3px;background:var(--text);left:${low}%;width:${Math.max(1, high - low)}%`,
    }),
  );
}

function listFirst(list) {
  const slowest = list.done.slice().sort((a, b) => list.sumOf(b) - list.sumOf(a)).slice(0, 5);
  return section(
    "first",
    "What takes the time",
    null,
    el(
      "p",
      {class: "lead", id: "list-total"},
      `${list.rows.length} operators, ${list.done.length} simulated: `,
      el("b", {title: `${list.total.toFixed(3)} \u00b5s`}, spell(list.total)),
      list.weighted ? " in all, each operator as often as its weight says." : " in all.",
    ),
    el("p", null, "Slowest:"),
    el(
      "ol",
      {id: "slowest"},
      slowest.map(row =>
        el(
          "li",
          null,
          el("b", null, operatorText(row)),
          ` ${spell(+row.sim_duration_us)}${list.weighted ? ` \u00d7 ${weightOf(row)}` : ""} (${percent(list.sumOf(row), list.total)})`,
        ),
      ),
    ),
  );
}

function listColumns(list) {
  const most = Math.max(1e-9, ...list.done.map(row => +row.sim_duration_us)),
    unit = timeUnit(most);
  const column = (title, key) => ({
    title: `${title} ${unit.name}`,
    number: true,
    key,
    text: row => (row[key] ? unit.text(row[key]) : ""),
  });
  const has = key => list.rows.some(row => row[key]);
  const ratio = (title, key) => ({
    title,
    number: true,
    value: row => +row[key],
    text: row => (row.status === "ok" ? percent(+row[key], 1) : ""),
    more: true,
  });
  return [
    {title: "Operator", key: "Op Name"},
    {title: "Shapes", value: shapesOf, code: true},
    {title: unit.name, number: true, key: "sim_duration_us", text: row => (row.status === "ok" ? unit.text(row.sim_duration_us) : "")},
    list.weighted ? {title: "Weight", number: true, key: "weight"} : null,
    {title: "Share", number: true, value: list.sumOf, text: row => (row.status === "ok" ? percent(list.sumOf(row), list.total) : "")},
    {title: "Time, range", value: row => +row.sim_duration_us, cell: row => (row.status === "ok" ? rangeBar(row, most) : "")},
    has("sim_duration_low_us") ? column("Least", "sim_duration_low_us") : null,
    has("sim_duration_low_us") ? column("Most", "sim_duration_high_us") : null,
    {title: "Expected error", value: errorRange, more: has("sim_duration_low_us")},
    has("measured_duration_us") ? column("Measured", "measured_duration_us") : null,
    list.done.length < list.rows.length ? {title: "Status", key: "status"} : null,
    {title: "Bound", key: "sim_bound", more: true},
    {title: "Blocks", number: true, key: "Block Dim", more: true},
    ratio("Cube", "mac_ratio"),
    ratio("Vector", "vec_ratio"),
    ratio("MTE2", "mte2_ratio"),
    {title: "L2 at the start", value: startOfL2, more: true},
  ].filter(Boolean);
}

function listSections(folder) {
  const list = readList(folder),
    columns = listColumns(list);
  return [
    listFirst(list),
    kindSection(list.done, row => row["OP Type"], list.sumOf, list.total, "Sums by type of operator" + (list.weighted ? ", by the weights." : ".")),
    section(
      "operators",
      "Operators by time",
      `The thin line is ${list.rows.some(row => row.sim_duration_low_us) ? "the range of the states of L2 and code that a list without order cannot know" : "the range in which 9 of 10 measured operators of the same class lie"}.`,
      dataTable(columns, list.rows, {
        filter: "filter operators",
        sort: columns.findIndex(column => column.title === "Share"),
        shown: 50,
        id: "operator-table",
      }),
    ),
  ];
}

// ---- networks ----

const networkPartNames =
  "cube vector memory latency scalar task host gap wait tail slowed".split(" ");

function networkParts(summary) {
  return networkPartNames.map((name, i) => ({amount: summary[name + "_us"] || 0, colour: hue(i), text: name}));
}

function networkFirst(summary) {
  const parts = networkParts(summary);
  return section(
    "first",
    "Where the time of the network goes",
    null,
    el(
      "p",
      {class: "lead", id: "network-total"},
      el("b", null, summary.network),
      ` on ${summary.chip}: `,
      el("b", {title: `${summary.time_us.toFixed(3)} \u00b5s`}, spell(summary.time_us)),
      `, ${summary.bound} bound, ${grouped(summary.kernels)} kernels.`,
    ),
    shareBar(parts, summary.time_us),
    keyList(
      parts
        .filter(p => p.amount > 0)
        .map(p => [`${p.text} ${spell(p.amount)}, ${percent(p.amount, summary.time_us)}`, p.colour]),
    ),
    el(
      "div",
      {class: "facts"},
      fact("net-memory", bytes(summary.memory_bytes), "device memory"),
      fact("net-hbm", bytes(summary.hbm_bytes), "from device memory"),
      fact("net-found", percent(summary.l2_found_bytes, summary.input_bytes), "of input bytes found in L2"),
    ),
  );
}

// What a node waits for before its start, the longest reason.
const waitTexts = {
  host_wait_us: "waits for the host",
  gap_us: "gap of the launch",
  other_wait_us: "waits for copies, tasks and other streams",
};

// What a node occupies besides its stream: AI Cores, the link of a copy, the unit of a task.
const unitOf = row => (row.kind === "kernel" ? "AI Cores" : row.kind === "copy" ? `copies ${row.op}` : row.op || row.kind);

// Lanes of units and streams, as those of ranks (job.js): a node is a slice, what it waits for a slice that waits.
function networkSlices(rows) {
  const kinds = [],
    lanes = [],
    named = new Map(rows.map(row => [`${unitOf(row)}\n${row.stream}`, [unitOf(row), row.stream]]));
  const isLater = ([a, i], [b, j]) => (a !== "AI Cores") - (b !== "AI Cores") || a.localeCompare(b, "en") || i - j;
  for (const [unit, stream] of [...named.values()].sort(isLater)) {
    const slices = [];
    let at = 0;
    const add = (from, to, kind) => {
      if (to <= at || to <= from) return;
      slices.push(Math.max(0, from - at), to - Math.max(from, at), kinds.push(kind) - 1);
      at = to;
    };
    for (const row of rows.filter(one => one.stream === stream && unitOf(one) === unit).sort((a, b) => a.start_us - b.start_us)) {
      const start = +row.start_us,
        reasons = Object.keys(waitTexts),
        waited = reasons.reduce((sum, name) => sum + +row[name], 0),
        reason = reasons.reduce((a, b) => (+row[b] > +row[a] ? b : a));
      if (waited > 0) add(start - waited, start, [0, waitTexts[reason], "before " + row.node, 0, "", 1]);
      add(start, start + +row.duration_us, [0, row.node, row.op, +row.hbm_bytes || 0, "", 0]);
    }
    lanes.push({core: unit, pipe: stream, hz: 1e6, slices});
  }
  return {kinds, lanes};
}

function networkTimeline(rows, total) {
  const timeline = new JobTimeline(networkSlices(rows), total, ["Unit", "Stream", "name or operator of a node"]);
  window.vinciTimeline = timeline; // for those who script the page
  return section(
    "timeline",
    "Timeline of streams",
    "A slice is a node on the AI Cores, a copy or a task; grey: the stream waits for the host, the launch, or others.",
    timeline.tools,
    timeline.box,
    timeline.told,
    el("p", {class: "faint", id: "timeline-keys"}, timelineKeys),
  );
}

// The time in which no kernel runs, by what runs then: copies, tasks, or nothing, which is the host and the launch.
function idleTimes(rows, total) {
  const ends = new Set([0, total]);
  for (const row of rows) for (const at of [+row.start_us, +row.start_us + +row.duration_us]) if (at < total) ends.add(at);
  const times = [...ends].sort((a, b) => a - b),
    sums = new Map(),
    running = rows
      .map(row => ({from: +row.start_us, to: +row.start_us + +row.duration_us, unit: unitOf(row)}))
      .sort((a, b) => a.from - b.from);
  let next = 0,
    alive = [];
  for (let i = 0; i + 1 < times.length; i++) {
    while (next < running.length && running[next].from <= times[i]) alive.push(running[next++]);
    alive = alive.filter(one => one.to > times[i]);
    const units = [...new Set(alive.map(one => one.unit))].sort();
    if (units.includes("AI Cores")) continue;
    const reason = units.join(" and ") || "nothing: the host issues, the launch";
    sums.set(reason, (sums.get(reason) || 0) + times[i + 1] - times[i]);
  }
  return [...sums].map(([reason, time]) => ({reason, time})).filter(row => row.time > total * 1e-6);
}

function idleSection(rows, total) {
  const exposed = idleTimes(rows, total),
    sum = exposed.reduce((all, row) => all + row.time, 0),
    most = Math.max(1e-9, ...exposed.map(row => row.time));
  if (!exposed.length) return null;
  return section(
    "exposed",
    "Time without a kernel",
    null,
    el(
      "p",
      {id: "exposed-total"},
      el("b", null, `${spell(sum)}, ${percent(sum, total)}`),
      " of the time no kernel runs on the AI Cores. What runs meanwhile:",
    ),
    dataTable(
      [
        {title: "Meanwhile", key: "reason"},
        {title: "Time", number: true, value: r => r.time, text: r => spell(r.time)},
        {title: "Share", number: true, value: r => r.time, text: r => percent(r.time, total)},
        {title: "", value: () => "", cell: r => timeBar(r.time, most)},
      ],
      exposed,
      {sort: 1, id: "exposed-table"},
    ),
  );
}

function memorySection(text) {
  const rows = readCsv(text).rows.filter(row => isNumber(row["Timestamp(us)"]));
  if (rows.length < 2) return null;
  const last = new Map(rows.map(row => [+row["Timestamp(us)"], +row["Total Allocated(MB)"]])),
    xs = [...last.keys()].sort((a, b) => a - b),
    most = Math.max(...last.values());
  return section(
    "memory",
    "Memory over time",
    `What tensors that are alive take: ${bytes(Math.round(most * 1048576))} at most.`,
    linePlot(xs, [{label: "alive", values: xs.map(x => last.get(x))}], {
      x: "time, \u00b5s",
      y: "MiB",
      stepped: true,
      label: "Memory over time",
    }),
  );
}

// A word of a shell's command line.
const shellWord = word => (/^[\w.,:=+\/-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

// The command that makes the page of a node's kernel, with L2 as near as words of --l2 come to what the node found.
// Chip and models are those of the network's run, whose command has them as a shell takes them.
function kernelCommand(row, summary, run) {
  const share = +row.input_bytes ? +row.l2_found_bytes / +row.input_bytes : 0,
    state = share > 0.75 ? " --l2=warm" : share > 0.25 ? " --l2=used" : "",
    folder = row.node.replace(/[^\w.-]+|^-/g, "_") || "kernel",
    same = run ? (run.command.match(/ --(?:set|data|memory|network)=(?:'[^']*'|\\'|[^\s'])+/g) || []).join("") : "",
    args = row.args.split(" ").filter(Boolean).map(shellWord).join(" ");
  return `vinci run ${row.op} ${args} -s ${summary.chip}${same}${state} --savings=all -o ${folder} && vinci report ${folder}`;
}

function networkNodes(rows, summary, run) {
  const most = Math.max(1e-9, ...rows.map(row => +row.duration_us)),
    unit = timeUnit(most),
    isKernel = row => row.kind === "kernel" && row.op,
    slowest = rows.filter(isKernel).reduce((a, b) => (a && +a.duration_us >= +b.duration_us ? a : b), null),
    name = el("b"),
    command = el("code", {id: "kernel-command"}),
    choose = row => {
      name.textContent = row.node;
      command.textContent = kernelCommand(row, summary, run);
    };
  if (slowest) choose(slowest);
  return section(
    "nodes",
    "Nodes by time",
    null,
    slowest
      ? el(
          "p",
          {"aria-live": "polite"},
          "The page of kernel ",
          name,
          run ? " (a click on a node chooses): " : " (a click on a node chooses; add the --set of the network's run): ",
          command,
        )
      : "",
    dataTable(
      [
        {
          title: "Node",
          key: "node",
          cell: r =>
            isKernel(r) ? el("button", {type: "button", class: "link", onclick: () => choose(r)}, r.node) : r.node,
        },
        {title: "Operator", key: "op"},
        {title: unit.name, number: true, key: "duration_us", text: row => unit.text(row.duration_us)},
        {title: "Share", number: true, value: r => +r.duration_us, text: r => percent(+r.duration_us, summary.time_us)},
        {title: "", value: () => "", cell: r => timeBar(+r.duration_us, most)},
        {title: "Bound", key: "bound"},
        {title: "Device memory", number: true, key: "hbm_bytes", text: r => (r.hbm_bytes === "" ? "" : bytes(+r.hbm_bytes))},
        {title: "Start", number: true, key: "start_us", text: r => spell(+r.start_us), more: true},
        {title: "Blocks", number: true, key: "blocks", more: true},
        {title: "Arguments", key: "args", code: true, more: true},
      ],
      rows,
      {filter: "filter nodes", sort: 2, shown: 25, id: "node-table"},
    ),
  );
}

function networkSections(folder) {
  const summary = folder.summary,
    rows = readCsv(folder.table).rows.filter(row => +row.duration_us > 0);
  return [
    networkFirst(summary),
    kindSection(rows, row => row.op, row => +row.duration_us, summary.time_us, null),
    leverSection(summary),
    networkTimeline(rows, summary.time_us),
    idleSection(rows, summary.time_us),
    networkNodes(rows, summary, folder.command),
    folder.memory ? memorySection(folder.memory) : null,
    chipEnergySection(summary.energy),
  ].filter(Boolean);
}
