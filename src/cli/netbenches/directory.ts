// Reads a directory of benchmark logs from bench-lab: bench.IMAGE[.CONFIG][.FAMILY].RUN.receiver and its companions.
import { readdir } from 'node:fs/promises';
import { type PktGenLog, parsePktGenLog } from '../../lab/traffic/pkt-gen.ts';
import { fileReasonOf, reasonOf } from '../../model/one-line.ts';
import { type Family, familySchema } from '../../model/scenario.ts';
import { ForeignFileError, readForeignText } from '../../system/foreign-files.ts';

/** An unreadable log is empty, with a fault of kind `unreadable`. */
type BenchLog = {
  path: string;
  log: PktGenLog;
};

export type BenchRun = { number: number; receiver: BenchLog; sender?: BenchLog };

export type BenchSet = {
  /** `IMAGE[.CONFIG][.FAMILY]`, from the files' names. */
  label: string;
  image: string;
  config?: string;
  family?: Family;
  kernel?: string;
  /** By number, possibly with gaps. */
  runs: BenchRun[];
};

/** Reports a directory that cannot be analyzed; the message is one sentence for the user. */
export class BenchesError extends Error {
  override readonly name = 'BenchesError';
  readonly conclusion = 'usage';
}

/**
 * Reads all sets of a directory in natural order. Skips a sender without its receiver, and unrelated files.
 *
 * @throws BenchesError if the directory or any receiver's log is missing.
 */
export async function readBenches(directory: string): Promise<BenchSet[]> {
  const names = new Set(await namesIn(directory));
  const receivers = [...names].flatMap(receiverOf).toSorted(byRun);
  if (receivers.length === 0) {
    throw new BenchesError(
      `There is no receiver's log in ${directory}: expected files named bench.IMAGE[.CONFIG][.FAMILY].RUN.receiver, like bench.r325006.inet4.1.receiver.`,
    );
  }
  const labels = Map.groupBy(receivers, ({ label }) => label);
  const sets: BenchSet[] = [];
  for (const [label, files] of labels) {
    const info = `bench.${label}.info`;
    const about = aboutOf(label, names.has(info) ? await readText(directory, info).catch(() => '') : '');
    sets.push({ label, ...about, runs: await runsOf(directory, files, names) });
  }
  return sets;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    throw new BenchesError(
      `The benches in ${directory} cannot be read (${fileReasonOf(error)}): name the directory that holds their logs.`,
      { cause: error },
    );
  }
}

type ReceiverFile = { label: string; number: number; path: string };

function receiverOf(path: string): ReceiverFile[] {
  const [, label, number] = /^bench\.([^.].*)\.(\d{1,9})\.receiver$/.exec(path) ?? [];
  return label === undefined ? [] : [{ label, number: Number(number), path }];
}

/** 10 after 9, in labels too. */
export const natural = new Intl.Collator('en', { numeric: true });

const byRun = (a: ReceiverFile, b: ReceiverFile): number => natural.compare(a.label, b.label) || a.number - b.number;

type About = Pick<BenchSet, 'image' | 'config' | 'family' | 'kernel'>;

function aboutOf(label: string, info: string): About {
  const assigned = assignments(info);
  const family = familyOf(assigned.get('PKTGEN')) ?? familyOf(label.split('.').at(-1));
  const rest = family === undefined ? label : withoutSuffix(label, `.${family}`);
  const image = assigned.get('IMAGE') ?? rest.replace(/\..*$/s, '');
  const config = assigned.get('CFG') ?? (rest.startsWith(`${image}.`) ? rest.slice(image.length + 1) : undefined);
  const kernel = assigned.get('UNAME');
  return {
    image,
    ...(config === undefined ? {} : { config }),
    ...(family === undefined ? {} : { family }),
    ...(kernel === undefined ? {} : { kernel }),
  };
}

/** Parses `NAME="value"` lines of a shell file; skips empty values. */
function assignments(shellText: string): Map<string, string> {
  const found = shellText.matchAll(/^([A-Z]+)=(?:"([^"\n]*)"|'([^'\n]*)'|(\S*))\r?$/gm);
  const pairs = [...found].map(([, name = '', ...values]) => [name, values.join('').trim()] as const);
  return new Map(pairs.filter(([, value]) => value !== ''));
}

function familyOf(word: string | undefined): Family | undefined {
  const { data } = familySchema.safeParse(word);
  return data;
}

const withoutSuffix = (text: string, suffix: string): string =>
  text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;

async function runsOf(
  directory: string,
  receivers: readonly ReceiverFile[],
  names: ReadonlySet<string>,
): Promise<BenchRun[]> {
  const runs: BenchRun[] = [];
  for (const { number, path } of receivers) {
    const sender = path.replace(/receiver$/, 'sender');
    runs.push({
      number,
      receiver: await readLog(directory, path),
      ...(names.has(sender) ? { sender: await readLog(directory, sender) } : {}),
    });
  }
  return runs;
}

async function readLog(directory: string, path: string): Promise<BenchLog> {
  try {
    return { path, log: parsePktGenLog(await readText(directory, path)) };
  } catch (error) {
    const why = error instanceof ForeignFileError ? error.why : reasonOf(error);
    const message = `${path} cannot be read: ${why}`;
    return {
      path,
      log: { rates: [], lines: 0, skipped: 0, faults: [{ kind: 'unreadable', message }] },
    };
  }
}

/** Enough for a line each second. */
const maxLogBytes = 64 * 1024 ** 2;

const readText = async (directory: string, path: string): Promise<string> =>
  (await readForeignText(directory, path, maxLogBytes)) ?? '';
