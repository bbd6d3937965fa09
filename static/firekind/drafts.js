// What somebody wrote and has not sent outlives a reload: a field that names its draft is kept by this tab, for this
// person alone, until it was sent or they sign out. What the form had seen is kept with it, so that words based on
// something older meet what others wrote since.
const me = document.body.dataset.me;
const MARK = "draft ";
const key = (field) => `${MARK}${me} ${field.dataset.draft} ${field.id}`;
const drafts = (form) => [...(form?.elements ?? [])].filter((one) => one.dataset.draft);
const basis = (field) => field.form?.querySelector("[name=seen]");

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
  for (const one of document.querySelectorAll("[data-draft]")) restore(one);
  document.addEventListener("input", (event) => { if (event.target.dataset.draft) keep(event.target); });
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.xhr.status >= 200 && detail.xhr.status < 300) forget(drafts(detail.requestConfig.elt.closest("form[hx-post]")));
  });
  document.addEventListener("submit", ({ target }) => {
    if (target.matches("[data-ends]")) for (const one of Object.keys(sessionStorage)) if (one.startsWith(MARK)) sessionStorage.removeItem(one);
    if (!target.matches("[hx-post]")) forget(drafts(target));
  });
}
