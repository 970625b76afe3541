// Accounts for each line of a call graph of pmcstat.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readProfile } from '../../../src/analysis/profile/read-profile.ts';

test('every line is a sample, an event, a comment, blank, or skipped and counted', async () => {
  const line = fc.constantFrom<[kind: string, text: string]>(
    ['sample', '77.78%  [7]        ip_input @ /boot/kernel/kernel'],
    ['sample', '22.22%  [2]        pf_test @ /boot/kernel/pf.ko'],
    ['known', '@ cycles [0 samples]'],
    ['known', '# a comment'],
    ['known', ''],
    ['skipped', '77.78%  [7'],
    ['skipped', 'pmcstat: [FATAL] something'],
    ['skipped', '@ cycles'],
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), async (others) => {
      const lines: [string, string][] = [['sample', '1.0%  [1]  f @ kernel'], ...others];
      const pieces = async function* () {
        yield Buffer.from(lines.map(([, text]) => `${text}\n`).join(''));
      };
      const { profile, notes } = await readProfile(pieces(), 'x');
      const of = (kind: string) => lines.filter(([one]) => one === kind).length;
      expect(profile.stacks).toHaveLength(of('sample'));
      const first = lines.findIndex(([kind]) => kind === 'skipped') + 1;
      const note = of('skipped') === 1 ? '1 line is' : `${of('skipped')} lines are`;
      if (first === 0) expect(notes).toEqual([]);
      else expect(notes[0]).toMatch(new RegExp(`^${note} skipped in x .* first is line ${first}, `));
    }),
  );
});
