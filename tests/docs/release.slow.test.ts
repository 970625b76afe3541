// .ci/release, which classifies a tag for the release workflow.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commit, git, newRepository } from '../fakes/repository.ts';

const script = join(import.meta.dirname, '..', '..', '.ci', 'release');

function asked(directory: string, ...words: string[]) {
  const { status, stdout, stderr } = spawnSync('bash', [script, ...words], {
    cwd: directory,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const changelog = `# Changelog

## [Unreleased]

- Not yet.

## [1.10.0-rc.1] - 2026-12-01

- To be tried.

## [1.2.3] - 2026-11-23

### Added

- Something, see [this](docs/this.md).

## [1.2.2] - 2026-11-22

## [11.2.3] - 2026-11-21

- Something else.

[Unreleased]: https://github.com/ppsgate/ppsgate/compare/v1.2.3...HEAD
`;

function repositoryAt(version: string): string {
  const directory = newRepository();
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ version }));
  writeFileSync(join(directory, 'CHANGELOG.md'), changelog);
  return directory;
}

describe('the notes of a tag', () => {
  test.each([
    ['1.2.3', '### Added\n\n- Something, see [this](docs/this.md).\n'],
    ['1.10.0-rc.1', '- To be tried.\n'],
    ['11.2.3', '- Something else.\n'],
  ])('are the section of its version: %s', (version, notes) => {
    expect(asked(repositoryAt(version), 'notes', `v${version}`)).toEqual({
      status: 0,
      stdout: notes,
      stderr: '',
    });
  });

  test.each([
    ['1.2.3', 'v1.2.4', 'package.json has version 1.2.3, the tag is v1.2.4'],
    ['1.2.2', 'v1.2.2', 'CHANGELOG.md says nothing below `## [1.2.2] - DATE`'],
    ['1.2.0', 'v1.2.0', 'CHANGELOG.md says nothing below `## [1.2.0] - DATE`'],
    ['1.2.3', 'v1.2', 'v1.2 is no version'],
    ['1.2.3', 'v1.2.3$(touch here)', 'v1.2.3$(touch here) is no version'],
    ['1.2.3', '1.2.3', '1.2.3 is no version'],
  ])('are none where package.json has %s and the tag is %s', (version, tag, reason) => {
    const { status, stdout, stderr } = asked(repositoryAt(version), 'notes', tag);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(`release: ${reason}`);
  });
});

describe('the tag that follows', () => {
  test.each([
    ['v1.2.3', ['v1.2.2', 'v2.0.0'], 'v1'],
    ['v1.10.0', ['v1.9.0', 'v1'], 'v1'],
    ['v2.0.0', ['v1.9.0'], 'v2'],
    ['v1.2.3', ['v1.2.4-rc.1'], 'v1'],
    ['v0.1.1', ['v0.1.0', 'v0.2.0'], 'v0.1'],
    ['v0.2.0', ['v0.1.0'], 'v0.2'],
  ])('%s, with %j there, is that of its series', (tag, others, expected) => {
    expect(following(tag, others)).toBe(`${expected}\n`);
  });

  test.each([
    ['v1.2.3-rc.1', []],
    ['v0.1.0-rc.1', []],
    ['v1.2.4', ['v1.3.0']],
    ['v1.2.3', ['v1.10.0']],
    ['v0.1.1', ['v0.1.2']],
  ])('%s is none, with %j there: it is no release, or not the newest', (tag, others) => {
    expect(following(tag, others)).toBe('');
  });

  function following(tag: string, others: string[]): string {
    const directory = newRepository();
    commit(directory, {});
    for (const name of [tag, ...others]) git(directory, 'tag', name);
    return asked(directory, 'follows', tag).stdout;
  }
});
