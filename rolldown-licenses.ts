// Collects the foreign parts of the bundle, with the licence of each, in dist/LICENSES.txt; without it the build fails.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { OutputBundle, Plugin } from 'rolldown';

export const licenses: Plugin = {
  name: 'licenses',
  generateBundle(_, bundle) {
    const source = licensesOf(filesIn(bundle));
    this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source });
  },
};

/** Returns modules of which something is left, and files that are installed beside them. */
function filesIn(bundle: OutputBundle): string[] {
  return Object.values(bundle).flatMap((file) =>
    file.type === 'asset'
      ? file.originalFileNames
      : Object.entries(file.modules).flatMap(([id, { code }]) => (code === null ? [] : [id])),
  );
}

/** Name, version, source and whole licence of each package that has one of these files; throws for one without a licence. */
export function licensesOf(files: readonly string[]): string {
  const folders = new Set(files.flatMap((file) => packageOf(file)?.folder ?? []));
  const parts = [...folders].map(partOf).toSorted();
  return [heading, ...parts].join(`\n\n${'='.repeat(80)}\n\n`).concat('\n');
}

const heading = `ppsgate itself is under the licence in LICENSE. The files beside this one have parts of the packages below in them, each
under its own; vendor/ has nothing else.`;

/** The innermost package that a file is in, undefined for one of ours. */
export function packageOf(file: string): { name: string; folder: string } | undefined {
  // The bundler's own modules have names that begin so.
  const path = file.startsWith('\0') ? 'node_modules/rolldown' : file;
  const found = /^.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(resolve(import.meta.dirname, path));
  return found?.[1] === undefined ? undefined : { name: found[1], folder: found[0] };
}

type PackageJson = {
  name: string;
  version: string;
  license?: string;
  repository?: string | { url: string };
};

function partOf(folder: string): string {
  const about: PackageJson = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { name, version, license, repository } = about;
  const terms = license === undefined ? '' : ` (${license})`;
  const source = typeof repository === 'string' ? repository : repository?.url;
  return [
    `${name} ${version}${terms}`,
    `https://www.npmjs.com/package/${name}/v/${version}`,
    ...(source === undefined ? [] : [`Source: ${onTheWeb(source)}`]),
    ...textsOf(folder, about).map((text) => `\n${text}`),
  ].join('\n');
}

/** `github:owner/name`, `git@github.com:owner/name.git` and the like as people open them. */
const onTheWeb = (repository: string): string =>
  repository
    .replace(/^(?:github:|git@github\.com:)?(?=[\w.-]+\/[\w.-]+$)/, 'https://github.com/')
    .replace(/^git\+|\.git$/g, '');

/** Returns the package's own files, including notices; without any, the text that its package.json names. */
function textsOf(folder: string, { name, license }: PackageJson): string[] {
  const files = readdirSync(folder).filter((file) => /^(?:(?:un)?licen[sc]e|copying|notice)/i.test(file));
  if (files.some((file) => !/^notice/i.test(file))) {
    return files.toSorted().map((file) => textOf(join(folder, file)));
  }
  const standard = `${license ?? 'LICENSE'}.txt`;
  if (readdirSync(standardTexts).includes(standard)) return [textOf(join(standardTexts, standard))];
  throw new Error(
    `${name} has no file with its licence, and licenses/ has no ${standard}: add its text there, or leave the package out.`,
  );
}

/** The folder of licence texts that packages do not bring, by their names at https://spdx.org/licenses. */
const standardTexts = join(import.meta.dirname, 'licenses');

const textOf = (path: string): string => readFileSync(path, 'utf8').replaceAll('\r\n', '\n').trim();
