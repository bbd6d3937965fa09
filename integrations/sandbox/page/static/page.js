// Starts the modules and keeps the list of messages where the reader is.

import { act, send, who } from "./acting.js";
import * as composer from "./composer.js";
import * as doing from "./doing.js";
import * as faults from "./faults.js";
import * as jump from "./jump.js";
import { go, listen, refresh, whenFresh } from "./live.js";
import * as menus from "./menus.js";
import * as modal from "./modal.js";

const READ_AFTER_MS = 1200;
let reading = 0;

const scroll = () => document.getElementById("scroll");
const toEnd = () => document.getElementById("to-end");

function end() {
  scroll()?.scrollTo({ top: scroll().scrollHeight });
}

function fresh({ moved, atEnd, grew }) {
  composer.fresh({ moved });
  modal.fresh();
  if (moved || (atEnd && grew)) end();
  if (toEnd()) toEnd().hidden = atEnd || !grew;
  if (moved) {
    document.getElementById("thread-scroll")?.scrollTo({ top: 1e9 });
    if ("home" in document.body.dataset) send("/sandbox/home", { user: who() });
  }
  markRead();
}

// Reading is noted a moment later, so that the line above what is new can be seen.
function markRead() {
  clearTimeout(reading);
  const unread = document.querySelector(".entry[aria-current] .count, #new-mark");
  const { channel } = document.body.dataset;
  if (unread && channel && !document.hidden) reading = setTimeout(() => act("read", { channel }), READ_AFTER_MS);
}

document.addEventListener("click", (event) => {
  if (event.target.closest("#to-end")) end();
});
document.addEventListener(
  "scroll",
  ({ target }) => {
    if (target === scroll() && target.scrollHeight - target.scrollTop - target.clientHeight < 60 && toEnd()) toEnd().hidden = true;
  },
  true,
);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open], :popover-open")) {
    document.querySelector("details.switch[open]")?.removeAttribute("open");
  }
});

// The page is drawn in the browser's zone, as everything else that is read beside it.
function zoned() {
  const zone = `sandbox_zone=${encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone)}`;
  if (document.cookie.split("; ").includes(zone)) return;
  document.cookie = `${zone}; path=/; samesite=lax`;
  refresh();
}

menus.start();
doing.start({
  done: (answer) => {
    if (answer.ok && answer.id) go(`/?as=${encodeURIComponent(who())}&in=${answer.id}`);
  },
});
modal.start();
composer.start();
faults.start();
jump.start();
whenFresh(fresh);
listen();
zoned();
if (performance.getEntriesByType("navigation")[0]?.type === "reload") {
  await act("reload"); // dialogs and what only one person saw do not outlive that in Slack either
}
fresh({ moved: true, atEnd: true, grew: true });
