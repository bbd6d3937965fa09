// Ctrl or ⌘ with K: every incident that the viewer may see, and everything that can be done or opened from this page.
// Actions are read off the page's own controls, so nothing is offered here that the page does not offer.
const palette = document.getElementById("palette");
const box = document.getElementById("palette-box");
const list = document.getElementById("palette-list");
const count = document.getElementById("palette-count");
const CONTROLS = "#head .acts > a, #head .menu-list a, .bar > .button, .bar nav a, .who .menu-list :is(a, button), [data-verb]";
const RESTS_MS = 120;
const NOTHING = "Nothing matches. Enter searches the text of all incidents.";
let options = [], at = 0, waiting, asking;

const said = (node) => {
  const own = node.cloneNode(true);
  for (const one of own.querySelectorAll("kbd, .number")) one.remove();
  return (node.dataset.verb ?? own.textContent).replace(/\s+/g, " ").trim();
};

function doable(words) {
  const found = new Map();
  for (const node of document.querySelectorAll(CONTROLS)) {
    const label = said(node);
    if (label && !node.matches("[data-palette]") && !found.has(label)) found.set(label, node);
  }
  return [...found]
    .filter(([label]) => words.every((word) => label.toLowerCase().includes(word)))
    .map(([label, node]) => ({ label, hint: node.closest("#head, #composer") ? "This incident" : "Go to", act: () => use(node) }));
}

function use(node) {
  if (node.matches("textarea, input")) node.focus();
  else node.click();
}

function incidents(rows) {
  return rows.map((one) => ({
    label: one.title,
    hint: `${one.type} · ${one.state} · ${one.codename}`,
    of: one.codename,
    act: () => location.assign(one.url),
  }));
}

function show(found) {
  options = found;
  at = 0;
  list.replaceChildren(...options.map((one, n) => {
    const row = document.createElement("li");
    row.id = `palette-${n}`;
    row.role = "option";
    if (one.of) row.dataset.incident = one.of;
    const label = document.createElement("span"), hint = document.createElement("small");
    [label.textContent, hint.textContent] = [one.label, one.hint];
    label.dir = "auto";
    row.append(label, hint);
    return row;
  }));
  count.textContent = options.length === 1 ? "1 result" : options.length ? `${options.length} results` : NOTHING;
  count.classList.toggle("unseen", options.length > 0);
  point(0);
  document.dispatchEvent(new CustomEvent("firekind:shown"));
}

function point(to) {
  at = options.length ? (to + options.length) % options.length : 0;
  [...list.children].forEach((row, n) => row.setAttribute("aria-selected", String(n === at)));
  const row = list.children[at];
  row?.scrollIntoView({ block: "nearest" });
  if (row) box.setAttribute("aria-activedescendant", row.id);
  else box.removeAttribute("aria-activedescendant");
}

async function look() {
  const asked = box.value.trim(), words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  asking?.abort();
  asking = new AbortController();
  let rows = [];
  try {
    const answer = await fetch(`${palette.dataset.from}?q=${encodeURIComponent(asked)}`, { signal: asking.signal });
    if (answer.ok) rows = (await answer.json()).incidents;
  } catch (error) {
    if (error.name === "AbortError") return;
  }
  const verbs = doable(words);
  show(words.length ? [...verbs, ...incidents(rows)] : [...verbs.filter((one) => one.hint === "This incident"), ...incidents(rows), ...verbs.filter((one) => one.hint !== "This incident")]);
}

function open() {
  if (document.querySelector("dialog[open]")) return;
  box.value = "";
  show(doable([]));
  palette.showModal();
  box.focus();
  look();
}

function choose(n) {
  const chosen = options[n];
  if (!chosen) return location.assign(`/?q=${encodeURIComponent(box.value.trim())}`);
  palette.close();
  chosen.act();
}

if (palette) {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (palette.open) palette.close();
      else open();
    }
  });
  document.addEventListener("click", (event) => { if (event.target.closest("[data-palette]")) open(); });
  document.addEventListener("firekind:closed", () => { if (palette.open) look(); });
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, RESTS_MS);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") point(at + 1);
    else if (event.key === "ArrowUp") point(at - 1);
    else if (event.key === "Enter") choose(at);
    else if (event.key === "Escape") palette.close();  // Escape in a search field would only empty it
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", (event) => choose([...list.children].indexOf(event.target.closest("li"))));
}
