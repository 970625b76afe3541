// Tests that every published call graph of the corpus folds to the published stacks, if there are any.
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { foldedLines } from '../../../src/analysis/profile/fold.ts';
import { readProfile } from '../../../src/analysis/profile/read-profile.ts';
import { describeWith, sharedFolder } from '../../needs.ts';

describeWith(['shared/corpus/profiles'], 'published call graphs', () => {
  const corpus = sharedFolder('corpus/profiles');
  const graphs = readdirSync(corpus).filter((file) => file.endsWith('.graph'));
  const stacksOf = (graph: string) => join(corpus, graph.replace(/\.graph$/, '.stack'));
  const published = graphs.filter((graph) => existsSync(stacksOf(graph)));

  test('the corpus has stacks for most graphs', () => {
    expect(published.length).toBeGreaterThan(graphs.length / 2);
  });

  test.each(published)('%s folds to the stacks published', async (graph) => {
    const { profile } = await readProfile(createReadStream(join(corpus, graph)), graph);
    const theirs = readFileSync(stacksOf(graph), 'utf8').trimEnd().split('\n');
    expect([...foldedLines(profile)].toSorted()).toEqual(theirs.toSorted());
  });

  test.each(graphs)('%s is reported as cut short only if it is', async (graph) => {
    const path = join(corpus, graph);
    const { notes } = await readProfile(createReadStream(path), graph);
    expect(notes.length > 0).toBe(!readFileSync(path, 'utf8').endsWith('\n'));
  });
});
