// Keyboard shortcuts. An element says its own in data-key; "g l" is two strokes. None while something is typed.
const OFF = "single-keys-off";
const single = document.querySelector("[data-single]");
let first = "";
let asked = 0; // requests for a dialog that are under way: what is typed meanwhile is meant for it
let waiting;

function typing(event) {
  return event.target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]");
}

function step(by) {
  const rows = [...document.querySelectorAll("[data-row]")];
  if (!rows.length) return false;
  const at = rows.indexOf(document.activeElement);
  rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + by))].focus();
  return true;
}

function act(stroke) {
  if (stroke === "?") return document.getElementById("keys").showModal() ?? true;
  if (stroke === "j" || stroke === "k") return step(stroke === "j" ? 1 : -1);
  if (stroke === "/") {
    const search = document.getElementById("q");
    if (search) search.focus();
    else location.assign("/#q");
    return true;
  }
  const node = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === stroke);
  if (!node) return false;
  if (node.matches("textarea, input")) node.focus();
  else node.click();
  return true;
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && event.target.matches("[data-send]")) {
    event.preventDefault();
    const form = event.target.form;
    form.requestSubmit(form.querySelector("[data-first]") ?? form.querySelector("button:not([type=button])"));
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (!single.checked || asked || typing(event) || document.querySelector("dialog[open]")) return;
  const stroke = first ? `${first} ${event.key}` : event.key;
  first = "";
  clearTimeout(waiting);
  if (event.key === "g" && stroke === "g") {
    first = "g";
    waiting = setTimeout(() => { first = ""; }, 1200);
    return;
  }
  if (act(stroke)) event.preventDefault();
});
document.addEventListener("htmx:beforeSend", ({ detail }) => {
  if (detail.target.id !== "dialog") return;
  asked += 1;
  first = "";
  detail.xhr.addEventListener("loadend", () => { asked -= 1; });
});
single.checked = !localStorage.getItem(OFF);
single.addEventListener("change", () => {
  if (single.checked) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, "1");
});
if (location.hash === "#q") document.getElementById("q")?.focus();
