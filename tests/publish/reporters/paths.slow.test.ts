// Tests that no report contains a path of the controller, for any error; the log has the whole error.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../../../src/action/approved-request.ts';
import { openRepository } from '../../../src/forge/patch/repository.ts';
import { openSqlite } from '../../../src/gate/reserve/store/sqlite.ts';
import { exitCodes } from '../../../src/model/conclusion.ts';
import { conclusionOf, outcomeOfError } from '../../../src/publish/reporters/outcome.ts';
import { outcomeMarkdown, outcomeTitle } from '../../../src/publish/reporters/outcome-text.ts';
import { combineReporters, type Reporter } from '../../../src/publish/reporters/reporter.ts';
import { HostError } from '../../../src/system/host/host-error.ts';
import { temporaryFolder } from '../../fakes/folder.ts';

/** Folders in which the errors below were made. */
const ours = /ppsgate-test-|\/home\/op/;

const failures: [string, (folder: string) => Promise<unknown>][] = [
  ['a directory that is no repository', (folder) => openRepository(folder).resolve('main')],
  ['a file that Node cannot open', (folder) => readFile(join(folder, 'my lab', 'key'))],
  ['a store of reservations', (folder) => openSqlite(folder, { now: () => 0 })],
  [
    'an upload to a machine',
    async () => {
      throw new HostError(
        'upload-failed',
        'Cannot lay /var/tmp/x.tar from /home/op/my kernels/x.tar on DUT: no space; check both.',
      );
    },
  ],
];

async function errorOf(fail: (folder: string) => Promise<unknown>): Promise<Error> {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'a file'), '');
  const error = await fail(folder).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw new TypeError('Nothing went wrong.');
}

describe('no path of the controller is posted', () => {
  test.each(failures)('%s', async (_, fail) => {
    const error = await errorOf(fail);
    expect(error.message).toMatch(new RegExp(`${ours.source}|/elsewhere`));
    const ending = outcomeOfError(error);
    expect(`${outcomeTitle(ending)} ${outcomeMarkdown(ending)} ${ending.message}`).not.toMatch(ours);
    expect(ending.message).toContain('[path]');
    expect(failureOf(error)).toEqual({
      exitCode: exitCodes[conclusionOf(ending)],
      said: ending.message,
      isRefused: false,
    });
  });
});

test('progress is posted without paths as well', () => {
  const told: string[] = [];
  const answer: Reporter = {
    queued: (text) => void told.push(text),
    waiting: (_, text) => void told.push(text),
    measuring: (testbed, line = '') => void told.push(`${testbed}: ${line}`),
    conclude: async () => 'delivered',
    addLinks: async () => {},
    leaveOpen: async () => {},
  };
  const all = combineReporters([answer]);
  all.queued('/home/op/queue');
  all.waiting({ place: 1, of: 1 }, 'for /home/op/store');
  all.measuring('shelf-3', 'installed /home/op/kernel');
  all.measuring('shelf-3');
  expect(told).toEqual(['[path]', 'for [path]', 'shelf-3: installed [path]', 'shelf-3: ']);
});
