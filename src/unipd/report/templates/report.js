// Hands the figures in the page's JSON to Plotly, in the colours of the theme, and follows a live run.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const source = JSON.parse(byId("data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)"), narrow = matchMedia("(max-width: 52rem)");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const themed = (value, key) => {
    if (Array.isArray(value)) return value.map((part) => themed(part, key));
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, themed(part, name)]));
    return key === "color" && typeof value === "string" && value.startsWith("@") ? colour(value.slice(1)) : value;
  };
  const template = () => {
    const axis = { gridcolor: colour("line"), linecolor: colour("faint"), zeroline: false, automargin: true,
      title: { standoff: 8 } };
    const scene = { gridcolor: colour("line"), backgroundcolor: "rgba(0,0,0,0)" };
    return { layout: {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: colour("ink"), size: 12 },
      xaxis: axis, yaxis: axis, scene: { xaxis: scene, yaxis: scene, zaxis: scene },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("faint"), activecolor: colour("ink") },
      hoverlabel: { namelength: -1 }, legend: { orientation: "h", x: 0, y: 1, yanchor: "top", yref: "container" },
      colorway: [0, 1, 2, 3, 4, 5, 6].map((place) => colour(`run${place}`)),
    } };
  };

  const layoutOf = (id, figure) => {
    const layout = themed(structuredClone(narrow.matches && figure.narrow ? figure.narrow : figure.layout), "");
    layout.template = template();
    layout.uirevision = id === "curves" ? `${byId("axis").value} ${byId("logx").checked} ${byId("logy").checked}` : id;
    layout.margin ??= id === "curves" ? { l: 70, r: 20, t: 60, b: 60 } : { l: 60, r: 20, t: 20, b: 50 };
    if (id !== "curves") { layout.height ??= 320; return layout; }
    const label = source.axes.find((axis) => axis.key === byId("axis").value).label;
    for (const [name, axis] of Object.entries(layout)) {
      if (/^xaxis/.test(name)) { axis.type = byId("logx").checked ? "log" : "linear"; axis.title = { text: label, standoff: 8 }; }
      if (/^yaxis/.test(name) && axis.type === "log" && !byId("logy").checked) axis.type = "linear";
    }
    return layout;
  };
  const tracesOf = (id, figure) => themed(figure.traces, "").map((trace) =>
    id === "curves" ? { ...trace, x: source.runs[trace.meta.run].axes[byId("axis").value] } : trace);

  const draw = () => {
    byId("curves-none").hidden = source.figures.curves.traces.length > 0;
    byId("curves").hidden = !byId("curves-none").hidden;
    for (const [id, figure] of Object.entries(source.figures)) {
      if (id === "curves" && byId("curves").hidden) continue;
      const config = { responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg", filename: id } };
      Plotly.react(byId(id), tracesOf(id, figure), layoutOf(id, figure), config);
    }
  };

  const follow = (failures) => setTimeout(async () => {
    try {
      const answer = await fetch(source.live.url, { cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      const fresh = await answer.json();
      Object.assign(source, { runs: fresh.runs, figures: fresh.figures });
      const open = Boolean(document.querySelector("details[open]"));
      for (const place of ["before", "after"]) {
        const parsed = new DOMParser().parseFromString(fresh[place], "text/html");
        byId(place).replaceChildren(...parsed.body.childNodes);
      }
      for (const details of document.querySelectorAll("details")) details.open = open;
      draw();
      byId("live").textContent = fresh.done ? "The run has ended." : "Still running; this page follows the run.";
      if (!fresh.done) follow(0);
    } catch {
      if (failures < 2) follow(failures + 1);
      else byId("live").textContent = "The run has ended or cannot be reached; this page shows its last state.";
    }
  }, source.live.milliseconds);

  const longest = Math.max(1, ...source.runs.map(({ axes }) => axes.iterations.at(-1) ?? 1));
  byId("logx").checked = longest >= 300;
  for (const id of ["axis", "logx", "logy"]) byId(id).addEventListener("change", draw);
  for (const query of [dark, narrow]) query.addEventListener("change", draw);
  draw();
  if (source.live) follow(0);
})();
