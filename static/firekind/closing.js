// Nothing of an incident stays on the screen of somebody who may no longer see it. A page about one is left at once, a
// flame graph and whatever else it holds with it; elsewhere the row goes. A page that is not looked at hears nothing
// and asks as soon as it is. The stream of a page that names many is told of the first; the others are asked about in
// turns, as many at a time. Who is not signed in any more is led to the sign-in from every page, and back again.
const RESTS_MS = [1000, 2000, 5000, 15000];
const GATHERS_MS = 200; // several parts of a page that come one after the other are one change
const TURNS_MS = 5000, ANSWERS_MS = 10000;
const QUIET_MS = 32000; // a stream says every 15 s that it is there; where there is none, the page asks as often
const MOST = 100; // as many a question may name
const NAMED = 'a[href^="/incidents/"], [data-incident]';
const ADDRESS = document.body.dataset.closings;
const about = document.body.dataset.about;
let asked = 0, renewing; // when this page was asked for, in milliseconds since the browser did
let source, shown = "", failures = 0, resting, gathering, round = 0, isLeft = false;
let heardAt = Date.now(), isMissing = false, isInDoubt = false, isAsking = false;

const codename = (node) => node.dataset.incident ?? node.getAttribute("href").split(/[/?#]/)[2];

function names() {
  // The page of an incident has a stream that tells more.
  const own = about && !document.getElementById("live") ? [about] : [];
  const others = [...document.querySelectorAll(NAMED)].map(codename).filter((one) => one !== about);
  return [...new Set([...own, ...others])].filter(Boolean);
}

// By default to where nothing is found now; a reload could send a form again.
async function leave(go = () => location.replace(`/incidents/${about}/`)) {
  if (isLeft) return;
  hide();
  if (!(await ask([]))) go();
}

function signOut() {
  hide();
  document.dispatchEvent(new CustomEvent("firekind:signed-out")); // what was typed is kept
  location.replace(`/sign-in/?ended&${new URLSearchParams([["next", location.pathname + location.search]])}`);
}

function hide() {
  isLeft = true;
  end();
  document.documentElement.hidden = true; // whatever the network does
}

function heard() {
  heardAt = Date.now();
  isMissing = isInDoubt = false;
  document.dispatchEvent(new CustomEvent("firekind:heard"));
}

// One question that is not answered, as by a server that is just starting, is asked again before anything is said.
function unheard() {
  isMissing = isInDoubt;
  isInDoubt = true;
  if (isMissing) document.dispatchEvent(new CustomEvent("firekind:unheard"));
}

function closed(name) {
  if (name === about) return leave();
  for (const node of document.querySelectorAll(NAMED)) {
    // An entry of a timeline is this incident's own, and stays.
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
// By whichever clock says more: one stands still while a laptop sleeps, the other may be put back.
const age = () => (Math.max(performance.now(), Date.now() - performance.timeOrigin) - asked) / 1000;

function connect(now) {
  stop();
  source = new EventSource(asking(now));
  source.addEventListener("open", () => { failures = 0; });
  source.addEventListener("here", heard); // who may see what was asked by then; to be open says nothing of the database
  source.addEventListener("closed", (event) => closed(now[event.data]));
  source.addEventListener("redacted", renew);
  source.addEventListener("error", () => {
    stop();
    shaken();
    if (failures) ask(now);
    resting = setTimeout(connect, RESTS_MS[Math.min(failures++, RESTS_MS.length - 1)], now);
  });
}

// All of them at once when the page begins or is looked at again, then one question after the other.
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

// Where no stream can be had, or it has no place. Tells whether this page is left for the sign-in.
async function ask(names) {
  try {
    const headers = { Accept: "text/event-stream" }; // it asks by itself: nobody uses their session by it
    const answer = await fetch(`${asking(names)}&now`, { headers, signal: AbortSignal.timeout(ANSWERS_MS) });
    if (answer.status === 401) return signOut(), true;
    if (answer.status >= 500) unheard();
    else heard();
    if (isLeft || !answer.ok) return false;
    const said = [...(await answer.text()).matchAll(/^event: (\w+)\ndata: (.+)$/gm)];
    for (const [, kind, place] of said) if (kind === "closed") closed(names[place]);
    if (said.some(([, kind]) => kind === "redacted")) renew();
  } catch {
    unheard(); // asked again with the next try
  }
  return false;
}

// Something broke: it is asked about soon, unless it is heard of before.
function shaken() {
  heardAt = Math.min(heardAt, Date.now() - QUIET_MS + TURNS_MS);
}

// A stream that broke off silently, as when a laptop slept, is not heard to have ended.
async function watch() {
  const isQuiet = isInDoubt || Math.abs(Date.now() - heardAt) > QUIET_MS;
  if (!isQuiet || isAsking || isLeft || document.hidden) return;
  isAsking = true;
  await ask(names().slice(0, MOST));
  isAsking = false;
  if (!isInDoubt && !isLeft) begin();
}

// Something that this page names was redacted: it becomes what the server says now. What somebody typed stays theirs.
async function renew() {
  if (isLeft || document.querySelector("main canvas")) return;
  clearTimeout(renewing);
  renewing = setTimeout(async () => {
    try {
      const now = performance.now();
      const answer = await fetch(location.href, { signal: AbortSignal.timeout(ANSWERS_MS) });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
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
  localStorage.setItem("signed-in", document.body.dataset.me); // heard by returning.js
  begin();
}
