// Runs many clients of GitHub one request at a time, in an order by seed, with their own clock.
import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import type { Octokit } from '../../../src/forge/github/client.ts';
import type { Pause } from '../../../src/model/pause.ts';

export type Turns = {
  now: () => Date;
  pause: Pause;
  /** From now on, the client's requests alternate with all others; `attempt` wraps each try. */
  lead: (octokit: Octokit, attempt: Attempt) => void;
  /** Continues until `work` is done. A request needs no time; the clock advances when none waits. */
  until: (work: Promise<unknown>) => Promise<void>;
};

/** @param call common properties of a request's tries */
export type Attempt = (call: Call, send: () => Promise<Response>) => Promise<Response>;
export type Call = { name: string; isGraphql: boolean };

/** @param random from 0, below 1 */
export function takingTurns(random: () => number, start: Date): Turns {
  const requests: (() => Promise<void>)[] = [];
  const pauses = new Set<{ endsAt: number; end: () => void }>();
  let seconds = 0;

  const nextRequest = async () => {
    const [request] = requests.splice(Math.floor(random() * requests.length), 1);
    await request?.();
  };

  const nextPauses = () => {
    seconds = Math.max(seconds, Math.min(...[...pauses].map(({ endsAt }) => endsAt)) + random());
    const over = [...pauses].filter(({ endsAt }) => endsAt <= seconds);
    for (const { end } of over.toSorted((a, b) => a.endsAt - b.endsAt)) end();
  };

  return {
    now: () => new Date(start.getTime() + seconds * 1000),
    pause(length, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const pause = { endsAt: seconds + length, end: resolve };
      promise.then(() => pauses.delete(pause));
      if (signal.aborted) return Promise.resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
      pauses.add(pause);
      return promise;
    },
    lead(octokit, attempt) {
      octokit.hook.wrap('request', (request, options) => {
        const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof request>>>();
        const { method, url, query = '' } = options;
        const call = { name: `${method} ${url} ${query}`, isGraphql: url === '/graphql' };
        const send: typeof fetch = options.request?.fetch ?? fetch;
        const tried: typeof fetch = (...asked) => attempt(call, () => send(...asked));
        // Changed in place, as octokit's other hooks already have the same object.
        options.request = { ...options.request, fetch: tried };
        requests.push(() => Promise.resolve(request(options)).then(resolve, reject));
        return promise;
      });
    },
    async until(work) {
      let isOver = false;
      const over = work.finally(() => {
        isOver = true;
      });
      over.catch(() => {});
      while (!isOver) {
        // Reactions to a response need no more turns.
        for (let turn = 0; turn < 3; turn++) await turnOfEventLoop();
        if (requests.length > 0) await nextRequest();
        else if (pauses.size > 0) nextPauses();
      }
      await over;
    },
  };
}
