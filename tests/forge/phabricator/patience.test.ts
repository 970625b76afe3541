// Reads that outlast the maintenance of a server.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Conduit, type PatienceOptions, withPatience } from '../../../src/forge/phabricator/conduit.ts';
import { ConduitError } from '../../../src/forge/phabricator/failure.ts';

const busy = new ConduitError('busy', 'It is in maintenance.');
const gone = new ConduitError('refused', 'There is no such diff.', 'ERR-CONDUIT-CORE');
const page = new ConduitError('refused', 'It answered a page.');

/** A server whose calls fail one after another, and then succeed; its pauses take no time. */
function open(failures: readonly Error[], options: Partial<PatienceOptions> = {}) {
  const methods: string[] = [];
  const pauses: number[] = [];
  const warnings: string[] = [];
  const left = [...failures];
  const conduit: Conduit = {
    url: 'https://reviews.example.org',
    async call(method, _params, schema) {
      methods.push(method);
      const failure = left.shift();
      if (failure !== undefined) throw failure;
      return schema.parse({ data: ['found'], cursor: { after: null } });
    },
    search: () => expect.fail('A search is made of patient calls.'),
  };
  const patient = withPatience(conduit, {
    log: { warn: (sentence) => warnings.push(sentence) },
    signal: new AbortController().signal,
    pause: async (seconds) => pauses.push(seconds),
    ...options,
  });
  const read = () => patient.search('differential.diff.search', {}, z.string());
  return { patient, read, methods, pauses, warnings };
}

describe('a read', () => {
  test('is repeated after pauses that grow to a minute, until the server is back, and logged less and less', async () => {
    const { read, pauses, warnings } = open(Array(6).fill(busy));
    expect(await read()).toEqual(['found']);
    expect(pauses).toEqual([5, 10, 20, 40, 60, 60]);
    expect(warnings).toHaveLength(3);
  });

  test('is repeated after the page of a proxy', async () => {
    expect(await open([page]).read()).toEqual(['found']);
  });

  test('fails at once where Conduit refuses this very object', async () => {
    const { read, methods } = open([gone]);
    await expect(read()).rejects.toBe(gone);
    expect(methods).toHaveLength(1);
  });

  test('fails at once with an error that is not from Conduit', async () => {
    const { read, methods } = open([new TypeError('A bug.')]);
    await expect(read()).rejects.toThrow(TypeError);
    expect(methods).toHaveLength(1);
  });

  test('fails with the last error when its time is over', async () => {
    const { read, pauses } = open([page, page, page, busy], { maxSeconds: 60 });
    await expect(read()).rejects.toBe(busy);
    expect(pauses).toEqual([5, 10, 20]);
  });

  test('fails where the caller does not wait for this error', async () => {
    const mayWait = ({ kind }: ConduitError) => kind !== 'refused';
    const { read, methods } = open([busy, page], { mayWait });
    await expect(read()).rejects.toBe(page);
    expect(methods).toHaveLength(2);
  });

  test('fails once it is cancelled', async () => {
    const over = new AbortController();
    const pause = async () => over.abort();
    const { read, methods } = open(Array(9).fill(busy), { signal: over.signal, pause });
    await expect(read()).rejects.toBe(busy);
    expect(methods).toHaveLength(2);
  });
});

test('a write is never repeated, since it may have been done', async () => {
  const { patient, methods } = open([busy]);
  const write = patient.call('differential.revision.edit', {}, z.unknown());
  await expect(write).rejects.toBe(busy);
  expect(methods).toEqual(['differential.revision.edit']);
});
