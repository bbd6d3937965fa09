// The view in the page's URL, so that a link shows exactly the same: zoom, search, colours, what is left out.
export function read() {
  return new URLSearchParams(location.search);
}

// Change part of it; an empty value is removed. Zooming is a step that the browser's *back* undoes.
export function write(changes, { step = false } = {}) {
  const now = read();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "" || value === false) now.delete(name);
    else now.set(name, String(value));
  }
  const query = now.toString().replaceAll("%2C", ",");
  const address = `${location.pathname}${query ? `?${query}` : ""}${location.hash}`;
  if (address === `${location.pathname}${location.search}${location.hash}`) return;
  history[step ? "pushState" : "replaceState"]({}, "", address);
}

// Handle a link whose frame has moved: drop its position, and search for its name. Returns the message.
export function lost(name) {
  write({ at: "", range: "", frame: "", sandwich: "", of: "", q: name });
  return `This profile was processed again after the link was copied. Frames named “${name}” are highlighted.`;
}
