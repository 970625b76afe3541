// The command `ppsgate plan` as a process: its input, and its estimate of a gate that has not begun.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { aHistoryEntry } from '../../fakes/history.ts';
import { commit, newRepository } from '../../fakes/repository.ts';

const port = 'interface: cxl0, mac: "00:07:43:2e:e5:92", inet4: 198.18.0.110';
const other = port.replace('e5:92', 'e5:9a').replace('198.18', '198.19');
const config = `
testbeds:
  rack:
    kind: freebsd
    dut: { host: dut.invalid, ingress: { interface: cxl0 }, egress: { interface: cxl1 } }
    senders: [{ host: tx.invalid, ${port} }]
    receiver: { host: rx.invalid, ${other} }
    builder: { host: builder.invalid }
  desk: { kind: embedded-linux }
scenarios: [forwarding]
families: [inet4]
traffic: { flows: 2000, frameSize: 64 bytes, rate: 3 Mpps, measure: 60 s, measureAtLeast: 13 s, settle: 0 s, warmUp: 2 s, runsPerTrial: 1 }
gate: { margin: 2% }
history: history.jsonl
reservations: { store: sqlite, file: ./reservations.sqlite }
`;

let folder: string;
let base: string;

beforeEach(() => {
  folder = newRepository();
  base = commit(folder, { 'ppsgate.yml': config, 'dut/nftables.conf': '# one\n' });
});

function run(...words: string[]) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(inject('bundle'), 'cli.js'), 'plan', ...words], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { stdout, stderr, status };
}

function knowBase(): void {
  const durations = { bootSeconds: 180, trialSeconds: 25, buildSeconds: 300 };
  const lines = [1, 2, 3].map((day) =>
    JSON.stringify(aHistoryEntry({ at: `2026-10-0${day}T12:00:00.000Z`, testbed: 'rack', durations })),
  );
  writeFileSync(join(folder, 'history.jsonl'), `${lines.join('\n')}\n`);
}

test('minutes are those of earlier gates, and no machine is contacted', () => {
  knowBase();
  const { stdout, stderr, status } = run('--profile', 'off');
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^rack: free now\n/);
  expect(stdout).toMatch(/^together +24 min +30 min$/m);
  expect(stdout).toMatch(/^forwarding inet4 +group-sequential +0\.523 % \(15 earlier runs\) /m);
  expect(stdout).toContain('Estimated from the last 3 gates here: builds 5 min 0 s, a boot 3 min 0 s, a trial 25 s.');
});

test('as JSON it is in seconds, one for each selector', () => {
  knowBase();
  const { stdout, stderr } = run('--json', '--each', 'rack,desk');
  const [rack, desk, ...more] = JSON.parse(stdout);
  expect(rack, stderr).toMatchObject({
    testbed: 'rack',
    waitSeconds: 0,
    isUnchanged: false,
    durations: { bootSeconds: 180, gates: 3 },
    cells: [{ cell: { scenario: 'forwarding', family: 'inet4' }, basis: 'history' }],
    ifUnchanged: { totalSeconds: expect.closeTo(1478, 0) },
  });
  expect(desk).toMatchObject({ testbed: 'desk', ifUnchanged: { boots: 0 } });
  expect(more).toEqual([]);
});

describe('of a patch', () => {
  test('it reports that nothing would be measured', () => {
    const head = commit(folder, { 'README.md': 'another\n' });
    const { stdout, stderr, status } = run('--patch', `${base}..${head}`, '--testbed', 'desk');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toBe(
      `${base.slice(0, 7)}..${head.slice(0, 7)} changes nothing that desk would install or boot: nothing is reserved or measured (--measure-anyway).\n`,
    );
  });
});

test('an unreachable store does not keep a plan from being made', () => {
  writeFileSync(join(folder, 'reservations.sqlite'), 'this is no database, by far not one of ours');
  const { stdout, stderr, status } = run();
  expect(status).toBe(0);
  expect(stderr).toMatch(/^The wait for a testbed is unknown: /);
  expect(stdout).toMatch(/^rack: the time until it is free is unknown\n/);
});
