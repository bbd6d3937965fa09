// How many streams this browser keeps open, so that requests find a connection: with HTTP/1.1 it opens six to one address,
// for all its tabs together. A page that waits for a place polls. HTTP/2 shares one connection and needs no places; nor
// can they be kept where browsers offer no locks, which is without TLS.
const PLACES = 3;
const isFree = () => !navigator.locks || /^h[23]/.test(performance.getEntriesByType("navigation")[0]?.nextHopProtocol);

async function placed(stream, over) {
  if (isFree()) return stream.open();
  const hold = (lock) => lock && !over.aborted && stream.open();
  for (let n = 0; n < PLACES; n++) {
    if (await navigator.locks.request(`stream ${n}`, { ifAvailable: true }, hold) || over.aborted) return;
  }
  const place = `stream ${Math.floor(Math.random() * PLACES)}`;
  await navigator.locks.request(place, { signal: over }, hold).catch(() => {}); // closed while it waited
}

// Calls `open`, which returns an EventSource, once there is a place; until then the stream is waiting.
window.streamOf = (open) => {
  const over = new AbortController();
  let source, leave;
  const stream = {
    isWaiting: true,
    open: () => new Promise((done) => {
      leave = () => done(true);
      stream.isWaiting = false;
      source = open();
    }),
    close() {
      over.abort();
      source?.close();
      leave?.();
    },
  };
  placed(stream, over.signal);
  return stream;
};
