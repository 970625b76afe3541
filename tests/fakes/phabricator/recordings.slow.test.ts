// Checks that the fake answers like the real server: repeats each recording in the state in which it was made.
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { describeWith } from '../../needs.ts';
import { call } from './calling.ts';
import {
  type Recording,
  readRecordings,
  readSvnRecording,
  recall,
  recordedBaseUri,
  recordingsNeeded,
  svnRecordingNeeded,
} from './recorded.ts';
import { startPhabricator } from './server.ts';

/** Reasons why a response of the fake differs from the recorded one. */
const unlike = {
  'a page of HTML, whose text the fake does not have': [
    'encoding-trailing-slash',
    'error-output-human-is-html',
    'error-request-by-ip-instead-of-base-uri-host',
    'error-wrong-host-header',
    'error-wrong-path-404',
  ],
  'a frozen method that others have replaced, and that nothing of ours calls': [
    'differential.createcomment-legacy',
    'differential.getcommitmessage',
    'differential.query-legacy',
    'differential.querydiffs-by-ids',
    'differential.querydiffs-by-revision',
    'differential.querydiffs-missing-constraints',
    'differential.querydiffs-unknown',
    'feed.query',
    'harbormaster.querybuildables',
  ],
  'what an author or an administrator does; a test does it without a call': [
    'differential.creatediff',
    'differential.setdiffproperty-local-commits',
    'diffusion.repository.edit-create',
    'diffusion.repository.edit-create-denied',
    'diffusion.repository.edit-denied',
    'harbormaster.buildplan.edit-create',
    'project.edit-create',
    'project.edit-denied',
  ],
  'nothing of ours asks for it': ['conduit.query-method-list', 'differential.createinline', 'harbormaster.log.search'],
  'the fake renders the part of Remarkup that comments of ours consist of': [
    'remarkup.process-all',
    'remarkup.process-more',
  ],
};

const unlikeNames = Object.values(unlike).flat();

describeWith([recordingsNeeded], 'the fake answers like the recorded server:', () => {
  const recordings = readRecordings();

  test.each(recordings.filter(({ name }) => !unlikeNames.includes(name)))('$name', async (recording) => {
    const answer = await answerOfFake(recordings, recording);
    expect(answer.body).toBe(bodyOf(recording));
    expect(answer).toMatchObject(headOf(recording));
  });

  test.each(unlikeNames)('%s, which it does not, is still one of the exceptions', async (name) => {
    const recording = recordings.find((one) => one.name === name);
    if (recording === undefined) throw new Error(`${name} is not recorded.`);
    const answer = await answerOfFake(recordings, recording);
    expect(answer.body).not.toBe(bodyOf(recording));
    expect(answer).toMatchObject(headOf(recording));
  });
});

describeWith([svnRecordingNeeded], 'of diffs from Subversion the fake answers like it', () => {
  test('with bases as they were sent: a number, a whole URL, and none', async () => {
    const { params_decoded: params, response_json: json } = readSvnRecording();
    await using phabricator = await startPhabricator();
    const author = phabricator.addUser('author');
    const raw = 'diff --git a/a b/a\nnew file mode 100644\n';
    for (const { id, phid, fields } of json.result.data.toReversed()) {
      const { refs, policy: _policy, ...known } = fields;
      const { name: branch } = refs.find(({ type }) => type === 'branch') ?? {};
      const { identifier: base } = refs.find(({ type }) => type === 'base') ?? {};
      const sent = { raw, ...(branch && { branch }), ...(base && { base }) };
      Object.assign(phabricator.addDiff(author, sent), { id, phid, ...known });
    }
    expect(await call(phabricator, 'differential.diff.search', params)).toEqual(json);
  });
});

async function answerOfFake(all: readonly Recording[], recording: Recording) {
  await using phabricator = await startPhabricator({ baseUri: recordedBaseUri });
  Object.assign(phabricator.state, { users: [] });
  recall(phabricator.state, all, recording);
  if (recording.http_status === 429) phabricator.faults.order(undefined, { kind: 'rate-limit' });
  const { path, http_method: method } = recording;
  const host = /by-ip/.test(recording.name) ? '127.0.0.1' : new URL(recordedBaseUri).host;
  const headers = {
    Host: host,
    'Content-Type': 'application/x-www-form-urlencoded',
    ...recording.request_headers,
  };
  const body = recording.request_form_body.replaceAll('api-XXXX', tokenFor(recording));
  const query = method === 'GET' ? `?${body}` : '';
  const answer = await send(`${phabricator.url}${path}${query}`, method, headers, method === 'GET' ? '' : body);
  return { ...answer, body: answer.body.replaceAll(tokenFor(recording), 'api-XXXX') };
}

function send(url: string, method: string, headers: { [name: string]: string }, body: string) {
  return new Promise<{ status: number | undefined; contentType: string | undefined; body: string }>(
    (resolve, reject) => {
      const sent = request(url, { method, headers, agent: false }, (response) => {
        const { statusCode: status, headers: answered } = response;
        const contentType = answered['content-type'];
        text(response).then((answer) => resolve({ status, contentType, body: answer }), reject);
      });
      sent.on('error', reject).end(body);
    },
  );
}

function tokenFor({ actor, name }: Recording): string {
  const isWrong = /bad-token|expired/.test(name);
  return isWrong ? `api-${'x'.repeat(28)}` : `api-${(actor ?? '').padEnd(28, '0')}`;
}

function bodyOf({ response_json: json, response_text }: Recording): string {
  return response_text ?? JSON.stringify(json);
}

function headOf({ http_status: status, response_headers }: Recording): {
  status: number;
  contentType: string | undefined;
} {
  return { status, contentType: Object.fromEntries(response_headers)['Content-Type'] };
}
