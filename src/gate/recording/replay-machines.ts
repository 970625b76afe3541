// Replays the recorded output and outcome for each equal request of the current code.
import { ConsoleError } from '../../lab/console/console.ts';
import type { FreebsdDeps } from '../../lab/freebsd/freebsd-deps.ts';
import { PowerError } from '../../lab/power/power.ts';
import { KernelFilesError } from '../../lab/qemu/vm/kernel-files.ts';
import { parseJson } from '../../model/json.ts';
import { type CommandOutcome, type RunOptions, stdoutOf } from '../../system/host/execute.ts';
import { HostError, hostFailures } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type Command, commandText } from '../../system/shell.ts';
import { outputOf, type RecordedMoment, type RecordedRequest, requestText } from './read-recording.ts';
import type { RecordedOutcome } from './recording-entry.ts';

type GuestOrder = Extract<RecordedRequest['call'], { what: 'guest' }>['order'];

type ReplayRequest = Pick<RecordedRequest, 'host' | 'call'>;

type EndedRequest = RecordedRequest & { ended: NonNullable<RecordedRequest['ended']> };

/** Equal requests to one host are served in their order, even if they overlap with others. */
export class ReplayedMachines {
  readonly deps: FreebsdDeps;
  /** Requests that the recording lacks, each with the recorded one before it. */
  readonly unrecorded: { text: string; after: RecordedRequest | undefined }[] = [];
  /** Requests with an incomplete recorded outcome or output. */
  readonly incomplete: RecordedRequest[] = [];
  readonly #clock: ReplayClock;
  readonly #pending: Map<string, RecordedRequest[]>;
  #last: RecordedRequest | undefined;

  constructor(requests: readonly RecordedRequest[]) {
    const clock = new ReplayClock(requests[0]?.at ?? 0);
    this.#clock = clock;
    this.#pending = Map.groupBy(requests, keyOf);
    this.deps = {
      connect: ({ host, port }, label) => this.#connect(label, `${label} (${host}:${port})`),
      openPower: () => this.#openPower(),
      openConsole: async (_name, _config, onOutput) => {
        const ended = this.hear('console', onOutput);
        await this.#result('console', { what: 'console', order: 'open' });
        return { ended, close: async () => {} };
      },
      // A sleeper wakes after everything that was recorded for that moment.
      sleep: (seconds) => clock.until({ at: clock.now + seconds, line: Number.MAX_SAFE_INTEGER, turn: Number.NaN }),
      now: () => clock.now,
    };
  }

