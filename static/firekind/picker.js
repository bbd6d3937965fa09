// Filters the list of people by name or title as one types; Enter picks the first.
const box = document.querySelector("[data-narrows]");

function narrow() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const one of document.querySelectorAll(box.dataset.narrows)) {
    one.hidden = !words.every((word) => one.textContent.toLowerCase().includes(word));
  }
}

box?.addEventListener("input", narrow);
box?.addEventListener("keydown", (event) => {
  if (event.key === "Enter") document.querySelector(`${box.dataset.narrows}:not([hidden]) button`)?.click();
});
