// Buttons and forms that do one thing as the chosen person: `data-act`, `data-form` and their `data-fields`.

import { act, ask } from "./acting.js";

// A form with several buttons names the other ones' acts on them. `done` is told what came of a form.
export function start({ done = () => {} } = {}) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (button) pressed(button);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-form]");
    if (!form) return;
    event.preventDefault();
    sent(form, event.submitter?.dataset.form ?? form.dataset.form, done);
  });
}

async function pressed(button) {
  const { act: name, sure } = button.dataset;
  if (sure && !(await ask({ title: button.textContent.trim(), text: sure, yes: button.textContent.trim(), style: "danger" }))) return;
  await act(name, JSON.parse(button.dataset.fields || "{}"));
}

async function sent(form, name, done) {
  const fields = JSON.parse(form.dataset.fields || "{}");
  for (const input of form.elements) {
    if (!input.name) continue;
    if (input.type === "checkbox") fields[input.name] = input.checked;
    else fields[input.name] = input.dataset.list === undefined ? input.value : [input.value];
  }
  done(await act(name, fields), form);
}
