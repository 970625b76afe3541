// One patch whose cells are split over testbeds: who takes part, that all is judged, and what comes of a part that fails.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseConfig } from '../src/config/load.ts';
import { readPlan } from '../src/experiment/plan.ts';
import { openRepository } from '../src/patch/repository.ts';
import { readResult } from '../src/report/read.ts';
import { type SplitWorld, splitGate } from '../src/split.ts';
import type { Reserved } from '../src/testbed/testbed.ts';
import type { Result } from '../src/words/result.ts';
import { cellName } from '../src/words/scenario.ts';
import { temporaryFolder } from './fakes/folder.ts';
import { memoryHistory } from './fakes/history.ts';
import { commit, newRepository } from './fakes/repository.ts';
import { pullRequest } from './fakes/result.ts';
import { type FakeTestbed, type FakeTestbedOptions, fakeTestbed } from './fakes/testbed.ts';
import { twoRacks } from './fakes/two-racks.ts';

const text = `${twoRacks}
split: true
scenarios: [forwarding, nftables-stateless]
families: [inet4, inet6]
`;
const config = parseConfig(text, { path: 'ppsgate.yml', home: '/' });
const names = [
  'forwarding inet4',
  'forwarding inet6',
  'nftables-stateless inet4',
  'nftables-stateless inet6',
];

type Given = FakeTestbedOptions | Error | FakeTestbed;

/** A patch on testbeds of which the first is ours, and the others are free at once or not at all. */
async function judged(left: Given, right: Given) {
  const workspace = newRepository();
  const baseCommit = commit(workspace, { 'dut/nftables.conf': '# one\n' });
  const headCommit = commit(workspace, { 'dut/nftables.conf': '# two\n' });
  const directory = temporaryFolder();
  const log: string[] = [];
  const history = memoryHistory();
  const reserved = (name: string, given: Given): Reserved => {
    if (given instanceof Error) throw given;
    log.push(`${name} is ours`);
    const testbed = 'inspect' in given ? given : fakeTestbed(given);
    return {
      name,
      open: async () => testbed,
      signal: new AbortController().signal,
      async giveBack(outcome) {
        log.push(
          `${name}: ${testbed.calls.filter((call) => call === 'restore').join(' ')}, ${outcome}`,
        );
        return undefined;
      },
    };
  };
  const told: string[] = [];
  const onEvent: SplitWorld['onEvent'] = (event) => {
    if (event.kind === 'told' || event.kind === 'warning') told.push(event.text);
  };
  const world: SplitWorld = {
    repository: openRepository(workspace),
    reserve: async () => reserved('left', left),
    board: async () => expect.fail('A part has its testbed already.'),
    history,
    now: () => new Date('2026-11-20T12:00:00.000Z'),
    onEvent,
    signal: new AbortController().signal,
    partOn: (name) => ({ onEvent, reserveSoon: async () => reserved(name, right) }),
  };
  const patch = { ...pullRequest, baseCommit, headCommit };
  const testbeds = ['left', 'right'];
  const request = { patch, config, testbeds, leftOut: [], seed: 5 };
  const result = await splitGate(request, directory, world).catch((error: Error) => error);
  return { result, directory, log, told, history };
}

function cellsOf(result: Result | Error) {
  if (result instanceof Error) throw result;
  const { outcome } = result;
  return outcome.kind === 'judged' ? outcome.cells : [];
}

test('each testbed measures half of the cells, and one result has all of them in their order', async () => {
  const { result, directory, log } = await judged({}, {});
  expect(cellsOf(result).map(({ cell }) => cellName(cell))).toEqual(names);
  expect(result).toMatchObject({ testbed: { name: 'left and right' }, isSplit: true });
  expect(await readResult(directory)).toEqual(result);
  const ofPart = async (name: string) =>
    cellsOf(await readResult(join(directory, name))).map(({ cell }) => cellName(cell));
  expect(await ofPart('left')).toEqual([names[0], names[2]]);
  expect(await ofPart('right')).toEqual([names[1], names[3]]);
  expect(log.toSorted()).toEqual([
    ...['left is ours', 'left: restore, no-regression'],
    ...['right is ours', 'right: restore, no-regression'],
  ]);
});

