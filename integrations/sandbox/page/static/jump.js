// Ctrl K: go to a channel by a few letters of its name.

import { go } from "./live.js";

const dialog = document.getElementById("jump");
const find = dialog.querySelector("input");
const list = dialog.querySelector("ul");
let chosen = 0;

export function start() {
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    if (document.querySelector("dialog[open]")) return;
    find.value = "";
    draw();
    dialog.showModal();
  });
  find.addEventListener("input", () => {
    chosen = 0;
    draw();
  });
  find.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    chosen = (chosen + step + list.children.length) % list.children.length || 0;
    draw();
  });
  dialog.querySelector("form").addEventListener("submit", () => take(list.children[chosen]));
  list.addEventListener("click", (event) => take(event.target.closest("li")));
}

function draw() {
  const words = find.value.trim().toLowerCase();
  const entries = [...document.querySelectorAll(".side-scroll .entry")];
  const found = entries.filter((entry) => entry.querySelector(".entry-name").textContent.toLowerCase().includes(words));
  list.replaceChildren(...found.slice(0, 9).map(row));
  list.children[chosen]?.scrollIntoView({ block: "nearest" });
}

function row(entry, n) {
  const item = document.createElement("li");
  item.role = "option";
  item.id = `jump-${n}`;
  item.dataset.to = entry.getAttribute("href");
  item.setAttribute("aria-selected", String(n === chosen));
  item.append(entry.querySelector(".icon").cloneNode(true), entry.querySelector(".entry-name").textContent);
  if (n === chosen) find.setAttribute("aria-activedescendant", item.id);
  return item;
}

function take(item) {
  dialog.close();
  if (item) go(item.dataset.to);
}
