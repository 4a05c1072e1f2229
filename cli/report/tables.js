// SPDX-License-Identifier: Apache-2.0
// Lists of operators and networks: what takes the time, as tables that sort.

function timeBar(value, most) {
  return el(
    "div",
    {style: "width:8rem"},
    shareBar([{amount: value, colour: "var(--blue)", text: "time"}], most),
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

function listSections(folder) {
  const table = readCsv(folder.table),
    done = table.rows.filter(row => row.status === "ok");
  const weighted = done.some(row => weightOf(row) !== 1),
    sumOf = row => +row.sim_duration_us * weightOf(row);
  const total = done.reduce((sum, row) => sum + sumOf(row), 0),
    most = Math.max(1e-9, ...done.map(row => +row.sim_duration_us));
  const slowest = done
    .slice()
    .sort((a, b) => sumOf(b) - sumOf(a))
    .slice(0, 5);
  const range = row => {
    if (!(+row.expected_rows > 0)) return timeBar(+row.sim_duration_us, most);
    const at = share => (100 * row.sim_duration_us * share) / most / 2;
    return el(
      "div",
      {style: "position:relative;width:16rem;height:1.4rem"},
      el("div", {style: "width:8rem"}, timeBar(+row.sim_duration_us, most)),
      el("i", {
        title: errorRange(row),
        style: `position:absolute;top:1.05rem;height:3px;background:var(--text);left:${Math.max(0, at(1 - row.expected_p90))}%;width:${at(1 + +row.expected_p90) - Math.max(0, at(1 - row.expected_p90))}%`,
      }),
    );
  };
  const measured = table.rows.some(row => row.measured_duration_us);
  return [
    section(
      "first",
      "What takes the time",
      null,
      el(
        "p",
        {class: "lead", id: "list-total"},
        `${table.rows.length} operators, ${done.length} simulated: `,
        el("b", null, `${total.toFixed(3)} \u00b5s`),
        weighted ? " in all, each operator as often as its weight says." : " in all.",
      ),
      el(
        "p",
        null,
        "Slowest: ",
        slowest.map((row, i) => [
          i ? ", " : "",
          el("b", null, row["Op Name"]),
          ` ${row.sim_duration_us} \u00b5s${weighted ? ` \u00d7 ${weightOf(row)}` : ""} (${percent(sumOf(row), total)})`,
        ]),
        ".",
      ),
    ),
    section(
      "operators",
      "Operators by time",
      "Click the head of a column to sort. The thin line is the range in which 9 of 10 measured operators of the same class lie.",
      dataTable(
        [
          {title: "Operator", key: "Op Name"},
          {title: "Type", key: "OP Type"},
          {title: "\u00b5s", number: true, key: "sim_duration_us"},
          weighted ? {title: "Weight", number: true, key: "weight"} : null,
          {
            title: "Share",
            number: true,
            value: sumOf,
            text: r => (r.status === "ok" ? percent(sumOf(r), total) : ""),
          },
          {title: "Time, range of error", value: r => +r.sim_duration_us, cell: range},
          {title: "Expected error", value: errorRange},
          {title: "Blocks", number: true, key: "Block Dim"},
          {title: "Cube", number: true, key: "mac_ratio"},
          {title: "Vector", number: true, key: "vec_ratio"},
          {title: "MTE2", number: true, key: "mte2_ratio"},
          measured ? {title: "Measured \u00b5s", number: true, key: "measured_duration_us"} : null,
          {title: "L2 at the start", value: startOfL2},
          {title: "Lowered as", key: "lowered", code: true},
          {title: "Status", key: "status"},
        ].filter(Boolean),
        table.rows,
        {filter: "filter operators", sort: weighted ? 4 : 2, shown: 50, id: "operator-table"},
      ),
    ),
  ];
}

// ---- networks ----

function networkParts(summary) {
  return [
    "cube",
    "vector",
    "memory",
    "latency",
    "scalar",
    "task",
    "host",
    "gap",
    "wait",
    "tail",
    "slowed",
  ].map((name, i) => ({amount: summary[name + "_us"] || 0, colour: hue(i), text: name}));
}

function networkSections(folder) {
  const summary = folder.summary,
    table = readCsv(folder.table),
    parts = networkParts(summary);
  const rows = table.rows.filter(row => +row.duration_us > 0),
    most = Math.max(1e-9, ...rows.map(row => +row.duration_us));
  return [
    section(
      "first",
      "Where the time of the network goes",
      null,
      el(
        "p",
        {class: "lead", id: "network-total"},
        el("b", null, summary.network),
        ` on ${summary.chip}: `,
        el("b", null, `${summary.time_us.toFixed(3)} \u00b5s`),
        `, ${summary.bound} bound, ${grouped(summary.kernels)} kernels.`,
      ),
      shareBar(parts, summary.time_us),
      keyList(
        parts
          .filter(p => p.amount > 0)
          .map(p => [`${p.text} ${percent(p.amount, summary.time_us)}`, p.colour]),
      ),
      el(
        "div",
        {class: "facts"},
        fact("net-memory", bytes(summary.memory_bytes), "device memory"),
        fact("net-hbm", bytes(summary.hbm_bytes), "from device memory"),
        fact("net-found", percent(summary.l2_found_bytes, summary.input_bytes), "of input bytes found in L2"),
      ),
    ),
    section(
      "nodes",
      "Nodes by time",
      null,
      dataTable(
        [
          {title: "Node", key: "node"},
          {title: "Operator", key: "op"},
          {title: "\u00b5s", number: true, key: "duration_us"},
          {
            title: "Share",
            number: true,
            value: r => +r.duration_us,
            text: r => percent(+r.duration_us, summary.time_us),
          },
          {title: "", value: () => "", cell: r => timeBar(+r.duration_us, most)},
          {title: "Bound", key: "bound"},
          {title: "Start", number: true, key: "start_us"},
          {title: "Blocks", number: true, key: "blocks"},
          {title: "HBM bytes", number: true, key: "hbm_bytes"},
          {title: "Arguments", key: "args", code: true},
        ],
        rows,
        {filter: "filter nodes", sort: 2, shown: 25, id: "node-table"},
      ),
    ),
  ];
}
