// Tests the creation of the label by GitHub's responses.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createLabel } from '../../../src/cli/init/label.ts';
import { createOctokit } from '../../../src/forge/github/client.ts';

const silence = { debug() {}, info() {}, warn() {}, error() {} };

/** Starts a GitHub that gives this response to everything, and records its requests. */
async function answering(status: number, body: object) {
  const asked: { request: string; body: unknown }[] = [];
  const server = createServer(async (request, response) => {
    asked.push({
      request: `${request.method} ${request.url}`,
      body: JSON.parse(await text(request)),
    });
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const apiUrl = `http://127.0.0.1:${port}`;
  const octokit = await createOctokit({ token: 'ghp_alice', apiUrl, log: silence });
  return { asked, octokit };
}

const refusal = (code: string) => ({
  message: 'Validation Failed',
  errors: [{ resource: 'Label', code, field: 'name' }],
});

test('it is made with a colour and a sentence', async () => {
  const { asked, octokit } = await answering(201, { name: 'ppsgate' });
  expect(await createLabel(octokit, 'example/router')).toEqual({
    kind: 'created',
    repository: 'example/router',
  });
  expect(asked).toEqual([
    {
      request: 'POST /repos/example/router/labels',
      body: {
        name: 'ppsgate',
        color: '1d76db',
        description: 'ppsgate may measure this pull request as it stands',
      },
    },
  ]);
});

test('one that is there already stays', async () => {
  const { octokit } = await answering(422, refusal('already_exists'));
  expect(await createLabel(octokit, 'example/router')).toMatchObject({ kind: 'unchanged' });
});

test.for([
  [403, { message: 'Resource not accessible by personal access token' }, '403 Resource not'],
  [422, refusal('invalid'), '422 Validation Failed'],
] as const)('where GitHub answers %i, a person is told how to make it', async ([status, body, said]) => {
  const { octokit } = await answering(status, body);
  expect(await createLabel(octokit, 'example/router')).toEqual({
    kind: 'not-created',
    why: expect.stringContaining(`The label ppsgate was not created on example/router: GitHub answered ${said}`),
    command:
      'gh label create ppsgate --repo example/router --color 1d76db --description "ppsgate may measure this pull request as it stands"',
  });
});
