// What someone is at stays where it is when a refresh changes the page above it: what they press, the field they write in,
// or the control they move the pointer to. Browsers only do that for changes above the window. During a press, a page
// that is too short to be scrolled would still move: the refresh waits for its end.
const CONTROLS = "a[href], button, summary, label, input, textarea, select";
const FIELDS = "textarea, select, input:not([type=checkbox], [type=radio])";
const AIMS_MS = 2000; // a pointer that has rested for longer is not on its way to anything
const WAITS_MS = 3000; // longer presses select text, or their end was outside the window
const SETTLES_MS = 100; // after a swap; htmx sets some attributes 20 ms after it
let pressed, pressedAt = 0, aimed, aimedAt = 0, isLate = false, kept, top = 0, settling;

const topOf = (node) => node.getBoundingClientRect().top;
const isSeen = (node) => topOf(node) < innerHeight && node.getBoundingClientRect().bottom > 0;

function at() {
  const field = document.activeElement;
  if (pressed?.isConnected) return pressed;
  if (field?.matches(FIELDS) && isSeen(field)) return field;
  return Date.now() - aimedAt < AIMS_MS && aimed?.isConnected ? aimed.closest(CONTROLS) : undefined;
}

function keep({ detail }) {
  kept = undefined;
  if (!detail.requestConfig.elt.matches("[data-poll]") || !detail.shouldSwap) return;
  if (pressed && Date.now() - pressedAt < WAITS_MS) {
    detail.shouldSwap = false;
    isLate = true;
    return;
  }
  kept = at();
  if (!kept) return;
  top = topOf(kept);
  soon();
  requestAnimationFrame(settle);
}

function soon() {
  clearTimeout(settling);
  settling = setTimeout(() => {
    steady();
    kept = undefined;
  }, SETTLES_MS);
}

function settle() {
  steady();
  if (kept) requestAnimationFrame(settle); // before each paint
}

function swapped() {
  steady();
  if (kept) soon();
}

function steady() {
  const node = kept?.isConnected || !kept?.id ? kept : document.getElementById(kept.id);
  if (!node?.isConnected) return;
  const moved = topOf(node) - top;
  if (Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: "instant" });
}

function released() {
  pressed = undefined;
  if (!isLate) return;
  isLate = false;
  setTimeout(() => document.dispatchEvent(new CustomEvent("firekind:changed"))); // after the click
}

document.addEventListener("pointerdown", ({ target }) => {
  pressed = target.closest(CONTROLS);
  pressedAt = Date.now();
});
for (const what of ["pointerup", "pointercancel"]) document.addEventListener(what, released);
document.addEventListener("pointermove", ({ target }) => {
  aimed = target; // moves are many: which control it is in is looked up when a refresh comes
  aimedAt = Date.now();
});
document.addEventListener("htmx:beforeSwap", keep);
for (const what of ["htmx:oobAfterSwap", "htmx:afterSwap"]) document.addEventListener(what, swapped);
// Whoever scrolls decides where everything is.
for (const what of ["wheel", "touchmove"]) document.addEventListener(what, () => { kept = undefined; }, { passive: true });
