// Creates real git repositories in temporary folders, without the calling user's settings.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from './folder.ts';

/** An empty repository on the branch `main`, removed when the test ends. */
export function newRepository(): string {
  const directory = temporaryFolder();
  git(directory, 'init', '--quiet', '--initial-branch=main');
  return directory;
}

/** Writes files (path → content) and links (path → target), commits all, and returns the commit's id. */
export function commit(
  directory: string,
  files: Record<string, string>,
  links: Record<string, string> = {},
  message = 'A change',
): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    symlinkSync(target, join(directory, path));
  }
  git(directory, 'add', '--all');
  git(directory, 'commit', '--quiet', '--allow-empty', '--message', message);
  return headOf(directory);
}

/** Reads the repository's files, as another git process needs ten times as long; a worktree has them elsewhere. */
function headOf(directory: string): string {
  try {
    const read = (path: string) => readFileSync(join(directory, '.git', path), 'utf8').trim();
    const head = read('HEAD');
    const [, ref] = /^ref: (.+)$/.exec(head) ?? [];
    return ref === undefined ? head : read(ref);
  } catch {
    return git(directory, 'rev-parse', 'HEAD');
  }
}

const settings = [
  ...['-c', 'user.name=Alice', '-c', 'user.email=alice@example.org'],
  // A commit would start another git, which finds nothing to do.
  ...['-c', 'maintenance.auto=false'],
];

/** Runs git and returns its output without the line end. */
export function git(directory: string, ...args: string[]): string {
  return execFileSync('git', ['-C', directory, ...settings, ...args], {
    encoding: 'utf8',
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd();
}

/** Files to write (path → content), or to delete if undefined; those of the first parent stay. */
export type Planned = {
  /** Positions in the history; default: the previous commit. */
  parents?: number[];
  files?: Record<string, string | undefined>;
  /** Commits of other repositories, by path. */
  submodules?: Record<string, string>;
  message?: string;
};

/** Creates many commits at once, without a checkout, and returns their ids; `main` is the last one. */
export function plantHistory(directory: string, commits: readonly Planned[]): string[] {
  const said = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const stream = commits.map(({ parents, files = {}, submodules = {}, message }, index) => {
    const [first, ...others] = parents ?? (index === 0 ? [] : [index - 1]);
    return [
      ...(first === undefined ? ['reset refs/heads/main\n'] : []),
      `commit refs/heads/main\nmark :${index + 1}\n`,
      `committer Alice <alice@example.org> ${1_600_000_000 + index} +0000\n`,
      said(message ?? `Change ${index}`),
      ...(first === undefined ? [] : [`from :${first + 1}\n`]),
      ...others.map((parent) => `merge :${parent + 1}\n`),
      ...Object.entries(files).map(([path, content]) =>
        content === undefined ? `D ${path}\n` : `M 100644 inline ${path}\n${said(content)}`,
      ),
      ...Object.entries(submodules).map(([path, id]) => `M 160000 ${id} ${path}\n`),
    ].join('');
  });
  const marks = join(temporaryFolder(), 'marks');
  execFileSync('git', ['-C', directory, 'fast-import', '--quiet', `--export-marks=${marks}`], {
    input: stream.join(''),
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const ids: string[] = [];
  for (const line of readFileSync(marks, 'utf8').split('\n').filter(Boolean)) {
    const [mark = '', id = ''] = line.split(' ');
    ids[Number(mark.slice(1)) - 1] = id;
  }
  return ids;
}
