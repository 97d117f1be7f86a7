// Calls `poll` once a second while the tab is visible. After failures it waits longer, up to 15 s.

const INTERVAL_MS = 1000;
const MAX_WAIT_MS = 15000;

export class Poller {
  #poll;
  #timer;
  #failures = 0;
  #isRunning = false;
  #isDue = false;  // asked for while one was running

  // `poll` returns whether the daemon answered.
  constructor(poll) {
    this.#poll = poll;
    document.addEventListener('visibilitychange', () => this.now());
  }

  async now() {
    this.#isDue = this.#isRunning;
    if (document.hidden || this.#isRunning) return;
    clearTimeout(this.#timer);
    this.#isRunning = true;
    let isAnswered = false;
    try {
      isAnswered = await this.#poll();
    } finally {  // an exception is reported, and does not end the polling
      this.#isRunning = false;
      this.#failures = isAnswered ? 0 : this.#failures + 1;
      this.#schedule();
    }
  }

  #schedule() {
    const wait = this.#isDue ? 0 : Math.min(MAX_WAIT_MS, INTERVAL_MS * 2 ** Math.max(0, this.#failures - 1));
    this.#timer = setTimeout(() => this.now(), wait);
  }
}
