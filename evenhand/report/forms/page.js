"use strict";
// Everything is readable without this script; it filters, steps and copies.  No text is ever made into markup.
(() => {
  const form = document.getElementById("filter");
  const rows = [...document.querySelectorAll(".verdicts tbody tr")];
  const shown = form.querySelector("output");
  const words = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const filter = () => {
    const wanted = new FormData(form);
    const typed = wanted.get("words").toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const fits = ["protocol", "engine", "status", "standing"].every((name) => !wanted.get(name) || row.dataset[name] === wanted.get(name))
        && typed.every((word) => words.get(row).includes(word));
      row.hidden = !fits;
      count += fits;
    }
    shown.textContent = count === rows.length ? `${count} verdicts` : `${count} of ${rows.length} verdicts`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;

  for (const stepper of document.querySelectorAll(".stepper")) {
    const steps = [...stepper.querySelectorAll("li")];
    if (steps.length < 2) continue;
    const buttons = stepper.querySelector(".buttons");
    const [back, forth, whole] = ["back", "forth", "whole"].map((name) => buttons.querySelector(`.${name}`));
    const said = buttons.querySelector("output");
    let at = -1; // -1: all of them
    const show = (next) => {
      at = Math.max(-1, Math.min(next, steps.length - 1));
      steps.forEach((step, number) => { step.hidden = at >= 0 && number !== at; });
      back.disabled = at === 0;
      forth.disabled = at === steps.length - 1;
      whole.setAttribute("aria-pressed", String(at < 0));
      said.textContent = at < 0 ? `${steps.length} steps` : `step ${at + 1} of ${steps.length}`;
    };
    back.addEventListener("click", () => show(at < 0 ? steps.length - 1 : at - 1));
    forth.addEventListener("click", () => show(at + 1));
    whole.addEventListener("click", () => show(at < 0 ? 0 : -1));
    buttons.addEventListener("keydown", (event) => {
      if (event.key === "ArrowRight" && at < steps.length - 1) show(at + 1);
      else if (event.key === "ArrowLeft" && at !== 0) show(at < 0 ? steps.length - 1 : at - 1);
      else return;
      event.preventDefault();
    });
    buttons.hidden = false;
    show(-1);
  }

  const open = () => {
    const target = location.hash.startsWith("#run") && document.getElementById(location.hash.slice(1));
    if (target) { target.querySelector("details").open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", open);
  open();

  for (const button of document.querySelectorAll(".copy")) {
    const text = button.parentElement.querySelector("code").textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(text); }
      catch { // a file opened from disk may have no clipboard: select the text instead
        const range = document.createRange();
        range.selectNodeContents(button.parentElement.querySelector("code"));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        document.execCommand("copy");
      }
      button.firstChild.textContent = "copied";
      setTimeout(() => { button.firstChild.textContent = "copy"; }, 1500);
    });
  }
})();
