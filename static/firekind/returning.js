// Who was signed out in several tabs signs in once: the others go back to the page they had open by themselves.
const ended = document.getElementById("ended");

localStorage.removeItem("signed-in"); // only what changes is heard
addEventListener("storage", ({ key, newValue }) => {
  if (key === "signed-in" && newValue) location.replace(ended.dataset.next || "/");
});
