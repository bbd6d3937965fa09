// Where the focus goes when its element is replaced, hidden or removed: to the same control if it exists, else to the
// nearest one around it that only opens something, never to a button that acts at once.
const OPENS = "summary, a[href]";
let last, around = [];

const usable = (node) => node?.isConnected && !node.disabled && node.checkVisibility({ visibilityProperty: true });
const lost = () => document.activeElement === document.body || !usable(document.activeElement);
const now = (node) => (node.isConnected ? node : node.id ? document.getElementById(node.id) : null);

function remember(node) {
  if (!(node instanceof Element) || node === document.body || node.closest("dialog")) return;
  last = node;
  around = [];
  for (let one = node.parentElement; one && one !== document.body; one = one.parentElement) around.push(one);
}

function nearest() {
  const same = now(last);
  if (usable(same)) return same;
  for (const place of around) {
    const here = now(place);
    if (!here) continue;
    if (here.id === "main") return here;
    const found = [...here.querySelectorAll(OPENS)].find(usable);
    if (found) return found;
  }
  return null;
}

function recover() {
  if (!lost()) return;
  const dialog = document.querySelector("dialog[open]");
  const to = dialog ? dialog.querySelector("[data-first], [data-close]") : last && nearest();
  to?.focus({ preventScroll: true });
}

document.addEventListener("focusin", (event) => remember(event.target));
document.addEventListener("focusout", (event) => {
  // Clicking elsewhere leaves it; if it was removed, disabled or hidden, no one left it.
  setTimeout(() => {
    if (event.target === last && lost() && usable(last) && document.hasFocus()) last = undefined;
  });
});
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target?.id === "dialog") remember(event.detail.elt); // a click does not focus links in every browser
});
document.addEventListener("htmx:afterRequest", recover);
document.addEventListener("click", (event) => {
  // Opening a field to write in means writing in it.
  const opener = event.target.closest("[data-writes] > summary");
  if (!opener || opener.parentElement.open) return;
  event.preventDefault(); // opened here, so that the next keys go into the field
  opener.parentElement.open = true;
  opener.parentElement.querySelector("textarea").focus();
});
for (const one of document.querySelectorAll("dialog")) one.addEventListener("close", recover);
// A field's error does not apply to its new content.
document.addEventListener("input", ({ target }) => {
  const isOfAll = target.form?.querySelector(":scope > .wrong"); // shown above the form until it is submitted again
  if (target.getAttribute("aria-invalid") !== "true" || isOfAll) return;
  target.removeAttribute("aria-invalid");
  target.closest(".field")?.querySelector(".errorlist")?.remove();
});
// A rejected form on its own page: begin at the first error.
document.querySelector("main form [aria-invalid=true]")?.focus();
