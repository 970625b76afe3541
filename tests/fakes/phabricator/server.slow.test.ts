// The fake must be able to reject and to report violations: otherwise a test that expects none could not fail.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { call, rows, smallDiff } from './calling.ts';
import { type FakePhabricator, startPhabricator } from './server.ts';

function revisionOn(phabricator: FakePhabricator) {
  const author = phabricator.addUser('author');
  return phabricator.addRevision({ author, title: 'Prefetch', diff: { raw: smallDiff } });
}

function comment(phabricator: FakePhabricator, value: string) {
  const transactions = [{ type: 'comment', value }];
  return call(phabricator, 'differential.revision.edit', { objectIdentifier: 'D1', transactions });
}

test('a bot that reads and comments with params= breaks no rule', async () => {
  await using phabricator = await startPhabricator();
  revisionOn(phabricator);
  await comment(phabricator, 'no regression, says `@author`');
  expect(phabricator.violations).toEqual([]);
  expect(phabricator.requests).toMatchObject([
    { method: 'differential.revision.edit', actor: 'perfbot', status: 200, errorCode: null },
  ]);
  expect(JSON.stringify(phabricator.requests)).not.toContain(phabricator.token);
});

test.each([
  ['form fields', { method: 'POST', body: 'api.token=TOKEN' }, '', /form fields/],
  ['a token in the URL', {}, '?api.token=TOKEN', /token in the URL/],
  ['a cookie', { method: 'POST', body: 'params={}', headers: { cookie: 'phsid=1' } }, '', /cookie/],
])('%s are complained about', async (_, init: RequestInit, query, complaint) => {
  await using phabricator = await startPhabricator();
  const body = String(init.body ?? '').replace('TOKEN', phabricator.token);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...init.headers };
  const url = `${phabricator.url}/api/user.whoami${query.replace('TOKEN', phabricator.token)}`;
  await fetch(url, init.body === undefined ? {} : { ...init, body, headers });
  expect(phabricator.violations).toEqual([expect.stringMatching(complaint)]);
});

test('subscribes a user whom the bot mentions, and reports that as a violation', async () => {
  await using phabricator = await startPhabricator();
  const revision = revisionOn(phabricator);
  const other = phabricator.addUser('other');
  await comment(phabricator, 'see @other.\n```lang=text\n@author\n```');
  expect(revision.subscriberPHIDs).toEqual([other.phid]);
  expect(phabricator.violations).toEqual(['A comment mentions @other outside of code, which subscribes them.']);
});

test('a bot that posts the same twice is reported, though both are posted', async () => {
  await using phabricator = await startPhabricator();
  const { phid } = revisionOn(phabricator);
  await comment(phabricator, 'no regression');
  await comment(phabricator, 'no regression');
  const said = phabricator.state.transactions.filter((one) => one.comment !== null);
  expect(said.map(({ objectPHID }) => objectPHID)).toEqual([phid, phid]);
  expect(phabricator.violations).toEqual(['A comment was posted twice on the same revision.']);
});

test('a bot that edits a revision may, and is complained about', async () => {
  await using phabricator = await startPhabricator();
  const revision = revisionOn(phabricator);
  await call(phabricator, 'differential.revision.edit', {
    objectIdentifier: 'D1',
    transactions: [{ type: 'title', value: 'mine' }],
  });
  expect(revision.title).toBe('mine');
  expect(phabricator.violations).toEqual(['differential.revision.edit was called with a transaction of type "title".']);
});

test('a revision that the bot may not see is as if it were not there', async () => {
  await using phabricator = await startPhabricator();
  const [author, admin] = [phabricator.addUser('author'), phabricator.addUser('admin')];
  const diff = { raw: smallDiff };
  const secret = phabricator.addRevision({ author, title: 'secret', diff, visibleTo: admin });
  const ids = { constraints: { ids: [1] } };
  const id = z.object({ id: z.int() });
  expect(await rows(phabricator, 'differential.revision.search', ids, id)).toEqual([]);
  expect(await call(phabricator, 'differential.getrawdiff', { diffID: 1 })).toMatchObject({
    error_code: 'ERR_NOT_FOUND',
  });
  expect(await comment(phabricator, 'x')).toMatchObject({
    error_info: 'Monogram "D1" does not identify a valid object.',
  });
  const transactions = [{ type: 'comment', value: 'x' }];
  const byPhid = { objectIdentifier: secret.phid, transactions };
  expect(await call(phabricator, 'differential.revision.edit', byPhid)).toMatchObject({
    error_info: expect.stringContaining('[You Shall Not Pass: D1] (Can View)'),
  });
});

