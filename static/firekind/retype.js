// On a narrow screen the plan stands below the types: once a type is picked, go to it.
document.addEventListener("htmx:afterSettle", (event) => {
  const asked = document.getElementById("asked");
  if (event.detail.elt !== asked || !event.detail.requestConfig?.elt.matches("#pick")) return;
  if (asked.getBoundingClientRect().top > innerHeight * 0.55) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    asked.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
  }
});
