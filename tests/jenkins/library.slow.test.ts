// Runs the Maven tests of the Jenkins library with all other tests of ppsgate.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { describeWith } from '../needs.ts';

const pom = join(import.meta.dirname, '..', '..', 'jenkins', 'pom.xml');

describeWith(['java', 'mvn'], 'the library for Jenkins', () => {
  test('passes its own tests', async () => {
    const maven = spawn('mvn', ['-q', '-B', '-f', pom, 'test'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void maven.kill());
    const [stdout, stderr, [exitCode]] = await Promise.all([
      text(maven.stdout),
      text(maven.stderr),
      once(maven, 'exit'),
    ]);
    expect(exitCode, `${stdout}${stderr}`).toBe(0);
  });
});
