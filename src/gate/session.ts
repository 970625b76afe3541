// Surrounds a gate with its session: waits for a testbed, gives it back, and shows progress.
import type { Config } from '../config/schema.ts';
import type { Repository } from '../forge/patch/repository.ts';
import type { Patch } from '../model/patch.ts';
import type { WaitEstimate } from './estimate/queue.ts';
import type { HistoryFile } from './experiment/history.ts';
import type { GateDeps } from './gate-deps.ts';
import { type ProgressOutput, showProgress } from './progress.ts';
import type { Recorder } from './recording/recorder.ts';
import type { ReservationRequest } from './reserve/reservation.ts';
import { requireHere } from './testbeds/open-testbed.ts';
import { openReservations } from './testbeds/reservations.ts';

/** Shows how a session goes to people outside its log. */
export type SessionObserver = {
  /** The place in the queue; `text` is the sentence that the log has of it. */
  waiting(estimate: WaitEstimate, text: string): void;
  /** `line` is the newest of the log: the run, the numbers so far, the time that is left. */
  measuring(testbed: string, line?: string): void;
};

export type GateSession = {
  config: Config;
  repository: Repository;
  history: HistoryFile;
  output: ProgressOutput;
  observer?: SessionObserver | undefined;
  /** Says for whom a testbed is reserved, and in which place of the queue. */
  requestFor(patch: Patch): Omit<ReservationRequest, 'testbeds'>;
  /** Holds the lease file, so that a killed process can have its testbed given back. */
  leaseFolder: string;
  /** Writes down what machines are asked and say. */
  recorder?: Recorder | undefined;
  signal: AbortSignal;
};

/** Runs or resumes a gate in `work`; rethrows its error after the testbed was given back. */
export async function inSession<Told>(
  session: GateSession,
  work: (deps: GateDeps) => Promise<Told>,
): Promise<Told> {
  const { config, repository, history, output, observer, requestFor, leaseFolder, signal } =
    session;
  let testbed: string | undefined;
  const shown =
    observer === undefined
      ? output
      : heard(output, (line) => {
          if (testbed !== undefined) observer.measuring(testbed, line);
        });
  const progress = showProgress(shown, config.gate.metric, () => performance.now());
  const notify = (text: string) => progress.onEvent({ kind: 'preparing', text });
  await using reservations = await openReservations(config, {
    signal,
    notify,
    recorder: session.recorder,
    onWait(estimate, text) {
      notify(text);
      observer?.waiting(estimate, text);
    },
  });
  const deps: GateDeps = {
    repository,
    async reserve(names, patch) {
      await requireHere(names, config);
      const reserved = await reservations.reserve(names, requestFor(patch), leaseFolder);
      testbed = reserved.name;
      observer?.measuring(testbed);
      return reserved;
    },
    history,
    now: () => new Date(),
    onEvent: progress.onEvent,
    signal,
  };
  return await work(deps).finally(progress.end);
}

/** Plain lines even on a terminal, and where a runner offers one: each is told elsewhere, too. */
const heard = (output: ProgressOutput, hears: (line: string) => void): ProgressOutput => ({
  write(text: string) {
    hears(text.trim());
    return output.write(text);
  },
});
