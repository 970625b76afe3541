// Names a test whose flows reach few receive queues of a FreeBSD DUT.
import { expect, test } from 'vitest';
import { queuesDiagnostic } from '../../../src/lab/check/freebsd-ceiling.ts';

const cc0 = { interface: 'cc0' };

const interrupts = (counts: readonly number[], nameOf = (queue: number) => `t5nex0:0a${queue}`) => {
  const rows = counts.map((count, queue) => `irq${30 + queue}: ${nameOf(queue)}      ${count}        1\n`);
  return new Map([['vmstat -i', `interrupt                 total       rate\n${rows.join('')}Total   9   1\n`]]);
};

const diagnosticOf = (counts: readonly number[], port: Parameters<typeof queuesDiagnostic>[2] = cc0) =>
  queuesDiagnostic(interrupts(counts.map(() => 7)), interrupts(counts.map((count) => count + 7)), port);

test('flows that reach fewer than half of the queues are wrong, with what to change', () => {
  expect(diagnosticOf([600, 400, 0, 0, 0, 0, 0, 0])).toEqual({
    kind: 'wrong',
    what: 'the receive queues of the DUT',
    why: 'the flows reach 2 of 8 of cc0',
    fix: 'offer more `flows`, change the RSS key of the card, or give it fewer queues',
  });
});

test('queues that the system leaves out are those that no flow reaches', () => {
  expect(diagnosticOf([600, 400], { ...cc0, queues: 8 })).toMatchObject({
    kind: 'wrong',
    why: 'the flows reach 2 of 8 of cc0',
  });
});

test('a DUT without counters of queues, or with a single one, is not checked', () => {
  for (const counts of [[], [1000]]) expect(diagnosticOf(counts)).toMatchObject({ kind: 'skipped' });
});

test.each(['ix0:rxq', 'ix0:que '])('interrupts of the receive queues %s of iflib are read', (name) => {
  const after = interrupts([100, 300], (queue) => `${name}${queue}`);
  expect(queuesDiagnostic(new Map(), after, { interface: 'ix0' })).toMatchObject({
    why: 'the flows reach 2 of 2 of ix0',
  });
});
