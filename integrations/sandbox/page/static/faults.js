// The switches for what goes wrong.

import { ask, send, toast } from "./acting.js";
import { refresh } from "./live.js";

export function start() {
  document.addEventListener("click", async (event) => {
    const on = (selector) => event.target.closest(selector);
    let found;
    if ((found = on("[data-fault]"))) await flip(found);
    else if ((found = on("[data-rates]"))) await tell("/sandbox/rates", { enabled: found.ariaChecked !== "true" });
    else if ((found = on("[data-lift]"))) await tell(`/sandbox/faults?id=${found.dataset.lift}`, null, "DELETE");
    else if (on("[data-reset]")) await reset();
  });
  document.addEventListener("submit", async (event) => {
    if (event.target.id !== "fault-form") return;
    event.preventDefault();
    await order(event.target.elements);
  });
}

async function flip(button) {
  const { fault: kind, id, settings } = button.dataset;
  if (id) await tell(`/sandbox/faults?id=${id}`, null, "DELETE");
  else await tell("/sandbox/faults", { kind, ...JSON.parse(settings) });
}

async function order({ kind, method, times, amount }) {
  const fault = { kind: kind.value, method: method.value.trim() || "*" };
  if (times.value) fault.times = Number(times.value);
  if (fault.kind === "latency") fault.ms = Number(amount.value || 800);
  if (fault.kind === "ratelimited") fault.retry_after_s = Number(amount.value || 5);
  await tell("/sandbox/faults", fault);
}

async function reset() {
  const sure = await ask({ title: "Start over?", text: "All channels and messages made here are forgotten.", yes: "Start over", style: "danger" });
  if (sure) await tell("/sandbox/reset", {});
}

async function tell(path, body, method) {
  const answer = await send(path, body, method);
  if (!answer.ok) toast(answer.error);
  await refresh();
}
