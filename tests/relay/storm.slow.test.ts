// Tests a thousand deliveries, good and bad, to a relay that is killed again and again: the final queue and jobs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { expect, test } from 'vitest';
import { openInbox } from '../../src/relay/inbox.ts';
import { usualLimits } from '../../src/relay/server.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { startProgram } from '../fakes/program.ts';
import {
  buildText,
  clientOf,
  type Headers,
  requestText,
  send,
  signatureOf,
  webhookBody,
  webhookText,
} from '../fakes/relay-client.ts';
import type { RelayServerPlan, RelayServerSays } from '../fakes/relay-server.ts';

const limits = { ...usualLimits, seconds: 2 };
/** Bytes that Node reads at once, by which it may exceed a limit. */
const readBytes = 64 * 1024;

const slowClients = 20;

/** Expected log of the relay. */
const refusalsAlone = expect.stringMatching(/^(?:Refused from 127\.0\.0\.1: .*\n)*$/);

const deaths: RelayServerPlan['dies'][] = [
  { at: 'accepted', times: 1 },
  { at: 'settled', times: 30 },
  { at: 'accepted', times: 40 },
  { at: 'begun', times: 30 },
  { at: 'starting', times: 20 },
  { at: 'begun', times: 1 },
];

// Attack phabricator/storm: Forged and valid requests arrive while the relay is killed repeatedly. Defence: A request
// acknowledged with 200 is on disk.
test('loses nothing that it answered with 200, starts nothing twice, and admits no stranger', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'inbox.sqlite');
  const begunPath = join(folder, 'begun');
  const bytesRead: number[] = [];
  let listening = Promise.withResolvers<number>();

  const live = (dies: RelayServerPlan['dies']) => {
    const plan: RelayServerPlan = { path, begunPath, limits, ...(dies && { dies }) };
    return startProgram<RelayServerSays>('relay-server', plan, {
      onSaid(saying) {
        if (saying.kind === 'closed') bytesRead.push(saying.bytesRead);
        else listening.resolve(saying.port);
      },
    });
  };
  const dieAgainAndAgain = async () => {
    for (const dies of deaths) {
      expect(await live(dies).ended).toMatchObject({ signal: 'SIGKILL', stderr: refusalsAlone });
      listening = Promise.withResolvers();
    }
    return live(undefined);
  };

  const good = goodRequests();
  const queuedBy = new Map<string, number>();
  /** Delivers like Phabricator, but without pauses, until the response is 200. */
  const deliver = async (key: string) => {
    for (;;) {
      const { status, text } = await send(await listening.promise, good.get(key) ?? '');
      if (text === 'queued') queuedBy.set(key, (queuedBy.get(key) ?? 0) + 1);
      if (status === 200) return;
      expect([0, 408]).toContain(status);
    }
  };
  const refusals: number[] = [];
  const storm = [
    ...[...good.keys()].map((key) => () => deliver(key)),
    ...[...good.keys()].slice(0, 150).map((key) => () => Promise.all([deliver(key), deliver(key)])),
    ...badRequests.map((request) => async () => {
      refusals.push((await send(await listening.promise, request)).status);
    }),
    ...Array.from({ length: slowClients }, () => async () => {
      refusals.push(await drip(await listening.promise));
    }),
  ];
  const rage = async () => {
    await inLanes(shuffled(storm));
    // An old delivery comes once more.
    await inLanes([...good.keys()].slice(-100).map((key) => () => deliver(key)));
  };
  const [relay] = await Promise.all([dieAgainAndAgain(), rage()]);
  relay.write('end');
  expect(await relay.ended).toMatchObject({ code: 0, stderr: refusalsAlone });

  using inbox = openInbox(path, () => new Date());
  expect(inbox.pendingDeliveries()).toEqual([]);
  const records = inbox.jobsOf(1);
  expect(records.map(({ job }) => job.key).sort()).toEqual([...good.keys()].sort());
  expect(new Set(records.map(({ state }) => state.kind))).toEqual(new Set(['started']));
  const begun = readFileSync(begunPath, 'utf8').trim().split('\n');
  expect(begun.sort()).toEqual([...good.keys()].sort());
  expect(Math.max(...queuedBy.values())).toBe(1);
  // Some were on disk when the relay died, which its next life knows.
  expect(queuedBy.size).toBeLessThan(good.size);

  expect(refusals).toHaveLength(badRequests.length + slowClients);
  // 0 if the relay was dead, or if the sender wrote so much that it missed the response.
  for (const status of refusals) expect([0, 401, 408, 411, 413, 431]).toContain(status);
  expect(refusals).toContain(401);
  expect(bytesRead.length).toBeGreaterThan(800);
  expect(Math.max(...bytesRead)).toBeLessThanOrEqual(limits.headerBytes + readBytes);
});

