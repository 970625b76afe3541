// Measures the share of small changes of a module's source that its fast, law and slow tests find:
//   node bench/mutation.ts MODULE [--sample 60] [--seed 1] [--commit HEAD] [--workers 2] [--json FILE] [--list]
//   node bench/mutation.ts MODULE --commit EARLIER --survivors FILE [--seed 1] [--workers 2] [--json FILE]
// Mutants are tried in clones of the commit. First each test file runs alone with a probe at each mutant; a mutant is then
// tried only by the files that reach it, programs that they start included. --survivors takes the result of a later commit,
// and tries only what its tests did not find: those that an earlier commit's tests find were lost between the two.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkExamples, type Mutant, mutantsOf, probed } from './mutants.ts';

type Site = Mutant & { path: string; line: number };
type Outcome = Site & { outcome: 'killed' | 'survived' | 'not covered'; by?: readonly string[] };
type TestFile = { path: string; seconds: number; reached: ReadonlySet<string> };
/** A clone of the commit, for one run of tests at a time. */
type Clone = { folder: string; reachedFile: string };

const root = join(import.meta.dirname, '..');

async function main(): Promise<void> {
  checkExamples();
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      commit: { type: 'string', default: 'HEAD' },
      workers: { type: 'string', default: '2' },
      json: { type: 'string' },
      survivors: { type: 'string' },
      list: { type: 'boolean', default: false },
    },
  });
  const [module] = positionals;
  if (module === undefined) throw new Error('Name a module: a folder of src/ and of tests/, such as forge/patch.');
  const commit = git(root, 'rev-parse', values.commit);
  const files = git(root, 'ls-tree', '-r', '--name-only', commit).split('\n');
  const sources = files.filter((path) => path.startsWith(`src/${module}/`) && path.endsWith('.ts'));
  const tests = files.filter(
    (path) => path.startsWith(`tests/${module}/`) && /(?<!\.lab|\.freebsd)\.test\.ts$/.test(path),
  );
  const all = sources.flatMap((path) => sitesOf(path, git(root, 'show', `${commit}:${path}`)));
  const keyed = inRandomOrder(all, values.seed);
  const sample = new Set(
    values.survivors === undefined
      ? keyed.slice(0, Number(values.sample)).map(({ site }) => site)
      : survivorsOf(values.survivors, keyed),
  );
  const sites = all.filter((site) => sample.has(site));
  const keyOf = new Map(keyed.map(({ site, key }) => [site, key]));
  if (values.list) return console.log(sites.map(describe).join('\n'));

  const temporary = mkdtempSync(join(tmpdir(), 'ppsgate-mutation-'));
  process.once('exit', () => rmSync(temporary, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const started = Date.now();
  const clones = Array.from({ length: Number(values.workers) }, (_, number) =>
    cloneOf(commit, join(temporary, `${number}`)),
  );
  for (const clone of clones) for (const path of sources) addProbes(clone, path, sites);
  const timed = await inParallel(tests, clones, async (path, clone, index) => {
    const file = await tryTest(path, clone);
    console.error(`${index + 1}/${tests.length} ${file ? `${file.seconds} s` : 'fails, so it is left out'}: ${path}`);
    return file;
  });
  const usable = timed.filter((file) => file !== undefined);
  for (const { folder } of clones) git(folder, 'checkout', '--quiet', '--', 'src');
  const outcomes = await inParallel(sites, clones, async (site, clone, index) => {
    const reaching = usable.filter(({ reached }) => reached.has(`${index}`));
    const outcome = { key: keyOf.get(site), ...(await tryMutant(site, clone, reaching)) };
    console.error(`${index + 1}/${sites.length} ${outcome.outcome}: ${describe(site)}`);
    return outcome;
  });

  const counts = { killed: 0, survived: 0, 'not covered': 0 };
  for (const { outcome } of outcomes) counts[outcome] += 1;
  const share = counts.killed / outcomes.length;
  const result = {
    module,
    commit,
    seed: values.seed,
    mutants: outcomes.length,
    of: all.length,
    ...counts,
    percent: round(100 * share),
    // Half of the 95 % interval of a sample.
    plusMinus: round(196 * Math.sqrt((share * (1 - share)) / outcomes.length)),
    minutes: round((Date.now() - started) / 60_000),
  };
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ ...result, outcomes }, undefined, 2)}\n`);
  for (const one of outcomes) if (one.outcome !== 'killed') console.log(`${one.outcome}: ${describe(one)}`);
  console.log(JSON.stringify(result));
}

function sitesOf(path: string, source: string): Site[] {
  const lineOf = ({ start }: Mutant) => source.slice(0, start).split('\n').length;
  return mutantsOf(source).map((mutant) => ({ path, line: lineOf(mutant), ...mutant }));
}

/** Orders mutants by their own texts: a change of the module leaves most of the sample as it was. */
function inRandomOrder(sites: readonly Site[], seed: string): { site: Site; key: string }[] {
  const counts = new Map<string, number>();
  const keyed = sites.map((site) => {
    const text = JSON.stringify([seed, site.path, site.from, site.to]);
    const count = counts.get(text) ?? 0;
    counts.set(text, count + 1);
    return { site, key: createHash('sha256').update(`${text} ${count}`).digest('hex') };
  });
  return keyed.toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

function survivorsOf(file: string, keyed: readonly { site: Site; key: string }[]): Site[] {
  const { outcomes } = JSON.parse(readFileSync(file, 'utf8')) as { outcomes: { key: string; outcome: string }[] };
  const keys = new Set(outcomes.flatMap(({ key, outcome }) => (outcome === 'killed' ? [] : [key])));
  return keyed.flatMap(({ site, key }) => (keys.has(key) ? [site] : []));
}

function cloneOf(commit: string, folder: string): Clone {
  git(root, 'clone', '--quiet', '--shared', '--no-checkout', root, folder);
  git(folder, 'checkout', '--quiet', '--detach', commit);
  // rolldown would take packages behind a symbolic link for those of the other checkout.
  execFileSync('cp', ['-a', '--reflink=auto', join(root, 'node_modules'), folder]);
  return { folder, reachedFile: `${folder}.reached` };
}

function addProbes({ folder, reachedFile }: Clone, path: string, sites: readonly Site[]): void {
  const probes = sites.flatMap((at, id) => (at.path === path ? [{ id, at }] : []));
  const file = join(folder, path);
  if (probes.length > 0) writeFileSync(file, probed(readFileSync(file, 'utf8'), probes, reachedFile));
}

/** Runs a test file in a clone with probes; undefined if it fails without a mutant. */
async function tryTest(path: string, clone: Clone): Promise<TestFile | undefined> {
  writeFileSync(clone.reachedFile, '');
  const started = Date.now();
  if (!(await passes(clone, [path], 1_800))) return undefined;
  const reached = new Set(readFileSync(clone.reachedFile, 'utf8').split(' '));
  return { path, seconds: round((Date.now() - started) / 1000), reached };
}

/** Runs the fast files that reach a mutant, and then each other one, the shortest first, until one fails. */
async function tryMutant(site: Site, clone: Clone, files: readonly TestFile[]): Promise<Outcome> {
  const isFast = ({ path }: TestFile) => !/\.(?:law|slow)\.test\.ts$/.test(path);
  const others = files.filter((file) => !isFast(file)).toSorted((one, other) => one.seconds - other.seconds);
  const groups = [files.filter(isFast), ...others.map((file) => [file])].filter(({ length }) => length > 0);
  if (groups.length === 0) return { ...site, outcome: 'not covered' };
  const file = join(clone.folder, site.path);
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, `${source.slice(0, site.start)}(${site.to})${source.slice(site.end)}`);
  try {
    for (const group of groups) {
      const paths = group.map(({ path }) => path);
      const limitSeconds = 30 + 4 * group.reduce((sum, { seconds }) => sum + seconds, 0);
      if (!(await passes(clone, paths, limitSeconds))) return { ...site, outcome: 'killed', by: paths };
    }
    return { ...site, outcome: 'survived' };
  } finally {
    writeFileSync(file, source);
  }
}

/** Runs test files until one fails; exceeding the limit is a failure. */
async function passes({ folder }: Clone, paths: readonly string[], limitSeconds: number): Promise<boolean> {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--bail', '1', ...paths];
  // As npx does: the package `node` is in it, which rolldown is started with.
  const env = { ...process.env, PATH: `${join(folder, 'node_modules/.bin')}:${process.env.PATH}` };
  const run = spawn(process.execPath, args, { cwd: folder, env, stdio: 'ignore', detached: true });
  // Its group has the programs that tests started.
  const timer = setTimeout(() => run.pid !== undefined && process.kill(-run.pid, 'SIGKILL'), 1000 * limitSeconds);
  const [code] = await once(run, 'exit');
  clearTimeout(timer);
  return code === 0;
}

/** Each free clone takes the next item; the results are in the order of the items. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  clones: readonly Clone[],
  work: (item: Item, clone: Clone, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  await Promise.all(
    clones.map(async (clone) => {
      for (const [index, item] of queue) results[index] = await work(item, clone, index);
    }),
  );
  return results;
}

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 }).replace(/\n$/, '');

const round = (value: number): number => Math.round(10 * value) / 10;

const describe = ({ path, line, from, to }: Site): string => `${path}:${line}: ${from} → ${to}`.replaceAll(/\s+/g, ' ');

if (import.meta.main) await main();
