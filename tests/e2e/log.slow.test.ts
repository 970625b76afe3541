// Tests that text of a stranger in the project's own workflow sets no output, and uploads nothing.
// All comments take minutes, so these are the most dangerous ones; `HOSTILE=all` tests all of them, and
// tests/action/step.slow.test.ts does so without a workflow.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../fakes/folder.ts';
import { installationToken, startFakeGitHub } from '../fakes/github/server.ts';
import { hostileComments } from '../fakes/hostile-comments.ts';
import { commandsIn } from '../fakes/runner-commands.ts';
import { describeWith } from '../needs.ts';
import { nothingAdmitted, runJob } from './act.ts';
import { type Example, makeExample, workflow } from './example.ts';

const repository = 'example/router';

describeWith(['act', 'git'], "a stranger's comment", () => {
  let folder: string;
  let example: Example;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
    example = makeExample(join(folder, 'router'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const comments = process.env.HOSTILE === 'all' ? hostileComments : hostileComments.slice(0, 3);

  test.each(comments)('is nothing but words in the log: %j', async (body) => {
    const { directory, baseCommit } = example;
    const user = { login: 'mallory', id: 1 };
    const github = await startFakeGitHub({
      repository,
      pullRequests: [
        {
          number: 7,
          title: 'A change',
          author: user.login,
          baseCommit,
          headCommit: baseCommit,
          headRepository: 'mallory/router',
        },
      ],
      comments: [{ number: 7, author: user.login, body }],
    });
    // Replies are checked too, and only people with approval get one.
    github.state.permissions[user.login] = 'write';
    const [comment] = github.state.comments;
    const job = await runJob({
      directory,
      workflow,
      repository,
      apiUrl: github.url,
      token: installationToken,
      runId: 1,
      temporary: temporaryFolder(),
      eventName: 'issue_comment',
      payload: {
        action: 'created',
        sender: user,
        issue: { number: 7, pull_request: {}, user },
        comment: {
          id: comment?.id,
          body,
          user,
          author_association: 'NONE',
          created_at: '2026-11-20T12:00:00Z',
        },
      },
    });
    await github.stop();
    expect(github.state.comments.map(({ body }) => body)).toEqual([
      body,
      expect.stringContaining('### 🤔 ppsgate did not understand'),
    ]);
    expect(job.outputs, job.log).toEqual(nothingAdmitted);
    // act recognizes commands of the first kind only at the beginning of a line, so its log has what GitHub's runner
    // would have read.
    expect(commandsIn(Buffer.from(job.log))).toEqual([]);
    expect(github.state.artifacts).toEqual([]);
  });
});
