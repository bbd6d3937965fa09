// How fragments are merged into the page. What a person opened stays open and what they put into a field stays theirs;
// everything else becomes what the server says now, the label of the button that has the focus included.
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
  // What was fetched once it was shown stays, and so does what is being fetched: nothing would fetch it again.
  if (node instanceof Element && node.matches("[id][hx-trigger=load]") && same(node, to)) return false;
  // Its text stays what it says now, whatever it is said to have begun with.
  if (node instanceof HTMLTextAreaElement) node.value = node.value;
  return !(node instanceof HTMLSelectElement && chosen(node));
};
// Why a form was not taken stays until it is sent again.
Idiomorph.defaults.callbacks.beforeNodeRemoved = (node) => !(node instanceof Element && node.matches("form > .wrong"));
