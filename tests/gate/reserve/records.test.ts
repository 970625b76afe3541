import { expect, test } from 'vitest';
import { isPreceded, type QueueTicket } from '../../../src/gate/reserve/records.ts';

/** Waits for the testbeds, each of a machine with its name. */
const ticket = (id: string, ...testbeds: string[]): QueueTicket => ({
  id,
  priority: 'patch',
  order: 1,
  holder: { who: id, purpose: 'gate' },
  since: '2026-11-20T12:00:00.000Z',
  subject: undefined,
  wants: new Map(testbeds.map((testbed) => [testbed, [testbed]])),
  revision: 1,
});

test('a request is preceded while earlier ones want each of its machines', () => {
  const [first, second, other] = [ticket('1', 'x'), ticket('2', 'x', 'y'), ticket('3', 'z')];
  const [behindBoth, late] = [ticket('4', 'x', 'y'), ticket('5', 'y', 'z', 'w')];
  const lab = { tickets: [first, second, other, behindBoth, late] };
  const preceded = lab.tickets.filter((one) => isPreceded(lab, one)).map(({ id }) => id);
  expect(preceded).toEqual(['4']);
});
