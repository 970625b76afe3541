// Prints what `ppsgate init` has written, and what comes next.
import { columns } from '../columns.ts';
import { oneLine } from '../table.ts';
import type { PlacedFile } from './init-files.ts';
import type { Selectors } from './init-selectors.ts';
import type { PlacedLabel } from './label.ts';
import { approvalLabel } from './workflows.ts';

const changeTexts: Record<PlacedFile['kind'], string> = {
  created: '',
  unchanged: '',
  kept: 'differs from the generated file; --force overwrites workflows, but never ppsgate.yml',
  overwritten: '',
  extended: '',
  left: 'is an unused workflow and never runs: delete it',
  missing: 'without it the lab has nothing to measure: add one, or let `ppsgate init --yes` write a small one',
};

export function initText(
  files: readonly PlacedFile[],
  label: PlacedLabel | undefined,
  { branch, found, leftOut, action }: Selectors,
): string {
  const texts = files.flatMap(({ path, text }) => (text === undefined ? [] : [`--- ${path}`, text]));
  const rows = files.map(({ path, kind }) => [
    kind,
    path,
    kind === 'missing' && found.size > 0
      ? `write \`overlay: { files: { ${[...found].map((one) => one.join(': ')).join(', ')} } }\` in ppsgate.yml, to measure the existing files`
      : changeTexts[kind],
  ]);
  return [
    ...texts,
    ...(texts.length > 0 ? ['Nothing is written yet. These changes would be made:'] : []),
    ...columns([...rows, ...leftOut.map(({ path, why }) => ['left out', path, why]), ...labelRow(label)]),
    ...(label?.kind === 'not-created' ? [oneLine(label.why), `  ${label.command}`] : []),
    '',
    ...(action === undefined
      ? ['A workflow for GitHub needs a version of ppsgate: name one with --action OWNER/ppsgate@COMMIT.']
      : [
          `1. Commit these files to ${branch}: only that version counts, never one in a patch.`,
          `2. To measure a pull request from a fork, read it, then add the label ${approvalLabel}.`,
          '3. Comment `/ppsgate run` on any pull request to measure it.',
        ]),
    'On this machine, `ppsgate gate` measures what the current branch changes.',
  ].join('\n');
}

const labelRow = (label: PlacedLabel | undefined): string[][] =>
  label === undefined || label.kind === 'not-created'
    ? []
    : [[label.kind, `label ${approvalLabel}`, `of ${label.repository}`]];
