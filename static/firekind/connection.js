// Says so when the page cannot look for news: what it shows may be old. Also sends no form twice.
const banner = document.getElementById("offline");

document.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.elt.matches("[data-poll]")) return;
  const { status } = event.detail.xhr;
  const lost = status === 0 || status >= 500;
  if (lost && banner.hidden) {
    const at = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(new Date());
    banner.lastElementChild.textContent = `No connection since ${at}. This page may be out of date. Reconnecting…`;
  }
  banner.hidden = !lost;
});
addEventListener("online", () => document.dispatchEvent(new CustomEvent("firekind:changed")));

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post" || form.hasAttribute("hx-post")) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
