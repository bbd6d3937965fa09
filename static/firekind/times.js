// Times in the reader's zone. The server is told the zone in a cookie and writes it from the next page on;
// until then this module rewrites what it wrote. It also keeps ages and due times going, by the server's clock: each of
// its answers says how far this one is off. Before the first of them, what the server wrote stands for a while.
const PATIENCE_MS = 20_000, SMALL_MS = 10_000;
const secure = location.protocol === "https:";
const cookie = `${secure ? "__Host-" : ""}zone=`;
const told = document.cookie.split("; ").find((one) => one.startsWith(cookie));
let zone = told ? told.slice(cookie.length) : whereHere();

// Asked after the first paint where it was told before: the first answer takes a phone tens of milliseconds.
function whereHere() {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  const kept = `${cookie}${here}`;
  if (told !== kept) document.cookie = `${kept}; path=/; max-age=31536000; samesite=lax${secure ? "; secure" : ""}`;
  return here;
}

const shapes = {
  clock: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  moment: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  whole: { dateStyle: "full", timeStyle: "long" },
};
const formats = {}; // made once they are needed: one takes a phone tens of milliseconds

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
  const off = Date.now() - Date.parse(detail.xhr.getResponseHeader("Date"));
  if (!Number.isFinite(off)) return;
  ahead = Math.abs(off) > SMALL_MS ? off : 0; // what an answer takes on its way is none of it
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

// A time that is filled in follows, until somebody changed it: what they typed stays in the zone that they read.
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
      // Beside the first text there may be the seconds, for those who hear it.
      const words = said(node.dataset.show, at);
      if (node.firstChild.data !== words) node.firstChild.data = words;
      node.title = said("whole", at);
      node.querySelector(".twice")?.remove(); // which of two hours it was in the zone that the server wrote for
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
