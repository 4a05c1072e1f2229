// SPDX-License-Identifier: Apache-2.0
// Tables that sort by a click on a column's head or by the keyboard, and that a text filters.

// columns: {title, key or value(row), text(row), number, cell(row), about, code, more}; rows: objects. Columns with
// `more` are there when a button asks for them.
// options: {filter: label, shown: rows before "show all", sort: column, id, caption}
function dataTable(columns, rows, options = {}) {
  const state = {column: -1, down: true, filter: "", all: false, wide: false};
  const body = el("tbody");
  const heads = columns.map((column, index) =>
    el(
      "th",
      {class: column.number ? "n" : null, scope: "col", title: column.about},
      column.title ? el("button", {type: "button", onclick: () => sortBy(index)}, column.title) : null,
    ),
  );
  const count = el("span", {class: "faint", "aria-live": "polite"});
  const more = el("button", {
    type: "button",
    onclick: () => {
      state.all = !state.all;
      draw();
    },
  });
  const headRow = el("tr");
  const extra = columns.filter(column => column.more).length;
  const wider = el("button", {
    type: "button",
    class: "wider",
    onclick: () => {
      state.wide = !state.wide;
      draw();
    },
  });
  const isShown = column => state.wide || !column.more;
  const valueOf = (column, row) => (column.value ? column.value(row) : row[column.key]);
  const textOf = (column, row) => (column.text ? column.text(row) : valueOf(column, row));

  function sortBy(index, down) {
    state.down = down !== undefined ? down : state.column === index ? !state.down : !!columns[index].number;
    state.column = index;
    draw();
  }

  function compare(a, b) {
    const column = columns[state.column];
    let left = valueOf(column, a),
      right = valueOf(column, b);
    if (column.number) {
      const lacks = [left, right].map(value => value === "" || !Number.isFinite(+value));
      if (lacks[0] || lacks[1]) return lacks[0] - lacks[1]; // what has no number comes last
      left = +left;
      right = +right;
    }
    const order = left < right ? -1 : left > right ? 1 : 0;
    return state.down ? -order : order;
  }

  function chosen() {
    const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = rows.filter(row => {
      const text = columns
        .map(c => textOf(c, row))
        .join(" ")
        .toLowerCase();
      return words.every(word => text.includes(word));
    });
    return state.column < 0 ? kept : kept.slice().sort(compare);
  }

  function rowOf(row, index, limit) {
    return el(
      "tr",
      {class: index >= limit ? "rest" : null},
      columns.filter(isShown).map(column =>
        el(
          "td",
          {
            class: [column.number ? "n" : "", column.code ? "code" : ""].join(" ").trim() || null,
          },
          column.cell ? column.cell(row) : textOf(column, row),
        ),
      ),
    );
  }

  function draw() {
    const kept = chosen(),
      limit = state.all ? kept.length : Math.min(kept.length, options.shown || kept.length);
    body.replaceChildren(
      ...kept.slice(0, limit).map((row, i) => rowOf(row, i, options.shown || kept.length)),
    );
    headRow.replaceChildren(...heads.filter((head, i) => isShown(columns[i])));
    wider.textContent = state.wide ? "Fewer columns" : `${extra} more column${extra === 1 ? "" : "s"}`;
    heads.forEach((head, i) =>
      i === state.column
        ? head.setAttribute("aria-sort", state.down ? "descending" : "ascending")
        : head.removeAttribute("aria-sort"),
    );
    count.textContent =
      kept.length === rows.length ? `${rows.length} rows` : `${kept.length} of ${rows.length} rows`;
    more.hidden = kept.length <= (options.shown || kept.length);
    more.textContent = state.all ? "Show fewer" : `Show all ${kept.length}`;
  }

  const filter = options.filter
    ? el("input", {
        type: "search",
        placeholder: options.filter,
        "aria-label": options.filter,
        oninput: event => {
          state.filter = event.target.value;
          draw();
        },
      })
    : null;
  if (options.sort !== undefined) sortBy(options.sort, true);
  else draw();
  return el(
    "div",
    {id: options.id},
    filter || extra ? el("div", {class: "tools"}, filter, filter ? count : null, extra ? wider : null) : null,
    el(
      "div",
      {class: "scroll"},
      el(
        "table",
        {class: options.class},
        options.caption ? el("caption", null, options.caption) : null,
        el("thead", null, headRow),
        body,
      ),
    ),
    el("div", {class: "tools"}, more),
  );
}

// ---- CSV ----

// Rows of a table as objects, by the names of the first row; a name that was there gets the number of
// its column. Quoted fields may hold commas, quotes and line ends. An apostrophe before what spreadsheets
// would execute is not part of a cell.
const formula = /^'(?='*(?![-+]?[\d.]+(e[-+]?\d+)?$)[=+\-@\t].)/;
function readCsv(text) {
  const lines = [];
  let row = [],
    field = "",
    quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') {
        field += c;
        i++;
      } else quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === ",") {
      row.push(field);
      field = "";
    } else if (c === "\n") {
      row.push(field);
      lines.push(row);
      row = [];
      field = "";
    } else if (c !== "\r") field += c;
  }
  if (field || row.length) {
    row.push(field);
    lines.push(row);
  }
  for (const line of lines) line.forEach((cell, i) => (line[i] = cell.replace(formula, "")));
  const names = (lines.shift() || []).map((name, i, all) => (all.indexOf(name) < i ? `${name} (${i + 1})` : name));
  return {names, rows: lines.map(line => Object.fromEntries(names.map((name, i) => [name, line[i] ?? ""])))};
}
