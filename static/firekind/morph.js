// How fragments are merged into the page: what a person opened stays open, what they are typing stays theirs.
Idiomorph.defaults.ignoreActiveValue = true;
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
  !(name === "open" && node instanceof HTMLDetailsElement);
