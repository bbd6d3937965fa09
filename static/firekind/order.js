// Responses are shown in the order of their requests: one that arrives after the response to a later request for the
// same place is out of date, such as the rows of a filter that was changed meanwhile. Responses to submitted forms are
// always shown.
const numbers = new WeakMap(), shown = new Map();
let last = 0;

const place = (node) => node.id || node;

document.addEventListener("htmx:beforeRequest", ({ detail }) => { numbers.set(detail.requestConfig, ++last); });
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.requestConfig.verb !== "get") return;
  const number = numbers.get(detail.requestConfig), there = place(detail.target);
  if (number < (shown.get(there) ?? 0)) detail.shouldSwap = false;
  else shown.set(there, number);
});
document.addEventListener("firekind:emptied", ({ target }) => { shown.set(place(target), ++last); });
