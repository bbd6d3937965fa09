// Makes one piece of the page equal to another without replacing what is already equal, so that focus, scrolling,
// open folds and half-typed words survive. Elements with `data-keep` belong to their module and are left alone.

export function morph(now, next) {
  if (now.hasAttribute("data-keep")) return;
  attributes(now, next);
  children(now, next);
}

function children(now, next) {
  const named = new Map([...now.children].filter((child) => child.id).map((child) => [child.id, child]));
  let place = now.firstChild;
  for (const wanted of [...next.childNodes]) {
    const found = partner(place, wanted, named);
    if (!found) {
      now.insertBefore(document.importNode(wanted, true), place);
    } else {
      if (found === place) place = place.nextSibling;
      else now.insertBefore(found, place);
      update(found, wanted);
    }
  }
  while (place) {
    const gone = place;
    place = place.nextSibling;
    gone.remove();
  }
}

function partner(place, wanted, named) {
  if (wanted.id) return named.get(wanted.id);
  if (!place || place.nodeType !== wanted.nodeType || place.nodeName !== wanted.nodeName) return null;
  return place.id ? null : place;
}

function update(now, wanted) {
  if (now.nodeType !== Node.ELEMENT_NODE) {
    if (now.data !== wanted.data) now.data = wanted.data;
  } else if (now.nodeName !== wanted.nodeName) {
    now.replaceWith(document.importNode(wanted, true));
  } else if (!now.isEqualNode(wanted)) {
    morph(now, wanted);
  }
}

// What someone typed stays, even where the page has another value for it by now.
function attributes(now, next) {
  const typed = now.localName === "input" && now.value !== now.defaultValue;
  for (const { name, value } of [...next.attributes]) {
    if (name === "open") continue;
    if (now.getAttribute(name) === value) continue;
    now.setAttribute(name, value);
    if (name === "value" && !typed && now !== document.activeElement) now.value = value;
    if (name === "checked") now.checked = true;
    if (name === "selected") now.selected = true;
  }
  for (const { name } of [...now.attributes]) {
    if (next.hasAttribute(name) || name === "open" || name === "style") continue;
    now.removeAttribute(name);
    if (name === "checked") now.checked = false;
  }
}
