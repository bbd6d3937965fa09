// Suggestions for the type editor's fields while one types. Without this script they accept text: nothing here
// validates input, and values outside a list are allowed. The pattern is a combobox with a list box.
const editor = document.querySelector("[data-choices]");
const told = editor?.querySelector("[data-told]");
const WAITS_MS = 150;
const AS_IS = "Use ";
let made = 0;

const tell = (words) => { told.textContent = words; };
const same = (one, other) => one.replace(/^@/, "").toLowerCase() === other.replace(/^@/, "").toLowerCase();

async function ask(of, q, signal) {
  const answer = await fetch(`${editor.dataset.choices}?of=${of}&q=${encodeURIComponent(q)}`, { signal });
  return answer.ok ? (await answer.json()).choices : [];
}

// Gives a box its list. `picked(value)` is called with the choice; `left()` returns values not to offer again.
function combobox(box, { of, unknown, picked, left = () => [] }) {
  const list = document.createElement("ul");
  list.id = `choices-${made++}`;
  list.role = "listbox";
  list.hidden = true;
  list.setAttribute("aria-label", box.labels[0]?.firstChild.textContent.trim() || "Choices");
  box.after(list);
  box.role = "combobox";
  box.autocomplete = "off";
  for (const [name, value] of [["aria-autocomplete", "list"], ["aria-expanded", "false"], ["aria-controls", list.id]]) {
    box.setAttribute(name, value);
  }
  let at = -1, options = [], waiting, asking;

  function close() {
    clearTimeout(waiting);
    asking?.abort();
    list.hidden = true;
    box.setAttribute("aria-expanded", "false");
    point(-1);
  }

  function point(to) {
    at = options.length && to !== -1 ? (to + options.length) % options.length : -1;
    [...list.children].forEach((row, n) => row.setAttribute("aria-selected", String(n === at)));
    list.children[at]?.scrollIntoView({ block: "nearest" });
    if (at === -1) box.removeAttribute("aria-activedescendant");
    else box.setAttribute("aria-activedescendant", list.children[at].id);
  }

  function show(found, typed) {
    options = found.filter((one) => !left().some((value) => same(value, one.value)));
    const taken = [...options.map((one) => one.value), ...left()];
    if (typed && !taken.some((value) => same(value, typed))) {
      options.push({ value: typed, label: `${AS_IS}“${typed}”`, hint: unknown ?? "" });
    }
    list.replaceChildren(...options.map((one, n) => {
      const row = document.createElement("li"), name = document.createElement("span"), hint = document.createElement("small");
      row.id = `${list.id}-${n}`;
      row.role = "option";
      name.dir = "auto";
      [name.textContent, hint.textContent] = [one.label ?? one.value, one.hint];
      row.append(name, hint);
      return row;
    }));
    list.hidden = !options.length;
    box.setAttribute("aria-expanded", String(!list.hidden));
    tell(`${options.length || "No"} ${options.length === 1 ? "choice" : "choices"}`);
    point(-1);
  }

  async function look() {
    asking?.abort();
    asking = new AbortController();
    const typed = box.value.trim();
    try {
      show(await ask(of, typed, asking.signal), typed);
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  }

  function choose(value) {
    box.value = "";
    close();
    picked(value);
  }

  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, WAITS_MS);
  });
  box.addEventListener("click", () => { if (list.hidden) look(); });
  box.addEventListener("blur", () => close());
  box.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowDown" && list.hidden) look();
    else if (event.key === "ArrowDown") point(at + 1);
    else if (event.key === "ArrowUp" && !list.hidden) point(at === -1 ? -2 : at - 1);
    else if (event.key === "Enter" && at !== -1) choose(options[at].value);
    else if (event.key === "Escape" && !list.hidden) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  // A press would move the focus out of the box, which closes the list.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const row = event.target.closest("li");
    if (row) choose(options[[...list.children].indexOf(row)].value);
  });
}

// Shows a text field as chips and a box to add one. The field itself is kept up to date and is what gets submitted.
function chips(field) {
  const { picks: of, unknown } = field.dataset;
  const handles = of === "groups", label = field.labels[0];
  const frame = document.createElement("div"), list = document.createElement("ul"), combo = document.createElement("span");
  const box = document.createElement("input");
  frame.className = "picks";
  combo.className = "combo";
  box.id = `${field.id}-box`;
  box.type = "text";
  box.spellcheck = false;
  box.placeholder = "Search";
  combo.append(box);
  frame.append(list, combo);
  label.htmlFor = box.id;
  for (const name of ["aria-describedby", "aria-invalid"]) {
    if (field.hasAttribute(name)) box.setAttribute(name, field.getAttribute(name));
  }
  field.hidden = true;
  field.after(frame);
  frame.parentElement.querySelector(".hint")?.classList.add("unscripted");
  let values = [];

  const split = (text) => text.split(handles ? /[\s,]+/ : /\n/).map((one) => one.trim()).filter(Boolean);

  function draw() {
    field.value = values.join(handles ? " " : "\n");
    list.replaceChildren(...values.map((value) => {
      const chip = document.getElementById("pick").content.firstElementChild.cloneNode(true);
      chip.querySelector("span").textContent = value;
      const cross = chip.querySelector("button");
      cross.setAttribute("aria-label", `Remove ${value}`);
      cross.addEventListener("click", () => remove(value));
      return chip;
    }));
  }

  function add(text) {
    for (const one of split(text)) {
      const value = handles ? `@${one.replace(/^@/, "")}` : one;
      if (!values.some((known) => same(known, value))) values.push(value);
    }
    draw();
  }

  function remove(value) {
    values = values.filter((one) => one !== value);
    draw();
    tell(`Removed ${value}`);
    box.focus();
  }

  function pick(text) {
    add(text);
    tell(`Added ${text}`);
  }

  add(field.value);
  combobox(box, { of, unknown, picked: pick, left: () => values });
  box.addEventListener("keydown", (event) => {
    const typed = box.value.trim();
    if (event.key === "Backspace" && !box.value && values.length) remove(values.at(-1));
    else if (event.key === "Enter" && typed) {
      box.value = "";
      box.dispatchEvent(new Event("blur"));
      pick(typed);
    } else return;
    event.preventDefault();
  });
  field.form.addEventListener("submit", () => add(box.value));
}

function boxes(within) {
  for (const box of within.querySelectorAll("[data-box]")) {
    combobox(box, { of: box.dataset.box, unknown: box.dataset.unknown, picked: (value) => { box.value = value; } });
  }
  for (const button of within.querySelectorAll("[data-remove]")) button.hidden = false;
}

function rows(set) {
  const list = set.querySelector("ol:not(.unscripted)"), add = set.querySelector("[data-add]");
  add.hidden = false;
  set.querySelector("ol.unscripted").remove();
  boxes(list);
  add.addEventListener("click", () => {
    list.append(set.querySelector("template").content.cloneNode(true));
    boxes(list.lastElementChild);
    list.lastElementChild.querySelector("input, select").focus();
  });
  list.addEventListener("click", (event) => {
    const button = event.target.closest("[data-remove]");
    if (!button) return;
    button.closest("li").remove();
    tell(`Removed a ${set.dataset.rows}`);
    (list.querySelector("li:last-child :is(input, select)") ?? add).focus();
  });
}

if (editor) {
  for (const field of editor.querySelectorAll("[data-picks]")) chips(field);
  for (const set of editor.querySelectorAll("[data-rows]")) rows(set);
}
