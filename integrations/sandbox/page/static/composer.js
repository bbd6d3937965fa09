// The message box: sends messages and commands, suggests what can be typed. Up edits one's last message.

import { act, toast, who } from "./acting.js";

const drafts = new Map();
let offered = { commands: [], people: [], groups: [], channels: [] };
let chosen = 0;
let picked = false; // whether the one that is chosen was chosen by hand
let shown = [];

const place = () => `${document.body.dataset.channel}`;
const box = () => document.getElementById("composer");
const list = () => document.getElementById("suggestions");

export async function fresh({ moved }) {
  if (!moved) return;
  offered = await (await fetch(`/page/hints?as=${encodeURIComponent(who())}`)).json();
  const typed = box();
  if (!typed) return;
  typed.value = drafts.get(place()) ?? "";
  grow(typed);
  if (matchMedia("(hover: hover)").matches && !document.querySelector("dialog[open]")) typed.focus({ preventScroll: true });
}

export function start() {
  document.addEventListener("submit", submitted);
  document.addEventListener("keydown", pressed);
  document.addEventListener("input", ({ target }) => {
    if (!target.closest?.(".composer")) return;
    grow(target);
    if (target !== box()) return;
    drafts.set(place(), target.value);
    suggest();
  });
  document.addEventListener("mousedown", (event) => {
    const option = event.target.closest?.("#suggestions [role=option]");
    if (!option) return;
    event.preventDefault();
    take(Number(option.dataset.n));
  });
  document.addEventListener("focusout", ({ target }) => target === box() && close());
}

function grow(area) {
  if (CSS.supports("field-sizing", "content")) return;
  area.rows = Math.min(10, area.value.split("\n").length);
}

async function submitted(event) {
  const form = event.target.closest(".composer");
  if (!form) return;
  event.preventDefault();
  const area = form.querySelector("textarea");
  const text = area.value.trim();
  if (!text || form.classList.contains("waiting")) return;
  const channel = place();
  const thread_ts = form.dataset.thread ?? "";
  const command = text.startsWith("/");
  if (command && thread_ts) return toast("Commands cannot be used inside a thread.");
  area.value = "";
  drafts.delete(channel);
  grow(area);
  close();
  form.classList.add("waiting");
  const answer = await act(command ? "command" : "message", { channel, text, ...(thread_ts && { thread_ts }) });
  form.classList.remove("waiting");
  if (!answer.ok && !answer.status && !area.value) area.value = text;
  document.getElementById("scroll")?.scrollTo({ top: 1e9 });
}

function pressed(event) {
  const area = event.target.closest?.(".composer textarea");
  if (!area || event.isComposing) return;
  if (area === box() && shown.length) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      chosen = marked() || step < 0 ? (chosen + step + shown.length) % shown.length : 0;
      picked = true;
      return draw();
    }
    const done = shown[chosen].insert.trim() === area.value.trim();
    if (event.key === "Tab" || (event.key === "Enter" && marked() && !done)) {
      event.preventDefault();
      return take(chosen);
    }
    if (event.key === "Escape") return close();
  }
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    area.form.requestSubmit();
  }
}

// Enter sends a command as it is typed, as in Slack: it completes a name, and what was chosen by hand.
function marked() {
  return picked || !/^\/\S+\s/.test(box().value) || /[@#]/.test(shown[chosen].insert[0]);
}

function suggest() {
  const area = box();
  const before = area.value.slice(0, area.selectionStart);
  shown = [];
  const name = /(?:^|\s)([@#])([\w.-]*)$/.exec(before);
  if (before.startsWith("/") && !before.includes("\n")) {
    shown = offered.commands
      .filter((one) => one.usage.startsWith(before) || (one.hint && before.startsWith(one.usage) && before === one.usage))
      .map((one) => ({ insert: one.usage, from: 0, name: one.usage.trim(), hint: one.hint ?? "", says: one.says }));
    const whole = offered.commands.find((one) => one.usage.trim() === before.trim() && !one.hint);
    if (whole && shown.length === 1) shown = [];
  }
  if (!shown.length && name) {
    const source = name[1] === "#" ? offered.channels : [...offered.people, ...offered.groups];
    const typed = name[2].toLowerCase();
    shown = source
      .filter((one) => one.name.startsWith(typed) || one.says.toLowerCase().split(" ").some((word) => word.startsWith(typed)))
      .slice(0, 8)
      .map((one) => ({ insert: `${name[1]}${one.name} `, from: before.length - name[2].length - 1, name: name[1] + one.name, hint: "", says: one.says }));
  }
  chosen = 0;
  picked = false;
  draw();
}

function draw() {
  list().replaceChildren(...shown.map(option));
  list().hidden = !shown.length;
  if (shown.length && marked()) box().setAttribute("aria-activedescendant", `suggestion-${chosen}`);
  else box().removeAttribute("aria-activedescendant");
  list().children[chosen]?.scrollIntoView({ block: "nearest" });
}

function option(one, n) {
  const row = document.createElement("div");
  row.id = `suggestion-${n}`;
  row.role = "option";
  row.dataset.n = n;
  row.setAttribute("aria-selected", String(n === chosen && marked()));
  const name = document.createElement("b");
  name.append(one.name);
  if (one.hint) name.append(" ", Object.assign(document.createElement("i"), { textContent: one.hint }));
  row.append(name, Object.assign(document.createElement("small"), { textContent: one.says }));
  return row;
}

function take(n) {
  const area = box();
  const { insert, from } = shown[n];
  area.setRangeText(insert, from, area.selectionStart, "end");
  drafts.set(place(), area.value);
  close();
  area.focus();
}

function close() {
  shown = [];
  if (list()) draw();
}
