// Repeats the calls that a gate made of a testbed, in their order, with stand-ins for its kernels.
import type { Variant } from '../../kernel/variant.ts';
import { openFreebsdTestbed } from '../../lab/freebsd/freebsd-testbed.ts';
import { openVirtualTestbed } from '../../lab/qemu/virtual-testbed.ts';
import type { Testbed } from '../../lab/testbed.ts';
import { oneLine, shortened } from '../../model/one-line.ts';
import type { OwnRules } from '../../model/scenario.ts';
import { type TestbedCall, testbedCall, testbedRequest, thrown } from './recording-schemas.ts';
import { type PartReplay, type ReplayDifference, type ReplayPart, unreadable } from './replay-difference.ts';
import { replayedGuests } from './replay-guests.ts';
import { replaceSums, replayWork, type StandInKernel } from './stand-in-kernels.ts';

export async function replayTestbed({ request, requests, outcomes }: ReplayPart): Promise<PartReplay> {
  const { data: opened } = testbedRequest.safeParse(request);
  if (opened === undefined) return unreadable('testbed');
  const calls = outcomes.flatMap(({ value, after }) => {
    const { data: call } = testbedCall.safeParse(value);
    return call === undefined ? [] : [{ call, after }];
  });
  // A repeated call lists most variants again.
  const variants = new Set(calls.flatMap(({ call }) => archivesOf(call)));
  const differences: ReplayDifference[] = [];
  const work = await replayWork(requests, opened, [...variants], async (run) => {
    const { machines, deps, kernels } = run;
    const { name, testbed, traffic } = opened;
    const replayed =
      testbed.kind === 'virtual'
        ? await openVirtualTestbed(name, testbed, traffic, deps, replayedGuests(machines))
        : await openFreebsdTestbed(name, testbed, traffic, deps);
    for (const { call, after } of calls) {
      // Recordings contain no counters of a guest's blocks.
      if (testbed.kind === 'virtual' && call.call === 'profile') {
        machines.skipTo(after);
        continue;
      }
      const outcome = await outcomeOf(replayed, call, kernels);
      differences.push(...outcomeDifference(call, outcome, kernels));
      // A request that was not made does not shift later ones. Guests boot during the first calls, and a trial waits
      // for them.
      const isAhead = call.call === 'inspect' || call.call === 'prepare';
      if (testbed.kind !== 'virtual' || !isAhead) machines.skipTo(after);
    }
  });
  return { diagnostics: [], differences: [...differences, ...work] };
}

const archivesOf = (call: TestbedCall): string[] =>
  call.call === 'prepare' ? call.variants.flatMap(({ variant, boots }) => (boots === 'archive' ? variant : [])) : [];

const signal = new AbortController().signal;
const keepLog = async () => {};

async function outcomeOf(testbed: Testbed, call: TestbedCall, kernels: readonly StandInKernel[]): Promise<unknown> {
  try {
    switch (call.call) {
      case 'inspect':
        return await testbed.inspect(call.cells);
      case 'prepare': {
        const variants = call.variants.map(({ variant }) => variantOf(variant, kernels));
        const rules = call.rules as Record<string, OwnRules>;
        return await testbed.prepare({
          variants,
          cells: call.cells,
          rules,
          keepLog,
          notify() {},
          signal,
        });
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

function variantOf(variant: string, kernels: readonly StandInKernel[]): Variant {
  const kernel = kernels.find((one) => one.variant === variant);
  const common = { variant, commit: '', files: [] };
  if (kernel === undefined) return common;
  return { ...common, kernel: { kind: 'archive', path: kernel.path, sha256: kernel.sha256 } };
}

function outcomeDifference(
  { call, outcome: then }: TestbedCall,
  now: unknown,
  kernels: readonly StandInKernel[],
): ReplayDifference[] {
  // A replay does not keep times to the millisecond.
  const text = (value: unknown) =>
    JSON.stringify(value ?? null, (key, one) => (key === 'startedAt' || key === 'bootSeconds' ? undefined : one));
  const before = replaceSums(text(then), kernels);
  const after = text(JSON.parse(text(now)));
  if (before === after) return [];
  const at = firstDifference(before, after);
  const excerpt = (json: string) => shortened(json.slice(Math.max(0, at - 30), at + 50));
  return [
    {
      kind: 'made-otherwise',
      sentence: oneLine(`what came of \`${call}\` was "…${excerpt(before)}" then, and is "…${excerpt(after)}" now`),
    },
  ];
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}
