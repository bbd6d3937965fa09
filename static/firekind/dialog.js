// Links that load into #dialog open it; finishing there closes it. Also menus, messages and the list of shortcuts.
const dialog = document.getElementById("dialog");
const toast = document.getElementById("toast");
const REFUSED = { 403: "You don't have permission. Reload the page and try again.", 404: "This no longer exists." };
const UNSURE = "No answer from Firekind. It may have arrived: look before you send it again.";
let fading;

// Success messages fade; errors stay until they are clicked, or something else is sent.
function say(words, { isWrong = false } = {}) {
  (dialog.open ? dialog : document.body).append(toast); // outside an open dialog nothing is seen or read aloud
  toast.textContent = words;
  toast.classList.remove("gone");
  clearTimeout(fading);
  if (!isWrong) fading = setTimeout(hush, 5000);
}

function hush() {
  toast.classList.add("gone");
}

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target !== dialog) return;
  const wrong = dialog.querySelector("[aria-invalid=true]");
  if (dialog.open) return (wrong ?? dialog.querySelector("[data-first], [data-close]"))?.focus();
  dialog.showModal();
  // The first field to write in; if a person is already picked where one is picked first, the confirm button.
  const first = dialog.querySelector("[autofocus], textarea, input:not([type=hidden]), select");
  const isPicked = first?.closest(".picking") && dialog.querySelector(".picking :checked");
  (wrong ?? (isPicked ? dialog.querySelector("[data-first]") : first))?.focus();
});
document.addEventListener("firekind:did", (event) => {
  if (dialog.open) dialog.close();
  document.querySelector("main > .said")?.remove(); // it was about something earlier
  say(event.detail.said);
});
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.elt.matches("[data-poll]")) return;
  const status = event.detail.xhr.status;
  const isDoubtful = status >= 500 && event.detail.requestConfig.verb !== "get";
  const advice = isDoubtful ? "It may have been saved: look before you send it again." : "Try again.";
  say(REFUSED[status] ?? `Something went wrong. ${advice}`, { isWrong: true });
});
document.addEventListener("firekind:unsure", () => say(UNSURE, { isWrong: true }));
// Without a response no one knows whether it was done: the server may have ended in between.
function unanswered({ detail }) {
  if (detail.elt.matches("[data-poll]")) return;
  const isRead = detail.requestConfig.verb === "get";
  const wrong = !navigator.onLine ? "You're offline. Nothing was sent." : isRead ? "No answer from Firekind. Try again in a moment." : UNSURE;
  say(wrong, { isWrong: true });
}
for (const what of ["htmx:sendError", "htmx:timeout", "firekind:unanswered"]) document.addEventListener(what, unanswered);
document.addEventListener("htmx:beforeRequest", ({ detail }) => { if (!detail.elt.matches("[data-poll]") && detail.requestConfig.verb !== "get") hush(); });
toast.addEventListener("click", hush);

for (const one of document.querySelectorAll("dialog")) {
  one.addEventListener("click", (event) => {
    if (event.target === one && !one.querySelector("textarea")?.value) one.close();
  });
}
dialog.addEventListener("close", () => { if (!dialog.open) dialog.replaceChildren(); }); // may already hold the next
document.addEventListener("click", (event) => {
  if (dialog.open && event.target.closest("[data-close]")) {
    event.preventDefault();
    dialog.close();
  }
  if (event.target.closest("[data-help]")) document.getElementById("keys").showModal();
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    const inside = menu.contains(event.target);
    if (!inside || event.target.closest(".menu-list a, .menu-list button")) menu.open = false;
  }
});
// Arrow keys, Home and End move through a menu; Down or Up on its button enters it. Fields keep these keys.
document.addEventListener("keydown", (event) => {
  const menu = event.target.closest("details.menu");
  if (!menu || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
  const isIn = menu.open && event.target.matches(".menu-list *");
  if (!["ArrowDown", "ArrowUp", ...(isIn ? ["Home", "End"] : [])].includes(event.key)) return;
  event.preventDefault();
  menu.open = true;
  const entries = [...menu.querySelectorAll(".menu-list :is(a, button, input:not([type=hidden]))")];
  const at = entries.indexOf(event.target), last = entries.length - 1;
  const to = { Home: 0, End: last, ArrowDown: at < last ? at + 1 : 0, ArrowUp: at > 0 ? at - 1 : last }[event.key];
  entries[to]?.focus({ preventScroll: true });
  entries[to]?.scrollIntoView({ block: "nearest" });
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
