// Unsent text survives a reload, and closing a dialog with Escape. A field that names its draft, or every field of such
// a form, is saved in this tab, only for this person, until it is sent or they sign out. What the form had seen is
// saved with it, so that text based on an old state is compared with what others wrote since.
const me = document.body.dataset.me;
const MARK = "draft ";
const WRITTEN = "textarea, input[type=text], input[type=date]";
const ARRIVES = "#dialog, #asked"; // their forms are not there from the start
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
  // Text that began with the page's words is not all theirs: only their own is given back once the page has closed.
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

// A form that loads another page: that page shows whether it was accepted. It was if the page is the response to it, or
// the redirect after it, and shows no error. The sign-in, a page one goes back to and any other have not accepted it.
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
  // Cancelling is deliberate; Escape may not be.
  document.addEventListener("click", ({ target }) => { forget(drafts(target.closest("form [data-close]")?.closest("form"))); });
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (!detail.isForeign && detail.xhr.status >= 200 && detail.xhr.status < 300) forget(drafts(detail.requestConfig.elt.closest("form[hx-post]")));
  });
  document.addEventListener("submit", ({ target }) => {
    if (!target.matches("[hx-post]")) send(drafts(target));
    if (!target.matches("[data-ends]")) return;
    for (const name of names()) sessionStorage.removeItem(name);
    localStorage.setItem("ended", Date.now()); // other tabs listen
  });
}
