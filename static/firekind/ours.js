// A response that is not Firekind's, such as a proxy's error or the page of a captive portal, is never shown, and proves
// nothing: it counts as no answer. Ours begin with a comment; those without a page have a header, which some networks
// remove, so a poll may also hear *nothing new* without it.
const MARK = /^\s*(<!doctype html>)?<!--firekind-->/i;

function isOurs(xhr, verb) {
  if (/^\s*</.test(xhr.responseText)) return MARK.test(xhr.responseText);
  return xhr.getResponseHeader("Firekind") !== null || (verb === "get" && xhr.status === 204);
}

document.addEventListener("htmx:beforeOnLoad", (event) => {
  const { detail } = event;
  if (isOurs(detail.xhr, detail.requestConfig.verb)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  detail.isForeign = true; // htmx gives the same detail to those who listen for the end of the request
  htmx.trigger(detail.elt, "firekind:unanswered", detail);
});
document.addEventListener("htmx:beforeSwap", ({ detail }) => { detail.serverResponse = detail.serverResponse.replace(MARK, "$1"); });