test('each part has its share of the false alarms, and the whole those that were asked for', async () => {
  const { result, directory } = await judged({}, {});
  const plans = await Promise.all(['left', 'right'].map((name) => readPlan(join(directory, name))));
  const { falseAlarmRatio } = config.gate;
  expect(plans.map(({ policy }) => policy.falseAlarmRatio)).toEqual([
    falseAlarmRatio / 2,
    falseAlarmRatio / 2,
  ]);
  expect(result).toMatchObject({ policy: { falseAlarmRatio } });
});

test('a loss on either testbed is a regression of the patch', async () => {
  const { result } = await judged(
    {},
    { speed: ({ scenario }) => (scenario === 'forwarding' ? 0.8 : 1) },
  );
  expect(result).toMatchObject({ outcome: { verdict: 'regression' } });
  expect(cellsOf(result).map(({ verdict }) => verdict.kind)).toEqual([
    ...['no-regression', 'regression', 'no-regression', 'no-regression'],
  ]);
});

test('where the other is not free soon, one measures all, as if it were asked for alone', async () => {
  const { result, directory, told } = await judged({}, new Error('it was not free within 60 s'));
  expect(cellsOf(result)).toHaveLength(4);
  expect(existsSync(join(directory, 'experiment.json'))).toBe(true);
  expect(result).toMatchObject({ testbed: { name: 'left' }, policy: { falseAlarmRatio: 0.01 } });
  expect(told).toContain(
    'right takes no part (it was not free within 60 s): the others measure its cells.',
  );
});

test('a testbed that turns out to be another machine is given back, and takes no part', async () => {
  const other = fakeTestbed();
  other.inspect = async () => ({ fingerprint: { cpu: 'a faster one × 4' }, warnings: [] });
  const { result, log, told } = await judged({}, other);
  expect(cellsOf(result)).toHaveLength(4);
  expect(told).toContain('right takes no part: not the same as left, by cpu.');
  expect(log).toContain('right: restore, not used: it is not the same machine');
});

const breaks: FakeTestbedOptions = { faults: () => ['throws', 'throws', 'throws'] };

test('a part that fails leaves the others, fails the whole, and can go on by itself', async () => {
  const { result, directory, log } = await judged({}, breaks);
  expect(result).toEqual(new Error('The connection to the DUT was lost.'));
  expect(existsSync(join(directory, 'result.json'))).toBe(false);
  expect(cellsOf(await readResult(join(directory, 'left')))).toHaveLength(2);
  expect((await readPlan(join(directory, 'right'))).cells).toHaveLength(2);
  expect(log).toContain('right: restore, ended: The connection to the DUT was lost.');
});

test('a part that fails does not hide that another has found a regression', async () => {
  const { result } = await judged({ speed: () => 0.8 }, breaks);
  expect(result).toMatchObject({
    outcome: { verdict: 'regression' },
    testbed: { warnings: ['Not all cells were measured: The connection to the DUT was lost.'] },
  });
});

test('what is learnt is learnt of each testbed', async () => {
  const { history } = await judged({}, {});
  const learnt = (await history.read()).map(({ testbed, cell }) => `${testbed} ${cellName(cell)}`);
  expect(learnt.toSorted()).toEqual([
    ...[`left ${names[0]}`, `left ${names[2]}`, `right ${names[1]}`, `right ${names[3]}`],
  ]);
});

test('a patch that rejects itself on one testbed is rejected', async () => {
  const message = 'nftables.conf:1: syntax error';
  const rejection = { kind: 'does-not-load', scenario: 'forwarding', message } as const;
  const rejects: FakeTestbedOptions = {
    prepared: { kind: 'rejected', variant: 'patched', rejection },
  };
  const { result } = await judged({}, rejects);
  expect(result).toMatchObject({ outcome: { kind: 'does-not-load' } });
});
