// Files dropped or picked on the evidence page: sent one by one, with progress, and with errors shown next to each.
const form = document.getElementById("drop");
const input = document.getElementById("files");
const list = document.getElementById("uploads");

function line(file) {
  for (const earlier of list.children) if (earlier.firstChild.textContent === file.name && earlier.querySelector(".bad")) earlier.remove();
  const item = document.createElement("li");
  const name = document.createElement("span");
  const state = document.createElement("span");
  const bar = document.createElement("progress");
  name.textContent = file.name;
  state.textContent = "waiting";
  bar.max = 1;
  bar.value = 0;
  bar.setAttribute("aria-label", `Sending ${file.name}`);
  item.append(name, state, bar);
  list.append(item);
  return { item, state, bar };
}

function send(file, shown) {
  return new Promise((done) => {
    const body = new FormData(form);
    body.delete("file");
    body.append("file", file);
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (event) => {
      if (!event.lengthComputable) return;
      shown.bar.value = event.loaded / event.total;
      shown.state.textContent = event.loaded < event.total ? `${Math.round((100 * event.loaded) / event.total)} %` : "storing…";
    });
    request.addEventListener("loadend", () => {
      done(answered(request, shown));
    });
    request.send(body);
  });
}

function answered(request, shown) {
  let said = "", isKnown = true;
  try {
    said = JSON.parse(request.responseText).says;
  } catch {
    isKnown = false;
    said = "No answer from Firekind, so it may have been added. If you send it again, it's kept only once.";
  }
  if (request.status === 201) {
    shown.item.remove();
    return true;
  }
  shown.bar.remove();
  shown.state.textContent = isKnown ? "not added" : "";
  const why = document.createElement("span");
  why.className = "bad";
  why.textContent = said;
  shown.item.append(why);
  return false;
}

async function take(files) {
  const waiting = [...files].map((file) => [file, line(file)]);
  for (const [file, shown] of waiting) {
    if (await send(file, shown)) {
      window.htmx.ajax("GET", location.pathname, { target: "#all", swap: "outerHTML" });
    }
  }
  input.value = "";
}

if (form && input && list) {
  form.classList.add("ready");
  input.addEventListener("change", () => take(input.files));
  for (const kind of ["dragenter", "dragover"]) {
    document.addEventListener(kind, (event) => {
      if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
      event.preventDefault();
      form.classList.add("over");
    });
  }
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) form.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    form.classList.remove("over");
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    take(event.dataTransfer.files);
  });
}
