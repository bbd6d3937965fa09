// Keeps choices made while a search is under way: the response only knows the state when it was requested.
const OPTIONS = "options";
let rows = [];

const inputs = (list) => [...list.querySelectorAll("input[value]")];

document.addEventListener("htmx:beforeSwap", (event) => {
  const list = event.detail.target;
  if (list.id === OPTIONS) rows = inputs(list).filter((one) => one.checked).map((one) => one.closest("li"));
});
document.addEventListener("htmx:afterSwap", (event) => {
  const list = event.detail.target;
  if (list.id !== OPTIONS) return;
  const chosen = new Map(rows.map((row) => [row.querySelector("input").value, row]));
  for (const one of inputs(list)) {
    one.checked = chosen.has(one.value);
    chosen.delete(one.value);
  }
  list.prepend(...chosen.values());
});
