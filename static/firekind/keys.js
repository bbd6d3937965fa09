// Keyboard shortcuts. An element gives its own in data-key; "g l" is two strokes. None while someone is typing, and
// none for the letters of a sentence typed where nothing accepts it: a shortcut that opens a form waits for a short
// pause, and the Enter at the end of such a sentence sends nothing.
const OFF = "single-keys-off";
const SPRUNG = "sprung";
const QUIET_MS = 700; // between two keys: less than this, and they belong to one sentence
const RESTS_MS = 500; // if nothing follows within this time, a letter was meant as a shortcut
const ONLY_SHOWS = "textarea, input, [data-act]";
const single = document.querySelector("[data-single]");
let first = "";
let asked = 0; // dialogs being requested: keys typed meanwhile are meant for them
let waiting, pending;
let last = -Infinity; // when a character was typed
let typedAt; // what had the focus then
let sprung = false; // a shortcut opened what is open, and there was no pause since

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

function press(node) {
  if (node.matches("textarea, input")) node.focus();
  else node.click();
}

// What a stroke does, and whether that opens something that can be submitted.
function found(stroke) {
  if (stroke === "?") return { does: () => document.getElementById("keys").showModal() };
  if (stroke === "/") {
    const search = document.getElementById("q");
    return { does: () => (search ? search.focus() : location.assign("/#q")) };
  }
  const node = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === stroke);
  return node && { does: () => press(node), opens: !node.matches(ONLY_SHOWS), leaves: !node.hasAttribute("hx-get") };
}

function open(stroke, { does, leaves }) {
  if (stroke.length === 1) { // two strokes lead to a list, where nothing can be submitted
    sprung = true;
    if (leaves) sessionStorage.setItem(SPRUNG, last); // for the page that it leads to
  }
  does();
}

function rest() {
  clearTimeout(pending);
  last = -Infinity;
  sprung = false;
}

// Enter and Space at the end of a sentence that nothing accepted, or that went where one of its letters led.
function strays(event, isFast) {
  if (!isFast || event.target.matches("textarea")) return false;
  if (typing(event)) return event.key === "Enter" && sprung;
  return event.target === typedAt && (event.key === "Enter" || event.key === " ");
}

document.addEventListener("keydown", (event) => {
  const now = Date.now(), isFast = now - last < QUIET_MS;
  if (event.isComposing) return;
  if (!isFast) sprung = false;
  if (strays(event, isFast)) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
  const isCommand = event.ctrlKey || event.metaKey; // not part of a sentence, like keys that move the focus
  if (isCommand || event.key === "Tab" || event.key === "Escape" || event.key.startsWith("Arrow")) rest();
}, { capture: true });
document.addEventListener("pointerdown", rest, { capture: true });

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && event.target.matches("[data-send]")) {
    event.preventDefault();
    const form = event.target.form;
    form.requestSubmit(form.querySelector("[data-first]") ?? form.querySelector("button:not([type=button])"));
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.key.length !== 1) return;
  const now = Date.now(), isFast = now - last < QUIET_MS;
  const stroke = first ? `${first} ${event.key}` : event.key, isSecond = first !== "";
  first = "";
  clearTimeout(waiting);
  clearTimeout(pending);
  if (event.key !== " " || isFast) last = now;
  typedAt = event.target;
  if (event.defaultPrevented || !single.checked || asked || typing(event) || document.querySelector("dialog[open]")) return;
  if (isFast && !isSecond) return;
  if (stroke === "j" || stroke === "k") {
    last = -Infinity; // a shortcut is not a typed letter
    if (step(stroke === "j" ? 1 : -1)) event.preventDefault();
    return;
  }
  if (stroke === "g") {
    first = "g";
    waiting = setTimeout(() => { first = ""; }, 1200);
    return;
  }
  const what = found(stroke);
  if (!what) return;
  event.preventDefault();
  if (what.opens) pending = setTimeout(() => open(stroke, what), RESTS_MS);
  else what.does();
});
document.addEventListener("htmx:beforeSend", ({ detail }) => {
  if (detail.target.id !== "dialog") return;
  asked += 1;
  first = "";
  detail.xhr.addEventListener("loadend", () => { asked -= 1; });
});
const before = Number(sessionStorage.getItem(SPRUNG));
if (before) {
  [last, sprung] = [before, true];
  document.documentElement.dataset.byKey = "";
  sessionStorage.removeItem(SPRUNG);
}
single.checked = !localStorage.getItem(OFF);
single.addEventListener("change", () => {
  if (single.checked) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, "1");
});
if (location.hash === "#q") document.getElementById("q")?.focus();
