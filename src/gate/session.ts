// Runs a gate in its session: waits for a testbed, shows progress, and releases the testbed.
import type { Config } from '../config/schema.ts';
import type { Repository } from '../forge/patch/repository.ts';
import { withoutOperatorsPart } from '../lab/netns/owner.ts';
import type { Patch } from '../model/patch.ts';
import type { WaitEstimate } from './estimate/queue.ts';
import type { HistoryFile } from './experiment/history.ts';
import type { FlightLog } from './flight-log.ts';
import type { GateDeps } from './gate-deps.ts';
import { type ProgressOutput, showProgress } from './progress.ts';
import type { ReservationRequest } from './reserve/reservation.ts';
import { requireHere } from './testbeds/open-testbed.ts';
import { openReservations } from './testbeds/reserve.ts';

type SessionObserver = {
  /** `text` is the log's sentence. */
  waiting(estimate: WaitEstimate, text: string): void;
  /** `line` is the log's newest line: the run, the numbers so far, the remaining time. */
  measuring(testbed: string, line?: string): void;
};

export type GateSession = {
  config: Config;
  repository: Repository;
  history: HistoryFile;
  output: ProgressOutput;
  observer?: SessionObserver | undefined;
  requestFor(patch: Patch): Omit<ReservationRequest, 'testbeds'>;
  /** Folder of the lease file, which releases the testbed of a killed process. */
  leaseFolder: string;
  flightLog?: FlightLog | undefined;
  signal: AbortSignal;
};

/** Runs or resumes a gate in `work`. Rethrows its error after releasing the testbed. */
export async function inSession<Outcome>(
  session: GateSession,
  work: (deps: GateDeps) => Promise<Outcome>,
): Promise<Outcome> {
  const { config, repository, history, output, observer, requestFor, leaseFolder, signal } = session;
  let testbed: string | undefined;
  const shown =
    observer === undefined
      ? output
      : observed(output, (line) => {
          if (testbed !== undefined) observer.measuring(testbed, line);
        });
  const progress = showProgress(shown, config.gate.metric, () => performance.now());
  const notify = (text: string) => progress.onEvent({ kind: 'preparing', text });
  await using reservations = await openReservations(config, {
    signal,
    notify,
    flightLog: session.flightLog,
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

/** Prints plain lines even on a terminal or in a runner, as each is also reported elsewhere. */
const observed = (output: ProgressOutput, onLine: (line: string) => void): ProgressOutput => ({
  write(text: string) {
    onLine(withoutOperatorsPart(text.trim()));
    return output.write(text);
  },
});
