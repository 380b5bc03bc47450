// The curves of a report: drawn as SVG from the JSON in the page. Texts from results are only ever set as text.
(() => {
  "use strict";
  const SPACE = "http://www.w3.org/2000/svg";
  const MARGIN = { top: 8, right: 12, bottom: 40, left: 58 };
  const COLOURS = 7;
  const byId = (id) => document.getElementById(id);
  let data = JSON.parse(byId("data").textContent);
  const state = { axis: "iterations", logX: false, logY: true, theorem: true, hidden: new Set(), x: null };
  const panels = [];

  const element = (name, attributes, parent) => {
    const made = document.createElementNS(SPACE, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  };
  const html = (name, text, parent) => {
    const made = document.createElement(name);
    if (text !== null) made.textContent = text;
    parent.append(made);
    return made;
  };

  // Numbers for people: 0.025, 1200, 3·10⁻⁷.
  const raised = (power) => String(power).replace(/./g, (sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"["0123456789-".indexOf(sign)]);
  const words = (value, digits = 3) => {
    if (value === 0) return "0";
    const power = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
    if (power >= -2 && power < 5) return String(Number(value.toPrecision(Math.max(digits, power + 1))));
    const front = Number((value / 10 ** power).toPrecision(digits));
    return front === 1 ? "10" + raised(power) : front + "·10" + raised(power);
  };

  // A scale takes values to the unit interval; on a logarithmic one only positive values have a place.
  const scale = (low, high, log) => {
    const [from, to] = log ? [Math.log10(low), Math.log10(high)] : [low, high];
    const width = to - from || 1;
    return {
      low, high, log,
      place: (value) => ((log ? Math.log10(value) : value) - from) / width,
      value: (place) => (log ? 10 ** (from + place * width) : from + place * width),
    };
  };
  const ticks = ({ low, high, log }, count) => {
    if (!log || high / low < 8) return evenTicks(low, high, count);
    const first = Math.ceil(Math.log10(low) - 1e-9);
    const last = Math.floor(Math.log10(high) + 1e-9);
    const step = Math.max(1, Math.ceil((last - first + 1) / count));
    const found = [];
    for (let power = first; power <= last; power += step) found.push(10 ** power);
    if (found.length > 2 || last - first >= 2) return found;
    return [1, 2, 5].flatMap((digit) => [first - 1, first, last].map((power) => digit * 10 ** power))
      .filter((value, place, all) => value >= low && value <= high && all.indexOf(value) === place)
      .sort((one, other) => one - other);
  };
  const evenTicks = (low, high, count) => {
    const rough = (high - low) / count || 1;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
      found.push(Number((k * step).toPrecision(12)));
    }
    return found;
  };

  const visible = () => data.runs.map((run, place) => ({ run, place })).filter(({ place }) => !state.hidden.has(place));
  const shown = (value, log) => value !== null && value !== undefined && (!log || value > 0);
  const extent = (values, log) => {
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
      if (!shown(value, log)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return low <= high ? [low, high] : null;
  };
  const fraction = (panel) => panel.key === "exponent";

  // What a panel draws: the curves of the visible runs, and the theorem's bound where it belongs.
  const curvesOf = (panel) => visible().flatMap(({ run, place }) => {
    const found = [];
    const values = run.curves[panel.key];
    const kind = "run" + (place % COLOURS) + " lap" + (Math.floor(place / COLOURS) % 3);
    if (values) found.push({ run, x: run.axes[state.axis], y: values, kind, theorem: false });
    if (state.theorem && run.bound && run.bound.panel === panel.key) {
      found.push({ run, x: run.axes[state.axis], y: run.bound.values, kind: kind + " theorem", theorem: true });
    }
    return found;
  });

  const horizontal = () => {
    const range = extent(visible().flatMap(({ run }) => run.axes[state.axis]), state.logX);
    if (state.x) return scale(...state.x, state.logX);
    if (!range) return null;
    const [low, high] = range;
    if (state.logX) return scale(low, high > low ? high : 2 * low, true);
    return scale(Math.min(0, low), high > 0 ? high : 1, false);
  };
  const vertical = (panel, curves, across) => {
    const log = state.logY && !fraction(panel);
    if (panel.y) return scale(...panel.y, log);
    if (fraction(panel)) return scale(-0.03, 1.03, false);
    const inside = (curve) => curve.y.filter((_, k) => curve.x[k] >= across.low && curve.x[k] <= across.high);
    const own = curves.filter((curve) => !curve.theorem).flatMap(inside);
    const range = extent(own, log);
    if (!range) return null;
    let [low, high] = range;
    for (const curve of curves.filter((each) => each.theorem)) {
      const bound = extent(inside(curve), log);
      if (bound) high = Math.max(high, Math.min(5 * bound[0], bound[1]));
    }
    if (log) return high / low < 10 ? scale(low / 2, high * 5, true) : scale(low / 1.5, high * 1.5, true);
    const room = 0.05 * (high - low || Math.abs(high) || 1);
    return scale(low >= 0 ? 0 : low - room, high + room, false);
  };

  const pathOf = (curve, toX, toY, logX, logY) => {
    let text = "";
    let pen = false;
    curve.x.forEach((x, k) => {
      const drawable = shown(x, logX) && shown(curve.y[k], logY);
      if (drawable) text += (pen ? "L" : "M") + toX(x).toFixed(2) + " " + toY(curve.y[k]).toFixed(2);
      pen = drawable;
    });
    return text;
  };

  const draw = (panel) => {
    const { svg } = panel;
    const box = svg.getBoundingClientRect();
    const width = Math.max(box.width, 200);
    const height = Math.max(box.height, 150);
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    panel.inner = { left: MARGIN.left, top: MARGIN.top, width: width - MARGIN.left - MARGIN.right,
      height: height - MARGIN.top - MARGIN.bottom };
    const { left, top, width: across, height: up } = panel.inner;
    const curves = curvesOf(panel);
    const xs = horizontal();
    const ys = xs && vertical(panel, curves, xs);
    Object.assign(panel, { curves, xs, ys });
    if (!ys) {
      element("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, svg).textContent =
        state.logY ? "nothing above zero to draw" : "nothing to draw";
      return;
    }
    const toX = (value) => left + across * xs.place(value);
    const toY = (value) => top + up * (1 - ys.place(value));
    drawAxes(panel, toX, toY);
    const clip = element("clipPath", { id: "clip-" + panel.key }, element("defs", {}, svg));
    element("rect", { x: left, y: top, width: across, height: up }, clip);
    const inside = element("g", { "clip-path": `url(#clip-${panel.key})` }, svg);
    drawAsked(panel, inside, toY);
    for (const curve of curves) {
      const path = pathOf(curve, toX, toY, xs.log, ys.log);
      element("path", { d: path, class: "line " + curve.kind, "data-run": curve.run.name }, inside);
      const last = curve.x.length - 1;
      if (!curve.theorem && last >= 0 && shown(curve.x[last], xs.log) && shown(curve.y[last], ys.log)) {
        element("circle", { cx: toX(curve.x[last]), cy: toY(curve.y[last]), r: 3, class: "dot " + curve.kind }, inside);
      }
    }
    panel.over = element("g", {}, svg);
  };
  const drawAxes = (panel, toX, toY) => {
    const { svg, xs, ys, inner: { left, top, width, height } } = panel;
    for (const value of ticks(xs, Math.max(2, Math.floor(width / 75)))) {
      element("line", { x1: toX(value), x2: toX(value), y1: top, y2: top + height, class: "grid" }, svg);
      element("text", { x: toX(value), y: top + height + 16, "text-anchor": "middle" }, svg).textContent = words(value, 4);
    }
    for (const value of ticks(ys, Math.max(2, Math.floor(height / 36)))) {
      element("line", { x1: left, x2: left + width, y1: toY(value), y2: toY(value), class: "grid" }, svg);
      element("text", { x: left - 6, y: toY(value) + 4, "text-anchor": "end" }, svg).textContent = words(value, 4);
    }
    element("rect", { x: left, y: top, width, height, class: "frame" }, svg);
    const label = data.axes.find((axis) => axis.key === state.axis).label;
    element("text", { x: left + width / 2, y: top + height + 33, "text-anchor": "middle", class: "label" }, svg)
      .textContent = label;
  };
  const drawAsked = (panel, parent, toY) => {
    if (!["residual", "gap", "infeasibility"].includes(panel.key)) return;
    const { left, width } = panel.inner;
    for (const accuracy of new Set(visible().map(({ run }) => run.accuracy))) {
      if (!shown(accuracy, panel.ys.log)) continue;
      element("line", { x1: left, x2: left + width, y1: toY(accuracy), y2: toY(accuracy), class: "requested" }, parent);
    }
  };
  const drawAll = () => panels.filter((panel) => !panel.figure.hidden).forEach(draw);

  // Zooming: the horizontal range is common to all panels, the vertical one belongs to a panel.
  const reset = () => {
    state.x = null;
    for (const panel of panels) panel.y = null;
    drawAll();
  };
  const zoomTo = (panel, x, y) => {
    if (x) state.x = x;
    if (y) panel.y = y;
    drawAll();
  };
  const zoomAround = (panel, factor, shiftX = 0, shiftY = 0) => {
    if (!panel.ys) return;
    const range = (axis, shift) => [0.5 - factor / 2 + shift, 0.5 + factor / 2 + shift].map(axis.value);
    zoomTo(panel, range(panel.xs, shiftX), range(panel.ys, shiftY));
  };
  const where = (panel, event) => {
    const box = panel.svg.getBoundingClientRect();
    const { left, top, width, height } = panel.inner;
    const clamp = (value) => Math.min(1, Math.max(0, value));
    return { x: clamp((event.clientX - box.left - left) / width), y: clamp((event.clientY - box.top - top) / height) };
  };
  const brush = (panel) => {
    let from = null;
    const { svg } = panel;
    svg.addEventListener("pointerdown", (event) => {
      if (!panel.ys || event.button !== 0 || event.pointerType === "touch") return;
      from = where(panel, event);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      if (!panel.ys) return;
      const to = where(panel, event);
      if (from === null) { readOff(panel, to.x); return; }
      const { left, top, width, height } = panel.inner;
      panel.over.replaceChildren();
      element("rect", { class: "brush", x: left + width * Math.min(from.x, to.x), y: top + height * Math.min(from.y, to.y),
        width: width * Math.abs(from.x - to.x), height: height * Math.abs(from.y - to.y) }, panel.over);
    });
    svg.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const to = where(panel, event);
      const [x, y] = [[from.x, to.x], [from.y, to.y]].map((pair) => pair.sort((one, other) => one - other));
      from = null;
      const wide = x[1] - x[0] > 0.02;
      const tall = y[1] - y[0] > 0.04;
      if (!wide && !tall) { panel.over.replaceChildren(); return; }
      zoomTo(panel, wide && x.map(panel.xs.value), tall && [1 - y[1], 1 - y[0]].map(panel.ys.value));
    });
    svg.addEventListener("pointercancel", () => { from = null; drawAll(); });
    svg.addEventListener("pointerleave", () => { if (from === null && panel.over) panel.over.replaceChildren(); });
    svg.addEventListener("dblclick", reset);
    svg.addEventListener("keydown", (event) => {
      const moves = { "+": [0.5], "=": [0.5], "-": [2], ArrowLeft: [1, -0.25], ArrowRight: [1, 0.25],
        ArrowUp: [1, 0, 0.25], ArrowDown: [1, 0, -0.25] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape" || event.key === "0") reset();
      else if (moves[event.key]) zoomAround(panel, ...moves[event.key]);
      else return;
      event.preventDefault();
    });
  };
  const readOff = (panel, place) => {
    const at = panel.xs.value(place);
    const { left, top, width, height } = panel.inner;
    panel.over.replaceChildren();
    element("line", { x1: left + width * place, x2: left + width * place, y1: top, y2: top + height, class: "cursor" },
      panel.over);
    const parts = panel.curves.filter((curve) => !curve.theorem && curve.x.length).map((curve) => {
      let k = curve.x.findIndex((x) => x >= at);
      if (k < 0) k = curve.x.length - 1;
      const value = curve.y[k];
      const said = value === null || value === undefined ? "none" : words(value);
      return data.runs.length > 1 ? curve.run.name + ": " + said : said;
    });
    panel.output.textContent = "at " + words(at) + ": " + parts.join(", ");
  };

  const build = () => {
    for (const known of data.panels) {
      const figure = html("figure", null, byId("panels"));
      html("small", known.note, html("figcaption", known.title, figure));
      const svg = element("svg", { tabindex: "0", role: "img", id: "panel-" + known.key,
        "aria-label": known.title + ": " + known.note + ". Plus and minus zoom, arrows move, 0 resets." }, figure);
      const panel = { key: known.key, figure, svg, output: html("output", "", figure), y: null };
      panels.push(panel);
      brush(panel);
    }
    const axis = byId("axis");
    for (const { key, label } of data.axes) html("option", label, axis).value = key;
    axis.value = state.axis;
    axis.addEventListener("change", () => { state.axis = axis.value; state.x = null; drawAll(); });
    for (const [id, key] of [["logx", "logX"], ["logy", "logY"], ["theorem", "theorem"]]) {
      byId(id).checked = state[key];
      byId(id).addEventListener("change", (event) => { state[key] = event.target.checked; reset(); });
    }
    byId("reset").addEventListener("click", reset);
    window.addEventListener("resize", drawAll);
  };

  // After new data: the legend, and the panels that have something to show.
  const refresh = () => {
    const legend = byId("legend");
    if (legend.childElementCount !== data.runs.length) {
      legend.replaceChildren();
      data.runs.forEach((run, place) => {
        const button = html("button", null, legend);
        button.type = "button";
        button.setAttribute("aria-pressed", String(!state.hidden.has(place)));
        html("i", null, button).className = "swatch run" + (place % COLOURS);
        html("span", run.name, button);
        button.addEventListener("click", () => {
          if (!state.hidden.delete(place)) state.hidden.add(place);
          button.setAttribute("aria-pressed", String(!state.hidden.has(place)));
          drawAll();
        });
      });
    }
    byId("theorem").parentElement.hidden = !data.runs.some((run) => run.bound);
    for (const panel of panels) panel.figure.hidden = !data.runs.some((run) => run.curves[panel.key]);
    byId("curves-none").hidden = panels.some((panel) => !panel.figure.hidden);
    drawAll();
  };

  // While the run continues, poll for new data about once a second.
  const follow = () => {
    let failures = 0;
    const say = (text) => { byId("live").textContent = text; };
    const ask = async () => {
      try {
        const answer = await fetch(data.live.url, { cache: "no-store" });
        if (!answer.ok) throw new Error(String(answer.status));
        const fresh = await answer.json();
        failures = 0;
        data = { ...data, runs: fresh.runs };
        const open = Boolean(document.querySelector("details[open]"));
        for (const place of ["before", "after"]) {
          const parsed = new DOMParser().parseFromString(fresh[place], "text/html");
          byId(place).replaceChildren(...parsed.body.childNodes);
        }
        for (const details of document.querySelectorAll("details")) details.open = open;
        refresh();
        say(fresh.done ? "The run has ended." : "Still running; this page follows the run.");
        if (fresh.done) return;
      } catch {
        failures += 1;
        if (failures >= 3) { say("The run has ended or cannot be reached; this page shows its last state."); return; }
      }
      setTimeout(ask, data.live.milliseconds);
    };
    ask();
  };

  const longest = Math.max(1, ...data.runs.map((run) => run.axes.iterations.at(-1) ?? 1));
  state.logX = longest >= 300;
  build();
  refresh();
  if (data.live) follow();
})();
