// Doing things as the chosen person, and saying what came of it.

import { refresh } from "./live.js";

export const who = () => document.body.dataset.who;

export async function send(path, body, method = "POST") {
  const options = { method, headers: { "Content-Type": "application/json" } };
  if (method === "POST") options.body = JSON.stringify(body ?? {});
  try {
    return await (await fetch(path, options)).json();
  } catch {
    return { ok: false, error: "The sandbox does not answer." };
  }
}

// The page of each stand-in says at which address people act there.
export async function act(name, fields = {}) {
  const answer = await send(`${document.body.dataset.acts ?? "/sandbox"}/${name}`, { user: who(), ...fields });
  if (!answer.ok && answer.error !== "incomplete") toast(worded(answer.error));
  await refresh();
  return answer;
}

export async function upload(file) {
  const path = `/sandbox/file?${new URLSearchParams({ user: who(), name: file.name })}`;
  const headers = { "Content-Type": "application/octet-stream" };
  const answer = await fetch(path, { method: "POST", body: file, headers }).then((one) => one.json());
  if (!answer.ok) toast(answer.error);
  return answer;
}

function worded(error) {
  if (error === "operation_timeout") return "The app did not answer within three seconds.";
  if (error === "dispatch_failed") return "The app could not be reached or failed.";
  return error;
}

export function toast(words) {
  const shown = document.createElement("p");
  shown.className = "toast";
  shown.textContent = words;
  document.getElementById("toasts").append(shown);
  setTimeout(() => shown.remove(), 5000);
}

// Resolves to whether the person is sure.
export function ask({ title, text, yes = "Yes", no = "Cancel", style = "" }) {
  const dialog = document.getElementById("ask");
  const [refuse, agree] = dialog.querySelectorAll("button");
  dialog.querySelector("h2").textContent = title;
  dialog.querySelector("p").textContent = text;
  refuse.textContent = no;
  agree.textContent = yes;
  agree.classList.toggle("danger", style === "danger");
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
