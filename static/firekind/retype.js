// On a narrow screen the plan is below the types: scroll to it once a type is picked. By keyboard: the shortcut begins
// at the types, and Enter on one moves to the confirm button.
const pick = document.getElementById("pick");
const chosen = () => pick?.querySelector("[name=to]:checked");
const RESTS_MS = 700;
let goesOn = false;

const confirmation = () => document.querySelector("#confirm [data-first]");
let began = -Infinity;

function goOn() {
  goesOn = false;
  began = performance.now();
  confirmation()?.focus();
}

// Something that cannot be undone is not confirmed by the key that led to it, held or pressed twice.
document.addEventListener("keydown", (event) => {
  const isSame = event.repeat || performance.now() - began < RESTS_MS;
  if (event.key === "Enter" && isSame && event.target === confirmation()) event.preventDefault();
}, { capture: true });

pick?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || !event.target.matches("[name=to]")) return;
  event.preventDefault(); // submitting the form would reload the page, and lose the place
  if (!event.target.checked) event.target.click();
  if (document.querySelector("#confirm [name=to]")?.value === event.target.value) goOn();
  else goesOn = true;
});
if ("byKey" in document.documentElement.dataset) {
  (chosen() ?? pick?.querySelector("[name=to]:enabled"))?.focus({ preventScroll: true });
}

document.addEventListener("htmx:afterSettle", (event) => {
  const asked = document.getElementById("asked");
  if (event.detail.elt !== asked || !event.detail.requestConfig?.elt.matches("#pick")) return;
  if (goesOn) return goOn();
  if (asked.getBoundingClientRect().top > innerHeight * 0.55) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    asked.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
  }
});
