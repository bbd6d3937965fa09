// A URL that ends in #e12 shows that entry, wherever it is: folded, or further back than the page goes.
const sifted = () => document.getElementById("sifted");

function show(entry) {
  for (let one = entry.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
  for (const other of document.querySelectorAll(".sought")) other.classList.remove("sought");
  entry.classList.add("sought");
  entry.scrollIntoView({ block: "center" });
}

function seek() {
  const n = location.hash.match(/^#e([0-9]+)$/)?.[1];
  if (!n || !sifted()) return;
  history.scrollRestoration = "manual"; // otherwise a reloaded page returns to its scroll position
  const entry = document.getElementById(`e${n}`);
  if (entry?.checkVisibility() || entry?.closest("details")) return show(entry);
  const address = new URL("timeline", new URL(location.pathname, location.origin));
  htmx.ajax("GET", `${address.pathname}?n=${n}`, { target: "#sifted" }).then(() => {
    const found = sifted().querySelector(`#e${n}`);
    if (found) show(found);
  });
}

function latest() {
  sifted().replaceChildren();
  sifted().dispatchEvent(new CustomEvent("firekind:emptied", { bubbles: true }));
  document.getElementById("sift")?.reset();
}

addEventListener("hashchange", seek);
addEventListener("DOMContentLoaded", seek);
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-latest]") || !document.getElementById("newest")) return;
  latest();
});
