// Real git repositories in temporary folders, free of the settings of whoever runs the tests.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from './folder.ts';

/** An empty repository on the branch `main`, gone when the test ends. */
export function newRepository(): string {
  const directory = temporaryFolder();
  git(directory, 'init', '--quiet', '--initial-branch=main');
  return directory;
}

/** Writes files (path → content) and links (path → target), commits all, and answers the commit's id. */
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
  return git(directory, 'rev-parse', 'HEAD');
}

/** What git prints, without the line end. */
export function git(directory: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.org'];
  return execFileSync('git', ['-C', directory, ...identity, ...args], {
    encoding: 'utf8',
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd();
}
