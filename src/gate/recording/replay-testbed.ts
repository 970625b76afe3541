// What a gate had a testbed do, done again in its order on what the machines said then.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Variant } from '../../kernel/variant.ts';
import { openFreebsdTestbed } from '../../lab/freebsd/freebsd-testbed.ts';
import { fencedDeps } from '../../lab/lease/testbed-fence.ts';
import type { Testbed } from '../../lab/testbed.ts';
import { oneLine, shortened } from '../../model/one-line.ts';
import type { OwnRules } from '../../model/scenario.ts';
import type { Question } from './read-recording.ts';
import { type TestbedCall, testbedCall, testbedRequest, thrown } from './read-recording-request.ts';
import type { Difference, Part, PartAgain } from './replay.ts';
import { broken, differencesOf, unreadable } from './replay-check.ts';
import { replayDeps } from './replay-machines.ts';

export async function replayTestbed({
  request,
  questions,
  told,
  toldAfter,
}: Part): Promise<PartAgain> {
  const { data: opened } = testbedRequest.safeParse(request);
  if (opened === undefined) return { diagnostics: [], differences: [unreadable('testbed')] };
  const ended = told.flatMap((value, index) => {
    const { data: call } = testbedCall.safeParse(value);
    return call === undefined ? [] : [{ call, after: toldAfter[index] ?? 0 }];
  });
  const calls = ended.map(({ call }) => call);
  const folder = await mkdtemp(join(tmpdir(), 'ppsgate-replay-'));
  const differences: Difference[] = [];
  try {
    const kernels = await standInKernels(questions, calls, folder);
    const replayed = replayDeps(renamed(questions, kernels));
    const { name, testbed, traffic, token } = opened;
    const lease = { token: token ?? 0, assertHeld() {}, prove: async () => {} };
    const deps = token === undefined ? replayed.deps : fencedDeps(replayed.deps, testbed, lease);
    try {
      const again = await openFreebsdTestbed(name, testbed, traffic, deps);
      for (const { call, after } of ended) {
        const outcome = await outcomeOf(again, call, kernels);
        const change = changed(call, outcome, kernels);
        if (change !== undefined) differences.push(change);
        // What comes next is not to suffer from what this one did not ask.
        replayed.skipTo(after);
      }
    } catch (error) {
      differences.push(broken(error));
    }
    differences.push(...differencesOf(replayed));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { diagnostics: [], differences };
}

/** Stands for a kernel that was installed then: of its size, and with a sum of its own. */
type StandIn = { variant: string; path: string; sha256: string; was: string };

/** Kernels are not in a recording; the sum of each is in the name under which it was installed. */
async function standInKernels(
  questions: readonly Question[],
  calls: readonly TestbedCall[],
  folder: string,
): Promise<StandIn[]> {
  const variants = calls.flatMap((call) => (call.call === 'prepare' ? call.variants : []));
  const archives = variants.filter(({ boots }) => boots === 'archive');
  const kernels: StandIn[] = [];
  // Who asks again lists most of them again.
  for (const variant of new Set(archives.map(({ variant }) => variant))) {
    kernels.push(await standInKernel(variant, questions, folder, kernels.length));
  }
  return kernels;
}

/** `number` tells it from the others. */
export async function standInKernel(
  variant: string,
  questions: readonly Question[],
  folder: string,
  number: number,
): Promise<StandIn> {
  const installed = installedFor(variant, questions);
  const path = join(folder, `${number}.tar`);
  await using file = await open(path, 'w');
  await file.write(`${number}`);
  await file.truncate(Math.min(installed.bytes, mostBytes));
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { variant, path, sha256: hash.digest('hex'), was: installed.sha256 };
}

/** More than any kernel, and no more than is read in a moment. */
const mostBytes = 1024 ** 3;

/** A kernel's upload is known by the folder or the environment that is named first after it. */
function installedFor(
  variant: string,
  questions: readonly Question[],
): { sha256: string; bytes: number } {
  const place = `ppsgate.${variant.replace(/[^\w.-]+/g, '-')}`;
  const uploads = questions.flatMap(({ asked }, index) => {
    const sha256 = asked.what === 'upload' ? kernelPath.exec(asked.path)?.[1] : undefined;
    return sha256 === undefined || asked.what !== 'upload'
      ? []
      : [{ sha256, index, bytes: asked.bytes }];
  });
  const isOwn = new RegExp(`${place.replaceAll('.', '\\.')}(?![\\w-])`);
  const own = uploads.find(({ index }) => {
    const next = questions
      .slice(index)
      .map(({ asked }) => (asked.what === 'run' ? textOf(asked) : ''))
      .find((text) => /\bppsgate\.(?!sha256)/.test(text));
    return next !== undefined && isOwn.test(next);
  });
  return own ?? { sha256: '', bytes: 1 };
}

const kernelPath = /\/([0-9a-f]{64})\.tar$/;

const textOf = ({ command, shown }: Extract<Question['asked'], { what: 'run' }>): string =>
  shown ?? command;

/** The sums of the stand-ins in the place of those of then, wherever they stand. */
export function renamed(questions: readonly Question[], kernels: readonly StandIn[]): Question[] {
  const to = (text: string) =>
    kernels.reduce(
      (now, { was, sha256 }) => (was === '' ? now : now.replaceAll(was, sha256)),
      text,
    );
  return questions.map((question) => ({
    ...question,
    asked: JSON.parse(to(JSON.stringify(question.asked))) as Question['asked'],
    pieces: question.pieces.map((piece) => ({ ...piece, text: to(piece.text) })),
  }));
}

const signal = new AbortController().signal;
const keepLog = async () => {};

async function outcomeOf(
  testbed: Testbed,
  call: TestbedCall,
  kernels: readonly StandIn[],
): Promise<unknown> {
  try {
    switch (call.call) {
      case 'inspect':
        return await testbed.inspect(call.cells);
      case 'prepare': {
        const variants = call.variants.map(({ variant }) => variantOf(variant, kernels));
        const rules = call.rules as Record<string, OwnRules>;
        return await testbed.prepare({ variants, cells: [], rules, keepLog, notify() {}, signal });
      }
      case 'trial':
        return await testbed.trial(call.planned, keepLog, signal);
      case 'profile':
        return await testbed.profile(call.request, keepLog, signal);
      case 'restore':
        return await testbed.restore();
    }
  } catch (error) {
    return thrown(error);
  }
}

function variantOf(variant: string, kernels: readonly StandIn[]): Variant {
  const kernel = kernels.find((one) => one.variant === variant);
  const common = { variant, commit: '', files: [] };
  if (kernel === undefined) return common;
  return { ...common, kernel: { kind: 'archive', path: kernel.path, sha256: kernel.sha256 } };
}

function changed(
  { call, outcome: then }: TestbedCall,
  now: unknown,
  kernels: readonly StandIn[],
): Difference | undefined {
  // The time between two questions is not that of then, to the millisecond.
  const text = (value: unknown) =>
    JSON.stringify(value ?? null, (key, one) => (key === 'startedAt' ? undefined : one));
  const before = kernels.reduce(
    (words, { was, sha256 }) => (was === '' ? words : words.replaceAll(was, sha256)),
    text(then),
  );
  const after = text(JSON.parse(text(now)));
  if (before === after) return undefined;
  const at = firstDifference(before, after);
  const piece = (words: string) => shortened(words.slice(Math.max(0, at - 30), at + 50));
  return {
    kind: 'made-otherwise',
    sentence: oneLine(
      `what came of \`${call}\` was "…${piece(before)}" then, and is "…${piece(after)}" now`,
    ),
  };
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}
