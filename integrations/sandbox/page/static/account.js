// Starts the modules of the account's page.

import { toast } from "./acting.js";
import * as doing from "./doing.js";
import * as faults from "./faults.js";
import { go, listen } from "./live.js";

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='/pagerduty?'], a[href='/pagerduty']");
  if (!link || event.metaKey || event.ctrlKey || link.target) return;
  event.preventDefault();
  link.closest("details.switch")?.removeAttribute("open");
  go(link.href);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") document.querySelector("details.switch[open]")?.removeAttribute("open");
});

doing.start({
  done: (answer, form) => {
    if (!answer.ok) return;
    const fold = form.closest("details.change");
    form.reset();
    if (fold) fold.open = false;
    if (answer.says) toast(answer.says);
  },
});
faults.start();
listen("/pagerduty/stream");
