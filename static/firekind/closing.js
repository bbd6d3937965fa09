// Removes incidents that the viewer may no longer see. A page about one is left at once, including a flame graph or
// anything else on it; elsewhere its row is removed. A hidden page hears nothing, and asks as soon as it is shown. The
// stream of a page that names many covers the first ones; the others are asked about in batches, in turn. A person who
// is no longer signed in is sent from any page to the sign-in, and back again.
const RESTS_MS = [1000, 2000, 5000, 15000];
const GATHERS_MS = 200; // several parts of a page that arrive one after the other are one change
const TURNS_MS = 5000, ANSWERS_MS = 10000;
const QUIET_MS = 32000; // a stream sends a heartbeat every 15 s; without one, the page asks as often
const OURS = /^(: firekind|(<!doctype html>)?<!--firekind-->)/i; // a proxy's or a portal's page proves nothing
const MOST = 100; // how many incidents a request may name
const NAMED = 'a[href^="/incidents/"], [data-incident]';
const ADDRESS = document.body.dataset.closings;
const about = document.body.dataset.about;
let asked = 0, renewing; // when this page was requested, in milliseconds from the browser's time origin
let source, shown = "", failures = 0, resting, gathering, round = 0, isLeft = false;
let heardAt = Date.now(), isMissing = false, isInDoubt = false, isAsking = false;

