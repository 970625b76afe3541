import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GzipLog } from '../../../src/gate/recording/gzip-log.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { describeWith, sharedFolder } from '../../needs.ts';

test('The file is complete after each text.', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 1000 }), { maxLength: 20 }), (texts) => {
      const path = join(temporaryFolder(), 'log.gz');
      const log = new GzipLog(path);
      let written = '';
      expect(gunzipSync(readFileSync(path)).toString()).toBe(written);
      for (const text of texts) {
        log.append(text);
        written += text;
        expect(gunzipSync(readFileSync(path)).toString()).toBe(written);
      }
      log.close();
    }),
    { numRuns: 20 },
  );
});

test('A text of more than a window is read back.', () => {
  const path = join(temporaryFolder(), 'log.gz');
  const log = new GzipLog(path);
  const text = Array.from({ length: 50_000 }, (_, index) => index * 7919).join(' ');
  for (let count = 0; count < 3; count += 1) log.append(text);
  log.close();
  expect(gunzipSync(readFileSync(path)).toString()).toBe(text.repeat(3));
});

test('A process that is killed leaves all that it has appended, for zcat, too.', () => {
  const path = join(temporaryFolder(), 'log.gz');
  const module = new URL('../../../src/gate/recording/gzip-log.ts', import.meta.url).href;
  const program = `const { GzipLog } = await import('${module}');
    const log = new GzipLog(process.argv[1]);
    for (let line = 1; line <= 500; line += 1) log.append(line + '\\n');
    process.kill(process.pid, 'SIGKILL');`;
  const { signal } = spawnSync(process.execPath, ['-e', program, path]);
  expect(signal).toBe('SIGKILL');
  const { status, stdout, stderr } = spawnSync('zcat', [path]);
  expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
  expect(stdout.toString().split('\n')).toHaveLength(501);
});

describeWith(['shared/freebsd/lab'], 'a recording of a real FreeBSD', () => {
  const folder = sharedFolder('freebsd/lab');
  test.each(readdirSync(folder).filter((name) => name.endsWith('.rec.gz')))(
    '%s is at most 1.4 times as large as gzip -9 makes it',
    (name) => {
      const text = gunzipSync(readFileSync(join(folder, name))).toString();
      const path = join(temporaryFolder(), name);
      const log = new GzipLog(path);
      for (const line of text.split(/(?<=\n)/)) log.append(line);
      log.close();
      expect(gunzipSync(readFileSync(path)).toString()).toBe(text);
      const ratio = statSync(path).size / gzipSync(text, { level: 9 }).length;
      expect(ratio).toBeLessThan(1.4);
    },
  );
});