  /** Drops the requests up to this number that were not made, except the builder's, which works ahead of trials. */
  skipTo(number: number): void {
    for (const [key, requests] of this.#pending) {
      this.#pending.set(
        key,
        requests.filter((request) => request.number > number || request.host === 'builder'),
      );
    }
  }

  #take(request: ReplayRequest): EndedRequest {
    const recorded = this.#pending.get(keyOf(request))?.shift();
    const text = requestText(request);
    if (recorded === undefined) {
      this.unrecorded.push({ text, after: this.#last });
      throw new HostError('command-failed', `The recording has no reply to ${text}.`);
    }
    this.#last = recorded;
    const { ended, cut } = recorded;
    if (ended === undefined || cut.size > 0) this.incomplete.push(recorded);
    if (ended === undefined) {
      throw new HostError('lost', `The recording ends before ${requestText(recorded)} has ended.`);
    }
    return { ...recorded, ended };
  }

  async #result(host: string, call: RecordedRequest['call']): Promise<string> {
    const { ended } = this.#take({ host, call });
    await this.#clock.until(ended);
    return resultOf(ended.outcome);
  }

  async #run(host: string, command: Command, options: RunOptions): Promise<CommandOutcome> {
    const { onStdout, onStderr, shownAs = command } = options;
    const call = {
      what: 'run',
      command: commandText(command),
      shown: commandText(shownAs),
    } as const;
    const request = this.#take({ host, call });
    for (const chunk of request.output) {
      const receive = chunk.stream === 'stdout' ? onStdout : onStderr;
      if (receive !== undefined) this.#clock.at(chunk, () => receive(Buffer.from(chunk.text)));
    }
    await this.#clock.until(request.ended);
    const streams = {
      stdout: onStdout === undefined ? outputOf(request, 'stdout') : '',
      stderr: onStderr === undefined ? outputOf(request, 'stderr') : '',
    };
    const { outcome } = request.ended;
    if (outcome.kind === 'exited' || outcome.kind === 'signaled') return { ...outcome, ...streams };
    resultOf(outcome);
    throw new TypeError('A command was done without having ended.');
  }

  async #connect(label: string, name: string): Promise<Host> {
    await this.#result(label, { what: 'connect' });
    const run: Host['run'] = (command, options = {}) => this.#run(label, command, options);
    const close = async () => {};
    return {
      name,
      run,
      output: async (command, options) => stdoutOf(await run(command, options), name, command),
      upload: async (_, path, mode) => {
        await this.#result(label, { what: 'upload', path, mode, bytes: 0, sha256: '' });
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  }

  async #openPower(): ReturnType<FreebsdDeps['openPower']> {
    const power = (order: 'open' | 'state' | 'cycle') => this.#result('power', { what: 'power', order });
    await power('open');
    return {
      state: async () => ((await power('state')) === 'off' ? 'off' : 'on'),
      cycle: async () => void (await power('cycle')),
    };
  }

  /** Returns the result of a request about guests. */
  async ofGuest(host: string, order: GuestOrder): Promise<unknown> {
    return parseJson(await this.#result(host, { what: 'guest', order }));
  }

  /** Passes on a recorded console at its time; resolves with the reason of its end. */
  hear(host: string, onOutput: (chunk: Buffer) => void): Promise<string> {
    const output = { host, call: { what: 'console', order: 'hear' } } as const;
    const printed = this.#pending.get(keyOf(output))?.shift();
    const chunks = [...(printed?.output ?? [])];
    const ended = Promise.withResolvers<string>();
    this.#clock.watch((now) => {
      while (chunks[0] !== undefined && chunks[0].at <= now) {
        onOutput(Buffer.from(chunks.shift()?.text ?? ''));
      }
      if (printed?.ended !== undefined && printed.ended.at <= now) {
        ended.resolve(resultOf(printed.ended.outcome));
      }
    });
    return ended.promise;
  }
}

/** Ignores the random parts of paths, and the length of sleeps. */
function keyOf({ host, call }: ReplayRequest): string {
  const text = textOf(call).replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi, '…');
  return `${host}\n${call.what}\n${text}`;
}

function textOf(call: RecordedRequest['call']): string {
  switch (call.what) {
    case 'run':
      return call.command;
    case 'upload':
      return call.path;
    case 'power':
    case 'console':
    case 'guest':
      return call.order;
    default:
      return '';
  }
}

function resultOf(outcome: RecordedOutcome): string {
  if (outcome.kind === 'done') return outcome.said ?? '';
  if (outcome.kind !== 'failed') return '';
  const { failure, message } = outcome;
  if (failure === 'PowerError') throw new PowerError(message);
  if (failure === 'ConsoleError') throw new ConsoleError(message);
  if (failure === 'KernelFilesError') throw new KernelFilesError(message);
  const kind = hostFailures.find((one) => one === failure);
  throw kind === undefined ? new Error(message) : new HostError(kind, message);
}

/** Runs each event once the code has reacted to the previous one; keeps turns together. Time never runs backwards. */
class ReplayClock {
  now: number;
  #isRunning = false;
  readonly #events: (RecordedMoment & { act(): void })[] = [];
  readonly #watchers: ((now: number) => void)[] = [];

  constructor(start: number) {
    this.now = start;
  }

  /** Calls `onTime` before each event. */
  watch(onTime: (now: number) => void): void {
    this.#watchers.push(onTime);
  }

  until(moment: RecordedMoment): Promise<void> {
    return new Promise((resolve) => this.at(moment, resolve));
  }

  at(moment: RecordedMoment, act: () => void): void {
    this.#events.push({ ...moment, act });
    void this.#run();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#events.length > 0) {
      for (let turn = 0; turn < turnsToSettle; turn += 1) await nextTurn();
      this.#events.sort((one, other) => one.at - other.at || one.line - other.line);
      const turn = this.#events[0]?.turn;
      do {
        const next = this.#events.shift();
        if (next === undefined) break;
        this.now = Math.max(this.now, next.at);
        for (const onTime of this.#watchers) onTime(this.now);
        next.act();
      } while (this.#events[0]?.turn === turn && turn !== undefined);
    }
    this.#isRunning = false;
  }
}

/** Chained promises have settled by then. */
const turnsToSettle = 4;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
