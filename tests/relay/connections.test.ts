// Closing of connections beyond the relay's bounds, by their age, network and progress.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Connections, networkOf } from '../../src/relay/connections.ts';

const from = (address: string) => Object.defineProperty(new Socket(), 'remoteAddress', { value: address });

test('One network that opens connections without end closes its own alone.', () => {
  const connections = new Connections({ connections: 10, connectionsPerNetwork: 4 });
  const other = from('192.0.2.1');
  expect(connections.add(other)).toBeUndefined();
  const flood = Array.from({ length: 100 }, () => from('198.51.100.7'));
  const closed = flood.map((socket) => connections.add(socket));
  expect(closed).toEqual([...Array<undefined>(4).fill(undefined), ...flood.slice(0, -4)]);
});

test('Many networks close the oldest of all.', () => {
  const connections = new Connections({ connections: 3, connectionsPerNetwork: 2 });
  const flood = [1, 2, 3, 4].map((last) => from(`192.0.2.${last}`));
  expect(flood.map((socket) => connections.add(socket)).at(-1)).toBe(flood[0]);
});

test('A connection whose request is complete is not closed for others, or only where all are.', () => {
  const connections = new Connections({ connections: 2, connectionsPerNetwork: 2 });
  const complete = (socket: Socket) => {
    const request = new IncomingMessage(socket);
    request.complete = true;
    connections.setRequest(socket, request);
  };
  const [first, second, third, fourth] = [1, 2, 3, 4].map(() => from('192.0.2.1')) as [Socket, Socket, Socket, Socket];
  connections.add(first);
  complete(first);
  connections.add(second);
  expect(connections.add(third)).toBe(second);
  complete(third);
  expect(connections.add(fourth)).toBe(fourth);
});

test.each([
  ['192.0.2.1', '192.0.2.2', false],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
  ['2001:db8::1', '2001:db8:0:0:ffff::2', true],
  ['2001:db8:0:1::1', '2001:db8::1', false],
  ['fe80::1%eth0', 'fe80::ffff%eth1', true],
  ['::1', '::2', true],
  ['', '', true],
])('%s and %s are of one network: %s', (one, other, isSame) => {
  expect(networkOf(one) === networkOf(other)).toBe(isSame);
});
