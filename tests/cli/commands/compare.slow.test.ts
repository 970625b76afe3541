// Compares files that are in no repository.
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { makeCompareRepository, overlayIn } from '../../../src/cli/compare/compare-repository.ts';
import { labelOf } from '../../../src/cli/compare/compared.ts';
import { openRepository } from '../../../src/forge/patch/repository.ts';
import { gate } from '../../../src/gate/gate.ts';
import { unshared } from '../../../src/lab/testbed.ts';
import { conclusionOfResult } from '../../../src/model/conclusion.ts';
import type { Result } from '../../../src/model/result.ts';
import { renderMarkdown } from '../../../src/report/reports.ts';
import { terminalRows } from '../../../src/report/terminal-table.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { memoryHistory } from '../../fakes/history.ts';
import { aConfig } from '../../fakes/plan.ts';
import { type FakeTestbedOptions, fakeTestbed } from '../../fakes/testbed.ts';

const files = (text: string) => new Map([['nftables.conf', text]]);
const compared = { kind: 'files' as const, what: 'two overlays', old: files('a'), new: files('b') };

/** Measures two rule files as `compare` does, on a testbed with known numbers. */
async function measured(options: FakeTestbedOptions): Promise<Result> {
  const beside = temporaryFolder();
  const patch = await makeCompareRepository(beside, compared, labelOf('a.nft', 'new/b.nft'));
  const config = aConfig({ overlay: overlayIn(beside, { path: 'dut', beside: '' }) });
  const request = { patch, config, testbeds: ['fake'], seed: 5 };
  return gate(request, temporaryFolder(), {
    repository: openRepository(beside),
    reserve: async () => unshared('fake', async () => fakeTestbed(options)),
    history: memoryHistory(),
    now: () => new Date('2026-11-20T12:00:00.000Z'),
    onEvent() {},
    signal: new AbortController().signal,
  });
}

test.for([
  [0.8, 'patchAtFault', 'The router with b.nft forwards fewer packets per second than that with a.nft'],
  [0, 'patchAtFault', 'The router with b.nft forwards no packet, where that with a.nft forwards them'],
  [1, 'pass', 'Nothing: forwarding speed is no obstacle to using b.nft.'],
] as const)('A compared file at %d of the speed has the conclusion %s', async ([speed, conclusion, said]) => {
  const result = await measured({ speed: () => speed });
  expect(conclusionOfResult(result)).toBe(conclusion);
  const markdown = renderMarkdown(result);
  expect(markdown).toContain(said);
  expect(markdown).not.toMatch(/patched router|the patch\b/);
  expect(terminalRows(result).heads.slice(3, 5)).toEqual(['a.nft', 'b.nft']);
});

function compare(...args: string[]) {
  const cwd = temporaryFolder();
  writeFileSync(
    join(cwd, 'ppsgate.yml'),
    'testbeds: { lab: { kind: embedded-linux } }\nhistory: history.jsonl\nreservations: { file: r.sqlite }\n',
  );
  writeFileSync(join(cwd, 'a.nft'), 'flush ruleset\n');
  writeFileSync(join(cwd, 'b.nft'), 'flush ruleset\n');
  writeFileSync(join(cwd, 'pf.conf'), 'pass\n');
  const cli = [join(inject('bundle'), 'cli.js'), 'compare', ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, cli, { cwd, encoding: 'utf8' });
  return { status, told: stdout + stderr, left: readdirSync(cwd) };
}

test('Two equal files change nothing, and the result names them', () => {
  const { status, told } = compare('a.nft', 'b.nft');
  expect(told).toContain('ppsgate: a.nft → b.nft changes nothing that the testbed installs\n');
  expect(status).toBe(0);
});

test('A testbed that does not load the files is refused, and nothing is left behind', () => {
  const { status, told, left } = compare('pf.conf', 'pf.conf');
  expect(told).toContain('lab does not load pf.conf');
  expect(status).toBe(2);
  expect(left).toEqual(['a.nft', 'b.nft', 'pf.conf', 'ppsgate.yml']);
});
