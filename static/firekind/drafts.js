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

function keep(field) {
  if (field.value && field.value !== field.defaultValue) {
    sessionStorage.setItem(key(field), JSON.stringify({ text: field.value, seen: basis(field)?.value }));
  } else sessionStorage.removeItem(key(field));
}

function restore(field) {
  const kept = JSON.parse(sessionStorage.getItem(key(field)));
  if (!kept || field.value !== field.defaultValue || kept.text === field.value) return;
  field.value = kept.text;
  if (kept.seen && basis(field)) basis(field).value = kept.seen;
  for (let one = field.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
}

function forget(fields) {
  for (const one of fields) sessionStorage.removeItem(key(one));
}

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
    if (target.matches("[data-ends]")) for (const one of Object.keys(sessionStorage)) if (one.startsWith(MARK)) sessionStorage.removeItem(one);
    if (!target.matches("[hx-post]")) forget(drafts(target));
  });
}
