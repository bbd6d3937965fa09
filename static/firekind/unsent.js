// What someone was typing about an incident when it closed to them is theirs: the *not found* page gives it back, only
// to them. It is sent nowhere, survives a reload, and is gone when they leave or sign out.
const place = document.getElementById("unsent");
const form = place.querySelector("template");
const mine = `draft ${place.dataset.me} ${location.pathname.split("/")[2]} `;
const isSame = performance.getEntriesByType("navigation")[0]?.type === "reload";
const names = () => Object.keys(sessionStorage).filter((one) => one.startsWith(mine)).sort();
const forget = (name) => sessionStorage.removeItem(name);

function give(name) {
  const kept = JSON.parse(sessionStorage.getItem(name));
  if (!kept.own || (kept.given && !isSame)) return forget(name);
  sessionStorage.setItem(name, JSON.stringify({ ...kept, given: true }));
  const field = form.content.cloneNode(true);
  field.querySelector("textarea").value = kept.text;
  form.before(field);
  place.hidden = false;
}

function clear() {
  names().forEach(forget);
  place.remove();
}

place.addEventListener("click", async ({ target }) => {
  const field = target.closest("button")?.parentElement.querySelector("textarea");
  if (!field) return;
  const said = place.querySelector("[role=status]");
  try {
    await navigator.clipboard.writeText(field.value);
    said.textContent = "Copied.";
  } catch {
    field.select();
    said.textContent = "Couldn't copy. It's selected; copy it from here.";
  }
});
addEventListener("pageshow", (event) => { if (event.persisted) clear(); });
addEventListener("storage", (event) => { if (event.key === "ended") clear(); });
names().forEach(give);
