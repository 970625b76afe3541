import { describe, expect, test } from 'vitest';
import type { Result, Run } from '../../src/model/result.ts';
import { renderHtml, renderMarkdown, renderRemarkup } from '../../src/report/reports.ts';
import { judgeCell, singleRunDesign } from '../fakes/cell.ts';
import { limitsOf, losing, readings } from '../fakes/limits.ts';
import { aProfile, aResult, aRun, judged } from '../fakes/result.ts';

const runsOf = (variant: string, ...all: number[]): Run[] =>
  all.map((pps, index) => {
    const number = 2 * index + (variant === 'base' ? 1 : 2);
    return aRun({ number, trial: number, pair: index + 1, variant, pps });
  });

const resultOf = (...runs: Run[]): Result => {
  const cell = judgeCell(runs, {}, { design: singleRunDesign });
  return judged([cell]);
};

const base = runsOf('base', 8e5, 8.01e5);

test('a profile of a patch that forwards nothing is not shown, nor are its per-packet costs', () => {
  const silent = resultOf(...base, ...runsOf('patched', 0, 0));
  if (silent.outcome.kind !== 'judged') throw new TypeError('It was not judged.');
  const changed = { function: 'nft_do_chain', baseRatio: 0.1, patchedRatio: 0.3 };
  const cells = silent.outcome.cells.map((cell) => ({
    ...cell,
    profiles: ['base', 'patched'].map(aProfile),
    reason: { changedFunctions: [changed], moved: 1, idleFrames: [] },
  }));
  const policy = { ...silent.policy, metric: 'nsPerPacket' } as const;
  const result = aResult({ policy, outcome: { ...silent.outcome, cells } });
  for (const text of [renderMarkdown(result), renderRemarkup(result), renderHtml(result, [])]) {
    expect(text).not.toMatch(/nft_do_chain|5,932|−100|>Why<|for each packet/);
  }
});

test('lists a run that once forwarded nothing among those that do not count', () => {
  const again = aRun({ number: 4, trial: 4, attempt: 2, pair: 2, variant: 'patched' });
  const runs = [...runsOf('base', 8e5, 8.01e5, 8e5), ...runsOf('patched', 8e5, 0, 8.01e5), again];
  const report = renderMarkdown(resultOf(...runs));
  expect(report).not.toContain('forwards nothing');
  expect(report).toContain('1 of 7 runs, with no packet forwarded; a single such run does not count');
});

describe('the cause of the drops', () => {
  const droppedBy = 'the rule "udp drop" in chain forward of table inet filter';
  const drops = (runs: Run[]) => runs.map((run) => (run.pps === 0 ? { ...run, droppedBy } : run));
  const silent = resultOf(...base, ...drops(runsOf('patched', 0, 0)));

  test('is not repeated where counters have the same drops', () => {
    const drop = losing(1e6, 'firewall', droppedBy);
    const { outcome } = silent;
    if (outcome.kind !== 'judged') throw new Error(outcome.kind);
    const limits = limitsOf(readings(), drop);
    const cells = outcome.cells.map((cell) => ({ ...cell, limits }));
    const report = renderMarkdown({ ...silent, outcome: { ...outcome, cells } });
    expect(report).toContain('the packets are dropped by');
    expect(report).not.toContain('Limit');
  });

  test('of base must accept the packets as described', () => {
    const runs = [...drops(runsOf('base', 0, 0, 0)), ...runsOf('patched', 8e5, 8e5, 8e5)];
    const result = resultOf(...runs);
    const ports = { destination: { first: 443, last: 443 } };
    const traffic = { ...result.traffic, packets: { protocol: 'tcp' as const, ports } };
    const report = renderMarkdown({ ...result, traffic });
    expect(report).toContain('let them accept TCP SYN to port 443');
  });
});
