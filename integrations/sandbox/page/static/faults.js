// The switches for what goes wrong.

import { ask, send, toast } from "./acting.js";
import { refresh } from "./live.js";

const door = () => document.body.dataset.door ?? "/sandbox";

export function start() {
  document.addEventListener("click", async (event) => {
    const on = (selector) => event.target.closest(selector);
    let found;
    if ((found = on("[data-fault]"))) await flip(found);
    else if ((found = on("[data-rates]"))) await tell("/rates", { enabled: found.ariaChecked !== "true" });
    else if ((found = on("[data-lift]"))) await tell(`/faults?id=${found.dataset.lift}`, null, "DELETE");
    else if ((found = on("[data-reset]"))) await reset(found.dataset.reset);
  });
  document.addEventListener("submit", async (event) => {
    if (event.target.id !== "fault-form") return;
    event.preventDefault();
    await order(event.target.elements);
  });
}

async function flip(button) {
  const { fault: kind, id, settings } = button.dataset;
  if (id) await tell(`/faults?id=${id}`, null, "DELETE");
  else await tell("/faults", { kind, ...JSON.parse(settings) });
}

async function order({ kind, method, path, times, amount }) {
  const fault = { kind: kind.value, method: method.value.trim() || "*" };
  if (path) fault.path = path.value.trim() || "*";
  if (times.value) fault.times = Number(times.value);
  if (fault.kind === "latency") fault.ms = Number(amount.value || 800);
  if (fault.kind === "ratelimited") fault.retry_after_s = Number(amount.value || 5);
  await tell("/faults", fault);
}

async function reset(text) {
  const sure = await ask({ title: "Start over?", text, yes: "Start over", style: "danger" });
  if (sure) await tell("/reset", {});
}

async function tell(path, body, method) {
  const answer = await send(`${door()}${path}`, body, method);
  if (!answer.ok) toast(answer.error);
  await refresh();
}
