// Modals, and every button and menu an app puts into messages, modals and its Home.

import { act, ask, upload } from "./acting.js";

const dialog = () => document.getElementById("modal");
const form = () => document.getElementById("modal-form");
let typing = 0;

export function fresh() {
  const open = Boolean(form());
  if (open && !dialog().open) {
    dialog().showModal();
    first()?.focus();
  } else if (!open && dialog().open) {
    dialog().close();
  }
}

export function start() {
  dialog().addEventListener("cancel", (event) => {
    event.preventDefault();
    act("close");
  });
  document.addEventListener("submit", submitted);
  document.addEventListener("click", clicked);
  document.addEventListener("change", changed);
  document.addEventListener("input", typed);
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest?.("[data-dispatch][data-kind$='_input']:not(textarea)");
    if (event.key === "Enter" && field) {
      event.preventDefault();
      press(field, field.value);
    }
  });
}

function first() {
  return form().querySelector("[autofocus], .field :is(input, textarea, select)");
}

async function submitted(event) {
  if (event.target !== form()) return;
  event.preventDefault();
  const main = form().querySelector(".modal-foot .main");
  if (!main || main.getAttribute("aria-busy")) return;
  main.setAttribute("aria-busy", "true");
  await Promise.all([...form().querySelectorAll("[type=file]")].map((field) => field.uploading));
  await act("submit", { view_id: form().dataset.view, values: values(form()) });
  main.removeAttribute("aria-busy");
  form()?.querySelector(".field.bad :is(input, textarea, select)")?.focus();
}

function clicked(event) {
  if (event.target.closest("[data-close]")) return act("close");
  const button = event.target.closest("[data-kind='button']");
  if (button) pressed(button, event);
}

async function pressed(button, event) {
  if (button.localName !== "a") event.preventDefault();
  if (await agreed(button)) await press(button);
}

async function changed({ target }) {
  if (target.type === "file" && target.dataset.kind) return put(target);
  const field = target.closest?.("[data-kind]");
  if (!field || field.dataset.kind === "button" || field.dataset.kind.endsWith("_input")) return;
  if (field.dataset.kind === "external_select") pick(field);
  if (field.dataset.dispatch === undefined) return;
  const value = valueOf(field);
  if (field.dataset.kind === "overflow" && !value) return;
  if (await agreed(field)) await press(field, value);
  if (field.dataset.kind === "overflow") field.value = "";
}

function typed({ target }) {
  if (target.matches?.(".picks-find")) return filter(target);
  if (target.dataset?.kind !== "external_select") return;
  clearTimeout(typing);
  typing = setTimeout(() => offer(target), 200);
}

function filter(find) {
  const words = find.value.toLowerCase();
  for (const item of find.parentElement.querySelectorAll("li")) {
    item.hidden = !item.textContent.toLowerCase().includes(words);
  }
}

async function offer(field) {
  const answer = await act("suggest", { action_id: field.dataset.action, query: field.value });
  const options = (answer.options ?? []).flatMap((one) => one.options ?? one);
  field.found = options;
  document.getElementById(field.getAttribute("list")).replaceChildren(
    ...options.map((one) => Object.assign(document.createElement("option"), { value: one.text.text })),
  );
}

// Files go up as they are chosen, as in Slack's own client; the modal then names them by id.
function put(field) {
  field.uploading = Promise.all([...field.files].map(upload)).then((answers) => {
    field.uploaded = answers.flatMap((one) => one.id ?? []);
  });
}

function pick(field) {
  field.picked = (field.found ?? []).find((one) => one.text.text === field.value);
}

async function agreed(element) {
  return !element.dataset.confirm || ask(JSON.parse(element.dataset.confirm));
}

async function press(element, value) {
  const { action: action_id, block: block_id } = element.dataset;
  const { surface, channel, ts, view } = element.closest(".blocks").dataset;
  const where = surface === "message" ? { channel, ts } : { view_id: view };
  if (surface === "modal") where.values = values(form());
  element.setAttribute("aria-busy", "true");
  await act("press", { action_id, block_id, value, ...where });
  element.removeAttribute("aria-busy");
}

function values(root) {
  const found = {};
  for (const field of root.querySelectorAll("[data-kind]:not([data-kind='button'], [data-kind='overflow'])")) {
    (found[field.dataset.block] ??= {})[field.dataset.action] = valueOf(field);
  }
  return found;
}

function valueOf(field) {
  const kind = field.dataset.kind;
  if (kind === "radio_buttons") return field.querySelector(":checked")?.value ?? null;
  if (kind === "checkboxes" || kind.startsWith("multi_")) {
    return [...field.querySelectorAll("[type=checkbox]:checked")].map((box) => box.value);
  }
  if (kind === "file_input") return field.uploaded ?? null;
  if (kind === "external_select") return field.picked ?? (field.dataset.value && field.value ? field.dataset.value : null);
  if (kind === "datetimepicker") return field.value ? Math.floor(new Date(field.value).getTime() / 1000) : null;
  return field.value || null;
}
