import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeWith, sharedFolder } from '../../needs.ts';
import { call, smallDiff } from './calling.ts';
import { startPhabricator } from './server.ts';
import { letters, newRecord } from './state.ts';

const alts = 'phabricator/live-2026-11-25/remarkup-file-alt-with-hash.json';
const pairs = 'phabricator/remarkup-rendered.json';

/** PNG header of an image of this size. */
function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(24);
  bytes.write('\x89PNG', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

async function rendered(contents: readonly string[]): Promise<string[]> {
  await using phabricator = await startPhabricator();
  const { state, bot } = phabricator;
  const author = phabricator.addUser('author');
  state.lastIds.DREV = 23;
  phabricator.addRevision({ author, title: 'x', diff: { raw: smallDiff } });
  state.files.push({
    ...newRecord(state, 'FILE'),
    id: 53,
    name: 'plot.png',
    bytes: png(1840, 872),
    authorPHID: bot.phid,
    viewPolicy: 'public',
    secret: letters('secret', 20),
  });
  const answer = await call(phabricator, 'remarkup.process', { context: 'differential', contents });
  const schema = z.object({ result: z.array(z.object({ content: z.string() })) });
  return schema.parse(answer).result.map(({ content }) => content);
}

/** Removes addresses of files and numbers of tags, which differ between servers. */
const comparable = (html: string): string =>
  html.replace(/(href|src)="http[^"]*\/file\/[^"]*"/g, '$1=""').replace(/ data-meta="[^"]*"/g, '');

describeWith([`shared/${alts}`], 'the fake renders as it was recorded', () => {
  const recorded = z
    .array(z.object({ input: z.string(), html: z.string() }))
    .parse(JSON.parse(readFileSync(sharedFolder(alts), 'utf8')));

  test.each(recorded)('$input', async ({ input, html }) => {
    expect((await rendered([input])).map(comparable)).toEqual([comparable(html)]);
  });
});

describeWith([`shared/${pairs}`], 'the fake renders as it was recorded, too,', () => {
  const recorded = z
    .record(z.string(), z.object({ remarkup: z.string(), html: z.string() }))
    .parse(JSON.parse(readFileSync(sharedFolder(pairs), 'utf8')));

  test.each([
    ...['code-fence', 'code-ministat', 'code-inline-backtick', 'fence-line-ends-with-fence'],
    ...['table-sep-plain', 'table-pipe', 'table-cell-empty', 'nested-code-in-list', 'linebreaks'],
    ...['unicode', 'bold-with-arrow', 'html-raw', 'file-embed-unknown'],
  ])('%s', async (name) => {
    const { remarkup = '', html = '' } = recorded[name] ?? {};
    expect((await rendered([remarkup])).map(comparable)).toEqual([comparable(html)]);
  });
});
