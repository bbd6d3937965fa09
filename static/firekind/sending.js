// A form that was submitted but not accepted, because the session had ended or no one responded, is filled in again
// where it is: text and choices. So is one that was not submitted yet when the session ended. drafts.js keeps drafts,
// detects what was accepted, and forgets at sign-out.
const me = document.body.dataset.me;
const TYPED = "textarea, input[type=text], input:not([type])";
const GIVEN = `${TYPED}, select, input:is([type=radio], [type=checkbox], [type=date], [type=number], [name=since])`;
const SECRET = "[type=password], [autocomplete=one-time-code]";
const isDraft = (one) => one.dataset.draft ?? one.form.dataset.drafts;
const given = (form) => [...form.elements].filter((one) => one.name && one.matches(GIVEN) && !isDraft(one));
const isBegun = (form) => given(form).some((one) => one.matches(TYPED) && one.value !== one.defaultValue);
const key = (form) => `draft ${me} ${new URL(form.getAttribute("action") || location.pathname, location).pathname}`;
const isPlain = (form) => form.method === "post" && !form.matches("[hx-post], [data-ends]") && !form.querySelector(SECRET);

function keep(form) {
  const fields = given(form), name = key(form);
  const kept = { sent: true, fields: fields.map((one) => [one.name, one.value, one.checked]) };
  const old = JSON.parse(sessionStorage.getItem(name)); // saved by the previous page, of which this is the second step
  if (!fields.some((one) => one.matches(TYPED) && one.value)) return old && sessionStorage.setItem(name, JSON.stringify({ ...old, sent: true }));
  sessionStorage.setItem(name, JSON.stringify(kept));
}

function keepBegun() {
  for (const form of document.forms) if (isPlain(form) && isBegun(form)) keep(form);
}

// As many rows of the type editor as there were; its own script has not removed the no-script row yet.
function lay(form, fields) {
  for (const set of form.querySelectorAll("[data-rows]")) {
    const list = set.querySelector("ol:not(.unscripted)"), row = set.querySelector("template").content;
    const { name } = row.querySelector("[name]"), count = fields.filter(([one]) => one === name).length;
    while (list.children.length > count) list.lastElementChild.remove();
    while (list.children.length < count) list.append(row.cloneNode(true));
  }
}

// A field by its name, a choice by its value, and several with the same name each in turn.
function fill(form, fields) {
  const left = given(form), filled = [];
  for (const [name, value, checked] of fields) {
    const isChoice = (one) => one.matches("[type=radio], [type=checkbox]");
    const at = left.findIndex((one) => one.name === name && (!isChoice(one) || one.value === value));
    if (at < 0) continue;
    const [one] = left.splice(at, 1);
    if (isChoice(one) ? one.checked === checked : one.value === value) continue;
    if (isChoice(one)) one.checked = checked;
    else one.value = value;
    filled.push(one);
    for (let up = one.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
  }
  return filled;
}

function restore(form) {
  const kept = JSON.parse(sessionStorage.getItem(key(form)));
  if (!kept?.fields || kept.sent) return [];
  sessionStorage.removeItem(key(form));
  if (form.querySelector(".wrong, [aria-invalid=true]")) return []; // the page already has them
  lay(form, kept.fields);
  return fill(form, kept.fields);
}

// Another page in place of the answer, such as a proxy's error, says nothing of what happened to a form: the next page of
// ours in this tab does. The answer to a form is its page, or the redirect after it.
const SENT = `sent ${me}`;
const forgetSent = () => sessionStorage.removeItem(SENT);

function sayDoubt() {
  const came = performance.getEntriesByType("navigation")[0] ?? {};
  const isAnswer = document.body.hasAttribute("data-answers") || (came.type === "navigate" && came.redirectCount > 0);
  if (sessionStorage.getItem(SENT) && !isAnswer) document.dispatchEvent(new CustomEvent("firekind:unsure"));
  forgetSent();
}

if (me) {
  sayDoubt();
  addEventListener("pageshow", ({ persisted }) => { if (persisted) sayDoubt(); });
  document.addEventListener("submit", (event) => { if (isPlain(event.target) && !event.defaultPrevented) sessionStorage.setItem(SENT, "1"); });
  document.addEventListener("click", ({ target }) => { if (target.closest("a[href]")) forgetSent(); }); // they leave by themselves
} else {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith("sent ")) sessionStorage.removeItem(name);
}

if (me) {
  const filled = [...document.forms].filter(isPlain).flatMap(restore);
  // Scripts that look something up for a field are notified once they listen.
  document.addEventListener("DOMContentLoaded", () => {
    for (const one of filled) for (const what of ["input", "change"]) one.dispatchEvent(new Event(what, { bubbles: true }));
  });
  document.addEventListener("submit", ({ target }) => { if (isPlain(target)) keep(target); });
  document.addEventListener("firekind:signed-out", keepBegun);
  document.addEventListener("htmx:beforeOnLoad", ({ detail }) => { if (detail.xhr.status === 401) keepBegun(); });
}
