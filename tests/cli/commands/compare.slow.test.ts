// Compares files that are in no repository.
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { labelOf } from '../../../src/cli/compare/compared.ts';
import { renderMarkdown } from '../../../src/report/reports.ts';
import { terminalRows } from '../../../src/report/terminal-table.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { aCell, aResult } from '../../fakes/result.ts';

test.for([
  ['regression', 'The router with b.nft forwards fewer packets per second than that with a.nft'],
  ['no-regression', 'Nothing: forwarding speed is no obstacle to using b.nft.'],
] as const)('a report of compared files with %s names them, and no patch', ([verdict, said]) => {
  const commits = { baseCommit: 'a'.repeat(40), headCommit: 'b'.repeat(40) };
  const result = aResult({
    patch: { kind: 'range', name: labelOf('a.nft', 'new/b.nft'), title: '', author: '', ...commits },
    outcome: { kind: 'judged', verdict, cells: [aCell({ kind: verdict })] },
  });
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
