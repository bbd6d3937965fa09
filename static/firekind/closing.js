// Nothing of an incident stays on the screen of somebody who may no longer see it. A page about one is left at once, a
// flame graph and whatever else it holds with it; elsewhere the row goes. A page that is not looked at hears nothing
// and asks as soon as it is. The stream of a page that names many is told of the first; the others are asked about in
// turns, as many at a time.
const RESTS_MS = [1000, 2000, 5000, 15000];
const GATHERS_MS = 200; // several parts of a page that come one after the other are one change
const TURNS_MS = 5000, ANSWERS_MS = 15000;
const MOST = 100; // as many a question may name
const NAMED = 'a[href^="/incidents/"], [data-incident]';
const ADDRESS = document.body.dataset.closings;
const about = document.body.dataset.about;
let asked = 0, renewing; // when this page was asked for, in milliseconds since the browser did
let source, shown = "", failures = 0, resting, gathering, round = 0, isLeft = false;

const codename = (node) => node.dataset.incident ?? node.getAttribute("href").split(/[/?#]/)[2];

function names() {
  // The page of an incident has a stream that tells more.
  const own = about && !document.getElementById("live") ? [about] : [];
  const others = [...document.querySelectorAll(NAMED)].map(codename).filter((one) => one !== about);
  return [...new Set([...own, ...others])].filter(Boolean);
}

function leave() {
  isLeft = true;
  end();
  document.documentElement.hidden = true; // whatever the network does
  location.replace(`/incidents/${about}/`); // where nothing is found now; a reload could send a form again
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
  source.addEventListener("closed", (event) => closed(now[event.data]));
  source.addEventListener("redacted", renew);
  source.addEventListener("error", () => {
    stop();
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

// Where no stream can be had, or it has no place.
async function ask(names) {
  try {
    const answer = await fetch(`${asking(names)}&now`, { signal: AbortSignal.timeout(ANSWERS_MS) });
    if (answer.status === 401 && about) leave();
    else if (answer.ok) {
      const said = [...(await answer.text()).matchAll(/^event: (\w+)\ndata: (.+)$/gm)];
      for (const [, kind, place] of said) if (kind === "closed") closed(names[place]);
      if (said.some(([, kind]) => kind === "redacted")) renew();
    }
  } catch {
    // Asked again with the next try.
  }
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
  begin();
}
