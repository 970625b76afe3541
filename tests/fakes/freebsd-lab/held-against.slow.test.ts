// Compares the fake lab with recordings of itself, and of a modified one.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRecording } from '../../../src/gate/recording/read-recording.ts';
import { recordCheck } from '../../gate/recording/record-lab.ts';
import { linesOf, writeLines } from '../../gate/recording/spoil.ts';
import { heldAgainst } from './held-against.ts';
import { startFreebsdLab } from './lab.ts';

const folder = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
let path = '';
beforeAll(async () => {
  path = (await recordCheck({}, { sends: false }, folder)).path;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The same recording, of a lab with other texts. */
function altered(change: (text: string) => string): string {
  const to = join(folder, 'altered.rec');
  const lines = linesOf(path).map((line) => JSON.parse(change(JSON.stringify(line))) as object);
  writeLines(to, lines);
  return to;
}

describe('the fake laboratory', () => {
  test('is as its own recording has it', async () => {
    await using lab = await startFreebsdLab();
    expect(await heldAgainst(readRecording(path), lab)).toEqual([]);
  });

  test('differs from one that prints more lines, and lacks some', async () => {
    await using lab = await startFreebsdLab();
    const other = altered((text) => text.replaceAll('\\tstatus: active\\n', '\\tplugged: SFP/SFP+\\n'));
    const unlike = await heldAgainst(readRecording(other), lab);
    expect(unlike).toContainEqual({
      kind: 'shape',
      host: 'DUT',
      command: "ifconfig 'cxl0'",
      onlyReal: ['line →plugged:', 'not understood'],
      onlyFake: ['line →status:'],
    });
  });

  test('differs from one that accepts what it refuses', async () => {
    await using lab = await startFreebsdLab();
    const other = altered((text) => text.replaceAll("sysctl -n 'hw.ncpu'", "sysctl -n 'hw.other'"));
    expect(await heldAgainst(readRecording(other), lab)).toEqual([
      {
        kind: 'refused',
        host: 'DUT',
        command: "sysctl -n 'hw.other'",
        says: "sysctl: unknown oid 'hw.other'",
      },
    ]);
  });
});
