import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JournalEntry } from '../../src/gate/experiment/journal.ts';
import { labDown, labLeftovers } from '../../src/lab/netns/embedded-lab.ts';
import { readResult } from '../../src/report/read-result.ts';
import { unchanged } from '../fakes/result.ts';
import { describeWith, labPrograms } from '../needs.ts';

const program = join(import.meta.dirname, '../../bin/ppsgate');
const nothing = { namespaces: [], processes: [] };

describeWith(['root', 'git', 'perf', ...labPrograms], 'the demo', () => {
  let directory: string;
  let work: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ppsgate-demo-'));
    work = join(directory, 'guard-protocol-254');
  });

  afterEach(async () => {
    await labDown();
    rmSync(directory, { recursive: true });
  });

  test('continues after a kill -9 with the same plan, repeats nothing that is finished and leaves nothing', async () => {
    const judgedBefore = join(directory, 'comment-the-rules');
    mkdirSync(judgedBefore);
    writeFileSync(join(judgedBefore, 'result.json'), JSON.stringify(unchanged));
    const killed = start('demo', '--directory', directory);
    await expect.poll(() => trialsIn(work).length, waiting).toBeGreaterThanOrEqual(2);
    killed.kill('SIGKILL');
    await once(killed, 'close');
    const plan = readFileSync(join(work, 'experiment.json'), 'utf8');
    const finished = trialsIn(work);

    const resumed = start('demo', '--resume', directory, '--json');
    const printed = text(resumed.stdout);
    const said = text(resumed.stderr);
    const [code] = await once(resumed, 'close');

    expect(code, await said).not.toBe(4);
    expect(readFileSync(join(work, 'experiment.json'), 'utf8')).toBe(plan);
    expect(trialsIn(work).slice(0, finished.length)).toEqual(finished);
    const whole = trialsIn(work).filter(({ runs }) => runs.every(isValid));
    const numbers = whole.map(({ summary }) => summary.number);
    expect(numbers.toSorted((a, b) => a - b)).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    expect(await labLeftovers()).toEqual(nothing);

    const judged: { branch: string; verdict: string; directory: string }[] = JSON.parse(await printed);
    const [before, slowed, broken] = judged;
    expect(before).toMatchObject({ branch: 'comment-the-rules', verdict: 'unchanged' });
    expect(slowed?.branch).toBe('guard-protocol-254');
    // bench/demo.ts checks detection and the functions named for it: this machine may be too busy.
    expect(slowed?.verdict).toMatch(/^(regression|inconclusive|invalid)$/);
    if (slowed?.verdict === 'regression') {
      expect(new Set(await profiledVariants(slowed.directory))).toEqual(new Set(['base', 'patched']));
    }
    expect(broken).toMatchObject({ branch: 'guard-udp', verdict: 'does-not-load' });
  });

  test('bisects commits until it is interrupted, and leaves nothing', async () => {
    const demo = start('demo', '--bisect', '--directory', directory);
    const said = text(demo.stderr);
    await expect.poll(() => trialsIn(join(directory, 'bisect')).length, waiting).toBeGreaterThan(0);
    demo.kill('SIGINT');
    const [code] = await once(demo, 'close');
    expect(code, await said).toBe(130);
    expect(await labLeftovers()).toEqual(nothing);
  });
});

async function profiledVariants(directory: string): Promise<string[]> {
  const { outcome } = await readResult(directory);
  const cells = outcome.kind === 'judged' ? outcome.cells : [];
  return cells.flatMap(({ profiles }) => profiles.map(({ variant }) => variant));
}

const waiting = { timeout: 120_000, interval: 100 };

const start = (...args: string[]) => spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });

async function text(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

type Measured = Extract<JournalEntry, { kind: 'measured' }>;

const isValid = (run: Measured['runs'][number]): boolean => run.validity.kind === 'valid';

function trialsIn(work: string): Measured[] {
  const path = join(work, 'journal.jsonl');
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line): JournalEntry => JSON.parse(line)).filter((entry) => entry.kind === 'measured');
}
