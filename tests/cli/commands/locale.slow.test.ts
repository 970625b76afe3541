// Output by the caller's locale: ASCII without UTF-8, and for programs always the same.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, inject, test } from 'vitest';
import { temporaryFolder } from '../../fakes/folder.ts';
import { aResult } from '../../fakes/result.ts';

const cli = join(inject('bundle'), 'cli.js');

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
  const patch = { ...aResult().patch, title: 'Café → faster' };
  writeFileSync(join(folder, 'result.json'), JSON.stringify(aResult({ patch })));
});

/** All output under that locale. */
function said(locale: string, ...args: string[]): Buffer {
  const env = { ...process.env, LC_ALL: locale };
  const { stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { env });
  return Buffer.concat([stdout, stderr]);
}

test('a report has symbols in a locale with UTF-8, and is ASCII in the locale C', () => {
  expect(said('C.UTF-8', 'report', folder).toString()).toMatch(/🟢|🔴|🟡|⚪/);
  const plain = said('C', 'report', folder);
  expect(plain.every((byte) => byte < 0x80)).toBe(true);
  expect(plain.toString()).toMatch(/\[(ok|!!|\?\?|--)\] ppsgate: #7 /);
});

test('JSON has every letter in any locale', () => {
  const answer = said('C', 'report', '--json', folder);
  expect(answer).toEqual(said('C.UTF-8', 'report', '--json', folder));
  expect(JSON.parse(answer.toString()).patch.title).toBe('Café → faster');
});
