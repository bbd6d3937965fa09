// Passkeys: a form marked data-passkey asks the browser for one before it is submitted. The server's options are in
// data-options; the browser's response goes into the field `credential`, in the same JSON.
const toBytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
const toText = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const named = (one) => ({ ...one, id: toBytes(one.id) });

function asked({ publicKey: options }) {
  const publicKey = { ...options, challenge: toBytes(options.challenge) };
  if (options.user) publicKey.user = named(options.user);
  for (const list of ["excludeCredentials", "allowCredentials"]) {
    if (options[list]) publicKey[list] = options[list].map(named);
  }
  return { publicKey };
}

function answered(key) {
  const said = {};
  for (const part of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (key.response[part]) said[part] = toText(key.response[part]);
  }
  return { id: key.id, rawId: toText(key.rawId), type: key.type, response: said, clientExtensionResults: key.getClientExtensionResults() };
}

const WORDS = {
  NotAllowedError: "Nothing was selected, or it timed out. Try again.",
  InvalidStateError: "This passkey is already set up.",
  SecurityError: "Passkeys need an https address or localhost.",
};

// The first listener, so that no other takes the form as submitted while the browser is still asking.
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-passkey]");
  if (!form || form.elements.credential.value) return;
  event.preventDefault();
  const says = form.querySelector("[data-passkey-says]");
  says.hidden = true;
  try {
    if (!navigator.credentials) throw new DOMException("", "SecurityError");
    const key = await navigator.credentials[form.dataset.passkey](asked(JSON.parse(form.dataset.options)));
    form.elements.credential.value = JSON.stringify(answered(key));
    form.requestSubmit();
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    says.textContent = WORDS[error.name] ?? "Your browser couldn't use a passkey here.";
    says.hidden = false;
  }
}, { capture: true });
