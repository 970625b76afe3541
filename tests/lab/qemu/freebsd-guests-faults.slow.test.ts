// Tests FreeBSD guests that fail: who is blamed, what is reported, and how the next try starts.
import { expect, test } from 'vitest';
import type { Cell } from '../../../src/model/scenario.ts';
import { forwarding, onGuests, trialOf } from '../../fakes/freebsd-guests-testbed.ts';
import type { Fault } from '../../fakes/freebsd-lab/faults.ts';
import type { Behaviour } from '../../fakes/freebsd-lab/kernel.ts';

const pf: Cell = { scenario: 'pf-stateful', family: 'inet4' };

const valid = { kind: 'measured', runs: [1, 2].map(() => ({ validity: { kind: 'valid' } })) };

const panics = 'page fault in pf_test';

const isBaseBlameless = (outcome: object) =>
  expect(JSON.stringify(outcome)).not.toMatch(/\bbase (?:did not boot|died)\b/);

test.each<[how: string, Behaviour, rejection: object]>([
  [
    'panics at boot is rejected at the second time, with the panic of its console',
    { kind: 'panics-at-boot', panic: panics },
    { panic: panics, console: expect.stringMatching(/^panic: page fault in pf_test\ncpuid = 3\nKDB: stack backtrace/) },
  ],
  [
    'hangs at boot is rejected at the second time, with the last lines before it was reset',
    { kind: 'hangs-at-boot' },
    { console: expect.stringMatching(/ #0 patched\nreal memory .*\nTrying to mount root from \S+ \[rw\]\.\.\.$/) },
  ],
])('a patched kernel that %s', (_, behaviour, rejection) =>
  onGuests({ patched: { behaviour } }, async ({ send, guests, logs }) => {
    const once = await send(1);
    expect(once).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/^patched did not boot: /) });
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
    { panic: panics },
  ],
  [
    'hangs under load tells by its debugger where it stood',
    { options: ['options DDB'] },
    { kind: 'hangs-under-load', at: 'pf_test+0x1c' },
    { message: expect.stringContaining('stood in pf_test+0x1c'), console: expect.stringMatching(/\ndb>$/) },
  ],
  [
    'hangs under load without a debugger tells no place',
    {},
    { kind: 'hangs-under-load', at: 'pf_test+0x1c' },
    { message: expect.not.stringContaining('stood in') },
  ],
])('a patched kernel that %s', (_, kernel, behaviour, rejection) =>
  onGuests({ patched: { ...kernel, behaviour } }, async ({ send, guests, logs }) => {
    const once = await send(1);
    expect(once).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/^the guest with patched died/) });
    isBaseBlameless(once);
    expect([...logs.keys()]).toEqual(['windows-1.log', 'counters-1-base.log', 'console-patched.log']);
    expect(logs.get('windows-1.log')).toMatch(/^stuck 2$/m);
    expect(guests.running()).toEqual([]);
    const again = await send(1);
    expect(again).toMatchObject({ kind: 'rejected', variant: 'patched', rejection: { kind: 'panics-under-load' } });
    expect(again).toMatchObject({ rejection });
    expect(guests.copies).toHaveLength(4);
  }),
);

test('a patch whose pf accepts no rules is rejected the second time, as base accepts them', () =>
  onGuests({ patched: { behaviour: { kind: 'refuses-rules' } }, cells: [pf] }, async ({ send }) => {
    expect(await send(1, pf)).toMatchObject({ kind: 'failed', reason: expect.stringContaining('DIOCADDRULE') });
    // Base has not survived a trial, and need not come first.
    expect(await send(1, pf, 'patched', 'base')).toMatchObject({
      kind: 'rejected',
      variant: 'patched',
      rejection: { kind: 'does-not-load', scenario: 'pf-stateful' },
    });
  }));

test('patched is not blamed for rules that base rejects as well', () => {
  const behaviour: Behaviour = { kind: 'refuses-rules' };
  return onGuests({ base: { behaviour }, patched: { behaviour }, cells: [pf] }, async ({ send }) => {
    const order = ['patched', 'base'];
    for (const time of [1, 2, 3]) {
      expect(await send(1, pf, ...order), String(time)).toMatchObject({ kind: 'failed', lacksControl: true });
    }
    await send(1, pf);
    expect(await send(1, pf)).toMatchObject({ kind: 'rejected', variant: 'base' });
  });
});

test('a guest that runs another kernel than the installed one is not measured, and gets another copy for the next try', () =>
  onGuests({ faultsOf: (copy) => (copy === 2 ? [{ kind: 'wrong-kernel', at: 2 }] : []) }, async ({ send, guests }) => {
    expect(await send(1)).toMatchObject({
      kind: 'failed',
      reason: expect.stringMatching(/ did not boot: \/boot\/kernel\/kernel came up instead/),
    });
    expect(await send(1)).toMatchObject(valid);
    expect(guests.copies.length - guests.running().length).toBe(2);
  }));

test('a path that cannot be fixed is not measured', () => {
  const refused = (at: number): Fault => ({
    kind: 'command-fails',
    says: 'route: writing to routing socket: Network is unreachable',
    machine: 'guest',
    command: "route add -inet '198.19.0.0/16'",
    at,
  });
  // Once on the image’s own kernel, and then at every try.
  const faultsOf = () => [2, 3, 4].map(refused);
  return onGuests({ patched: { behaviour: { kind: 'loses-routes-at-boot' } }, faultsOf }, async ({ send }) => {
    const reason = expect.stringMatching(/^The route to 198\.19\.0\.0\/16 is missing, /);
    expect(await send(1)).toMatchObject({ kind: 'failed', reason });
  });
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
      reason: expect.stringContaining('did not boot: its QEMU has ended (qemu-system-x86_64: out of memory)'),
    });
    expect(guests.clock.now() - before).toBeLessThan(guests.config.image.bootSeconds);
    expect(await send(2)).toMatchObject(valid);
  }));

test('cancelling while guests boot ends them', () =>
  onGuests({}, async ({ testbed, guests, keepLog }) => {
    const cancel = new AbortController();
    const sent = testbed.trial(trialOf(1, 1, forwarding, []), keepLog, cancel.signal);
    cancel.abort(new Error('cancelled'));
    await expect(sent).rejects.toThrow('cancelled');
    // The booting guest is released with the others.
    expect(guests.running()).toHaveLength(2);
  }));
