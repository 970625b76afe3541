// Posts status updates to a forge in the background, rate-limited; only the latest is sent.
import { type Pause, realPause } from '../../model/pause.ts';

/**
 * Result of one try. `refused` is final; `failed` and `not-yet` are worth another try, `not-yet` soon. For `pointless`,
 * the object is gone, and another one has its number.
 */
export type UpdateAttempt =
  | { kind: 'delivered' }
  | { kind: 'pointless'; why: string }
  | { kind: 'refused' | 'failed' | 'not-yet'; why: string };

type UpdatesOptions = {
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  /** Minimum time between two updates; the last one is sent at once. */
  secondsBetween: number;
  tooSlow(seconds: number): string;
  pause?: Pause;
};

/** Final state of the last update. A later job may retry an `undelivered` one. */
export type Delivery = 'delivered' | 'refused' | 'undelivered';

/** Growing pauses between tries; their sum is at most `maxSeconds`. */
export function* pausesWithin(maxSeconds: number): Generator<number> {
  for (let tries = 1, waited = 0; ; tries++) {
    const seconds = Math.min(tries ** 2, longestPauseSeconds);
    waited += seconds;
    if (waited > maxSeconds) return;
    yield seconds;
  }
}

const longestPauseSeconds = 60;

/**
 * Sends one update at a time; callers can wait only for the last one. A refusal is logged once and ends all tries. The
 * last update is retried, with growing pauses, for as long as its caller allows.
 */
export class ThrottledUpdates<Update> {
  readonly #post: (update: Update) => Promise<UpdateAttempt>;
  readonly #options: UpdatesOptions;
  readonly #pause: Pause;
  readonly #stopped = new AbortController();
  readonly #gaveUp = new AbortController();
  readonly #over = AbortSignal.any([this.#stopped.signal, this.#gaveUp.signal]);
  #pending: Update | undefined;
  #sending: Promise<void> | undefined;
  #last: Promise<Delivery> | undefined;
  #isRefused = false;
  #whyUndelivered = '';

  constructor(post: (update: Update) => Promise<UpdateAttempt>, options: UpdatesOptions) {
    this.#post = post;
    this.#options = options;
    this.#pause = options.pause ?? realPause;
  }

  send(update: Update): void {
    this.#pending = update;
    this.#sending ??= this.#sendPending();
  }

  /** Stops; resolves after the update that is being sent. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#sending;
  }

  /** Only the first call has an effect. */
  sendLast(update: Update, maxSeconds: number): Promise<Delivery> {
    this.#last ??= this.#sendWithin(update, maxSeconds);
    return this.#last;
  }

  /** Sends an update in place of the last one, once that was delivered; otherwise has no effect. */
  async replaceLast(update: Update, maxSeconds: number): Promise<void> {
    if (this.#last === undefined) return;
    await this.#last;
    if (!this.#gaveUp.signal.aborted) await this.#sendWithin(update, maxSeconds);
  }

  async #sendPending(): Promise<void> {
    while (this.#pending !== undefined && !this.#over.aborted) {
      const update = this.#pending;
      const attempt = await this.#post(update);
      if (attempt.kind === 'refused' || attempt.kind === 'pointless') this.#refuse(attempt.why);
      if (attempt.kind === 'delivered' && this.#pending === update) this.#pending = undefined;
      await this.#pause(this.#options.secondsBetween, this.#over);
    }
    this.#sending = undefined;
  }

  async #sendWithin(update: Update, maxSeconds: number): Promise<Delivery> {
    this.#stopped.abort();
    this.#whyUndelivered = this.#options.tooSlow(maxSeconds);
    const isSettled = new AbortController();
    const tooLate = this.#pause(maxSeconds, isSettled.signal).then(() => 'too late' as const);
    const first = await Promise.race([this.#trySending(update, maxSeconds), tooLate]);
    isSettled.abort();
    return first === 'too late' ? this.#undelivered() : first;
  }

  async #trySending(update: Update, maxSeconds: number): Promise<Delivery> {
    await this.#sending;
    for (const seconds of [0, ...pausesWithin(maxSeconds)]) {
      if (seconds > 0) await this.#pause(seconds, this.#gaveUp.signal);
      if (this.#gaveUp.signal.aborted) break;
      const attempt = await this.#post(update);
      if (attempt.kind === 'delivered') return 'delivered';
      if (attempt.kind === 'refused' || attempt.kind === 'pointless') {
        return this.#refuse(attempt.why);
      }
      this.#whyUndelivered = attempt.why;
    }
    return this.#isRefused ? 'refused' : this.#undelivered();
  }

  #refuse(why: string): 'refused' {
    this.#giveUp(this.#options.log.info, why);
    this.#isRefused = true;
    return 'refused';
  }

  #undelivered(): 'undelivered' {
    this.#giveUp(this.#options.log.warn, this.#whyUndelivered);
    return 'undelivered';
  }

  #giveUp(log: (sentence: string) => unknown, why: string): void {
    if (!this.#gaveUp.signal.aborted) log(why);
    this.#gaveUp.abort();
  }
}
