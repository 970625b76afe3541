// A world that answers from a recording: each question of the code of today gets what the same question got then.
import { ConsoleError } from '../../lab/console/console.ts';
import type { FreebsdDeps } from '../../lab/freebsd/freebsd-deps.ts';
import { PowerError } from '../../lab/power/power.ts';
import type { CommandOutcome, RunOptions } from '../../system/host/execute.ts';
import { stdoutOf } from '../../system/host/execute.ts';
import { HostError, type HostFailure } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { commandText } from '../../system/shell.ts';
import { type Moment, type Question, questionText, writtenTo } from './read-recording.ts';

export type ReplayDeps = {
  deps: FreebsdDeps;
  /** What the code of today asks and the recording has not, each with the question that it asked before it. */
  strangers: { text: string; after: Question | undefined }[];
  /** Questions whose answer the recording does not hold whole. */
  unanswered: Question[];
  /** What nobody has asked so far of the first so many questions is not asked any more. */
  skipTo(number: number): void;
};

/** Questions to one host with the same text are answered in their order, however they overlap with others. */
export function replayDeps(questions: readonly Question[]): ReplayDeps {
  const time = replayTime(questions[0]?.at ?? 0);
  const waiting = Map.groupBy(questions, (question) => keyOf(question));
  const replay: Pick<ReplayDeps, 'strangers' | 'unanswered'> = { strangers: [], unanswered: [] };
  let before: Question | undefined;

  const find = (question: Pick<Question, 'host' | 'asked'>): Question => {
    const found = waiting.get(keyOf(question))?.shift();
    if (found === undefined) {
      const text = questionText({ ...question } as Question);
      replay.strangers.push({ text, after: before });
      throw new HostError('command-failed', `The recording has no answer to ${text}.`);
    }
    before = found;
    if (found.ended === undefined || found.cut.size > 0) replay.unanswered.push(found);
    if (found.ended === undefined) {
      throw new HostError('lost', `The recording ends before ${questionText(found)} did.`);
    }
    return found;
  };

  /** Answers at the time of then. */
  const answered = async (question: Pick<Question, 'host' | 'asked'>): Promise<string> => {
    const { ended } = find(question);
    if (ended !== undefined) await time.until(ended);
    return saidBy(ended?.answer);
  };

  const run = async (
    host: string,
    command: string,
    shown: string,
    { onStdout, onStderr }: RunOptions,
  ): Promise<CommandOutcome> => {
    const asked = { what: 'run', command, shown } as const;
    const found = find({ host, asked });
    for (const piece of found.pieces) {
      const hear = piece.stream === 'stdout' ? onStdout : onStderr;
      if (hear !== undefined) time.at(piece, () => hear(Buffer.from(piece.text)));
    }
    const { ended } = found;
    if (ended !== undefined) await time.until(ended);
    const streams = {
      stdout: onStdout === undefined ? writtenTo(found, 'stdout') : '',
      stderr: onStderr === undefined ? writtenTo(found, 'stderr') : '',
    };
    const answer = ended?.answer;
    if (answer?.kind === 'exited') return { kind: 'exited', code: answer.code, ...streams };
    if (answer?.kind === 'signaled') return { ...answer, ...streams };
    saidBy(answer);
    throw new TypeError('A command was done without having ended.');
  };

  const deps: FreebsdDeps = {
    async connect({ host, port }, label) {
      await answered({ host: label, asked: { what: 'connect' } });
      const name = `${label} (${host}:${port})`;
      const close = async () => {};
      const runHere: Host['run'] = (command, options = {}) => {
        const text = commandText(command);
        const shown = options.shownAs === undefined ? text : commandText(options.shownAs);
        return run(label, text, shown, options);
      };
      return {
        name,
        run: runHere,
        output: async (command, options) =>
          stdoutOf(await runHere(command, options), name, command),
        async upload(_, path, mode) {
          const asked = { what: 'upload', path, mode, bytes: 0, sha256: '' } as const;
          await answered({ host: label, asked });
        },
        close,
        [Symbol.asyncDispose]: close,
      };
    },

    async openPower() {
      const ask = (order: 'open' | 'state' | 'cycle') =>
        answered({ host: 'power', asked: { what: 'power', order } });
      await ask('open');
      return {
        state: async () => ((await ask('state')) === 'off' ? 'off' : 'on'),
        cycle: async () => void (await ask('cycle')),
      };
    },

    async openConsole(_name, _config, onOutput) {
      const printed = waiting.get(keyOf(hearing))?.shift();
      const pieces = [...(printed?.pieces ?? [])];
      const ended = Promise.withResolvers<string>();
      time.watch((now) => {
        while (pieces[0] !== undefined && pieces[0].at <= now) {
          onOutput(Buffer.from(pieces.shift()?.text ?? ''));
        }
        if (printed?.ended !== undefined && printed.ended.at <= now) {
          ended.resolve(saidBy(printed.ended.answer));
        }
      });
      await answered({ host: 'console', asked: { what: 'console', order: 'open' } });
      return { ended: ended.promise, close: async () => {} };
    },

    // Who sleeps is woken when what was recorded of that moment is heard.
    sleep: (seconds) =>
      time.until({ at: time.now() + seconds, line: Number.MAX_SAFE_INTEGER, turn: Number.NaN }),
    now: time.now,
  };
  const skipTo = (number: number) => {
    for (const [key, of] of waiting) {
      waiting.set(
        key,
        // A builder works for several trials at a time.
        of.filter((question) => question.number > number || question.host === 'builder'),
      );
    }
  };
  return { deps, ...replay, skipTo };
}