test('pages go on after the last id, past what is invisible', async () => {
  await using phabricator = await startPhabricator();
  const [author, admin] = [phabricator.addUser('author'), phabricator.addUser('admin')];
  for (const title of ['one', 'two', 'three']) {
    const hidden = title === 'two' ? { visibleTo: admin } : {};
    phabricator.addRevision({ author, title, diff: { raw: smallDiff }, ...hidden });
  }
  const page = (after: string | null) => call(phabricator, 'differential.revision.search', { limit: 1, after });
  expect(await page(null)).toMatchObject({
    result: { data: [{ id: 3 }], cursor: { after: '3', before: null } },
  });
  expect(await page('3')).toMatchObject({
    result: { data: [{ id: 1 }], cursor: { after: null, before: '1' } },
  });
  expect(await page('2')).toMatchObject({ error_code: 'ERR-CONDUIT-CORE' });
});

test('an ordered fault meets the calls that it was ordered for, and no other', async () => {
  await using phabricator = await startPhabricator();
  phabricator.faults.order('user.whoami', { kind: 'rate-limit' }, 2);
  phabricator.faults.order(({ params }) => params.names !== undefined, { kind: 'html' });
  const status = async (method: string, params = '{}') => {
    const body = new URLSearchParams({ params });
    const response = await fetch(`${phabricator.url}/api/${method}`, { method: 'POST', body });
    return [response.status, response.headers.get('content-type')];
  };
  const json = [200, 'application/json'];
  expect(await status('conduit.ping')).toEqual(json);
  expect(await status('user.whoami')).toEqual([429, 'text/plain; charset=utf-8']);
  expect(await status('user.whoami')).toEqual([429, 'text/plain; charset=utf-8']);
  expect(await status('user.whoami')).toEqual(json);
  expect(await status('phid.lookup', '{"names":[]}')).toEqual([200, 'text/html; charset=UTF-8']);
  expect(phabricator.faults.met).toBe(3);
});

test('an answer that is lost after the comment was posted leaves the comment there', async () => {
  await using phabricator = await startPhabricator();
  revisionOn(phabricator);
  const comments = () => phabricator.state.transactions.filter((one) => one.comment !== null);
  phabricator.faults.order('differential.revision.edit', { kind: 'reset' });
  await expect(comment(phabricator, 'before')).rejects.toThrow('fetch failed');
  expect(comments()).toHaveLength(0);
  phabricator.faults.order('differential.revision.edit', { kind: 'reset', carriedOut: true });
  await expect(comment(phabricator, 'after')).rejects.toThrow('fetch failed');
  expect(comments()).toMatchObject([{ comment: { raw: 'after' } }]);
});

test('in maintenance it can be read, not written', async () => {
  await using phabricator = await startPhabricator();
  revisionOn(phabricator);
  phabricator.faults.order('differential.revision.edit', { kind: 'read-only' });
  expect(await comment(phabricator, 'x')).toMatchObject({
    error_info: expect.stringContaining('read-only mode'),
  });
  phabricator.state.isReadOnly = true;
  expect(await call(phabricator, 'user.whoami')).toMatchObject({ error_code: null });
  expect(await comment(phabricator, 'x')).toMatchObject({
    error_code: 'ERR-CONDUIT-CORE',
    error_info: expect.stringContaining('read-only mode'),
  });
});

test('a comment is newer than what it is about, by the clock that a test sets', async () => {
  await using phabricator = await startPhabricator({ now: 1000 });
  const revision = revisionOn(phabricator);
  phabricator.letPass(60);
  await comment(phabricator, 'done');
  expect(revision).toMatchObject({ dateCreated: 1000, dateModified: 1060 });
  const since = { constraints: { modifiedStart: 1060 } };
  const id = z.object({ id: z.int() });
  expect(await rows(phabricator, 'differential.revision.search', since, id)).toEqual([{ id: 1 }]);
});
