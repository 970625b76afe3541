// Tests FreeBSD guests that fail: who is blamed, what is reported, and how the next try starts.
import { expect, test } from 'vitest';
import type { Cell } from '../../../src/model/scenario.ts';
import type { FakeGuest } from '../../fakes/freebsd-guests.ts';
import { forwarding, onGuests } from '../../fakes/freebsd-guests-testbed.ts';
import type { Fault } from '../../fakes/freebsd-lab/faults.ts';
import type { Behaviour } from '../../fakes/freebsd-lab/kernel.ts';

const pf: Cell = { scenario: 'pf-stateful', family: 'inet4' };

const valid = { kind: 'measured', runs: [1, 2].map(() => ({ validity: { kind: 'valid' } })) };

const panics = 'page fault in pf_test';

/** The number of copies that were booted and are gone. */
const endedOf = (copies: readonly FakeGuest[], running: readonly FakeGuest[]): number =>
  copies.filter((copy) => !running.includes(copy)).length;

const isBaseBlameless = (outcome: object) =>
  expect(JSON.stringify(outcome)).not.toMatch(/\bbase (?:did not boot|died)\b/);

test.each<[how: string, Behaviour, rejection: object, first: RegExp]>([
  [
    'panics at boot is rejected at the second time, with the panic of its console',
    { kind: 'panics-at-boot', panic: panics },
    {
      message: 'Twice in a row: /boot/kernel/kernel came up instead of /boot/ppsgate.patched/kernel.',
      panic: panics,
      console: expect.stringMatching(/^panic: page fault in pf_test\ncpuid = 3\nKDB: stack backtrace/),
    },
    /^patched did not boot: .* \(panic: page fault in pf_test\); the guest was discarded, and its console is in console-patched\.log$/,
  ],
  [
    'hangs at boot is rejected at the second time, with the last lines before it was reset',
    { kind: 'hangs-at-boot' },
    {
      message: 'Twice in a row: it did not come up within 120 s, and was power-cycled.',
      console: expect.stringMatching(/ #0 patched\nreal memory .*\nTrying to mount root from \S+ \[rw\]\.\.\.$/),
    },
    /^patched did not boot: it did not come up within 120 s, and was power-cycled \(its console ends with ".*"\); the guest was discarded, /,
  ],
])('a patched kernel that %s', (_, behaviour, rejection, first) =>
  onGuests({ patched: { behaviour } }, async ({ send, guests, logs }) => {
    const once = await send(1);
    expect(once).toMatchObject({ kind: 'failed', reason: expect.stringMatching(first) });
    isBaseBlameless(once);
    expect([...logs.keys()]).toEqual(['console-patched.log']);
    // Base goes with it, and both begin on new copies of the image.
    expect(guests.running()).toEqual([]);
    expect(await send(1)).toMatchObject({
      kind: 'rejected',
      variant: 'patched',
      rejection: { kind: 'boot-failed', guestConsole: 'console-patched.log', ...rejection },
    });
    expect(guests.copies).toHaveLength(4);
  }),
);

test.each<[how: string, Partial<{ options: string[] }>, Behaviour, rejection: object]>([
  [
    'panics under load is rejected with the panic of its console',
    {},
    { kind: 'panics-under-load', panic: panics },
    { message: 'Twice, under 2000 flows.', panic: panics },
  ],
  [
    'hangs under load tells by its debugger where it stood',
    { options: ['options DDB'] },
    { kind: 'hangs-under-load', at: 'pf_test+0x1c' },
    {
      message: 'Twice, under 2000 flows: it stopped responding, stood in pf_test+0x1c, and was power-cycled.',
      console: expect.stringMatching(
        /NMI\/cpu0 \.\.\. going to debugger\n\[ thread .*\]\nStopped at pf_test\+0x1c: .*\ndb>$/,
      ),
    },
  ],
  [
    'hangs under load without a debugger tells no place',
    {},
    { kind: 'hangs-under-load', at: 'pf_test+0x1c' },
    {
      message: 'Twice, under 2000 flows: it stopped responding, and was power-cycled.',
      console: expect.stringMatching(/NMI\/cpu0 \.\.\. going to debugger$/),
    },
  ],
])('a patched kernel that %s', (_, kernel, behaviour, rejection) =>
  onGuests({ patched: { ...kernel, behaviour } }, async ({ send, guests, logs }) => {
    const once = await send(1);
    expect(once).toMatchObject({
      kind: 'failed',
      reason: expect.stringMatching(/^the guest with patched died under 2000 flows: /),
    });
    isBaseBlameless(once);
    expect([...logs.keys()]).toEqual(['windows-1.log', 'counters-1-base.log', 'console-patched.log']);
    expect(logs.get('windows-1.log')).toMatch(/^stuck 2$/m);
    expect(guests.running()).toEqual([]);
    expect(await send(1)).toMatchObject({
      kind: 'rejected',
      variant: 'patched',
      rejection: { kind: 'panics-under-load', ...rejection },
    });
    expect(guests.copies).toHaveLength(4);
  }),
);

test('a patch whose pf accepts no rules is rejected the second time, as base accepts them', () =>
  onGuests({ patched: { behaviour: { kind: 'refuses-rules' } }, cells: [pf] }, async ({ send }) => {
    const said =
      "`pfctl -f '/var/tmp/ppsgate/pf-stateful.rules'` failed on the DUT: pfctl: DIOCADDRULE: Operation not supported by device";
    expect(await send(1, pf)).toEqual({ kind: 'failed', reason: said });
    // Base has not survived a trial, and need not come first.
    expect(await send(1, pf, 'patched', 'base')).toEqual({
      kind: 'rejected',
      variant: 'patched',
      rejection: { kind: 'does-not-load', scenario: 'pf-stateful', message: `Twice: ${said}.` },
    });
  }));

test('patched is not blamed for rules that base rejects as well', () => {
  const behaviour: Behaviour = { kind: 'refuses-rules' };
  return onGuests({ base: { behaviour }, patched: { behaviour }, cells: [pf] }, async ({ send }) => {
    const order = ['patched', 'base'];
    for (const time of [1, 2, 3]) {
      expect(await send(1, pf, ...order), String(time)).toMatchObject({
        kind: 'failed',
        lacksControl: true,
      });
    }
    await send(1, pf);
    expect(await send(1, pf)).toMatchObject({ kind: 'rejected', variant: 'base' });
  });
});

test('a guest that runs another kernel than the installed one is not measured, and gets another copy for the next try', () =>
  onGuests({ faultsOf: (copy) => (copy === 2 ? [{ kind: 'wrong-kernel', at: 2 }] : []) }, async ({ send, guests }) => {
    expect(await send(1)).toMatchObject({
      kind: 'failed',
      reason: expect.stringMatching(
        /^(base|patched) did not boot: \/boot\/kernel\/kernel came up instead of \/boot\/ppsgate\.\1\/kernel/,
      ),
    });
    expect(await send(1)).toMatchObject(valid);
    expect(endedOf(guests.copies, guests.running())).toBe(2);
  }));

test('a path that cannot be fixed is not measured', () => {
  const says = 'route: writing to routing socket: Network is unreachable';
  const refused = (at: number): Fault => ({
    kind: 'command-fails',
    says,
    machine: 'guest',
    command: "route add -inet '198.19.0.0/16'",
    at,
  });
  return onGuests(
    {
      patched: { behaviour: { kind: 'loses-routes-at-boot' } },
      // Once on the image’s own kernel, and then at every try.
      faultsOf: () => [2, 3, 4].map(refused),
    },
    async ({ send }) => {
      expect(await send(1)).toMatchObject({
        kind: 'failed',
        reason: expect.stringMatching(/^The route to 198\.19\.0\.0\/16 is missing, /),
      });
    },
  );
});

test('a guest whose QEMU ends while it boots is reported at once', () =>
  onGuests({}, async ({ send, guests }) => {
    const said = 'qemu-system-x86_64: out of memory';
    await send(1);
    const copy = guests.copies[0];
    const end = () => {
      if (copy?.machine.stage !== 'booting') return;
      copy.machine.watchers.delete(end);
      void copy.end(said);
    };
    copy?.machine.watchers.add(end);
    const before = guests.clock.now();
    expect(await send(2)).toMatchObject({
      kind: 'failed',
      reason: expect.stringMatching(
        /^(?:base|patched) did not boot: its QEMU has ended \(qemu-system-x86_64: out of memory\)/,
      ),
    });
    expect(guests.clock.now() - before).toBeLessThan(guests.config.image.bootSeconds);
    expect(await send(2)).toMatchObject(valid);
  }));

test('cancelling while guests boot ends them', () =>
  onGuests({}, async ({ testbed, guests, keepLog }) => {
    const cancel = new AbortController();
    const runs = ['base', 'patched'].map((variant, index) => ({
      number: index + 1,
      variant,
      pair: 1,
    }));
    const sent = testbed.trial({ number: 1, cell: forwarding, runs }, keepLog, cancel.signal);
    cancel.abort(new Error('cancelled'));
    await expect(sent).rejects.toThrow('cancelled');
    // The booting guest is released with the others.
    expect(guests.running()).toHaveLength(2);
  }));
