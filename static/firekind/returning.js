// A person who was signed out in several tabs signs in once: the others return to their pages by themselves.
const ended = document.getElementById("ended");

localStorage.removeItem("signed-in"); // only changes trigger the event
addEventListener("storage", ({ key, newValue }) => {
  if (key === "signed-in" && newValue) location.replace(ended.dataset.next || "/");
});
