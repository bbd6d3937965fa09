// Keeps the page current: fetches it again when the stream says something changed, and merges the difference.

import { morph } from "./morph.js";

const NEAR = 90;
let busy = null;
let again = false;
let after = () => {};

export function whenFresh(callback) {
  after = callback;
}

export function refresh() {
  if (busy) {
    again = true;
    return busy;
  }
  busy = fetchAndMerge(location.href).finally(() => {
    busy = null;
    if (again) {
      again = false;
      refresh();
    }
  });
  return busy;
}

export async function go(url) {
  history.pushState({}, "", url);
  while (busy) await busy;
  const moved = refresh();
  await moved;
}

async function fetchAndMerge(url) {
  let page;
  try {
    const response = await fetch(url, { headers: { Accept: "text/html" } });
    page = new DOMParser().parseFromString(await response.text(), "text/html");
  } catch {
    return;
  }
  if (url !== location.href) return;
  if (!page.getElementById("root")) {
    location.assign(url);
    return;
  }
  const moved = ["who", "channel", "thread", "home"].some((key) => page.body.dataset[key] !== document.body.dataset[key]);
  const scroll = document.getElementById("scroll");
  const atEnd = !scroll || moved || scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR;
  const last = lastLine();
  document.title = page.title;
  for (const key of ["who", "channel", "thread", "home"]) {
    if (page.body.dataset[key] === undefined) delete document.body.dataset[key];
    else document.body.dataset[key] = page.body.dataset[key];
  }
  if (moved) freeKept();
  morph(document.getElementById("root"), page.getElementById("root"));
  const modal = document.getElementById("modal-content");
  if (modal) morph(modal, page.getElementById("modal-content"));
  after({ moved, atEnd, grew: lastLine() !== last });
}

function lastLine() {
  return document.querySelector("#scroll .lines > :last-child")?.id;
}

// What a module kept for one channel is not carried into another.
function freeKept() {
  for (const kept of document.querySelectorAll("#root [data-keep]")) kept.remove();
}

export function listen(address = "/page/stream") {
  const stream = new EventSource(address);
  stream.onmessage = () => {
    if (!document.hidden) refresh();
  };
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) refresh();
  });
  addEventListener("popstate", refresh);
  addEventListener("pagehide", () => stream.close());
}
