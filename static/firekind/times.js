// Times in the reader's zone. The server gets the zone in a cookie and uses it from the next page on; until then this
// module rewrites the server's times. It also keeps ages and due times running by the server's clock: each response
// shows how far this clock is off. Until the first one, the server's text stays for a while.
const PATIENCE_MS = 20_000, SMALL_MS = 10_000;
const secure = location.protocol === "https:";
const cookie = `${secure ? "__Host-" : ""}zone=`;
const told = document.cookie.split("; ").find((one) => one.startsWith(cookie));
let zone = told ? told.slice(cookie.length) : whereHere();

// Called after the first paint if the zone is already known: the first call takes tens of milliseconds on a phone.
function whereHere() {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  const kept = `${cookie}${here}`;
  if (told !== kept) document.cookie = `${kept}; path=/; max-age=31536000; samesite=lax${secure ? "; secure" : ""}`;
  return here;
}

const shapes = {
  clock: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  moment: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  dated: { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  whole: { dateStyle: "full", timeStyle: "long" },
};
const formats = {}; // created on demand: one takes tens of milliseconds on a phone

function said(shape, at) {
  formats[shape] ??= new Intl.DateTimeFormat("en-GB", shapes[shape]);
  return formats[shape].format(at);
}

function span(seconds) {
  const minutes = Math.floor(seconds / 60), hours = Math.floor(seconds / 3600), days = Math.floor(seconds / 86400);
  if (minutes < 1) return "under a minute";
  if (hours < 1) return `${minutes} min`;
  if (days < 1) return `${hours} h${minutes % 60 ? ` ${minutes % 60} min` : ""}`;
  return `${days} d${days < 10 && hours % 24 ? ` ${hours % 24} h` : ""}`;
}

function write(node, words) {
  if (node.textContent !== words) node.textContent = words;
}

let ahead; // of the server's clock, in milliseconds

function heard({ detail }) {
  if (detail.isForeign) return;
  const off = Date.now() - Date.parse(detail.xhr.getResponseHeader("Date"));
  if (!Number.isFinite(off)) return;
  ahead = Math.abs(off) > SMALL_MS ? off : 0; // not counting the time that a response takes
  tick();
}

function tick() {
  if (ahead === undefined) return;
  const now = Date.now() - ahead;
  for (const node of document.querySelectorAll("[data-since]")) {
    write(node, span(Math.max(0, (now - Date.parse(node.dataset.since)) / 1000)));
  }
  for (const node of document.querySelectorAll("[data-due]")) {
    const left = (Date.parse(node.dataset.due) - now) / 1000;
    write(node, left >= 0 ? `in ${span(left)}` : `${span(-left)} overdue`);
    node.classList.toggle("overdue", left < 0);
  }
}

// A prefilled time follows the zone until someone changes it: what they typed stays in the zone that they read.
function meant(field) {
  const time = field.form.querySelector("input[type=datetime-local]");
  const isFilledIn = time.value === time.defaultValue;
  if (isFilledIn && time.dataset.at) time.value = time.defaultValue = asTyped(new Date(time.dataset.at));
  if (isFilledIn && (time.dataset.at || !time.value)) field.value = zone;
  for (const node of field.form.querySelectorAll("[data-zone-name]")) write(node, field.value);
}

function asTyped(at) {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit",
    hourCycle: "h23",
  }).formatToParts(at);
  const of = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  return `${of.year}-${of.month}-${of.day}T${of.hour}:${of.minute}`;
}

function localise() {
  if (document.documentElement.dataset.zone !== zone) {
    for (const node of document.querySelectorAll("time[data-show]")) {
      const at = new Date(node.dateTime);
      // After the first text there may be seconds, for screen readers.
      const isOfAnotherYear = node.dataset.show === "moment" && at.getFullYear() !== new Date().getFullYear();
      const words = said(isOfAnotherYear ? "dated" : node.dataset.show, at);
      if (node.firstChild.data !== words) node.firstChild.data = words;
      node.title = said("whole", at);
      node.querySelector(".twice")?.remove(); // which of two hours it was in the server's zone
    }
    for (const node of document.querySelectorAll("[data-zone-name]")) write(node, zone);
    for (const field of document.querySelectorAll("input[data-zone-sent]")) meant(field);
  }
  tick();
}

function moved() {
  const here = whereHere();
  if (here === zone) return;
  zone = here;
  localise();
}

localise();
if (told) requestAnimationFrame(() => setTimeout(moved));
setInterval(tick, 5000);
setTimeout(() => { ahead ??= 0; }, PATIENCE_MS);
document.addEventListener("htmx:afterRequest", heard);
document.addEventListener("htmx:afterSettle", localise);
document.addEventListener("visibilitychange", tick);
