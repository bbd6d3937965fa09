// What somebody wrote and has not sent outlives a reload, and a dialog that is left by Escape: a field that names its
// draft, or all of a form that does, is kept by this tab, for this person alone, until it was sent or they sign out.
// What the form had seen is kept with it, so that words based on something older meet what others wrote since.
const me = document.body.dataset.me;
const MARK = "draft ";
const WRITTEN = "textarea, input[type=text], input[type=date]";
const ARRIVES = "#dialog, #asked"; // the forms in it are not there from the start
const about = (field) => field.dataset.draft ?? (field.matches(WRITTEN) ? field.form?.dataset.drafts : undefined);
const key = (field) => `${MARK}${me} ${about(field)} ${field.id}`;
const drafts = (form) => [...(form?.elements ?? [])].filter(about);
const basis = (field) => field.form?.querySelector("[data-drafts] [name=since], [name=seen]");

const read = (name) => JSON.parse(sessionStorage.getItem(name));
const write = (name, kept) => sessionStorage.setItem(name, JSON.stringify(kept));
const names = () => Object.keys(sessionStorage).filter((one) => one.startsWith(MARK));

function keep(field) {
  const name = key(field);
  if (!field.value || field.value === field.defaultValue) return sessionStorage.removeItem(name);
  // What began with words of the page is not all their own: only what is can be given back once the page has closed.
  const own = read(name)?.own ?? (!field.defaultValue && field.type !== "date");
  write(name, { text: field.value, seen: basis(field)?.value, own });
}

function restore(field) {
  const kept = read(key(field));
  if (!kept || field.value !== field.defaultValue || kept.text === field.value) return;
  field.value = kept.text;
  if (kept.seen && basis(field)) basis(field).value = kept.seen;
  for (let one = field.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
}

function forget(fields) {
  for (const one of fields) sessionStorage.removeItem(key(one));
}

// A form that loads another page: that page tells whether it was taken. It was if it is what was sent for, or led there,
// and says that nothing is wrong. The sign-in, a page that one goes back to and any other have not taken it.
function send(fields) {
  for (const name of fields.map(key).filter(read)) write(name, { ...read(name), sent: true });
}

function isTaken() {
  const came = performance.getEntriesByType("navigation")[0] ?? {};
  const isAnswer = document.body.hasAttribute("data-answers") || (came.type === "navigate" && came.redirectCount > 0);
  return Boolean(me) && isAnswer && !document.querySelector("main :is(.wrong[role=alert], [aria-invalid=true], .said .error)");
}

function settle() {
  const taken = isTaken();
  for (const name of names()) {
    const kept = read(name);
    if (kept.given || (kept.sent && taken)) sessionStorage.removeItem(name);
    else if (kept.sent) write(name, { ...kept, sent: false });
  }
  const hint = document.getElementById("kept");
  if (hint) hint.hidden = !names().length;
}

settle();
if (me) {
  const restoreIn = (within) => {
    for (const one of within.querySelectorAll("[data-draft]")) restore(one);
    for (const form of within.querySelectorAll("form[data-drafts]")) drafts(form).forEach(restore);
  };
  restoreIn(document);
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    const here = detail.target.matches(ARRIVES) && document.getElementById(detail.target.id);
    if (here) restoreIn(here);
  });
  document.addEventListener("input", (event) => { if (about(event.target)) keep(event.target); });
  // Who cancels means it; who presses Escape may not.
  document.addEventListener("click", ({ target }) => { forget(drafts(target.closest("form [data-close]")?.closest("form"))); });
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.xhr.status >= 200 && detail.xhr.status < 300) forget(drafts(detail.requestConfig.elt.closest("form[hx-post]")));
  });
  document.addEventListener("submit", ({ target }) => {
    if (!target.matches("[hx-post]")) send(drafts(target));
    if (!target.matches("[data-ends]")) return;
    for (const name of names()) sessionStorage.removeItem(name);
    localStorage.setItem("ended", Date.now()); // heard by other tabs
  });
}