/** Random parts of paths are not the same twice, and how long is slept is no question to anybody. */
function keyOf({ host, asked }: Pick<Question, 'host' | 'asked'>): string {
  const text = textOf(asked).replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi, '…');
  return `${host}\n${asked.what}\n${text}`;
}

function textOf(asked: Question['asked']): string {
  switch (asked.what) {
    case 'run':
      return asked.command;
    case 'upload':
      return asked.path;
    case 'power':
    case 'console':
      return asked.order;
    default:
      return '';
  }
}

type Answered = NonNullable<Question['ended']>['answer'];

/** Throws what was thrown then. */
function saidBy(answer: Answered | undefined): string {
  if (answer?.kind === 'done') return answer.said ?? '';
  if (answer?.kind !== 'failed') return '';
  const { failure, message } = answer;
  if (failure === 'PowerError') throw new PowerError(message);
  if (failure === 'ConsoleError') throw new ConsoleError(message);
  if (failures.has(failure)) throw new HostError(failure as HostFailure, message);
  throw new Error(message);
}

const failures: ReadonlySet<string> = new Set<HostFailure>([
  ...(['unreachable', 'host-key', 'login', 'lost', 'timeout', 'aborted'] as const),
  ...(['session-refused', 'too-much-output', 'command-failed', 'upload-failed'] as const),
]);

const hearing = { host: 'console', asked: { what: 'console', order: 'hear' } } as const;

type ReplayTime = {
  now(): number;
  until(moment: Moment): Promise<void>;
  at(moment: Moment, act: () => void): void;
  /** Hears of the time whenever it has moved. */
  watch(looks: (now: number) => void): void;
};

/**
 * Whatever happens next happens when all that came before has been taken in: what the code does about it is asked before,
 * as it was then. What was heard in one turn is heard in one again: then, too, all of it had come before the code went on.
 * Time never runs back.
 */
function replayTime(start: number): ReplayTime {
  let now = start;
  let isRunning = false;
  const events: (Moment & { act(): void })[] = [];
  const watchers: ((now: number) => void)[] = [];

  const happen = ({ at, act }: (typeof events)[number]) => {
    now = Math.max(now, at);
    for (const look of watchers) look(now);
    act();
  };

  const runOn = async () => {
    if (isRunning) return;
    isRunning = true;
    while (events.length > 0) {
      for (let turn = 0; turn < turnsToSettle; turn += 1) await nextTurn();
      events.sort((one, other) => one.at - other.at || one.line - other.line);
      const turn = events[0]?.turn;
      do {
        const next = events.shift();
        if (next !== undefined) happen(next);
      } while (events[0]?.turn === turn && turn !== undefined);
    }
    isRunning = false;
  };

  const at = (moment: Moment, act: () => void) => {
    events.push({ ...moment, act });
    void runOn();
  };
  return {
    now: () => now,
    watch: (look) => void watchers.push(look),
    at,
    until: (moment) => new Promise((resolve) => at(moment, resolve)),
  };
}

/** Promises that wait for promises are through by then. */
const turnsToSettle = 4;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
