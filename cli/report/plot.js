// SPDX-License-Identifier: Apache-2.0
// Plots by uPlot: amounts over time, curves, points, rooflines. Each follows width and theme.

// Makes uPlot anew when the theme changes, and gives it the width of its place.
function plot(makeOptions, data, height, label) {
  const place = el("div", {class: "plot", role: "img", "aria-label": label});
  let chart = null;
  const width = () => Math.max(240, place.clientWidth || 600);
  const draw = () => {
    if (chart) chart.destroy();
    chart = new uPlot({width: width(), height, ...makeOptions()}, data, place);
  };
  redraws.push(draw);
  new ResizeObserver(() => {
    if (!chart) draw();
    else if (chart.width !== width()) chart.setSize({width: width(), height});
  }).observe(place);
  return place;
}

function axis(label, values, extra) {
  return {
    label,
    stroke: colour("text"),
    grid: {stroke: colour("line"), width: 1},
    ticks: {stroke: colour("line"), width: 1},
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    values,
    size: (chart, texts) => 34 + 7 * Math.max(3, ...(texts || []).map(text => String(text ?? "").length)),
    ...extra,
  };
}

const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

// lines: [{label, values, hue}] over common xs. Dashes tell lines apart where colours do not.
function linePlot(xs, lines, options) {
  const make = () => ({
    scales: {x: {time: false}, y: {range: (chart, low, high) => [0, high > 0 ? high * 1.05 : 1]}},
    axes: [axis(options.x, null, {size: 40}), axis(options.y, null)],
    cursor: {drag: {x: true, y: false}},
    series: [
      {label: options.x, value: (chart, v) => (v === null ? "-" : short(v))},
      ...lines.map((line, i) => ({
        label: line.label,
        stroke: colour(line.hue || hues[i % hues.length]),
        width: 2,
        dash: dashes[i % dashes.length],
        paths: options.stepped ? uPlot.paths.stepped({align: 1}) : undefined,
        points: {show: !!options.points, size: 7},
        value: (chart, v) => (v === null ? "-" : short(v)),
      })),
    ],
  });
  return plot(make, [xs, ...lines.map(line => line.values)], options.height || 240, options.label);
}

// Layers one on another over common xs: layers, the lowest first: [{label, values, hue}]; options.lines: levels across,
// [{label, value}]; options.labels as of drawLabels(). What the cursor tells of a layer is that of the layer alone.
function stackPlot(xs, layers, options) {
  const sums = [];
  for (const layer of layers) {
    const below = sums[sums.length - 1];
    sums.push(layer.values.map((value, i) => value + (below ? below[i] : 0)));
  }
  const shown = layers.map((layer, i) => ({...layer, top: sums[i], hue: layer.hue || hues[i % hues.length]})).reverse(),
    lines = options.lines || [];
  const tell = values => (chart, v, series, index) => (index === null || index === undefined ? "-" : short(values[index]));
  const make = () => ({
    scales: {x: {time: false}, y: {range: (chart, low, high) => [0, high > 0 ? high * 1.12 : 1]}},
    axes: [axis(options.x, null, {size: 40}), axis(options.y, null)],
    cursor: {drag: {x: true, y: false}},
    hooks: {draw: [chart => drawLabels(chart, options.labels || [])]},
    series: [
      {label: options.x, value: (chart, v) => (v === null ? "-" : short(v))},
      ...shown.map(layer => ({
        label: layer.label,
        stroke: colour("page"), // a rim between layers, whose colours may look alike
        fill: colour(layer.hue),
        width: 1,
        paths: uPlot.paths.stepped({align: 1}),
        points: {show: false},
        value: tell(layer.values),
      })),
      ...lines.map(line => ({label: line.label, stroke: colour("text"), width: 2, dash: dashes[1], points: {show: false}, value: () => short(line.value)})),
    ],
  });
  return plot(make, [xs, ...shown.map(layer => layer.top), ...lines.map(line => xs.map(() => line.value))], options.height || 280, options.label);
}

// Draws texts beside points, inside the plot: [{x, y, text}], x and y as the scales have them.
function drawLabels(chart, labels) {
  const {ctx, bbox} = chart,
    ratio = devicePixelRatio || 1;
  ctx.save();
  ctx.font = `${12 * ratio}px system-ui, sans-serif`;
  ctx.fillStyle = colour("text");
  ctx.textAlign = "left";
  ctx.lineWidth = 4 * ratio;
  ctx.strokeStyle = colour("page");
  for (const label of labels) {
    const x = chart.valToPos(label.x, "x", true),
      y = chart.valToPos(label.y, "y", true);
    const wide = ctx.measureText(label.text).width;
    const left = x + 9 * ratio + wide < bbox.left + bbox.width || x - bbox.left < wide;
    const at = [left ? x + 9 * ratio : x - wide - 9 * ratio, y + (label.below ? 18 : -8) * ratio];
    ctx.strokeText(label.text, ...at); // a rim, so that lines behind do not hide the text
    ctx.fillText(label.text, ...at);
  }
  ctx.restore();
}

