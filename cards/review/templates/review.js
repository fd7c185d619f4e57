"use strict";
(() => {
  const table = document.getElementById("configs");
  if (!table) {
    document.addEventListener("keydown", (event) => {
      const link = document.getElementById({ArrowLeft: "before", ArrowRight: "after"}[event.key] || "");
      if (link && !event.altKey && !event.ctrlKey && !event.metaKey) location.href = link.href;
    });
    return;
  }
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
