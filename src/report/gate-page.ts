// Builds the page of a gate with its whole result.

import type { CellProfiles } from '../analysis/profile/result-profiles.ts';
import { interactionOf } from '../analysis/stats/interaction.ts';
import { isOfOneCommit } from '../analysis/trend/aa-runs.ts';
import { formatProbability } from '../model/format.ts';
import { comparedNames, type Patch, patchName } from '../model/patch.ts';
import type { CellResult, Result } from '../model/result.ts';
import { cellName } from '../model/scenario.ts';
import { cellTable, linkTo, worstFirst } from './cell-rows.ts';
import { cellSection } from './cell-section.ts';
import {
  type Block,
  code,
  faint,
  filePath,
  heading,
  type Inline,
  list,
  mark,
  nameOf,
  type PageDocument,
  type PageSection,
  paragraph,
  quoted,
  strong,
  type Text,
  verdictWord,
  words,
} from './document.ts';
import { earlierGatesText } from './earlier-gates-text.ts';
import { picturesThatFit } from './graph-folds.ts';
import { dropsText, headline, patchLabel, sentence, symbolOf } from './headline.ts';
import { timeText } from './html-pieces.ts';
import { intervalPlot } from './interval-plot.ts';
import { meaningOf, nextStep } from './next-steps.ts';
import { type Graph, graphsOf } from './report-flamegraphs.ts';
import {
  failureOutput,
  failureText,
  kernelsOf,
  leftOutLines,
  movedBaselineLines,
  notesOf,
  otherMetrics,
  otherMetricTitle,
  readingParagraphs,
  rule,
  setting,
  unseenBy,
  verdictMeanings,
} from './sections.ts';
import { bothForms } from './svg.ts';

export function gatePage(result: Result, profiles: readonly CellProfiles[]): PageDocument {
  const { outcome, patch, policy, generator } = result;
  const graphs = graphsOf(result, profiles);
  const meaning = meaningOf(result);
  const next = words`${strong('What now:')} ${nextStep(result)}`;
  const drops = outcome.kind === 'judged' ? dropsText(outcome.cells) : [];
  const before = [...drops, earlierGatesText(result)].filter((text) => text !== undefined).map(paragraph);
  return {
    title: headline(result),
    verdict: symbolOf(result),
    headline: words`${patchLabel(result)} ${sentence(result)}`,
    head: [
      ...(meaning === undefined ? [] : [paragraph(meaning), ...before, paragraph(next)]),
      paragraph(words`${patchLink(result)}: ${quoted(patch.title)}, by ${quoted(patch.author)}`),
      faint(setting(result)),
      ...(outcome.kind === 'judged' ? [faint(rule(policy))] : []),
    ],
    contents: outcome.kind === 'judged' ? contentsOf(outcome.cells) : [],
    sections: sectionsOf(result, graphs),
    version: generator.version,
    hasGraphs: graphs.length > 0,
  };
}

function patchLink(result: Result): Inline | string {
  const { patch } = result;
  const text = patch.kind === 'revision' ? `${patchName(patch)} diff ${patch.diff}` : patchLabel(result);
  return patch.kind === 'range' ? text : { kind: 'link', text, address: patch.url };
}

/** Omits the contents if there are only a few cells. */
const contentsOf = (cells: readonly CellResult[]): Text[] =>
  cells.length <= 3
    ? []
    : [
        ...cells.map(linkTo),
        { kind: 'link', text: 'environment', address: '#environment' },
        { kind: 'link', text: 'how to read this', address: '#reading' },
      ];

function sectionsOf(result: Result, graphs: readonly Graph[]): PageSection[] {
  const { outcome, policy } = result;
  switch (outcome.kind) {
    case 'judged': {
      const { cells } = outcome;
      const pictures = picturesOfCells(cells, graphs);
      return [
        verdicts(result, cells),
        ...remarks(result, cells),
        ...cells.map((cell) => cellSection(policy, cell, pictures.get(cellName(cell.cell)) ?? [])),
        environment(result),
        howToRead(result),
      ];
    }
    case 'unchanged':
      return [...remarks(result), environment(result)];
    default: {
      const output: Block = { kind: 'code', name: 'output', text: failureOutput(outcome) };
      return [
        {
          id: 'verdict',
          heading: 'What happened',
          blocks: [paragraph(failureText(outcome, result.patch)), output],
        },
        { id: 'next', heading: 'What now', blocks: [paragraph(nextStep(result))] },
        ...remarks(result),
        environment(result),
      ];
    }
  }
}

/** Draws the worst cells first, as space is limited. */
function picturesOfCells(cells: readonly CellResult[], graphs: readonly Graph[]) {
  const ofCell = Map.groupBy(graphs, ({ cell }) => cellName(cell));
  const inOrder = worstFirst(cells).flatMap(({ cell }) => ofCell.get(cellName(cell)) ?? []);
  return Map.groupBy(picturesThatFit(inOrder), ({ graph }) => cellName(graph.cell));
}