const codename = (node) => node.dataset.incident ?? node.getAttribute("href").split(/[/?#]/)[2];

function names() {
  // An incident's own page has a stream that says more.
  const own = about && !document.getElementById("live") ? [about] : [];
  const others = [...document.querySelectorAll(NAMED)].map(codename).filter((one) => one !== about);
  return [...new Set([...own, ...others])].filter(Boolean);
}

// By default to a URL where nothing is found now; a reload could resubmit a form.
async function leave(go = () => location.replace(`/incidents/${about}/`)) {
  if (isLeft) return;
  hide();
  if (!(await ask([]))) go();
}

function signOut() {
  hide();
  document.dispatchEvent(new CustomEvent("firekind:signed-out")); // saves what was typed
  location.replace(`/sign-in/?ended&${new URLSearchParams([["next", location.pathname + location.search]])}`);
}

function hide() {
  isLeft = true;
  end();
  document.documentElement.hidden = true; // even if the network fails
}

function heard() {
  heardAt = Date.now();
  isMissing = isInDoubt = false;
  document.dispatchEvent(new CustomEvent("firekind:heard"));
}

// A single request without a response, as from a server that is just starting, is repeated before anything is said.
function unheard() {
  isMissing = isInDoubt;
  isInDoubt = true;
  if (isMissing) document.dispatchEvent(new CustomEvent("firekind:unheard"));
}

function closed(name) {
  if (name === about) return leave();
  for (const node of document.querySelectorAll(NAMED)) {
    // A timeline entry belongs to this incident, and stays.
    if (codename(node) === name) (node.closest("li:not(.event), tr") ?? node).remove();
  }
  document.dispatchEvent(new CustomEvent("firekind:closed"));
}

function stop() {
  source?.close();
  source = null;
  clearTimeout(resting);
}

function end() {
  stop();
  round++;
}

function begin() {
  end();
  const all = names();
  shown = all.join(" ");
  if (!all.length || document.hidden || isLeft) return;
  connect(all.slice(0, MOST));
  askInTurns(all.slice(MOST));
}

const asking = (names) => `${ADDRESS}?${new URLSearchParams([...names.map((one) => ["of", one]), ["age", age()]])}`;
// The larger of two clocks: one stops while a laptop sleeps, the other may be set back.
const age = () => (Math.max(performance.now(), Date.now() - performance.timeOrigin) - asked) / 1000;

function connect(now) {
  stop();
  source = streamOf(() => listened(now));
}

function listened(now) {
  const stream = new EventSource(asking(now));
  stream.addEventListener("open", () => { failures = 0; });
  stream.addEventListener("here", heard); // access was checked; an open stream alone says nothing about the database
  stream.addEventListener("closed", (event) => closed(now[event.data]));
  stream.addEventListener("redacted", renew);
  stream.addEventListener("error", () => {
    stop();
    shaken();
    if (failures) ask(now);
    resting = setTimeout(connect, RESTS_MS[Math.min(failures++, RESTS_MS.length - 1)], now);
  });
  return stream;
}

// All of them at once when the page opens or is shown again, then one request after the other.
async function askInTurns(others) {
  const mine = round;
  for (let rests = 0; others.length; rests = TURNS_MS) {
    for (let at = 0; at < others.length; at += MOST) {
      if (rests) await new Promise((done) => setTimeout(done, rests));
      if (mine !== round) return;
      await ask(others.slice(at, at + MOST));
      if (mine !== round) return;
    }
  }
}

// For names without a stream. Returns whether this page is left for the sign-in.
async function ask(names) {
  try {
    const headers = { Accept: "text/event-stream" }; // an automatic request, which does not keep the session alive
    const answer = await fetch(`${asking(names)}&now`, { headers, signal: AbortSignal.timeout(ANSWERS_MS) });
    const text = await answer.text(), isOurs = OURS.test(text);
    if (isOurs && answer.status === 401) return signOut(), true;
    if (!isOurs || answer.status >= 500) unheard();
    else heard();
    if (isLeft || !isOurs || !answer.ok) return false;
    const said = [...text.matchAll(/^event: (\w+)\ndata: (.+)$/gm)];
    for (const [, kind, place] of said) if (kind === "closed") closed(names[place]);
    if (said.some(([, kind]) => kind === "redacted")) renew();
  } catch {
    unheard(); // the next try asks again
  }
  return false;
}

// Something broke: ask soon, unless news arrives first.
function shaken() {
  heardAt = Math.min(heardAt, Date.now() - QUIET_MS + TURNS_MS);
}

// A stream that broke silently, for example while a laptop slept, gives no event. While it waits for a place, ask.
async function watch() {
  const isWaiting = source?.isWaiting, mayBeQuiet_ms = isWaiting ? TURNS_MS : QUIET_MS;
  const isQuiet = isInDoubt || Math.abs(Date.now() - heardAt) > mayBeQuiet_ms;
  if (!isQuiet || isAsking || isLeft || document.hidden) return;
  isAsking = true;
  await ask(names().slice(0, MOST));
  isAsking = false;
  if (!isInDoubt && !isLeft && !isWaiting) begin();
}

// Something that this page names was redacted: the page takes the server's current state. What someone typed stays.
async function renew() {
  if (isLeft || document.querySelector("main canvas")) return;
  clearTimeout(renewing);
  renewing = setTimeout(async () => {
    try {
      const now = performance.now();
      const answer = await fetch(location.href, { signal: AbortSignal.timeout(ANSWERS_MS) });
      const text = await answer.text();
      if (!OURS.test(text) || answer.status >= 500) throw new Error("no answer");
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(text, "text/html");
      const main = document.querySelector("main");
      const untouched = [...main.querySelectorAll("textarea")].filter((one) => one.value === one.defaultValue);
      Idiomorph.morph(main, page.querySelector("main"));
      for (const one of untouched) one.value = one.defaultValue;
      document.title = page.title;
      asked = now;
      htmx.process(main);
      document.dispatchEvent(new CustomEvent("htmx:afterSettle", { detail: { target: main, elt: main } }));
    } catch {
      renewing = setTimeout(renew, TURNS_MS);
    }
  }, GATHERS_MS);
}

function look() {
  clearTimeout(gathering);
  gathering = setTimeout(() => { if (names().join(" ") !== shown) begin(); }, GATHERS_MS);
}

if (ADDRESS && window === window.top) {
  for (const event of ["htmx:afterSettle", "firekind:shown", "firekind:closed"]) document.addEventListener(event, look);
  document.addEventListener("visibilitychange", () => (document.hidden ? end() : begin()));
  addEventListener("pagehide", end);
  addEventListener("pageshow", (event) => { if (event.persisted) begin(); });
  document.addEventListener("firekind:gone", () => leave(() => location.reload()));
  addEventListener("storage", (event) => { if (event.key === "ended") setTimeout(ask, GATHERS_MS, []); });
  document.addEventListener("firekind:shaken", shaken);
  for (const what of ["online", "offline"]) addEventListener(what, () => { heardAt = 0; watch(); });
  setInterval(watch, TURNS_MS);
  localStorage.setItem("signed-in", document.body.dataset.me); // returning.js listens
  begin();
}
