import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { testWith } from '../../needs.ts';
import { call, type Heard, listen, smallDiff } from './calling.ts';
import { readInbound, recordingsFolder, recordingsNeeded } from './recorded.ts';
import { type FakePhabricator, startPhabricator } from './server.ts';
import { heraldRulePhid } from './state.ts';
import { bodyFor, signature } from './webhooks.ts';

const bodySchema = z.object({
  object: z.object({ type: z.string(), phid: z.string() }),
  triggers: z.array(z.object({ phid: z.string() })),
  action: z.object({ epoch: z.int() }),
  transactions: z.array(z.object({ phid: z.string() })),
});

function read({ body }: Heard): z.infer<typeof bodySchema> {
  return bodySchema.parse(JSON.parse(body));
}

function signatureIn({ headers }: Heard): string | undefined {
  return headers[headers.indexOf('X-Phabricator-Webhook-Signature') + 1];
}

function revisionOn(phabricator: FakePhabricator) {
  const author = phabricator.addUser('author');
  const diff = { raw: smallDiff };
  return { author, revision: phabricator.addRevision({ author, title: 'Prefetch', diff }) };
}

test('a comment is sent to a hook, signed, without its text', async () => {
  await using phabricator = await startPhabricator({ now: 5000 });
  await using relay = await listen();
  const { author, revision } = revisionOn(phabricator);
  const hook = phabricator.addWebhook({ uri: `${relay.url}/hook` });
  const { phid } = phabricator.comment(revision, author, '/ppsgate rerun');
  await phabricator.settled();
  const [heard, ...more] = relay.heard;
  if (heard === undefined) throw new Error('Nothing was told.');
  expect(more).toEqual([]);
  expect(heard.body).toMatch(/^\{\n {2}"object": \{\n[\s\S]*\n\}\n$/);
  expect(heard.body).not.toContain('rerun');
  expect(read(heard)).toEqual({
    object: { type: 'DREV', phid: revision.phid },
    triggers: [{ phid: hook.phid }],
    action: expect.objectContaining({ epoch: 5000 }),
    transactions: [{ phid }],
  });
  expect(signatureIn(heard)).toBe(signature(hook.hmacKey, heard.body));
});

test('a bot is notified of its own comments, and a firehose of diffs separately from their revisions', async () => {
  await using phabricator = await startPhabricator();
  await using relay = await listen();
  const { revision } = revisionOn(phabricator);
  phabricator.addWebhook({ uri: relay.url });
  await call(phabricator, 'differential.revision.edit', {
    objectIdentifier: revision.phid,
    transactions: [{ type: 'comment', value: 'started' }],
  });
  phabricator.updateRevision(revision, { raw: smallDiff }, 'better now');
  await phabricator.settled();
  const told = relay.heard.map(read);
  expect(told.map(({ object }) => object.type)).toEqual(['DREV', 'DIFF', 'DREV']);
  expect(told[2]?.transactions).toHaveLength(2);
});

test('a rule is notified only of revisions, and if it builds only of their new diffs', async () => {
  await using phabricator = await startPhabricator();
  await using relay = await listen();
  const { author, revision } = revisionOn(phabricator);
  phabricator.addWebhook({ uri: `${relay.url}/rule`, kind: 'rule' });
  phabricator.addWebhook({ uri: `${relay.url}/building`, kind: 'rule', onlyNewDiffs: true });
  phabricator.comment(revision, author, 'ping');
  phabricator.updateRevision(revision, { raw: smallDiff });
  await phabricator.settled();
  expect(relay.heard.map(({ path }) => path)).toEqual(['/rule', '/rule', '/building']);
  expect(relay.heard.map(read)).toMatchObject(Array(3).fill({ triggers: [{ phid: heraldRulePhid }] }));
});

test('a delivery with the reply 500 is repeated byte for byte, an accepted one is not', async () => {
  await using phabricator = await startPhabricator();
  await using relay = await listen(500);
  const { author, revision } = revisionOn(phabricator);
  const hook = phabricator.addWebhook({ uri: relay.url });
  phabricator.comment(revision, author, 'first');
  await phabricator.settled();
  phabricator.letPass(301);
  relay.status = 200;
  phabricator.comment(revision, author, 'second');
  await phabricator.redeliver();
  const [refused, taken, again, ...more] = relay.heard;
  expect(again).toEqual(refused);
  expect(taken).not.toEqual(refused);
  expect(more).toEqual([]);
  expect(hook.deliveries.map(({ statuses }) => statuses)).toEqual([[500, 200], [200]]);
});

const fixtureSchema = z.object({
  deliveries: z.array(
    z.object({
      hmac_key: z.string(),
      body_base64: z.base64(),
      signature_header: z.string(),
    }),
  ),
});

testWith([recordingsNeeded], 'bodies and signatures are the recorded ones', () => {
  const file = join(recordingsFolder, 'webhook-hmac-fixture.json');
  const { deliveries } = fixtureSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  expect(deliveries).toHaveLength(4);
  for (const { hmac_key, body_base64, signature_header } of deliveries) {
    const body = Buffer.from(body_base64, 'base64').toString();
    expect(signature(hmac_key, body)).toBe(signature_header);
    const { object, triggers, action, transactions } = bodySchema.parse(JSON.parse(body));
    const group = transactions.map(({ phid }) => ({ phid, objectPHID: object.phid })).reverse();
    const made = bodyFor({ kind: 'firehose', phid: triggers[0]?.phid ?? '' }, group, action.epoch);
    expect(made).toBe(body);
  }
});

testWith([recordingsNeeded], 'the headers of a delivery are the recorded ones', async () => {
  const recorded = readInbound('0059-hook_firehose.json');
  await using phabricator = await startPhabricator();
  await using relay = await listen();
  const { author, revision } = revisionOn(phabricator);
  phabricator.addWebhook({ uri: relay.url });
  phabricator.comment(revision, author, 'ping');
  await phabricator.settled();
  const names = (headers: string[]) => headers.filter((_, at) => at % 2 === 0);
  expect(names(relay.heard[0]?.headers ?? [])).toEqual(names(recorded.headers.flat()));
  expect(relay.heard[0]?.body).toHaveLength(recorded.body.length);
});