// roofs: [{label, slope, top, hue}], y = min(top, slope * x); points: [{label, x, y, hue}]
function rooflinePlot(roofs, points, options) {
  const bends = roofs.map(roof => roof.top / roof.slope);
  const low = Math.min(...bends, ...points.map(p => p.x)) / 8,
    high = Math.max(...bends, ...points.map(p => p.x)) * 8;
  const steps = Array.from({length: 65}, (_, i) => low * Math.pow(high / low, i / 64));
  const xs = [...new Set([...steps, ...bends, ...points.map(p => p.x)])].sort((a, b) => a - b);
  const top = Math.max(...roofs.map(roof => roof.top)) * 2.2;
  const floor = Math.min(...points.map(p => p.y), ...roofs.map(roof => roof.slope * low)) / 2;
  const bySlope = roofs.map(roof => xs.map(x => Math.min(roof.top, roof.slope * x)));
  const byPoint = points.map(point => xs.map(x => (x === point.x ? point.y : null)));
  const ticks = (chart, splits) =>
    splits.map(v =>
      v !== null && Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9 ? short(v) : "",
    );
  const labels = points.map((p, i) => ({x: p.x, y: p.y, text: p.label, below: i % 2 === 1}));
  const make = () => ({
    scales: {x: {time: false, distr: 3, range: [low, high]}, y: {distr: 3, range: [floor, top]}},
    axes: [axis(options.x, ticks, {size: 40}), axis(options.y, ticks)],
    hooks: {draw: [chart => drawLabels(chart, labels)]},
    legend: {live: false},
    cursor: {show: false},
    series: [
      {label: options.x},
      ...roofs.map((roof, i) => ({
        label: roof.label,
        stroke: colour(roof.hue),
        width: 2,
        dash: dashes[i],
        points: {show: false},
      })),
      ...points.map(point => ({
        label: point.label,
        stroke: colour(point.hue),
        fill: colour(point.hue),
        paths: () => null,
        points: {show: true, size: 12, fill: colour(point.hue)},
      })),
    ],
  });
  return plot(make, [xs, ...bySlope, ...byPoint], options.height || 340, options.label);
}

// groups: [{label, hue, line, points: [{x, y}]}] with their own xs each. options.splits: where ticks of x are;
// options.labels: texts beside points.
function pointPlot(groups, options) {
  const xs = [...new Set(groups.flatMap(group => group.points.map(p => p.x)))].sort((a, b) => a - b);
  const place = new Map(xs.map((x, i) => [x, i]));
  // Several points of one x need rows of their own: the first of each x, the second, ...
  const deepest = Math.max(
    1,
    ...groups.map(group => {
      const seen = new Map();
      group.points.forEach(p => seen.set(p.x, (seen.get(p.x) || 0) + 1));
      return Math.max(0, ...seen.values());
    }),
  );
  const all = [],
    series = [];
  groups.forEach((group, index) => {
    const layers = Array.from({length: group.line ? 1 : deepest}, () => new Array(xs.length).fill(null));
    for (const p of group.points) {
      const layer = layers.find(l => l[place.get(p.x)] === null);
      if (layer) layer[place.get(p.x)] = p.y;
    }
    layers.forEach(layer => {
      all.push(layer);
      series.push({group, index});
    });
  });
  const spread = (chart, least, most) => {
    const by = (most - least || Math.abs(most) || 1) * 0.06;
    return [least - by, most + by];
  };
  const ticks = options.text ? (chart, splits) => splits.map(options.text) : null;
  const make = () => ({
    scales: {x: {time: false, range: spread}, y: {range: spread}},
    axes: [
      axis(options.x, ticks, {
        size: 40,
        ...(options.texts ? {incrs: [1]} : {}),
        ...(options.splits ? {splits: () => options.splits} : {}),
      }),
      axis(options.y, null),
    ],
    hooks: {draw: [chart => drawLabels(chart, options.labels || [])]},
    legend: {show: false},
    cursor: {drag: {x: true, y: true}},
    series: [
      {label: options.x},
      ...series.map(({group, index}) => ({
        label: group.label,
        stroke: colour(group.hue || hues[index % hues.length]),
        width: 2,
        dash: dashes[(index + Math.floor(index / hues.length)) % dashes.length],
        paths: group.line ? undefined : () => null,
        spanGaps: true,
        points: {show: true, size: group.large ? 14 : group.line ? 8 : 6, fill: colour(group.hue || hues[index % hues.length])},
      })),
    ],
  });
  return el(
    "div",
    null,
    plot(make, [xs, ...all], options.height || 320, options.label),
    groups.length > 1
      ? keyList(groups.map((group, i) => [group.label, `var(--${group.hue || hues[i % hues.length]})`]))
      : null,
  );
}