function verdicts(result: Result, cells: readonly CellResult[]): PageSection {
  const { policy } = result;
  const tableBy = (metric: CellResult['comparisons'][number]['metric']) => cellTable(result, cells, metric, true);
  return {
    id: 'verdict',
    heading: 'Verdict',
    blocks: [
      tableBy(policy.metric),
      ...otherMetrics(policy, cells).map(
        (metric): Block => ({
          kind: 'fold',
          title: otherMetricTitle(metric),
          blocks: [tableBy(metric)],
        }),
      ),
      ...bothForms((form) => intervalPlot(result, { maxCells: cells.length, form })),
    ],
  };
}

/** Lists easily missed facts that do not count against the patch. */
function remarks(result: Result, cells: readonly CellResult[] = []): PageSection[] {
  const inLines = (texts: readonly string[]) => texts.map((text) => quoted(text, 500));
  const remarks: [string, readonly Text[]][] = [
    ['The baseline shifted, which does not count against the patch', movedBaselineLines(cells)],
    ['Left out of the comparison, which does not count against the patch', leftOutLines(result)],
    ['What this metric does not cover', cells.length > 0 ? unseenBy(result.policy.metric) : []],
    ['Interaction of variant and trial', interactionLines(result, cells)],
    ['Testbed notes', inLines(result.testbed.warnings)],
    ['Notes on the revision', inLines(notesOf(result.patch))],
  ];
  const blocks = remarks.flatMap(([title, lines]) => (lines.length > 0 ? [heading(title), ...list(lines)] : []));
  return blocks.length > 0 ? [{ id: 'remarks', heading: 'Notes', blocks }] : [];
}

/** A/A runs show whether the assumption of the paired method holds on the testbed. */
function interactionLines(result: Result, cells: readonly CellResult[]): Text[] {
  if (!isOfOneCommit(result)) return [];
  return cells.flatMap((cell) => {
    const interaction = interactionOf(cell, result.policy.metric);
    if (interaction === undefined) return [];
    const { f, degreesOfFreedom, probability } = interaction;
    const numbers = `F(${degreesOfFreedom.join(', ')}) = ${f.toFixed(2)}, P = ${formatProbability(probability)}`;
    return [words`${nameOf(cell.cell)}: ${numbers}`];
  });
}

function environment(result: Result): PageSection {
  const { testbed, seed, startedAt, finishedAt } = result;
  return {
    id: 'environment',
    heading: 'Environment',
    blocks: [
      variantTable(result),
      {
        kind: 'facts',
        facts: [
          ['testbed', testbed.name],
          ...Object.entries(testbed.fingerprint),
          ['began', timeText(startedAt)],
          ['ended', timeText(finishedAt)],
          ['order of runs', `seed ${seed}`],
        ],
      },
    ],
  };
}

function variantTable(result: Result): Block {
  const { variants } = result;
  // Empty if the variants share the DUT's kernel.
  const kernels = kernelsOf(result);
  const base = variants.find(({ name }) => name === 'base');
  const heads = ['variant', 'commit', ...(kernels.size > 0 ? ['kernel'] : []), 'files installed on the DUT'];
  const rows = variants.map((variant): Text[] => [
    variantText(result.patch, variant.name),
    code(variant.commit, 64),
    ...(kernels.size > 0 ? [quoted(kernels.get(variant.name)?.join(', ') ?? '–', 1000)] : []),
    variant === base || base === undefined ? ownFiles(variant) : changedFiles(base, variant),
  ]);
  return {
    kind: 'table',
    caption: 'Differences between the variants',
    columns: heads.map((head) => ({ head })),
    groups: [{ weight: 0, rows }],
  };
}

/** `base`, or `base, which is old.conf` in a comparison. */
function variantText(patch: Patch, name: string): Text {
  const names = comparedNames(patch);
  if (names === undefined || !(name === 'base' || name === 'patched')) return quoted(name);
  return words`${name}, which is ${quoted(names[name])}`;
}

type Variant = Result['variants'][number];

const ownFiles = ({ files }: Variant): Text =>
  files.length === 0 ? 'none' : { kind: 'lines', lines: files.map(({ path }) => filePath(path)) };

function changedFiles(base: Variant, { files }: Variant): Text {
  const before = new Map(base.files.map(({ path, sha256 }) => [path, sha256]));
  const after = new Set(files.map(({ path }) => path));
  const lines = [
    ...files
      .filter(({ path, sha256 }) => before.get(path) !== sha256)
      .map(({ path }) => words`${before.has(path) ? 'changed' : 'added'} ${filePath(path)}`),
    ...base.files.filter(({ path }) => !after.has(path)).map(({ path }) => words`removed ${filePath(path)}`),
  ];
  return lines.length === 0 ? 'the same as base' : { kind: 'lines', lines };
}

const howToRead = (result: Result): PageSection => ({
  id: 'reading',
  heading: 'How to read this',
  blocks: [
    ...readingParagraphs(result).map(paragraph),
    ...list(
      verdictMeanings(result.policy).map(
        ([verdict, meaning]) => words`${mark(verdict)} ${verdictWord(verdict)}: ${meaning}`,
      ),
    ),
  ],
});
