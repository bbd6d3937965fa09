// Buttons that copy the text of another element; without access to the clipboard, they select it instead.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  const words = button && document.getElementById(button.dataset.copy);
  if (!words) return;
  try {
    await navigator.clipboard.writeText(words.textContent);
    document.dispatchEvent(new CustomEvent("firekind:did", { detail: { said: "Copied." } }));
  } catch {
    getSelection().selectAllChildren(words);
    document.dispatchEvent(new CustomEvent("firekind:did", { detail: { said: "Couldn't copy. It's selected; copy it from here." } }));
  }
});