/** Requests by the key of the resulting job. */
function goodRequests(): Map<string, string> {
  const transactions = Array.from({ length: 350 }, (_, index) => `good${index}`);
  const targets = Array.from({ length: 150 }, (_, index) => `PHID-HMBT-good${index}`);
  return new Map([
    ...transactions.map((transaction): [string, string] => [
      ...([`PHID-XACT-DREV-${transaction}`, webhookText(webhookBody({ transaction }))] as const),
    ]),
    ...targets.map((target): [string, string] => [
      ...([target, buildText(`target=${target}&build=PHID-HMBD-a&diff=1&revision=1`)] as const),
    ]),
  ]);
}

const forged = webhookBody({ transaction: 'forged' });
const huge = Buffer.alloc(10e6, 'x');
const signature = 'X-Phabricator-Webhook-Signature';
const stranger = 'target=PHID-HMBT-forged&build=PHID-HMBD-a&diff=1';

const withHugeBody = (start: string, headers: Headers) =>
  Buffer.concat([Buffer.from(requestText(start, headers)), huge]);

/** Requests of strangers, each sent several times. */
const badRequests: (string | Uint8Array)[] = [
  webhookText(forged, { [signature]: signatureOf(forged, 'guessed') }),
  webhookText(forged, { [signature]: undefined }),
  webhookText(forged.padEnd(limits.bodyBytes), { [signature]: signatureOf(forged) }),
  buildText(stranger, { Authorization: `Basic ${btoa('phorge:guessed')}` }),
  buildText(stranger, { Authorization: undefined }),
  withHugeBody('POST /webhook', { [signature]: signatureOf(forged), 'Content-Length': '10000000' }),
  withHugeBody(`POST /build?${stranger}`, { 'Content-Length': '10000000' }),
  withHugeBody('POST /webhook', {
    [signature]: signatureOf(forged),
    'Content-Length': undefined,
    'Transfer-Encoding': 'chunked',
  }),
  Buffer.concat([Buffer.from('GET /health HTTP/1.1\r\nHost: relay\r\nX: '), huge]),
].flatMap((request) => Array<typeof request>(12).fill(request));

/** Sends a byte now and then, until it is cut. */
async function drip(port: number): Promise<number> {
  const { socket, answer } = clientOf(port);
  const request = webhookText(forged, { [signature]: signatureOf(forged, 'guessed') });
  let sent = 0;
  const dripping = setInterval(() => {
    if (sent < request.length - 1) socket.write(request.charAt(sent++));
  }, 50);
  const { status } = await answer;
  clearInterval(dripping);
  return status;
}

function shuffled<T>(list: readonly T[]): T[] {
  const generator = xoroshiro128plus(27401);
  const keyed = list.map((item) => ({ item, order: uniformInt(generator, 0, 2 ** 31 - 1) }));
  return keyed.toSorted((a, b) => a.order - b.order).map(({ item }) => item);
}

/** Some at a time. */
async function inLanes(tasks: readonly (() => Promise<unknown>)[]): Promise<void> {
  const waiting = tasks.values();
  await Promise.all(
    Array.from({ length: 24 }, async () => {
      for (const task of waiting) await task();
    }),
  );
}
