"use strict";
(() => {
  const table = document.getElementById("configs");
  if (!table) return;
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const search = document.getElementById("search"), found = document.getElementById("found"), choice = document.getElementById("sort");
  const words = new Map([...body.rows].map((row) => [row, (row.textContent + " " + row.dataset.more).toLocaleLowerCase()]));

  const filter = () => {
    const wanted = search.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of body.rows) {
      row.hidden = !wanted.every((word) => words.get(row).includes(word));
      shown += !row.hidden;
    }
    found.textContent = `${shown} of ${body.rows.length}`;
    history.replaceState(null, "", search.value ? "#" + encodeURIComponent(search.value) : location.pathname);
  };

  const sort = (column, ascending) => {
    const number = heads[column].dataset.kind === "number";
    const value = (row) => number ? Number(row.cells[column].dataset.value) : row.cells[column].textContent.trim();
    const rows = [...body.rows].sort((a, b) => (number ? value(a) - value(b) : value(a).localeCompare(value(b))) * (ascending ? 1 : -1));
    heads.forEach((head, place) => place === column ? head.setAttribute("aria-sort", ascending ? "ascending" : "descending") : head.removeAttribute("aria-sort"));
    body.append(...rows);
    choice.value = String(column);
  };

  heads.forEach((head, column) => {
    choice.add(new Option(head.textContent, String(column)));
    head.tabIndex = 0;
    const turn = () => {
      const now = head.getAttribute("aria-sort");
      sort(column, now ? now === "descending" : head.dataset.kind === "text");
    };
    head.addEventListener("click", turn);
    head.addEventListener("keydown", (event) => { if (event.key === "Enter") turn(); });
  });
  choice.addEventListener("change", () => sort(Number(choice.value), heads[choice.value].dataset.kind === "text"));
  choice.value = String(heads.findIndex((head) => head.hasAttribute("aria-sort")));
  search.addEventListener("input", filter);
  search.value = decodeURIComponent(location.hash.slice(1));
  filter();
})();
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
    const target = (row && row.querySelector(`[data-key="${CSS.escape(event.key)}"]`)) || document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
    if (act) { event.preventDefault(); act(); } else if (target) { event.preventDefault(); target.click(); }
  });

  if (queued().length) sendQueued();
})();
