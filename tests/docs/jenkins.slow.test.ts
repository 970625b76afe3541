// docs/how-to/jenkins.md and its examples name existing things, and the relay can start the job.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Job } from '../../src/forge/patch/job-key.ts';
import { exitCodes } from '../../src/model/conclusion.ts';
import { startOnJenkins } from '../../src/relay/start-jenkins.ts';
import { jobPath, startFakeJenkins } from '../fakes/jenkins.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');

const page = read('docs', 'how-to', 'jenkins.md');
const examples = readdirSync(join(root, 'jenkins', 'examples'));
const example = (name: string) => read('jenkins', 'examples', name);

/** Section of a heading, up to the next heading of any level. */
function section(heading: string): string {
  const [, text = ''] = page.split(new RegExp(`^#+ ${heading}$`, 'm'), 2);
  return text.split(/^#+ /m, 1)[0] ?? '';
}

/** Code at the beginning of each row, for each table of a text. */
const tablesOf = (text: string): string[][] =>
  text
    .split(/^\|[ :|-]+\|$/m)
    .slice(1)
    .map((rows) => [...rows.matchAll(/^\| `(\w+)` /gm)].map(([, name = '']) => name));

const parameters = [
  ...new Set(
    [...read('jenkins', 'vars', 'ppsgate.txt').matchAll(/^ {2}(\w+(?:, \w+)*) {2,}/gm)].flatMap(([, names = '']) =>
      names.split(', '),
    ),
  ),
];

test('the parameters of the help are those of the library, and those that it has beside them', () => {
  const schema = z.array(z.object({ name: z.string() }));
  const { data = [] } = schema.safeParse(JSON.parse(read('jenkins', 'resources', 'org', 'ppsgate', 'parameters.json')));
  const library = read('jenkins', 'src', 'org', 'ppsgate', 'Parameters.groovy');
  const [, list = ''] = /OF_JENKINS =\s*\[(.*?)\]/s.exec(library) ?? [];
  const beside = [...list.matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
  expect(beside.length).toBeGreaterThan(5);
  expect(parameters.toSorted()).toEqual([...data.map(({ name }) => name), ...beside].toSorted());
});

test('the ends of a build are those that ppsgate has', () => {
  const codes = [...section('How a build ends').matchAll(/\| (\d+) +\|/g)].map(([, code]) => code);
  expect(codes.map(Number).toSorted()).toEqual(Object.values(exitCodes).toSorted());
});

/** The names that a pipeline gives the step, one call per group of lines. */
const namesGiven = (groovy: string): string[] =>
  [...groovy.matchAll(/^( *)ppsgate\(\n([\s\S]*?)^\1\)$/gm)].flatMap(([, , given = '']) =>
    [...given.matchAll(/^ *(\w+):/gm)].map(([, name = '']) => name),
  );

const pipelines = [
  ...examples.map((name) => [name, example(name)] as const),
  ['the first job of the page', section('The first job')] as const,
];

test.each(pipelines)('%s gives the step only known parameters', (_, groovy) => {
  const given = namesGiven(groovy);
  expect(given).toContain('patch');
  expect(parameters).toEqual(expect.arrayContaining(given));
  expect(new Set(given).size).toBe(given.length);
});

test.each(examples)('%s begins with its purpose, and the page names it', (name) => {
  expect(example(name)).toMatch(/^\/\/ .*\.\n@Library\('ppsgate'\) _\n/);
  expect(page).toContain(`(../../jenkins/examples/${name})`);
});

const defined = (name: string): string[] =>
  [...example(name).matchAll(/string\(name: '(\w+)'/g)].map(([, parameter = '']) => parameter);

const withParameters = examples.filter((name) => defined(name).length > 0);

test.each(withParameters)('%s uses each of its parameters, and no other', (name) => {
  const used = [...example(name).matchAll(/params\.(\w+)/g)].map(([, parameter = '']) => parameter);
  expect([...new Set(used)].toSorted()).toEqual(defined(name).toSorted());
});

describe('the job for the relay', () => {
  const asked = defined('harbormaster.Jenkinsfile');

  test('has exactly the parameters that the relay sends', async () => {
    const jenkins = await startFakeJenkins();
    onTestFinished(() => jenkins.stop());
    jenkins.state.defined = asked;
    const overrides = {
      scenarios: 'forwarding',
      families: 'inet6',
      margin: '1%',
      maxRuns: '30',
      profile: 'off',
      measureAnyway: 'true',
      testbed: 'mellanox',
      earlier: 'all',
    };
    const job: Job = {
      key: 'D7-12',
      revision: 7,
      diff: 12,
      overrides,
      build: 'PHID-HMBD-x',
      by: 'alice',
    };
    const url = `${jenkins.url}${jobPath}`;
    const starter = startOnJenkins({ url, user: 'ppsgate', token: '11bot' });
    const started = await starter.start(job, false, new AbortController().signal);
    expect(started).toMatchObject({ kind: 'started' });
    const [sent] = jenkins.state.queue;
    // Parameters that were not sent have the job's default, which is empty.
    expect(sent?.parameters).toMatchObject({ PATCH: 'D7:12', MARGIN: '1%', GOOD: '' });
    const bisect = {
      good: 'v1',
      bad: 'v2',
      fixUp: 'a',
      skip: 'b',
      maxBoots: '30',
      verifyRevert: 'true',
      metric: 'pps',
    };
    await starter.start({ ...job, key: 'D7-13', bisect }, false, new AbortController().signal);
    const both = jenkins.state.queue.flatMap(({ parameters }) =>
      Object.entries(parameters).flatMap(([name, value]) => (value === '' ? [] : name)),
    );
    expect([...new Set(both)].toSorted()).toEqual(asked.toSorted());
  });

  test('has the parameters that the page explains', () => {
    expect(tablesOf(section('Phabricator'))[0]).toEqual(asked);
  });

  test('is requested by Harbormaster with existing parameters', () => {
    const [, query = ''] = /buildWithParameters\?(\S+)`/.exec(section('Phabricator')) ?? [];
    const names = [...new URLSearchParams(query).keys()];
    expect(names).toEqual(['PATCH', 'KEY', 'BUILD']);
    expect(asked).toEqual(expect.arrayContaining(names));
  });
});

test('no pull request brings its own configuration, and no fork its own Jenkinsfile', () => {
  expect(example('pull-request.Jenkinsfile')).toMatch(/config: '\//);
  expect(read('jenkins', 'job-dsl', 'seed.groovy')).toMatch(
    /gitHubForkDiscovery \{[^}]*trust \{ gitHubTrustNobody\(\) \}/,
  );
});

test('a patch from a fork waits for approval by a reviewer', () => {
  const [, leave = '', gate = ''] = example('pull-request.Jenkinsfile').split(/^ {4}stage\(/m);
  expect(leave).toMatch(/beforeInput true\s+expression \{ env\.CHANGE_FORK != null \}/);
  expect(leave).toMatch(/input \{[^}]*submitter '\S+'/);
  expect(leave).not.toContain('ppsgate(');
  expect(gate).toContain('ppsgate(');
});
