"use strict";
(() => {
  const status = document.getElementById("status"), QUEUE = "discoprobe-unsaved";
  const say = (text) => { status.textContent = text; clearTimeout(say.timer); say.timer = setTimeout(() => { status.textContent = ""; }, 4000); };
  const queued = () => JSON.parse(localStorage.getItem(QUEUE) || "[]");
  const keep = (marks) => localStorage.setItem(QUEUE, JSON.stringify(marks));

  const send = (mark) => fetch("/mark", {
    method: "POST", keepalive: true, headers: {"Content-Type": "application/json", Accept: "application/json"},
    body: JSON.stringify({...mark, token: document.body.dataset.token}),
  }).then(async (answer) => {
    const said = await answer.json().catch(() => ({}));
    if (!answer.ok) throw Object.assign(new Error(said.error || `error ${answer.status}`), {answered: true});
    return said;
  });

  // marks that could not be sent, because the server was not there, are sent again
  const sendQueued = async () => {
    const waiting = queued();
    for (const mark of waiting) {
      try { await send(mark); } catch (error) { if (!error.answered) return; say(`Not saved: ${error.message}`); }
      keep(queued().slice(1));
    }
    if (waiting.length) say(`${waiting.length} kept verdict${waiting.length > 1 ? "s" : ""} saved`);
  };

  // one after the other, because the last mark of a row counts
  let earlier = Promise.resolve();
  const mark = (form, verdict) => {
    const sent = {config: form.elements.config.value, row: form.elements.row.value, verdict, comment: form.elements.comment.value};
    form.elements.comment.dataset.saved = sent.comment;
    earlier = earlier.then(() => save(form, sent));
  };

  const save = async (form, sent) => {
    const verdict = sent.verdict;
    try {
      await send(sent);
      say(verdict ? `Saved: ${verdict}${sent.comment ? ", with the comment" : ""}` : "Verdict taken back");
    } catch (error) {
      if (error.answered) { delete form.elements.comment.dataset.saved; say(`Not saved: ${error.message}`); return; }
      keep([...queued(), sent]);
      say("The program does not answer. The verdict is kept in this browser and sent when it does.");
    }
    for (const button of form.querySelectorAll("button[name=verdict]")) button.setAttribute("aria-pressed", String(Boolean(verdict) && button.value === verdict));
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches(".marking")) return;
    event.preventDefault();
    const pressed = form.querySelector("button[aria-pressed=true]");
    const verdict = event.submitter && event.submitter.matches("button") ? event.submitter.value : pressed && pressed.value;
    if (verdict === null) { say("Choose a verdict; the comment goes with it"); return; }
    mark(form, verdict);
  });

  // Enter in a comment saves it with the verdict that is chosen, not with the first button
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches(".comment input")) return;
    event.preventDefault();
    const form = event.target.form, pressed = form.querySelector("button[aria-pressed=true]");
    if (pressed) pressed.click(); else say("Choose a verdict; the comment goes with it");
  });

  // so does leaving a comment that was changed, unless it is left for a button of the same row
  document.addEventListener("focusout", (event) => {
    const input = event.target;
    if (!input.matches(".marking .comment input") || input.form.contains(event.relatedTarget)) return;
    if (input.value === (input.dataset.saved ?? input.defaultValue)) return;
    const pressed = input.form.querySelector("button[aria-pressed=true]");
    if (pressed) mark(input.form, pressed.value); else say("Choose a verdict; the comment goes with it");
  });

  const rows = () => [...document.querySelectorAll("article.row")];
  const current = () => document.activeElement.closest("article.row") || rows()[0];
  const step = (by) => {
    const all = rows(), here = document.activeElement.closest("article.row");
    const next = all[Math.min(all.length - 1, Math.max(0, here ? all.indexOf(here) + by : 0))];
    if (next) { next.focus(); next.scrollIntoView({block: "nearest"}); }
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!event.target.matches) return;
    if (event.target.matches("input, select, textarea")) {
      if (event.key === "Escape") (event.target.closest("article.row") || document.getElementById("main")).focus();
      return;
    }
    const row = current();
    const act = {
      j: () => step(1), k: () => step(-1),
      c: () => row && row.querySelector(".comment input") && row.querySelector(".comment input").focus(),
      o: () => row && row.querySelector("h2 a") && row.querySelector("h2 a").click(),
    }[event.key];
    const key = CSS.escape({ArrowRight: "n", ArrowLeft: "p"}[event.key] || event.key);
    if (key !== event.key && event.target.closest(".scroll")) return; // there, arrows move the table
    const target = (row && row.querySelector(`[data-key="${key}"]`)) || document.querySelector(`a[data-key="${key}"]`);
    if (act) { event.preventDefault(); act(); } else if (target) { event.preventDefault(); target.click(); }
  });

  if (queued().length) sendQueued();
})();
