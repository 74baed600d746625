// The page is made by the server; this swaps it without a jump, sends what is chosen, and hears the arrow keys.
// No text is ever made into markup here but the server's own pages, in which everything is escaped.
// SPDX-License-Identifier: MIT
"use strict";
import { draw, resize, zoom } from "./graph.js";

const view = () => document.getElementById("view");
const PARTS = ["p-top", "note", "p-run", "p-beside", "p-files", "p-middle", "p-picture", "p-claims", "p-across"];
const HINT = "Choose a state in the picture to see how it differs from the one now.";
let asked = 0;

const say = (words, kind) => {
  const note = document.getElementById("note");
  note.textContent = words;
  note.className = kind;
  if (kind === "error") note.scrollIntoView({ block: "nearest" });
};

const swap = (fresh) => {
  const old = view();
  const held = document.activeElement && document.activeElement.id;
  const open = new Map([...old.querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
  const scrolled = new Map([...old.querySelectorAll("[id]")].filter((one) => one.scrollTop).map((one) => [one.id, one.scrollTop]));
  const same = old.dataset.address === fresh.dataset.address;
  // The picture stays where it is: its widget ends when it leaves the page, and it must not blink.
  for (const part of PARTS) document.getElementById(part).replaceWith(fresh.querySelector(`#${part}`));
  if (old.dataset.graph !== fresh.dataset.graph) document.getElementById("node").textContent = HINT;
  delete old.dataset.drawn;
  Object.assign(old.dataset, fresh.dataset);
  for (const [id, was] of open) {
    const one = document.getElementById(id);
    if (one && id !== "d-false" && id !== "d-met") one.open = was;
  }
  for (const [id, top] of scrolled) {
    const one = document.getElementById(id);
    if (one && (same || id !== "steps")) one.scrollTop = top;
  }
  const now = old.querySelector(".steps .now");
  const steps = old.querySelector(".steps");
  if (now.offsetTop < steps.scrollTop || now.offsetTop + now.offsetHeight > steps.scrollTop + steps.clientHeight) {
    steps.scrollTop = Math.max(0, now.offsetTop - steps.clientHeight / 2);
  }
  const focus = held && document.getElementById(held);
  if (focus) focus.focus({ preventScroll: true });
};

const go = async (to, { push = true, note = "", error = false } = {}) => {
  const number = ++asked;
  document.body.classList.add("busy");
  try {
    const answer = await fetch(to);
    const made = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (number !== asked) return;
    const fresh = made.getElementById("view");
    if (!fresh) { location.assign(to); return; }
    swap(document.adoptNode(fresh));
    document.title = made.title;
    if (push) history.pushState(null, "", to);
    if (note) say(note, error ? "error" : "said");
    const edit = document.getElementById("e-text");
    if (edit && to.includes("edit=")) edit.focus();
    picture();
  } catch {
    if (number === asked) say("The server does not answer. Is `evenhand serve` still running?", "error");
  } finally {
    if (number === asked) document.body.classList.remove("busy");
  }
};

const send = async (what, body) => {
  const { address, at, beside, pair, picture: kind } = view().dataset;
  document.body.classList.add("busy");
  try {
    const answer = await fetch(`/do/${what}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ address, at: Number(at), beside, pair, picture: kind, ...body }),
    });
    const made = answer.headers.get("content-type").startsWith("application/json") ? await answer.json() : { error: await answer.text() };
    if (made.error) say(made.error, "error");
    else await go(made.to, { note: made.note });
  } catch {
    say("The server does not answer. Is `evenhand serve` still running?", "error");
  } finally {
    document.body.classList.remove("busy");
  }
};

const picture = async () => {
  const from = view().dataset.graph;
  const note = document.getElementById("graph-note");
  try {
    const answer = await fetch(from);
    const made = await answer.json();
    if (view().dataset.graph !== from) return;
    if (made.error) throw new Error(made.error);
    draw(document.getElementById("graph"), made, chosen);
    resize();
    document.getElementById("graph").setAttribute("aria-label", `State graph: ${made.note.join("; ")}`);
    note.replaceChildren(...made.note.map((words) => { const one = document.createElement("li"); one.textContent = words; return one; }));
    view().dataset.drawn = from;
  } catch (error) {
    if (view().dataset.graph === from) note.textContent = `The picture could not be made: ${error.message}`;
  }
};

const code = (text) => { const one = document.createElement("code"); one.textContent = text; return one; };

const chosen = (node, made) => {
  const panel = document.getElementById("node");
  const parts = [`${node.id.startsWith("p") ? "A part of" : "State"} ${node.label}${node.note.length ? `: ${node.note.join("; ")}` : ""}. `];
  const edge = made.edges.find((one) => one.classes.includes("next") && one.target === node.id);
  if (edge) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `take ${edge.action}${edge.weight > 1 ? ` (or one of ${edge.weight - 1} more)` : ""}`;
    button.addEventListener("click", () => send("step", { number: edge.number }));
    parts.push(button);
  }
  panel.replaceChildren(...parts, ...(node.difference.length ? node.difference : [node.state]).map(code));
};

document.addEventListener("click", (event) => {
  const how = event.target.closest("[data-zoom]");
  if (how) { zoom(how.dataset.zoom); return; }
  const link = event.target.closest("a[href^='/run/']");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});

document.addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  const given = new FormData(form);
  if (form.dataset.link) {
    const to = new URL(location.href);
    if (given.get(form.dataset.link)) to.searchParams.set(form.dataset.link, given.get(form.dataset.link));
    else to.searchParams.delete(form.dataset.link);
    to.searchParams.delete("page");
    go(to.pathname + to.search);
    return;
  }
  if (!form.dataset.do) return;
  const body = Object.fromEntries(given);
  if (form.classList.contains("joint")) body.choices = given.getAll("choices").map(Number);
  if ("number" in body) body.number = Number(body.number);
  for (const name of ["config", "start"]) if (name in body) body[name] = body[name] || "1";
  send(form.dataset.do, body);
});

document.addEventListener("change", async (event) => {
  if (event.target.id === "o-system") {
    for (const id of ["o-scope", "o-readings", "o-config"]) document.getElementById(id).value = "";
    document.getElementById("o-variant").value = "reference";
    document.getElementById("o-start").value = "1";
  }
  if (event.target.id === "f-file" && event.target.files.length) {
    const file = event.target.files[0];
    if (file.size > 8 * 1024 * 1024) { say(`${file.name}: a record has at most 8 MiB`, "error"); return; }
    send("load", { name: file.name, text: await file.text() });
  }
});

const KEYS = { ArrowLeft: "g-back", ArrowRight: "g-forth", Home: "g-start", End: "g-end" };
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !(event.key in KEYS)) return;
  if (event.target.closest("input, select, textarea")) return;
  const link = document.getElementById(KEYS[event.key]);
  if (!link) return;
  event.preventDefault();
  if (link.hasAttribute("href")) go(link.getAttribute("href"));
});

addEventListener("popstate", () => go(location.pathname + location.search, { push: false }));
if (view()) picture();
