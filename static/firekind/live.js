// Gets hints that the incident changed, and refreshes the page. The page also refreshes itself every few seconds, so an
// unavailable stream only costs those seconds. On other pages it only leaves what is gone.
const RESTS_MS = [1000, 2000, 5000, 15000, 60000];
const GATHERS_MS = 400; // one verb gives several hints in a row: refresh at once, and once afterwards
// A part being fetched drops hints in the meantime: the next refresh waits for its response.
const FETCHED = "[hx-trigger*='firekind:changed'].htmx-request";
const SEEN = /\bn=[^&]*&/; // the newest entry on the page; without it the response has all entries that the page shows
const SPOKEN_MS = 5000; // by then arrivals were read aloud, and are removed: they may yet be taken back
const QUIET_MS = 32000, WATCHES_MS = 5000; // a stream sends a heartbeat every 15 s
let source, spoke = 0, failures = 0, resting, gathering, hushing, more = false;
let whole = false; // something this page named has closed: even old entries say less now

const cursor = () => document.getElementById("live");

function changed() {
  more = true;
  if (!gathering) look();
}

function look() {
  gathering = 0;
  if (!more) return;
  if (!document.querySelector(FETCHED)) {
    more = false;
    document.dispatchEvent(new CustomEvent("firekind:changed"));
  }
  gathering = setTimeout(look, GATHERS_MS);
}

function connect() {
  clearTimeout(resting);
  source?.close();
  const live = cursor();
  if (!live || document.hidden) return;
  spoke = 0;
  source = streamOf(listened);
}

function listened() {
  const live = cursor(), stream = new EventSource(`${live.dataset.stream}?n=${live.dataset.n}`);
  for (const what of ["open", "changed", "here"]) stream.addEventListener(what, () => { spoke = Date.now(); });
  stream.addEventListener("open", () => { failures = 0; });
  stream.addEventListener("changed", changed);
  stream.addEventListener("bye", gone);
  stream.addEventListener("error", () => {
    // The browser would retry with the old cursor in the URL, so we reconnect with the current one.
    source.close();
    spoke = 0;
    document.dispatchEvent(new CustomEvent("firekind:shaken"));
    resting = setTimeout(connect, RESTS_MS[Math.min(failures++, RESTS_MS.length - 1)]);
  });
  return stream;
}

// One that was lost silently gives no event. One that a proxy keeps back never said anything, and isn't opened again.
function watch() {
  if (spoke && !document.hidden && Math.abs(Date.now() - spoke) > QUIET_MS) connect();
}

function gone() {
  source?.close();
  document.dispatchEvent(new CustomEvent("firekind:gone"));
}

function heard(event) {
  const { requestConfig, xhr } = event.detail; // the requesting element has been replaced by now
  if (requestConfig.elt.id !== "live" || xhr.status !== 200 || event.detail.isForeign) return;
  document.body.className = cursor().dataset.look;
  if (!SEEN.test(requestConfig.path)) whole = false;
  clearTimeout(hushing);
  hushing = setTimeout(() => document.getElementById("arrived").replaceChildren(), SPOKEN_MS);
}

function asking({ detail }) {
  if (whole && detail.elt.id === "live") detail.path = detail.path.replace(SEEN, "");
}

function closed() {
  whole = true;
  changed();
}

function returned() {
  if (document.hidden) {
    source?.close();
    clearTimeout(resting);
  } else {
    changed();
    connect();
  }
}

function refused(event) {
  if (event.detail.elt.matches("[data-poll]") && event.detail.xhr.status === 404) gone();
}

document.addEventListener("htmx:responseError", refused);
if (cursor()) {
  document.addEventListener("htmx:afterRequest", heard);
  document.addEventListener("htmx:configRequest", asking);
  document.addEventListener("firekind:closed", closed);
  document.addEventListener("visibilitychange", returned);
  addEventListener("pagehide", () => source?.close());
  setInterval(watch, WATCHES_MS);
  connect();
}
