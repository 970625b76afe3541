// Holds the fake against recordings of a Phorge: its answers have the recorded types, and its refusals the recorded words.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeWith, sharedFolder } from '../../needs.ts';
import { call, listen, smallDiff as raw } from './calling.ts';
import { startPhabricator } from './server.ts';

const recordingSchema = z.object({
  method: z.string(),
  actor: z.string().nullable(),
  params_decoded: z.record(z.string(), z.unknown()),
  response_json: z.looseObject({ result: z.unknown() }),
});

const recorded = (name: string) =>
  recordingSchema.parse(JSON.parse(readFileSync(join(sharedFolder('phabricator/calls'), `${name}.json`), 'utf8')));

/** One object of each kind, of which D3 is hidden from the bot. The target has the PHID that a recording names. */
async function scene({ buildTargetPHID, receiver = buildTargetPHID }: Record<string, unknown> = {}) {
  const phabricator = await startPhabricator();
  await using endpoint = await listen();
  const author = phabricator.addUser('author');
  phabricator.addUser('disabledbot', { isDisabled: true });
  phabricator.addProject('network_performance', [author]);
  const repository = phabricator.addRepository('SRC');
  const diff = { raw, base: 'a'.repeat(40), branch: 'main' };
  const revision = phabricator.addRevision({ author, title: 'x', repository, diff });
  for (const title of ['y', 'z']) phabricator.addRevision({ author, title, diff: { raw }, visibleTo: author });
  phabricator.comment(revision, author, 'Nice.');
  const target = await phabricator.startBuild(revision, phabricator.addBuildPlan({ uri: endpoint.url }));
  const build = phabricator.state.builds[0] ?? expect.fail();
  const isOfBuild = String(receiver).startsWith('PHID-HMBD-');
  if (receiver !== undefined && !/doesnotexist/.test(String(receiver))) {
    Object.assign(isOfBuild ? build : target, { phid: receiver });
    target.buildPHID = build.phid;
  }
  return { phabricator, revision, target };
}

/** Types in place of values; of a list, that of its first item. */
function typesOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(typesOf);
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, typesOf(one)]));
}

describeWith(['shared/phabricator/calls'], 'the fake answers like a Phorge', () => {
  test.each([
    ['user.whoami', {}],
    ['user.search', {}],
    [
      'project.search-by-slug-members',
      { constraints: { slugs: ['network_performance'] }, attachments: { members: true } },
    ],
    ['diffusion.repository.search-by-shortName', { constraints: { shortNames: ['src'] } }],
    ['differential.revision.search-by-repository', {}],
    ['differential.diff.search-by-phids', { constraints: { ids: [1] } }],
    ['differential.getrawdiff-1', { diffID: 1 }],
    ['transaction.search-by-author', { objectIdentifier: 'D1' }],
    ['differential.revision.edit-comment', { objectIdentifier: 'D1', transactions: [{ type: 'comment', value: 'x' }] }],
    ['file.upload-png', { name: 'x.png', data_base64: 'eA==', viewPolicy: 'public' }],
    ['harbormaster.buildable.search-by-diff', {}],
    ['harbormaster.build.search-all', {}],
    ['harbormaster.buildplan.search', {}],
    ['harbormaster.step.search', {}],
    ['harbormaster.target.search-waiting', {}],
  ])('with the recorded types: %s', async (name, params) => {
    const { method, response_json: answer } = recorded(name);
    const { phabricator } = await scene();
    const own = await call(phabricator, method, params, phabricator.token);
    await phabricator.stop();
    expect(typesOf(answer)).toMatchObject(typesOf(own) as object);
  });

  test.each([
    ...['error-bad-token-unknown', 'error-disabled-user', 'error-no-token', 'error-unknown-method'],
    ...['error-unknown-method-long', 'error-server-read-only-write', 'differential.getrawdiff-unknown'],
    ...['differential.getrawdiff-invisible', 'differential.diff.search-createdStart'],
    ...['differential.revision.edit-comment-null', 'differential.revision.edit-comment-on-invisible'],
    ...['differential.revision.edit-missing-transactions', 'differential.revision.edit-unknown-revision'],
    ...['differential.revision.search-id-as-string', 'differential.revision.search-ids-empty-list'],
    ...['differential.revision.search-ids-scalar', 'differential.revision.search-limit-0'],
    ...['differential.revision.search-toplevel-ids'],
    ...['differential.revision.search-unknown-attachment', 'differential.revision.search-unknown-constraint'],
    ...['file.upload-bad-base64', 'file.upload-missing-data', 'harbormaster.createartifact-bad-uri'],
    ...['harbormaster.createartifact-missing-uri', 'harbormaster.createartifact-string-bool'],
    ...['harbormaster.createartifact-unknown-target', 'harbormaster.createartifact-unknown-type'],
    ...['harbormaster.sendmessage-pass-to-build-phid', 'harbormaster.sendmessage-unit-missing-result'],
    ...['harbormaster.sendmessage-unit-string-duration', 'harbormaster.sendmessage-unknown-param'],
    ...['harbormaster.sendmessage-unknown-target', 'paging-after-nonexistent', 'transaction.search-unknown-object'],
  ])('with the recorded refusal: %s', async (name) => {
    const { method, actor, params_decoded: params, response_json: answer } = recorded(name);
    const { phabricator } = await scene(params);
    phabricator.state.isReadOnly = name.includes('read-only');
    const isWrong = name.includes('bad-token');
    const user = phabricator.state.users.find(({ username }) => username === actor);
    const token = isWrong ? 'api-XXXX' : user && phabricator.tokenOf(user);
    const own = await call(phabricator, method, params, token);
    await phabricator.stop();
    expect(own).toEqual(answer);
  });
});
