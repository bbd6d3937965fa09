// Reactions, the menu of a message, and the small buttons that do one thing.

import { act, ask } from "./acting.js";
import { go, refresh } from "./live.js";

let about = null;
let opener = null;

export function start() {
  document.addEventListener("click", clicked);
  document.addEventListener("keydown", arrows);
  for (const pop of document.querySelectorAll(".pop")) {
    pop.addEventListener("toggle", ({ newState }) => {
      if (newState === "closed") document.querySelector(".menu-open")?.classList.remove("menu-open");
    });
  }
  document.querySelector("#palette form").addEventListener("submit", (event) => {
    event.preventDefault();
    react(event.target.elements[0].value.replaceAll(":", ""));
    event.target.reset();
  });
}

function clicked(event) {
  const on = (selector) => event.target.closest(selector);
  let found;
  if ((found = on("[data-palette]"))) return open("palette", found);
  if ((found = on("[data-emoji]"))) return react(found.dataset.emoji);
  if ((found = on("[data-more]"))) return menu(found, found.closest(".tools").querySelector("template"));
  if ((found = on("[data-shortcuts]"))) return menu(found, found.nextElementSibling);
  if ((found = on("[data-go]"))) return chosen(() => go(found.dataset.go));
  if ((found = on("[data-shortcut]"))) return chosen(() => act("shortcut", { callback_id: found.dataset.shortcut, ...about }));
  if ((found = on("[data-global-shortcut]"))) return chosen(() => act("shortcut", { callback_id: found.dataset.globalShortcut }));
  if ((found = on("[data-do]"))) return chosen(() => done(found));
  if (on("[data-act]")) return;
  const link = on("a[href^='/?'], a[href='/']");
  if (link && !event.metaKey && !event.ctrlKey && !link.target) {
    event.preventDefault();
    link.closest("details.switch")?.removeAttribute("open");
    return go(link.href);
  }
}

function open(id, button) {
  const pop = document.getElementById(id);
  const line = button.closest(".line");
  if (line) about = { channel: document.body.dataset.channel, ts: line.dataset.ts };
  line?.classList.add("menu-open");
  opener = button;
  pop.showPopover();
  const at = button.getBoundingClientRect();
  const room = { width: pop.offsetWidth, height: pop.offsetHeight };
  const top = at.bottom + room.height + 8 < innerHeight ? at.bottom + 4 : Math.max(8, at.top - room.height - 4);
  pop.style.top = `${top}px`;
  pop.style.left = `${Math.max(8, Math.min(at.right - room.width, innerWidth - room.width - 8))}px`;
  pop.querySelector("button")?.focus();
}

function menu(button, template) {
  const list = document.getElementById("more");
  list.role = "menu";
  list.replaceChildren(template.content.cloneNode(true));
  open("more", button);
}

function chosen(what) {
  for (const pop of document.querySelectorAll(":popover-open")) pop.hidePopover();
  return what();
}

function react(name) {
  return chosen(() => act("react", { ...about, name }));
}

async function done(item) {
  const what = item.dataset.do;
  if (what === "palette") return open("palette", opener);
  if (what === "edit") return edit(item.dataset.text);
  if (what === "delete" && !(await ask({ title: "Delete this message?", text: "It cannot be brought back.", yes: "Delete", style: "danger" }))) return;
  await act(what, about);
}

function edit(text) {
  const place = about;
  const body = document.querySelector(`#m-${CSS.escape(place.ts)} .said-body, #t-${CSS.escape(place.ts)} .said-body`);
  const line = body.closest(".line");
  line.dataset.keep = "";
  const form = document.createElement("form");
  form.className = "composer";
  const area = Object.assign(document.createElement("textarea"), { value: text, rows: 2 });
  area.setAttribute("aria-label", "Edit the message");
  form.append(area);
  body.querySelector(".words")?.replaceWith(form);
  area.focus();
  area.setSelectionRange(text.length, text.length);
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    if (event.key === "Enter" && event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    delete line.dataset.keep;
    form.replaceWith(Object.assign(document.createElement("div"), { className: "words" }));
    if (event.key === "Enter" && area.value.trim()) act("edit", { ...place, text: area.value.trim() });
    else refresh();
  });
}

// Menus move by arrow keys, the list of messages by j and k.
function arrows(event) {
  const pop = event.target.closest?.(".pop");
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (!pop || !step || event.target.localName === "input") return;
  event.preventDefault();
  const items = [...pop.querySelectorAll("button")];
  items[(items.indexOf(event.target) + step + items.length) % items.length]?.focus();
}
