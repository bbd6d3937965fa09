// Counts down durations between the server's updates. The seconds come from the server and are counted by this page's
// own timer, so a wrong clock does no harm.
const seen = new WeakMap();

function tick() {
  for (const node of document.querySelectorAll("time[data-left]")) {
    let known = seen.get(node);
    if (!known || known.end !== node.dataset.end) {
      known = { end: node.dataset.end, at: performance.now() + Number(node.dataset.left) * 1000 };
      seen.set(node, known);
    }
    const left = Math.ceil((known.at - performance.now()) / 1000);
    const words = left > 0 ? `${left} s left` : "almost done";
    if (node.textContent !== words) node.textContent = words;
  }
}

tick();
setInterval(tick, 500);
document.addEventListener("htmx:afterSettle", tick);
document.addEventListener("visibilitychange", tick);
