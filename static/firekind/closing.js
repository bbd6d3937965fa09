// Nothing of an incident stays on the screen of somebody who may no longer see it. A page about one is left at once, a
// flame graph and whatever else it holds with it; elsewhere the row goes. A page that is not looked at hears nothing
// and asks as soon as it is.
const RESTS_MS = [1000, 2000, 5000, 15000];
const GATHERS_MS = 200; // several parts of a page that come one after the other are one change
const MOST = 100;
const NAMED = 'a[href^="/incidents/"], [data-incident]';
const ADDRESS = document.body.dataset.closings;
const about = document.body.dataset.about;
let source, shown = "", failures = 0, resting, gathering, isLeft = false;

const codename = (node) => node.dataset.incident ?? node.getAttribute("href").split(/[/?#]/)[2];

function names() {
  // The page of an incident has a stream that tells more.
  const own = about && !document.getElementById("live") ? [about] : [];
  const others = [...document.querySelectorAll(NAMED)].map(codename).filter((one) => one !== about);
  return [...new Set([...own, ...others])].filter(Boolean).slice(0, MOST);
}

function leave() {
  isLeft = true;
  stop();
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

function connect() {
  stop();
  const now = names();
  shown = now.join(" ");
  if (!now.length || document.hidden || isLeft) return;
  const address = `${ADDRESS}?${new URLSearchParams(now.map((one) => ["of", one]))}`;
  source = new EventSource(address);
  source.addEventListener("open", () => { failures = 0; });
  source.addEventListener("closed", (event) => closed(now[event.data]));
  source.addEventListener("error", () => {
    stop();
    if (failures) ask(address, now);
    resting = setTimeout(connect, RESTS_MS[Math.min(failures++, RESTS_MS.length - 1)]);
  });
}

// Where no stream can be had.
async function ask(address, names) {
  try {
    const answer = await fetch(`${address}&now`);
    if (answer.status === 401 && about) leave();
    else if (answer.ok) for (const [, place] of (await answer.text()).matchAll(/^data: (.+)$/gm)) closed(names[place]);
  } catch {
    // Asked again with the next try.
  }
}

function look() {
  clearTimeout(gathering);
  gathering = setTimeout(() => { if (names().join(" ") !== shown) connect(); }, GATHERS_MS);
}

if (ADDRESS && window === window.top) {
  for (const event of ["htmx:afterSettle", "firekind:shown", "firekind:closed"]) document.addEventListener(event, look);
  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : connect()));
  addEventListener("pagehide", stop);
  addEventListener("pageshow", (event) => { if (event.persisted) connect(); });
  connect();
}
