// Numbers and names as people read them.
const whole = new Intl.NumberFormat("en-GB");
const TIMES = [[3600e9, "h"], [60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const SIZES = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];

const FRACTIONS = { thousand: 1e3, million: 1e6, billion: 1e9 };

export function amount(value, unit) {
  if (unit === "nanoseconds") return value ? scaled(value, TIMES) : "0 s";
  if (unit === "bytes") return scaled(value, SIZES);
  const [, scale, of] = /^(thousand|million|billion)ths of (.+)$/s.exec(unit) ?? [];
  if (scale) return `${part(value / FRACTIONS[scale])} ${of}`;
  const word = Math.abs(value) === 1 && unit.endsWith("s") ? unit.slice(0, -1) : unit;
  return `${whole.format(value)} ${word}`.trim();
}

// A fractional count.
function part(value) {
  const size = Math.abs(value);
  if (size > 0 && size < 0.01) return "< 0.01";
  const digits = size >= 100 || !value ? 0 : size >= 10 ? 1 : 2;
  return new Intl.NumberFormat("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value.toFixed(digits));
}

export function difference(value, unit) {
  return `${value > 0 ? "+" : value < 0 ? "−" : "±"}${amount(Math.abs(value), unit)}`;
}

function scaled(value, steps) {
  const [size, word] = steps.find(([one]) => Math.abs(value) >= one) ?? steps.at(-1);
  const shown = value / size;
  const digits = Math.abs(shown) >= 100 || size === 1 ? 0 : Math.abs(shown) >= 10 ? 1 : 2;
  return `${shown.toFixed(digits)} ${word}`;
}

export function count(value) {
  return whole.format(value);
}

// With few samples, digits after a whole percentage mean nothing.
const rough = document.querySelector("[data-rough]") !== null;

function roughly(value) {
  if (value > 0 && value < 0.5) return "< 1";
  return value >= 99.5 && value < 100 ? "> 99" : value.toFixed(0);
}

// Never a false 0 % or 100 %.
export function percent(share) {
  const value = 100 * share, size = Math.abs(value);
  if (rough) return `${roughly(size)} %`;
  if (value === 0) return "0 %";
  if (size < 0.01) return value < 0 ? "> −0.01 %" : "< 0.01 %";
  if (size >= 99.95 && size < 100) return value < 0 ? "< −99.9 %" : "> 99.9 %";
  return `${value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2).replace("-", "−")} %`;
}

export function points(difference) {
  const value = 100 * difference, size = Math.abs(value);
  const sign = value > 0 ? "+" : value < 0 ? "−" : "±";
  if (rough) return size > 0 && size < 0.5 ? "< 1 pp" : `${sign}${size.toFixed(0)} pp`;
  if (size > 0 && size < 0.01) return value < 0 ? "> −0.01 pp" : "< 0.01 pp";
  return `${sign}${size.toFixed(size >= 10 ? 1 : 2)} pp`;
}

// The most telling part of a name: after the last path, and the last two words of a Rust or C++ path. Text in brackets,
// such as type parameters, does not count.
export function short(name) {
  const brackets = name.search(/[ (<[]/);
  const head = brackets > 0 ? name.slice(0, brackets) : name;
  const tail = name.slice(head.lastIndexOf("/") + 1);
  const begins = words(tail);
  return begins.length > 2 ? tail.slice(begins.at(-2)) : tail;
}

// Where the words of a path begin, which "::" separates outside brackets.
function words(path) {
  const begins = [0];
  let depth = 0;
  for (let at = 0; at < path.length; at++) {
    if ("<([{".includes(path[at])) depth++;
    else if (">)]}".includes(path[at])) depth = Math.max(depth - 1, 0);
    else if (!depth && at && path.startsWith("::", at)) begins.push(at + 2);
  }
  return begins;
}

// As much of a name as fits into this many characters.
export function fitted(name, characters) {
  if (name.length <= characters) return name;
  if (characters < 3) return "";
  const less = short(name);
  return less.length <= characters ? less : `${less.slice(0, characters - 1)}…`;
}
