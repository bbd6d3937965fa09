// How fragments are merged into the page. Whatever a person opened stays open and whatever they put into a field stays;
// everything else takes the server's state, including the label of the focused button.
const OWN = new Set(["value", "checked"]);
const changed = (node) => node.value !== node.defaultValue || node.checked !== node.defaultChecked;
const chosen = (list) => [...list.options].some((one) => one.selected !== one.defaultSelected);
const same = (node, to) => node.id === to.id && node.getAttribute("hx-get") === to.getAttribute("hx-get");
const refused = (node) => node.form?.querySelector(":scope > .wrong");

Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) => {
  if (name === "open") return !(node instanceof HTMLDetailsElement);
  if (name.startsWith("aria-") && node instanceof HTMLTextAreaElement) return !refused(node);
  if (node instanceof HTMLTextAreaElement) return name !== "value";
  return !(OWN.has(name) && node instanceof HTMLInputElement && changed(node));
};
Idiomorph.defaults.callbacks.beforeNodeMorphed = (node, to) => {
  // What was fetched once when shown stays, and so does what is being fetched: nothing would fetch it again.
  if (node instanceof Element && node.matches("[id][hx-trigger=load]") && same(node, to)) return false;
  // Keep its current text, even if its initial text changes.
  if (node instanceof HTMLTextAreaElement) node.value = node.value;
  return !(node instanceof HTMLSelectElement && chosen(node));
};
// The reason why a form was rejected stays until it is submitted again.
Idiomorph.defaults.callbacks.beforeNodeRemoved = (node) => !(node instanceof Element && node.matches("form > .wrong"));
