// Tests dist/ as the build writes it: the content of each file, and the licences it includes.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type OutputAsset, type OutputChunk, type Plugin } from 'rolldown';
import { beforeAll, describe, expect, test } from 'vitest';
import config from '../rolldown.config.ts';
import { licensesOf } from '../rolldown-licenses.ts';
import { temporaryFolder } from './fakes/folder.ts';

const project = join(import.meta.dirname, '..');

type Output = (OutputChunk | OutputAsset)[];

async function bundle(...plugins: Plugin[]): Promise<Output> {
  const options = { ...config, plugins: [...plugins, config.plugins], cwd: project };
  const { output } = await build({ ...options, write: false });
  return output;
}

const chunksOf = (output: Output): OutputChunk[] => output.filter((file) => file.type === 'chunk');

let output: Output;

beforeAll(async () => {
  output = await bundle();
});

describe('a file of the bundle', () => {
  test('is named after the module or the folder of which it is', () => {
    const own = chunksOf(output).filter(({ fileName }) => !fileName.startsWith('vendor/'));
    const names = own.map(({ fileName }) => fileName.replace(/(?:\/(?:first|first-plain|plain))?\.js$/, ''));
    const unknown = names.filter(
      (name) => !['', '.ts'].some((end) => existsSync(join(project, 'src', `${name}${end}`))),
    );
    expect(unknown.toSorted()).toEqual(['package', 'rolldown-runtime']);
  });

  test('has only packages below vendor/, and none elsewhere', () => {
    for (const { fileName, moduleIds } of chunksOf(output)) {
      const modules = moduleIds.filter((id) => !id.startsWith('\0'));
      const isVendor = fileName.startsWith('vendor/');
      expect(modules.filter((id) => id.includes('/node_modules/') !== isVendor)).toEqual([]);
    }
  });

  test('is the only one that changes with a line in it', async () => {
    const codes = new Map(chunksOf(output).map(({ fileName, code }) => [fileName, code]));
    const changed = chunksOf(await bundle(lineIn('src/analysis/stats/verdict.ts')));
    expect(changed.filter(({ fileName, code }) => codes.get(fileName) !== code)).toHaveLength(1);
  });
});

/** Inserts a line into the file's first function. */
function lineIn(path: string): Plugin {
  return {
    name: 'line',
    transform(code, id) {
      if (id !== join(project, path)) return null;
      return code.replace(/^export (?:async )?function [^{]*\{\n/m, "$&  console.log('new');\n");
    },
  };
}

describe('what is loaded before anything is asked for', () => {
  /** A file and all its imports, recursively. */
  function loadedWith(file: string): string[] {
    const imports = new Map(chunksOf(output).map((chunk) => [chunk.fileName, chunk.imports]));
    const loaded = new Set([file]);
    for (const name of loaded) for (const one of imports.get(name) ?? []) loaded.add(one);
    return [...loaded].filter((name) => imports.has(name)).toSorted();
  }

  test('is the commands with their options alone at a shell', () => {
    const ours = ['cli.js', 'config/parameters.js', 'model/first-plain.js', 'package.js', 'system/exit.js'];
    expect(loadedWith('cli.js')).toEqual([...ours, 'vendor/commander.js']);
  });

  test.each(['cli/tools/flamegraph.js', 'cli/tools/fold.js', 'cli/tools/ministat.js', 'system/exit.js'])(
    'is no schema for %s',
    (file) => {
      expect(loadedWith(file)).not.toContain('vendor/zod.js');
    },
  );

  test('is no configuration for the inputs of the action', () => {
    const loaded = loadedWith('action/main.js');
    expect(loaded.filter((name) => /^(?:config|model|report)(?:\/first)?\.js$/.test(name))).toEqual([]);
  });

  test('is nothing that measures where a step of a job decides whether to', () => {
    const packages = ['octokit', 'ssh2', 'resvg-resvg-wasm'].map((name) => `vendor/${name}.js`);
    const measures = [
      'system/host/plain.js',
      'system/host/first-plain.js',
      'lab/traffic.js',
      'lab/freebsd.js',
      'gate/experiment.js',
      ...packages,
    ];
    const files = chunksOf(output).map(({ fileName }) => fileName);
    expect(files).toEqual(expect.arrayContaining(measures));
    const first = ['action.js', 'action/main.js', 'action/open-job.js', 'action/run-admit.js'];
    expect(files).toEqual(expect.arrayContaining(first));
    const loaded = first.flatMap(loadedWith);
    expect(loaded.filter((name) => measures.includes(name))).toEqual([]);
  });
});

describe('LICENSES.txt', () => {
  /** Section on each package, by the package's name. */
  const parts = () => {
    const file = output.find(({ fileName }) => fileName === 'LICENSES.txt');
    const text = file?.type === 'asset' ? String(file.source) : '';
    const [, ...found] = text.split(`\n${'='.repeat(80)}\n`);
    return new Map(found.map((part) => [part.trim().replace(/ .*/s, ''), part]));
  };

  test('has every package of which something is in the bundle, and no other', () => {
    const ids = chunksOf(output).flatMap(({ modules }) =>
      Object.entries(modules).flatMap(([id, { code }]) => (code === null ? [] : [id])),
    );
    const names = ids.flatMap((id) => {
      const [, ...inPackage] = id.split('/node_modules/');
      return inPackage.at(-1)?.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? [];
    });
    const others = ['@fontsource/open-sans', 'rolldown', 'uplot'];
    expect([...parts().keys()].toSorted()).toEqual([...new Set([...names, ...others])].toSorted());
    expect(names).toContain('bcrypt-pbkdf');
  });

  test('names the source of a package under the Mozilla Public License', () => {
    const part = parts().get('@resvg/resvg-wasm');
    expect(part).toContain('Mozilla Public License Version 2.0');
    expect(part).toContain('Source: https://github.com/yisibl/resvg-js');
  });

  /** A file of a package with that licence. */
  function fileOf(packageJson: object, texts: Record<string, string> = {}): string {
    const folder = join(temporaryFolder(), 'node_modules', 'left-over');
    mkdirSync(folder, { recursive: true });
    const about = { name: 'left-over', version: '1.2.3', ...packageJson };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(about));
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
    return join(folder, 'index.js');
  }

  test('has every licence text of a package, from any of its files', () => {
    const texts = { 'LICENCE.md': 'Do what you like.', NOTICE: 'Made by alice.', README: 'Hello.' };
    const text = licensesOf([fileOf({ license: 'ISC' }, texts)]);
    expect(text).toContain('left-over 1.2.3 (ISC)\n');
    expect(text).toContain('Do what you like.\n\nMade by alice.\n');
    expect(text).not.toContain('Hello.');
  });

  test.each([{}, { license: 'MIT' }, { license: '../licenses/MPL-2.0' }])(
    'is not to be had where a package has no licence but %j',
    (packageJson) => {
      const texts = { NOTICE: 'Made by alice.' };
      expect(() => licensesOf([fileOf(packageJson, texts)])).toThrow(/^left-over has no file with its licence/);
    },
  );
});
