// Tests where tokens and keys are read from, and that no error contains any.
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readSecret } from '../../src/config/secret.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { temporaryFolder } from '../fakes/folder.ts';

const what = 'The Conduit token';
const variable = 'PPSGATE_TEST_TOKEN';

let path: string;

beforeEach(() => {
  path = join(temporaryFolder(), 'token');
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const inFile = (text: string) => {
  writeFileSync(path, text, { mode: 0o600 });
  return readSecret({ what, path, variable });
};

const inVariable = (text: string | undefined) => {
  vi.stubEnv(variable, text);
  return readSecret({ what, variable });
};

describe('a secret', () => {
  test.each(['api-abc', 'api-abc\n', 'api-abc\r\n'])('is the one line of a file: %j', async (text) => {
    expect(await inFile(text)).toBe('api-abc');
  });

  test('keeps its blanks, colons and letters of any script', async () => {
    expect(await inFile(' bench:pä ß\n')).toBe(' bench:pä ß');
  });

  test.each(['api-abc', 'api-abc\n'])('is in the environment where no file is named: %j', async (text) => {
    expect(await inVariable(text)).toBe('api-abc');
  });

  test('is not taken from the environment where a file is named', async () => {
    vi.stubEnv(variable, 'other');
    expect(await inFile('api-abc')).toBe('api-abc');
    await expect(inFile('')).rejects.toThrow(UsageError);
  });
});

describe('a secret is missing or invalid:', () => {
  test.each(['', '\n', '\r\n', 'api-abc\napi-def\n', '\napi-abc', 'api-abc\n\n', 'api\tabc', 'api-abc\0', 'api-abc\r'])(
    'a file of %j, which is not shown',
    async (text) => {
      const read = inFile(text);
      const why = text.trim() === '' ? 'is empty' : 'has more than a line';
      await expect(read).rejects.toThrow(
        new UsageError(`${what} is missing: the file ${path} ${why}; write it there and nothing else.`),
      );
    },
  );

  test.each([undefined, '', '\n', 'api-abc\napi-def'])('an environment with %j', async (text) => {
    const read = inVariable(text);
    await expect(read).rejects.toThrow(`${what} is missing: ${variable} in the environment`);
    await expect(read).rejects.not.toThrow(/api/);
  });

  test('a file that is not there, or that cannot be read', async () => {
    await expect(readSecret({ what, path })).rejects.toThrow(/cannot be read \(ENOENT/);
    mkdirSync(path);
    await expect(readSecret({ what, path })).rejects.toThrow(/cannot be read \(EISDIR/);
  });
});

describe('a file that others can get at', () => {
  const nobody = 65_534;

  const inModeOf = (mode: number, owner = process.getuid?.() ?? 0) => {
    writeFileSync(path, 'api-abc');
    if (owner !== process.getuid?.()) chownSync(path, owner, owner);
    chmodSync(path, mode);
    return readSecret({ what, path, variable });
  };

  test.each([0o644, 0o604, 0o602, 0o620, 0o660])('is refused with the mode %o', async (mode) => {
    await expect(inModeOf(mode)).rejects.toThrow(
      `The Conduit token is refused: ${path} has the mode ${mode.toString(8)}, by which others than its owner can get at it: run 'chmod 600 ${path}'.`,
    );
  });

  test.each([0o600, 0o400])('is not one with the mode %o', async (mode) => {
    expect(await inModeOf(mode)).toBe('api-abc');
  });

  test.runIf(process.getuid?.() === 0)('may be read by a group where root has installed it there', async () => {
    expect(await inModeOf(0o640)).toBe('api-abc');
    await expect(inModeOf(0o640, nobody)).rejects.toThrow(UsageError);
  });
});
