// Judges profiles of a machine that runs a patch's kernel: hostile ones must not stop the gate.
import { expect, test } from 'vitest';
import { judgeProfile } from '../../src/lab/judge-profile.ts';

const told = { event: 'cycles', kernel: 'a kernel' };

test('one with samples of work counts, with its stacks kept', async () => {
  const logs = new Map<string, unknown>();
  const keepLog = async (name: string, content: unknown) => void logs.set(name, content);
  expect(await judgeProfile('napi;ip_forward 600\n', told, keepLog)).toMatchObject({
    kind: 'profiled',
    busySamples: 600,
  });
  expect(logs.get('stacks.txt')).toBe('# kernel: a kernel\nnapi;ip_forward 600\n');
});

test.each<[string, string, RegExp]>([
  ['a stack without an end', `${'a;'.repeat(5000)}b 600\n`, /more than 1,024 frames in one stack/],
  ['megabytes of blanks in a line', `a 1\na${' '.repeat(2 ** 22)}b\n`, /a line of more than/],
  [
    'a name of half a megabyte, called again and again',
    `100.0%  [1]  ${'a'.repeat(500_000)}\n${' 100.0%  [1]  b\n'.repeat(1000)}`,
    /more than 67,108,864 characters/,
  ],
])('%s is a profile that was missed, for a reason', async (_, text, reason) => {
  expect(await judgeProfile(text, told, async () => {})).toEqual({
    kind: 'missed',
    reason: expect.stringMatching(reason),
  });
});
