// Where the keyboard goes when what it was on is replaced, hidden or gone: to the same control where there is one, else
// to the nearest thing around it that only opens something, never to a button that acts at once.
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
  // Somebody who clicks beside it has left it; what is taken away, disabled or hidden was not left.
  setTimeout(() => {
    if (event.target === last && lost() && usable(last) && document.hasFocus()) last = undefined;
  });
});
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target?.id === "dialog") remember(event.detail.elt); // a click does not focus links everywhere
});
document.addEventListener("htmx:afterRequest", recover);
document.addEventListener("click", (event) => {
  // Who opens a field to write in means to write in it.
  const opener = event.target.closest("[data-writes] > summary");
  if (!opener || opener.parentElement.open) return;
  event.preventDefault(); // it is opened here: what is typed at once is meant for the field
  opener.parentElement.open = true;
  opener.parentElement.querySelector("textarea").focus();
});
for (const one of document.querySelectorAll("dialog")) one.addEventListener("close", recover);
// What was wrong with a field is not said of what stands in it now.
document.addEventListener("input", ({ target }) => {
  const isOfAll = target.form?.querySelector(":scope > .wrong"); // said above the form, and until it is sent again
  if (target.getAttribute("aria-invalid") !== "true" || isOfAll) return;
  target.removeAttribute("aria-invalid");
  target.closest(".field")?.querySelector(".errorlist")?.remove();
});
// A form that was not taken, on a page of its own: begin where something is wrong.
document.querySelector("main form [aria-invalid=true]")?.focus();
