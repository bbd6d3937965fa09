// Says that the page cannot get news, and since when, because what it shows may be old. Each source of news counts on
// its own, so one that works does not clear the warning of another. Also prevents submitting a form twice.
const banner = document.getElementById("offline");
const WAYS = "[data-poll]";
const ANSWERS_MS = 20000; // someone who stopped waiting, or received a file, may submit the form again
const LATE_MS = 15000, WATCHES_MS = 2000;
const heardAt = new Map(), missing = new Set(); // by source: when its last news arrived

const way = (node) => node.id || node.getAttribute("hx-get");

function heard(name) {
  heardAt.set(name, Date.now());
  if (!missing.delete(name)) return;
  banner.hidden = !missing.size;
  look();
}

function unheard(name) {
  if (missing.has(name)) return;
  if (missing.add(name).size === 1) say(new Date(heardAt.get(name) ?? performance.timeOrigin));
}

function say(at) {
  const day = at.toDateString() === new Date().toDateString() ? {} : { day: "numeric", month: "short" };
  const since = new Intl.DateTimeFormat("en-GB", { ...day, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(at);
  banner.lastElementChild.textContent = `No connection since ${since}. This page may be out of date. Reconnecting…`;
  banner.hidden = false;
}

function look() {
  document.dispatchEvent(new CustomEvent("firekind:changed"));
}

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!detail.elt.matches(WAYS)) return;
  const { status } = detail.xhr;
  if (status === 0 || status >= 500 || detail.isForeign) unheard(way(detail.elt));
  else heard(way(detail.elt));
});
// A source that is gone, such as a closed dialog's, is not missed.
document.addEventListener("htmx:afterSettle", () => {
  const here = new Set([...document.querySelectorAll(WAYS)].map(way));
  for (const name of missing) if (name !== "closings" && !here.has(name)) heard(name);
});
document.addEventListener("firekind:heard", () => heard("closings"));
document.addEventListener("firekind:unheard", () => unheard("closings"));
for (const what of ["online", "offline"]) addEventListener(what, look);

// Nothing fails where a network swallows everything, or while a laptop sleeps. What should have been heard by now is
// asked for once more, at once, before anything is said.
const every = (node) => 1000 * (/every (\d+)s/.exec(node.getAttribute("hx-trigger"))?.[1] ?? Infinity);
const overdue = new Set();

function watch() {
  if (document.hidden) return;
  for (const node of document.querySelectorAll(WAYS)) {
    const name = way(node), quiet = Math.abs(Date.now() - (heardAt.get(name) ?? performance.timeOrigin));
    if (quiet < every(node) + LATE_MS) overdue.delete(name);
    else if (overdue.has(name)) unheard(name);
    else if (overdue.add(name)) look();
  }
}

setInterval(watch, WATCHES_MS);

// htmx would queue a second submission until the first response, and send it then.
document.addEventListener("submit", (event) => {
  if (!event.target.matches(".htmx-request[hx-post]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, { capture: true });
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post" || form.hasAttribute("hx-post")) return;
  if (Date.now() - form.dataset.sent < ANSWERS_MS) return event.preventDefault();
  form.dataset.sent = Date.now();
});
// htmx tells of a request that failed or was cut off by its events, and also rejects a promise that no one has, with nothing.
addEventListener("unhandledrejection", (event) => { if (event.reason === undefined) event.preventDefault(); });

addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
document.documentElement.dataset.runs = ""; // the style sheet says that a page without this does not update
