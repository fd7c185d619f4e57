// What screen readers and keyboards need and the theme lacks: a name for the search, and tables that scroll by key.
const name = () => {
  document.querySelectorAll(".md-search").forEach((search) => search.setAttribute("aria-label", "Search"));
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((table) => table.setAttribute("tabindex", "0"));
  document.querySelectorAll(".md-code__nav").forEach((nav, n) => nav.setAttribute("aria-label", `Code ${n + 1}`));
};
new MutationObserver(name).observe(document.documentElement, { childList: true, subtree: true });
name();
