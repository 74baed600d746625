// The picture of a region.  Places come from the server; this draws them, and tells what a chosen state is.
// SPDX-License-Identifier: MIT
"use strict";

let drawn = null;
let last = null;

const colour = (name) => getComputedStyle(document.body).getPropertyValue(`--${name}`).trim();

const style = () => [
  { selector: "node", style: { width: 26, height: 26, label: "data(label)", "font-size": 10, "text-valign": "center", "text-halign": "center", color: colour("ink"), "background-color": colour("paper"), "border-width": 1.5, "border-color": colour("quiet") } },
  { selector: ".part", style: { width: 30, height: 30, "text-valign": "bottom", "text-margin-y": 3 } },
  { selector: ".cycle", style: { "border-style": "double", "border-width": 5 } },
  { selector: ".open", style: { "border-style": "dotted", "border-width": 2 } },
  { selector: ".path", style: { "border-color": colour("link"), "border-width": 3 } },
  { selector: ".circling", style: { "background-color": colour("undecided-bg"), "border-color": colour("undecided") } },
  { selector: ".stuck", style: { shape: "rectangle", "background-color": colour("refuted-bg"), "border-color": colour("refuted") } },
  { selector: ".end", style: { shape: "round-octagon" } },
  { selector: ".start", style: { "underlay-color": colour("quiet"), "underlay-opacity": 0.25, "underlay-padding": 5 } },
  { selector: ".now", style: { width: 36, height: 36, "font-size": 13, "font-weight": "bold", "border-width": 5, "border-color": colour("link") } },
  { selector: "edge", style: { width: 1.2, "curve-style": "bezier", "target-arrow-shape": "triangle", "arrow-scale": 0.8, "line-color": colour("quiet"), "target-arrow-color": colour("quiet"), opacity: 0.55 } },
  { selector: "edge.next", style: { opacity: 1, width: 1.6 } },
  { selector: "edge.walked", style: { opacity: 1, width: 3, "line-color": colour("link"), "target-arrow-color": colour("link") } },
  { selector: "edge.loop", style: { "loop-direction": "-45deg", "loop-sweep": "40deg" } },
  { selector: ":selected", style: { "overlay-color": colour("link"), "overlay-opacity": 0.2, "overlay-padding": 6 } },
];

const paint = (container, picture, pick) => {
  const elements = [
    ...picture.nodes.map(({ x, y, classes, ...data }) => ({ data, classes, position: { x, y } })),
    ...picture.edges.map(({ classes, ...data }) => ({ data, classes })),
  ];
  if (!drawn || drawn.container() !== container) {
    drawn = window.cytoscape({ container, autoungrabify: true, userZoomingEnabled: false, boxSelectionEnabled: false, minZoom: 0.15, maxZoom: 2.5 });
  }
  drawn.removeListener("tap");
  drawn.batch(() => { drawn.elements().remove(); drawn.add(elements); drawn.style(style()); });
  drawn.layout({ name: "preset", fit: true, padding: 24 }).run();
  if (drawn.zoom() > 1.3) { drawn.zoom(1.3); drawn.center(); }
  drawn.on("tap", "node", (event) => pick(event.target.data(), picture));
};

export const draw = (container, picture, pick) => {
  last = [container, picture, pick];
  paint(...last);
};

export const zoom = (how) => {
  if (!drawn) return;
  if (how === "fit") drawn.fit(undefined, 24);
  else drawn.zoom({ level: drawn.zoom() * (how === "in" ? 1.3 : 1 / 1.3), renderedPosition: { x: drawn.width() / 2, y: drawn.height() / 2 } });
};

export const resize = () => { if (drawn) drawn.resize(); };

// For tests and for the curious: where a state is on the screen.
export const place = (id) => drawn && drawn.getElementById(id).renderedPosition();

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (last) paint(...last); });
