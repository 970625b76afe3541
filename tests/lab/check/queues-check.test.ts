// Names a test whose flows reach few receive queues of a FreeBSD DUT.
import { expect, test } from 'vitest';
import { queuesDiagnostic } from '../../../src/lab/check/freebsd-ceiling.ts';
import { queuesOf } from '../../fakes/limits.ts';

const cc0 = { interface: 'cc0' };

test('Flows that reach fewer than half of the queues are wrong, with what to change.', () => {
  const queues = queuesOf([600, 400, 0, 0, 0, 0, 0, 0]);
  expect(queuesDiagnostic({ queues }, cc0)).toEqual({
    kind: 'wrong',
    what: 'the receive queues of the DUT',
    why: 'the flows reach 2 of 8 of cc0',
    fix: 'offer more `flows`, change the RSS key of the card, or give it fewer queues',
  });
});

test('Queues that the system leaves out are those that no flow reaches.', () => {
  const configured = { ...cc0, queues: 8 };
  expect(queuesDiagnostic({ queues: queuesOf([600, 400]) }, configured)).toMatchObject({
    kind: 'wrong',
    why: 'the flows reach 2 of 8 of cc0',
  });
});

test('Flows that reach half of the queues are well.', () => {
  const queues = queuesOf([500, 500, 0, 0]);
  expect(queuesDiagnostic({ queues }, cc0)).toMatchObject({
    kind: 'ok',
    why: 'the flows reach 2 of 4 of cc0',
  });
});

test('A DUT without counters of queues, or with a single one, is not checked.', () => {
  for (const limits of [undefined, { queues: [] }, { queues: queuesOf([1000]) }]) {
    expect(queuesDiagnostic(limits, cc0)).toMatchObject({ kind: 'skipped' });
  }
});
