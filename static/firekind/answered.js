// An error page is an answer of ours: what was sent is not in doubt any more. sending.js keeps track.
for (const name of Object.keys(sessionStorage)) if (name.startsWith("sent ")) sessionStorage.removeItem(name);
