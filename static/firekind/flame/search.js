// Search by text or /regular expression/. The share is the server's, which counts all frames, not only the drawn ones.
import { ask } from "./source.js";
import { amount, count, percent } from "./words.js";

const WAIT_MS = 120;

export class Search {
  constructor(field, said, { address, unit, found }) {
    Object.assign(this, { field, said, address, unit, found });
    field.addEventListener("input", () => this.later());
    field.form.addEventListener("submit", (event) => { event.preventDefault(); this.run(); });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      field.value = "";
      this.run();
    });
  }

  get words() {
    return this.field.value.trim();
  }

  later() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.run(), WAIT_MS);
  }

  async run() {
    clearTimeout(this.waiting);
    this.asked?.abort();
    const words = this.words;
    if (!words) {
      this.tell("", "");
      this.found(null, words);
      return;
    }
    this.asked = new AbortController();
    try {
      const answer = await ask(this.address(words), { signal: this.asked.signal });
      const codes = [];
      let code = 0;
      for (const step of answer.codes) codes.push((code += step));
      this.tell(this.sentence(answer), "");
      this.found(codes, words);
    } catch (error) {
      if (error.name !== "AbortError") this.tell(error.message, "wrong-words");
    }
  }

  sentence(answer) {
    if (!answer.functions) return "No function matches.";
    const functions = `${count(answer.functions)} ${answer.functions === 1 ? "function" : "functions"}`;
    const whole = `${percent(answer.share)} matched: ${amount(answer.total, this.unit)} in ${functions}.`;
    return answer.root ? `${whole} In the zoomed frame: ${percent(answer.zoomed_share)}.` : whole;
  }

  tell(words, look) {
    this.said.textContent = words;
    this.said.className = `matched ${look}`;
  }
}
